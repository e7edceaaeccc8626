"""Credits as they are stored: what a party may set against its documents. Values, status, days."""

from dataclasses import dataclass
from datetime import date, datetime
from typing import Any
from uuid import UUID

from accounting.books.ledger import Posted, after_lock
from accounting.books.numbers import Number
from accounting.books.spans import Days, days
from accounting.books.splits import Part, Split, summed
from accounting.trade.allocation import Allocation, live
from accounting.trade.parties import Party
from accounting.trade.sides import Side


@dataclass(frozen=True, slots=True, kw_only=True)
class CreditLine:
    """One line of a credit: a net amount for an account, and the tax on it."""

    id: UUID
    account_id: UUID
    amount: int
    tax_amount: int
    memo: str | None = None
    tags: tuple[str, ...] = ()
    metadata: Any = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Credit:
    """A credit as it is stored, with the live allocations and those that ended.

    `tax_account_id` is where the tax of its lines goes; `settled` holds, by part, which of its
    own parts its live allocations use. `source_document_id` tells of its origin and does nothing;
    `refund_id` is the refund that keeps it as a part of itself. One that came with the opening of
    the books, `opening_id`, stands in them from that day on, `opened_on`; others from the day of
    `opened_at`.
    """

    id: UUID
    version: int
    created_at: datetime
    updated_at: datetime
    party: Party
    external_id: str | None
    number: Number
    state: str
    currency: str
    opened_at: datetime | None
    voided_at: datetime | None
    source_document_id: UUID | None
    refund_id: UUID | None
    lines: tuple[CreditLine, ...]
    tax_account_id: UUID
    tax_total: int
    total_amount: int
    allocations: tuple[Allocation, ...] = ()
    settled: Split = ()
    memo: str | None = None
    transaction_tags: tuple[str, ...] = ()
    metadata: Any = None
    opening_id: UUID | None = None
    opened_on: date | None = None
    posted: tuple[Posted, ...] = ()


def live_allocations(credit: Credit) -> tuple[Allocation, ...]:
    """Pick the allocations that use the credit now."""
    return live(credit.allocations)


def applied(credit: Credit) -> int:
    """Say how much of the credit is used: 600 and 100 on two documents come to 700."""
    return sum(each.amount for each in live_allocations(credit))


def unapplied(credit: Credit) -> int:
    """Say how much can still be used: of 1000 with 600 applied, 400; 0 when it is not sent."""
    return credit.total_amount - applied(credit) if credit.state == "open" else 0


def status(side: Side, credit: Credit) -> str:
    """Derive the status for callers: of 1000, with 600 applied it is partially_applied."""
    if credit.state != "open":
        return credit.state
    used = applied(credit)
    if used == credit.total_amount:
        return "applied"
    return "partially_applied" if used else side.opened_status


def parts(credit: Credit) -> dict[Part, int]:
    """Say what the credit is made of; the parts sum to its total."""
    nets = [(Part(line.account_id), line.amount) for line in credit.lines]
    return summed([*nets, (Part(credit.tax_account_id), credit.tax_total)])


def opened_on(credit: Credit) -> date:
    """Say on which day an opened credit stands in the books."""
    if credit.opened_at is None:
        raise ValueError("a draft has no opening day")
    return credit.opened_on or credit.opened_at.date()


def applied_days(credit: Credit, allocation: Allocation) -> Days:
    """Lay out the days on which an allocation settled its document.

    It begins no earlier than the credit and the document.
    """
    on = opened_on(credit)
    return days(allocation.start or on, allocation.end, max(on, allocation.document_date))


def applied_on(credit: Credit, allocation: Allocation, lock_date: date | None) -> date:
    """Say on which day an allocation came to settle its document."""
    begin, _ = applied_days(credit, allocation)
    return after_lock(begin, lock_date)
