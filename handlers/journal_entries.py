"""Journal entries: what was posted, and for what."""

from typing import Any
from uuid import UUID

from handlers.replies import Reply
from persistence.books import Books
from persistence.journal import EntryLine, EntryRecord
from persistence.pages import Page, PageRequest


async def list_journal_entries(books: Books, page: PageRequest) -> Page[Reply]:
    """List entries without their lines."""
    return (await books.journal.page(page)).of(summarize)


async def get_journal_entry(books: Books, journal_entry_id: UUID) -> Reply:
    """Read one entry with its lines."""
    return shape(await books.journal.get(journal_entry_id))


def summarize(entry: EntryRecord) -> dict[str, Any]:
    """Show an entry in a list; a posted one is approved and balanced."""
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
        "created_by_display": entry.created_by.capitalize(),
        "status": "approved",
        "status_display": "Approved",
        "is_posted": True,
        "posted_at": entry.posted_at,
        "bank_transaction_id": None,
        "source_type": entry.source_type,
        "source_id": entry.source_id,
        "source_reference": entry.reference,
        "created_at": entry.created_at,
    }


def shape(entry: EntryRecord) -> dict[str, Any]:
    """Show an entry with its lines."""
    return {
        **summarize(entry),
        "accounting_period": f"{entry.entry_date:%Y-%m}",
        "reversal_of_id": entry.reversal_of_id,
        "reversed_by_id": entry.reversed_by_id,
        "lines": [shape_line(line) for line in entry.lines],
    }


def shape_line(line: EntryLine) -> dict[str, Any]:
    """Show one line."""
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
    }


async def preview(books: Books) -> list[dict[str, Any]]:
    """Show the entries that a previewed request would have posted; they have no numbers."""
    return [shape(record) for record in await books.journal.staged()]
