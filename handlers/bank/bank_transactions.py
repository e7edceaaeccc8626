"""Bank transactions: the lines of bank statements, sent as JSON or read from a bank's file."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Literal
from uuid import UUID

from babel.numbers import get_currency_precision

from access.links import Links
from accounting.bank import bank_rules, statement_lines
from accounting.bank.bank_rules import BankRule, RuleOutcome
from accounting.bank.bank_transactions import BankTransaction
from accounting.bank.line_identities import Identity, Line, identities, plain_name
from accounting.bank.statement_accounts import choose_statements
from accounting.bank.statement_lines import (
    DeletedLine,
    DuplicateLine,
    ImportTarget,
    KeptLines,
    LineResult,
    OmittedLine,
    RejectedLine,
    SentLine,
)
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
from libraries.bank_files import (
    BadLine,
    MissingColumn,
    ReadLine,
    Unreadable,
    WrongColumns,
    is_text,
)
from persistence.books import Books
from persistence.engine.pages import Page, PageRequest

JSON = "json"
COUNTED = ("imported", "skipped", "failed")  # What the event of an import counts.
STATUSES = ("imported", "skipped", "failed", "replaced", "deleted")
TriedLine = RuleOutcome | DeletedLine | DuplicateLine | OmittedLine | RejectedLine


async def import_bank_transactions(
    books: Books, body: BankTransactionImport | BankTransactionForm
) -> Reply:
    """Import the lines of a bank statement; each line has its own result."""
    command = bank_commands.import_statement(body)
    source, sent = await lines_of(command)
    wanted = command.bank_account_id
    bank_account = (await books.bank_accounts.lock_all([wanted]))[wanted].bank_account
    lines = [in_minor_units(line, bank_account.currency) for line in sent]
    chosen = command.statement_account if isinstance(command, ImportFile) else None
    statements = choose_statements(accounts_of(lines), bank_account, chosen)
    known_by = list(identities(lines))
    kept, rules = await load_kept(books, wanted, lines, known_by)
    target = ImportTarget(bank_account, statements, source)
    line_results = statement_lines.sort_out(lines, known_by, kept, target, books.context)
    answer = serialize_results(await try_rules(books, rules, line_results))
    books.note_import(bank_account, {name: answer[name] for name in COUNTED})
    return answer


async def load_kept(
    books: Books,
    bank_account_id: UUID,
    lines: Sequence[SentLine],
    known_by: Sequence[Identity | None],
) -> tuple[KeptLines, list[BankRule]]:
    """Load the stored lines that the lines repeat or correct, and the bank rules."""
    corrects = {line.corrects for line in lines if isinstance(line, Line) and line.corrects}
    names = {name for identity in known_by if identity for name in identity.names()}
    there, closed, rules = await books.fetch(
        books.bank_transactions.there(bank_account_id, names | set(map(plain_name, corrects))),
        books.reconciliations.closed_through(bank_account_id),
        books.bank_rules.all(),
    )
    stored = {each: there.get(plain_name(each)) for each in corrects}
    ids = {each: line.id for each, line in stored.items() if line is not None}
    if not ids:
        return KeptLines(there, closed), [each.rule for each in rules]
    locked, with_history = await books.fetch(
        books.bank_transactions.lock_all(set(ids.values())),
        books.bank_links.ever_linked(set(ids.values())),
    )
    corrected = {each: locked[id].transaction for each, id in ids.items()}
    return KeptLines(there, closed, corrected, with_history), [each.rule for each in rules]


def accounts_of(lines: Sequence[SentLine]) -> set[str]:
    """Return the numbers of the accounts whose statements have lines."""
    return {line.account for line in lines if isinstance(line, Line) and line.account is not None}


async def list_bank_transactions(books: Books, page: PageRequest, links: Links) -> Page[Reply]:
    """List bank transactions."""
    books.pin_snapshot()
    found = await books.bank_transactions.page(page)
    ids = [each.id for each in found.rows]
    made, stored = await books.fetch(books.bank_links.of_transactions(ids), books.files.latest(ids))
    return found.of(
        lambda each: serialize_bank_transaction(
            books, replace(each, document=stored.get(each.id)), made.get(each.id, ()), links
        )
    )


async def get_bank_transaction(books: Books, bank_transaction_id: UUID, links: Links) -> Reply:
    """Return one bank transaction."""
    record, made, stored = await books.fetch(
        books.bank_transactions.get(bank_transaction_id),
        books.bank_links.of_transactions([bank_transaction_id]),
        books.files.latest([bank_transaction_id]),
    )
    shown = replace(record, document=stored.get(bank_transaction_id))
    return serialize_bank_transaction(books, shown, made.get(bank_transaction_id, ()), links)


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
    kind = command.format or guessed or csv_with_header(command)
    try:
        if kind is not None:
            return kind, bank_files.read(command.content, kind, command.columns)
    except Unreadable as fault:
        if guessed is not None or is_table(command, fault):
            raise ValidationError.fields(**{field_at_fault(fault): [fault.why]}) from None
    raise UnsupportedFile(
        "unsupported_media_type",
        "The file is not a CSV, OFX, CAMT.053 or MT940 file. Its content decides, not its name.",
        taken=sorted(bank_files.NAMES),
    )


def guess_format(content: bytes) -> bank_files.Format | None:
    """Detect the format of a file by its content; return None if it is not one of the four."""
    return bank_files.guess(content) or ("csv" if kind_of(content) == CSV else None)


def csv_with_header(command: ImportFile) -> Literal["csv"] | None:
    """Return "csv" for a text with a mapping: it may have a header only, or a broken quote."""
    mapped = command.columns is not None and kind_of(command.content) is None
    return "csv" if mapped and is_text(command.content) else None


def is_table(command: ImportFile, fault: Unreadable) -> bool:
    """Return whether an unreadable file is a CSV by its mapping: it has the named columns."""
    return csv_with_header(command) is not None and not isinstance(fault, MissingColumn)


def field_at_fault(fault: Unreadable) -> str:
    """Return the form field that an error is about: the file, the mapping or a part of it."""
    if not isinstance(fault, WrongColumns):
        return "file"
    return f"mapping.{fault.column}" if fault.column else "mapping"


def in_minor_units(line: Line | ReadLine, currency: str) -> SentLine:
    """Convert a line of a file to minor units.

    Returns RejectedLine for an unreadable line, or an amount that minor units cannot express;
    OmittedLine for an amount of zero.
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
    if not units and not line.deletes:
        return OmittedLine()
    return Line(
        booked_on=line.booked_on,
        amount=units,
        direction="credit" if line.amount > 0 else "debit",
        external_id=line.external_id,
        currency=line.currency,
        description=line.description,
        counterparty_name=line.counterparty_name,
        reference=line.reference,
        account=line.account,
        corrects=line.corrects,
        deletes=line.deletes,
    )


