"""Journal entries: posted entries with their sources, and entries written by hand."""

from collections.abc import Iterable, Mapping
from typing import Any
from uuid import UUID

from access.links import Links
from accounting.books import manual_entries
from accounting.books.accounts import Account, AccountReference
from accounting.books.commands import EntryLineGiven
from accounting.books.manual_entries import ManualEntry, ManualLine, posting_rule
from accounting.tax.day_codes import MarkedByHand
from handlers.bodies import JournalEntryCreate, JournalEntryReplace, JournalEntryReversal
from handlers.books import journal_commands
from handlers.results import Created, Csv, Reply
from handlers.shared import attached_files, file_commands, responses
from handlers.shared.links import document_address
from handlers.shared.responses import serialize_lines
from handlers.tax.tax_code_responses import serialize_mark
from persistence.books import Books
from persistence.engine.pages import Page, PageRequest
from persistence.ledger.journal_records import EntryLine, EntryRecord, written
from persistence.trade.linked_lines import NOTHING, Linked

AUTHORS = {"ai": "AI", "manual": "Manual", "system": "System", "import": "Import"}
EXPORTED = {
    "entry_id": "id",
    "sequence_number": "sequence_number",
    "entry_date": "entry_date",
    "status": "status",
    "created_by": "created_by",
    "source_type": "source_type",
    "reference": "reference",
    "description": "description",
    "line_number": "line_number",
    "account_code": "account_code",
    "account_name": "account_name",
    "debit_amount": "debit",
    "credit_amount": "credit",
    "line_description": "line_description",
    "currency": "currency",
    "posted_at": "posted_at",
    "reversal_of_id": "reversal_of_id",
    "tax_code_id": "tax_code_id",
    "tax_rate": "tax_rate",
    "tax_part": "tax_part",
}
"""The columns of the CSV file, each with its name in the journal export."""


async def list_journal_entries(books: Books, page: PageRequest) -> Page[Reply]:
    """List entries without their lines, including drafts and rejected entries."""
    return (await books.journal.page(page)).of(lambda entry: summarize(books, entry))


async def export_journal_entries(books: Books, page: PageRequest) -> Csv:
    """Export the entries of a list as CSV, with a row for each of their lines."""
    rows = await books.journal.export(page)
    cells = ([row[name] for name in EXPORTED.values()] for row in rows)
    return Csv("journal-entries.csv", list(EXPORTED), cells)


async def get_journal_entry(books: Books, journal_entry_id: UUID, links: Links) -> Reply:
    """Return one entry with its lines, its bank transactions and its latest document."""
    entry, linked, stored = await books.fetch(
        books.journal.get(journal_entry_id),
        books.bank_links.at(journal_entry_id),
        books.files.latest([journal_entry_id]),
    )
    document = attached_files.summary(stored.get(journal_entry_id), links)
    return serialize(books, entry, linked, document)


async def create_journal_entry(books: Books, body: JournalEntryCreate, links: Links) -> Reply:
    """Create an entry by hand, as a draft or posted immediately, with its attached document."""
    file, command = file_commands.attached(body), journal_commands.create_entry(body)
    named = await books.accounts.named(manual_entries.account_references(command))
    codes = await codes_for(books, command.lines)
    entry = manual_entries.write(command, named, codes, books.context)
    attached_files.attach(books, file, books.journal.noun, entry.id)
    return Created(await show(books, books.journal.keep(entry, by_id(named)), links))


async def replace_journal_entry(
    books: Books, journal_entry_id: UUID, body: JournalEntryReplace, links: Links
) -> Reply:
    """Replace the contents of a draft, and add the attached document if there is one."""
    file, command = file_commands.attached(body), journal_commands.replace_entry(body)
    entry = written(await books.journal.lock(journal_entry_id))
    named = await books.accounts.named(manual_entries.account_references(command))
    codes = await codes_for(books, command.lines)
    rewritten = manual_entries.rewrite(entry, command, named, codes, books.context)
    attached_files.attach(books, file, books.journal.noun, entry.id)
    return await show(books, books.journal.keep(rewritten, by_id(named)), links)


async def approve_journal_entry(books: Books, journal_entry_id: UUID, links: Links) -> Reply:
    """Post a draft."""
    entry = written(await books.journal.lock(journal_entry_id))
    named = await books.accounts.named(manual_entries.accounts_on(entry.lines))
    codes = await codes_for(books, entry.lines)
    approved = manual_entries.approve(entry, named, codes, books.context)
    return await show(books, books.journal.keep(approved, by_id(named)), links)


