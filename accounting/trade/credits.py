"""Credits as they are stored: what a party may set against its documents. Values, status, days."""

from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import Any
from uuid import UUID

from accounting.books.ledger import Posted, after_lock
from accounting.books.numbers import Number
from accounting.books.spans import Days, days
from accounting.books.splits import Split, added, summed
from accounting.errors import Conflict
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

    `tax_account_id` is where the tax of its lines goes; `refunded` is what its live refunds pay out
    of it. `settled` holds, by account, which of its own parts these and its live allocations use.
    `source_document_id` tells of its origin and does nothing;
    `refund_id` is the refund that keeps it as a part of itself.
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
    refunded: int = 0
    settled: Split = ()
    memo: str | None = None
    transaction_tags: tuple[str, ...] = ()
    metadata: Any = None
    posted: tuple[Posted, ...] = ()


def live_allocations(credit: Credit) -> tuple[Allocation, ...]:
    """Pick the allocations that use the credit now."""
    return live(credit.allocations)


def applied(credit: Credit) -> int:
    """Say how much of the credit settles documents: 600 and 100 on two come to 700."""
    return sum(each.amount for each in live_allocations(credit))


def used(credit: Credit) -> int:
    """Say how much of the credit is used: 600 applied and 100 paid out come to 700."""
    return applied(credit) + credit.refunded


def unapplied(credit: Credit) -> int:
    """Say how much can still be used: of 1000 with 600 used, 400; 0 when it is not sent."""
    return credit.total_amount - used(credit) if credit.state == "open" else 0


def status(side: Side, credit: Credit) -> str:
    """Derive the status for callers: of 1000, with 600 used it is partially_applied."""
    if credit.state != "open":
        return credit.state
    if unapplied(credit) == 0:
        return "applied"
    return "partially_applied" if used(credit) else side.opened_status


def parts(credit: Credit) -> dict[UUID, int]:
    """Say what the credit is made of, by account; the parts sum to its total."""
    nets = [(line.account_id, line.amount) for line in credit.lines]
    return summed([*nets, (credit.tax_account_id, credit.tax_total)])


def give_back(credit: Credit, amount: int, split: Split) -> Credit:
    """Note what a refund pays out of it, or that it does so no longer with both below 0."""
    return replace(credit, refunded=credit.refunded + amount, settled=added(credit.settled, split))


def refuse_not_open(side: Side, credit: Credit, use: str) -> None:
    """Refuse to use a credit that is a draft or void.

    Raises Conflict `credit_not_sent`.
    """
    if credit.state != "open":
        raise Conflict(
            "credit_not_sent",
            f"Only a {side.opened_status} credit can be {use}.",
            current_state=credit.state,
        )


def opened_on(credit: Credit) -> date:
    """Say on which day an opened credit opened."""
    if credit.opened_at is None:
        raise ValueError("a draft has no opening day")
    return credit.opened_at.date()


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