async def try_rules(
    books: Books, rules: Sequence[BankRule], line_results: Sequence[LineResult]
) -> list[TriedLine]:
    """Try the bank rules on each new line, and save it; post if an automatic rule applies."""
    named, codes = await books.fetch(
        books.accounts.named(bank_rules.accounts_applied(rules)),
        books.tax_codes.for_use(needed=any(each.tax_code_id for each in rules)),
    )
    referenced = TaxReferences(BookAccounts(await books.roles(), named), codes)
    tried = [
        await books.with_rates(partial(bank_rules.try_on, each, rules, referenced))
        if isinstance(each, BankTransaction)
        else each
        for each in line_results
    ]
    for each in line_results:
        if isinstance(each, DeletedLine) and each.line:
            books.bank_transactions.delete(each.line)
    await save_and_post_banked(
        books, *(each.line for each in tried if isinstance(each, RuleOutcome))
    )
    return tried


def serialize_results(line_results: Sequence[TriedLine]) -> Reply:
    """Serialize the result of each line, and count the results by status."""
    results = [serialize_result(place, line) for place, line in enumerate(line_results)]
    counts = Counter(each["status"] for each in results)
    return {**{status: counts[status] for status in STATUSES}, "results": results}


def serialize_result(place: int, line: TriedLine) -> dict[str, Any]:
    """Serialize the result of one line, with the bank rule that was suggested or applied."""
    told = {
        "index": place,
        "id": None,
        "error": None,
        "suggested_by_rule_id": None,
        "categorized_by_rule_id": None,
        "after_closing": False,
    }
    match line:
        case RejectedLine():
            error = {"error_code": line.code, "message": line.message}
            return {**told, "status": "failed", "error": error}
        case DuplicateLine():
            return {**told, "status": "skipped", "id": line.id}
        case OmittedLine():
            return {**told, "status": "skipped"}
        case DeletedLine():
            return {**told, "status": "deleted", "id": line.line.id if line.line else None}
    return {
        **told,
        "status": "replaced" if line.line.version else "imported",
        "id": line.line.id,
        "suggested_by_rule_id": line.suggested_by,
        "categorized_by_rule_id": line.line.rule_id,
        "after_closing": line.line.after_closing,
    }
