"""Statements of a customer or a vendor: what was owed, what came to it, what is owed."""

from collections.abc import Iterable
from datetime import date
from uuid import UUID

from accounting.books.periods import Period
from accounting.errors import Malformed
from accounting.values import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class StatementLine:
    """What one entry did to what is owed on a document: more above zero, less below."""

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
    """What was owed before some days, each line of them with what was owed after it, and the rest.

    `unapplied` is what settles nothing at their end: money in advance and credits.
    """

    opening: int
    lines: tuple[tuple[StatementLine, int], ...]
    unapplied: int

    @property
    def closing(self) -> int:
        """What is owed after the last line."""
        return self.lines[-1][1] if self.lines else self.opening


def statement(opening: int, lines: Iterable[StatementLine], unapplied: int) -> PartyStatement:
    """Lay out a statement: 50 owed, an invoice of 100 and a payment of 30 leave 150, then 120."""
    told, owed = [], opening
    for line in lines:
        owed += line.amount
        told.append((line, owed))
    return PartyStatement(opening, tuple(told), unapplied)


def days_of(first: date | None, last: date) -> Period:
    """Read the days of a statement; all up to the last one where no first one is asked for.

    Raises Malformed on `end_date` where they end before they begin.
    """
    if first is not None and last < first:
        raise Malformed.fields(end_date=["must not be before start_date"])
    return Period(date.min if first is None else first, last)