async def reject_journal_entry(books: Books, journal_entry_id: UUID, links: Links) -> Reply:
    """Reject a draft."""
    entry = written(await books.journal.lock(journal_entry_id))
    return await show(books, await save_entry(books, manual_entries.reject(entry)), links)


async def reverse_journal_entry(
    books: Books, journal_entry_id: UUID, body: JournalEntryReversal | None
) -> Reply:
    """Reverse a posted entry with a new entry of opposite amounts."""
    entry = written(await books.journal.lock(journal_entry_id))
    on = journal_commands.reversed_on(body)
    return Created(
        serialize(books, await save_entry(books, manual_entries.reverse(entry, on, books.context)))
    )


async def save_entry(books: Books, entry: ManualEntry) -> EntryRecord:
    """Save an entry whose accounts were checked when it was written."""
    named = await books.accounts.named(manual_entries.accounts_on(entry.lines))
    return books.journal.keep(entry, by_id(named))


async def codes_for(books: Books, lines: Iterable[EntryLineGiven | ManualLine]) -> MarkedByHand:
    """Load the tax codes of the business if a line names one."""
    needed = manual_entries.any_is_marked(lines)
    return MarkedByHand(await books.tax_codes.for_use(needed=needed))


async def show(books: Books, entry: EntryRecord, links: Links) -> Reply:
    """Serialize a saved entry with its latest document."""
    stored = await books.files.latest([entry.id])
    return serialize(books, entry, document=attached_files.summary(stored.get(entry.id), links))


def by_id(named: Mapping[Any, Account]) -> dict[UUID, Account]:
    """Index accounts by their ids."""
    return {account.id: account for account in named.values()}


def summarize(books: Books, entry: EntryRecord) -> dict[str, Any]:
    """Serialize an entry for a list; drafts are balanced too."""
    from_bank = entry.source_type == "bank_transaction"
    return {
        "id": entry.id,
        "sequence_number": entry.sequence_number,
        "entry_date": entry.entry_date,
        "reference": entry.reference,
        "description": entry.description,
        "currency": entry.currency,
        "total_debit": entry.total,
        "total_credit": entry.total,
        "is_balanced": True,
        "created_by": entry.created_by,
        "created_by_display": AUTHORS[entry.created_by],
        "status": entry.status,
        "status_display": entry.status.capitalize(),
        "is_posted": entry.posted_at is not None,
        "posted_at": entry.posted_at,
        "bank_transaction_id": entry.source_id if from_bank else None,
        "source_type": entry.source_type,
        "source_id": entry.source_id,
        "source_reference": entry.reference,
        "posting_rule": posting_rule(
            entry.source_type, entry.stream, reverses=entry.reversal_of_id is not None
        ),
        "document_url": document_address(
            books.business_id, entry.source_type, entry.source_id, entry.held_by_id
        ),
        "created_at": entry.created_at,
    }


def serialize(
    books: Books, entry: EntryRecord, linked: Linked = NOTHING, document: Reply | None = None
) -> dict[str, Any]:
    """Serialize an entry with its lines; a new entry has no linked bank transactions."""
    return {
        **summarize(books, entry),
        "accounting_period": entry.entry_date.isoformat()[:7],
        "reversal_of_id": entry.reversal_of_id,
        "reversed_by_id": entry.reversed_by_id,
        "lines": [serialize_line(line) for line in entry.lines],
        "reconciled_bank_transactions": serialize_lines(linked.get(entry.id, ())),
        "document": document,
        "warnings": responses.of_distant_days(books.context, entry_date=entry.entry_date),
    }


def serialize_line(line: EntryLine) -> dict[str, Any]:
    """Serialize one line; only one in a foreign currency has a currency and an own amount."""
    return {
        "id": line.id,
        "line_number": line.line_number,
        "account_id": line.account_id,
        "account_code": line.account_code,
        "account_name": line.account_name,
        "account_type": line.account_type,
        "debit_amount": line.debit,
        "credit_amount": line.credit,
        "description": line.description,
        "currency": line.currency,
        "currency_amount": line.currency_amount,
        **serialize_mark(line.tax),
        "tags": line.tags,
    }


async def preview(books: Books) -> list[dict[str, Any]]:
    """Serialize the entries that a previewed request would post; they have no numbers."""
    references = [AccountReference("id", each) for each in books.journal.staged_accounts()]
    named = await books.accounts.named(references, hold=False)
    return [serialize(books, record) for record in books.journal.staged(by_id(named))]
