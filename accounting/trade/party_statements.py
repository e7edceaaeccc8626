"""Statements of a customer or a vendor: opening balance, entries and closing balance."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from uuid import UUID

from accounting.books.periods import Period
from accounting.errors import ValidationError


@dataclass(frozen=True, slots=True, kw_only=True)
class StatementLine:
    """A change by one entry to the outstanding amount of a document, above zero if it rises."""

    entry_date: date
    entry_id: UUID
    sequence_number: str
    source_type: str
    source_id: UUID
    reference: str | None
    description: str
    document_id: UUID
    document_number: str | None
    amount: int


@dataclass(frozen=True, slots=True)
class PartyStatement:
    """An opening balance, lines with the balance after each, and the unapplied amount.

    `unapplied` is the money in advance and the credits that settle nothing at the end of the
    period.
    """

    opening: int
    lines: tuple[tuple[StatementLine, int], ...]
    unapplied: int

    @property
    def closing(self) -> int:
        """The balance after the last line."""
        return self.lines[-1][1] if self.lines else self.opening


def statement(opening: int, lines: Iterable[StatementLine], unapplied: int) -> PartyStatement:
    """Create a statement: 50 owed, an invoice of 100 and a payment of 30 leave 150, then 120."""
    told, owed = [], opening
    for line in lines:
        owed += line.amount
        told.append((line, owed))
    return PartyStatement(opening, tuple(told), unapplied)


def days_of(first: date | None, last: date) -> Period:
    """Return the period of a statement; without a first day, all days up to the last.

    Raises ValidationError on `end_date` if the last day is before the first.
    """
    if first is not None and last < first:
        raise ValidationError.fields(end_date=["must not be before start_date"])
    return Period(date.min if first is None else first, last)
