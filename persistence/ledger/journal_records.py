"""Records of journal entries, made from rows and from manual entries."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any
from uuid import UUID

from accounting.books.accounts import Account
from accounting.books.ledger import TaxMark
from accounting.books.manual_entries import STREAM, ManualEntry, ManualLine
from accounting.books.numbers import Number
from persistence.engine.sql import Row
from persistence.ledger.split_rows import mark_columns


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryLine:
    """A line with its account; amounts are in minor units, debit and credit in base."""

    id: UUID
    line_number: int
    account_id: UUID
    account_code: str
    account_name: str
    account_type: str
    debit: int
    credit: int
    description: str | None
    tax: TaxMark | None
    tags: tuple[str, ...]
    currency: str | None = None
    currency_amount: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryRecord:
    """An entry as it is shown, posted or draft; `lines` is empty in a list.

    `held_by_id` is the record that contains the entry's source: the invoice of a write-off.
    """

    id: UUID
    version: int
    created_at: datetime
    sequence_number: Number
    entry_date: date
    posted_at: datetime | None
    reference: Number
    description: str
    currency: str
    total: int
    stream: str
    created_by: str
    status: str
    source_type: str
    source_id: UUID
    reversal_of_id: UUID | None
    reversed_by_id: UUID | None
    held_by_id: UUID | None = None
    lines: tuple[EntryLine, ...] = ()


def record_of(row: Row, lines: tuple[EntryLine, ...] = ()) -> EntryRecord:
    """Make an entry from its row; a reversed entry has a version one higher than its row."""
    moved_on = row["reversed_by_id"] is not None
    return EntryRecord(**{**row, "version": row["version"] + moved_on}, lines=lines)


def line_on(account: Account, *, amount: int, **facts: Any) -> EntryLine:
    """Make a line on an account; a positive amount is a debit."""
    return EntryLine(
        account_id=account.id,
        account_code=account.code,
        account_name=account.name,
        account_type=account.account_type,
        debit=max(amount, 0),
        credit=max(-amount, 0),
        **facts,
    )


def written(record: EntryRecord) -> ManualEntry:
    """Convert a record into a `ManualEntry`, the value that the accounting rules use."""
    return ManualEntry(
        id=record.id,
        version=record.version,
        created_at=record.created_at,
        entry_date=record.entry_date,
        reference=_read(record.reference),
        description=record.description,
        currency=record.currency,
        created_by=record.created_by,
        status=record.status,
        lines=tuple(
            ManualLine(
                each.id,
                each.account_id,
                each.debit - each.credit,
                each.description,
                each.tax,
                each.tags,
                each.currency,
                each.currency_amount,
            )
            for each in record.lines
        ),
        source_id=record.source_id,
        source_type=record.source_type,
        sequence_number=_read(record.sequence_number),
        reversal_of_id=record.reversal_of_id,
        reversed_by_id=record.reversed_by_id,
    )


def shown(
    entry: ManualEntry, accounts: Mapping[UUID, Account], number: Number, posted_at: datetime | None
) -> EntryRecord:
    """Make the record of a manual entry that is being written."""
    return EntryRecord(
        id=entry.id,
        version=entry.version,
        created_at=entry.created_at,
        sequence_number=number,
        entry_date=entry.entry_date,
        posted_at=posted_at,
        reference=entry.reference,
        description=entry.description,
        currency=entry.currency,
        total=entry.total,
        stream=STREAM,
        created_by=entry.created_by,
        status=entry.status,
        source_type=entry.source_type,
        source_id=entry.source_id,
        reversal_of_id=entry.reversal_of_id,
        reversed_by_id=None,
        lines=tuple(
            line_on(
                accounts[line.account_id],
                id=line.id,
                line_number=place,
                amount=line.amount,
                description=line.description,
                tax=line.tax,
                tags=line.tags,
                currency=line.currency,
                currency_amount=line.currency_amount,
            )
            for place, line in enumerate(entry.lines, start=1)
        ),
    )


def draft_row(entry: ManualEntry, now: datetime) -> Row:
    """Return the row of a draft."""
    return {
        "id": entry.id,
        "created_at": entry.created_at,
        "updated_at": now,
        "entry_date": entry.entry_date,
        "reference": entry.reference,
        "description": entry.description,
        "currency": entry.currency,
        "total": entry.total,
        "created_by": entry.created_by,
        "status": entry.status,
        "lines": [
            {
                "id": line.id,
                "account_id": line.account_id,
                "amount": line.amount,
                "description": line.description,
                **mark_columns(line.tax),
                "tags": list(line.tags) or None,
                **_own_amount(line),
            }
            for line in entry.lines
        ],
    }


def _own_amount(line: ManualLine) -> Row:
    """Return the currency and the own amount of a line, which lines in base do not have."""
    if line.currency is None:
        return {}
    return {"currency": line.currency, "currency_amount": line.currency_amount}


def head_row(entry: ManualEntry) -> Row:
    """Return the row of a posted manual entry, without `sequence_number` and `posted_at`."""
    return {
        "id": entry.id,
        "version": max(entry.version, 1),
        "created_at": entry.created_at,
        "entry_date": entry.entry_date,
        "reference": entry.reference,
        "description": entry.description,
        "currency": entry.currency,
        "total": entry.total,
        "stream": STREAM,
        "created_by": entry.created_by,
        "source_type": entry.source_type,
        "source_id": entry.source_id,
        "reversal_of_id": entry.reversal_of_id,
    }


def _read(number: Number) -> str | None:
    assert number is None or isinstance(number, str), "what was read has its number"
    return number
