"""Entries written by hand."""

from datetime import date

from accounting.absent import or_else, or_none
from accounting.books.commands import EntryLineGiven, WriteEntry
from accounting.books.ledger import TaxPart
from handlers.bodies import (
    JournalEntryCreate,
    JournalEntryReplace,
    JournalEntryReversal,
    JournalLineInput,
    OpeningAccountInput,
)
from handlers.shared.account_commands import any_account


def create_entry(body: JournalEntryCreate) -> WriteEntry:
    """Parse a new entry."""
    return WriteEntry(
        entry_date=body["entry_date"],
        reference=or_none(body["reference"]),
        description=or_none(body["description"]),
        lines=tuple(map(_line, body["lines"])),
        author=or_else(body["created_by"], "manual"),
        post=or_else(body["post"], False),
    )


def replace_entry(body: JournalEntryReplace) -> WriteEntry:
    """Parse the new contents of a draft."""
    return WriteEntry(
        entry_date=body["entry_date"],
        reference=or_none(body["reference"]),
        description=or_none(body["description"]),
        lines=tuple(map(_line, body["lines"])),
    )


def reversed_on(body: JournalEntryReversal | None) -> date | None:
    """Return the date of a reversal, if the body states it."""
    return None if body is None else or_none(body["entry_date"])


def signed(item: JournalLineInput | OpeningAccountInput) -> int:
    """Return the debit amount less the credit amount of a line."""
    return or_else(item["debit_amount"], 0) - or_else(item["credit_amount"], 0)


def _line(item: JournalLineInput) -> EntryLineGiven:
    return EntryLineGiven(
        any_account(item["account"]),
        signed(item),
        or_none(item["description"]),
        tax_code=or_none(item["tax_code"]),
        tax_part=TaxPart(or_else(item["tax_part"], TaxPart.NET)),
        tags=tuple(or_else(item["tags"], ())),
        currency=or_none(item["currency"]),
        currency_amount=or_none(item["currency_amount"]),
    )
