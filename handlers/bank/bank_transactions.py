"""Bank transactions: the lines of bank statements, sent as JSON or read from a bank's file."""

import asyncio
from collections.abc import Sequence
from typing import Any
from uuid import UUID

from babel.numbers import get_currency_precision

from accounting.bank import bank_rules, statement_lines
from accounting.bank.bank_rules import BankRule, RuleOutcome
from accounting.bank.bank_transactions import BankTransaction
from accounting.bank.statement_lines import DuplicateLine, KeptLines, Line, LineResult, RejectedLine
from accounting.books.accounts import BookAccounts
from accounting.errors import UnsupportedFile, ValidationError
from accounting.files.uploads import CSV, kind_of
from accounting.tax.day_codes import TaxReferences
from handlers.bank import bank_commands
from handlers.bank.bank_commands import ImportFile, ImportLines
from handlers.bank.bank_responses import serialize_bank_transaction
from handlers.bodies import BankTransactionForm, BankTransactionImport
from handlers.results import Reply
from handlers.shared.posting import save_and_post_banked
from libraries import bank_files
from libraries.bank_files import BadLine, ReadLine, Unreadable, WrongColumns
from persistence.books import Books
from persistence.engine.pages import Page, PageRequest

JSON = "json"


async def import_bank_transactions(
    books: Books, body: BankTransactionImport | BankTransactionForm
) -> Reply:
    """Import the lines of a bank statement; each line has its own result."""
    command = bank_commands.import_statement(body)
    source, sent = await lines_of(command)
    wanted = command.bank_account_id
    bank_account = (await books.bank_accounts.lock_all([wanted]))[wanted].bank_account
    lines = [in_minor_units(line, bank_account.currency) for line in sent]
    unique = source == JSON or source in bank_files.UNIQUE_IDS
    names = statement_lines.identities(lines, unique_ids=unique)
    there, closed, rules = await books.fetch(
        books.bank_transactions.there(wanted, [name for name in names if name]),
        books.reconciliations.closed_through(wanted),
        books.bank_rules.all(),
    )
    kept = KeptLines(there, closed)
    line_results = statement_lines.sort_out(lines, names, kept, bank_account, source, books.context)
    tried = await try_rules(books, [each.rule for each in rules], line_results)
    return serialize_results(tried)


async def list_bank_transactions(books: Books, page: PageRequest) -> Page[Reply]:
    """List bank transactions."""
    books.pin_snapshot()
    found = await books.bank_transactions.page(page)
    links = await books.bank_links.of_transactions([each.id for each in found.rows])
    return found.of(lambda each: serialize_bank_transaction(books, each, links.get(each.id, ())))


async def get_bank_transaction(books: Books, bank_transaction_id: UUID) -> Reply:
    """Return one bank transaction."""
    record, links = await books.fetch(
        books.bank_transactions.get(bank_transaction_id),
        books.bank_links.of_transactions([bank_transaction_id]),
    )
    return serialize_bank_transaction(books, record, links.get(bank_transaction_id, ()))


async def lines_of(command: ImportLines | ImportFile) -> tuple[str, Sequence[Line | ReadLine]]:
    """Return the format in which the lines were sent, and the lines.

    Raises ValidationError for a file that cannot be read, UnsupportedFile for one that is not a
    bank file.
    """
    if isinstance(command, ImportLines):
        return JSON, command.lines
    # Reading a large file takes a second or two; a thread keeps other requests served.
    return await asyncio.to_thread(read_file, command)


def read_file(command: ImportFile) -> tuple[str, Sequence[ReadLine]]:
    """Read a file in the format that the request names, or else in the detected one."""
    guessed = guess_format(command.content)
    kind = command.format or guessed
    try:
        if kind is not None:
            return kind, bank_files.read(command.content, kind, command.columns)
    except Unreadable as fault:
        if guessed is not None:
            raise ValidationError.fields(**{field_at_fault(fault): [fault.why]}) from None
    raise UnsupportedFile(
        "unsupported_media_type",
        "The file is not a CSV, OFX, CAMT.053 or MT940 file. Its content decides, not its name.",
        taken=sorted(bank_files.NAMES),
    )


def guess_format(content: bytes) -> bank_files.Format | None:
    """Detect the format of a file by its content; return None if it is not one of the four."""
    return bank_files.guess(content) or ("csv" if kind_of(content) == CSV else None)


def field_at_fault(fault: Unreadable) -> str:
    """Return the form field that an error is about: the file, the mapping or a part of it."""
    if not isinstance(fault, WrongColumns):
        return "file"
    return f"mapping.{fault.column}" if fault.column else "mapping"


def in_minor_units(line: Line | ReadLine, currency: str) -> Line | RejectedLine:
    """Convert a line of a file to minor units.

    Returns Failed for an unreadable line, or an amount that minor units cannot express.
    """
    if isinstance(line, Line):
        return line
    if isinstance(line, BadLine):
        return RejectedLine("validation_error", line.why)
    exponent = get_currency_precision(line.currency or currency)
    try:
        units = statement_lines.minor_units(abs(line.amount), exponent)
    except ValueError as fault:
        return RejectedLine("validation_error", str(fault))
    return Line(
        booked_on=line.booked_on,
        amount=units,
        direction="credit" if line.amount > 0 else "debit",
        external_id=line.external_id,
        currency=line.currency,
        description=line.description,
        counterparty_name=line.counterparty_name,
        reference=line.reference,
        iban=line.iban,
    )


async def try_rules(
    books: Books, rules: Sequence[BankRule], line_results: Sequence[LineResult]
) -> list[RuleOutcome | DuplicateLine | RejectedLine]:
    """Try the bank rules on each new line, and save it; post if an automatic rule applies."""
    named, codes = await books.fetch(
        books.accounts.named(bank_rules.accounts_applied(rules)),
        books.tax_codes.for_use(needed=any(each.tax_code_id for each in rules)),
    )
    referenced = TaxReferences(BookAccounts(await books.roles(), named), codes)
    tried = [
        bank_rules.try_on(each, rules, referenced, books.context)
        if isinstance(each, BankTransaction)
        else each
        for each in line_results
    ]
    await save_and_post_banked(
        books, *(each.line for each in tried if isinstance(each, RuleOutcome))
    )
    return tried


def serialize_results(line_results: Sequence[RuleOutcome | DuplicateLine | RejectedLine]) -> Reply:
    """Serialize the result of each line, and count the results by status."""
    results = [serialize_result(place, line) for place, line in enumerate(line_results)]
    return {
        **{
            status: sum(each["status"] == status for each in results)
            for status in ("imported", "skipped", "failed")
        },
        "results": results,
    }


def serialize_result(
    place: int, line: RuleOutcome | DuplicateLine | RejectedLine
) -> dict[str, Any]:
    """Serialize the result of one line, with the bank rule that was suggested or applied."""
    told = {
        "index": place,
        "id": None,
        "error": None,
        "suggested_by_rule_id": None,
        "categorized_by_rule_id": None,
    }
    match line:
        case RejectedLine():
            error = {"error_code": line.code, "message": line.message}
            return {**told, "status": "failed", "error": error}
        case DuplicateLine():
            return {**told, "status": "skipped", "id": line.id}
    return {
        **told,
        "status": "imported",
        "id": line.line.id,
        "suggested_by_rule_id": line.suggested_by,
        "categorized_by_rule_id": line.line.rule_id,
    }
