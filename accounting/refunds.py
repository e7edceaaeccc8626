"""Refunds as they are stored: an obligation first, cash second. Values, status, parts and days."""

from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, Literal
from uuid import UUID

from accounting.ledger import Posted
from accounting.numbers import Number
from accounting.parties import Party
from accounting.spans import Days, Span, days
from accounting.splits import Split, summed


@dataclass(frozen=True, slots=True, kw_only=True)
class RefundAllocation:
    """What a refund gives back: money that settled a document, or money that settled nothing.

    `split` says from which accounts. Live while it has no `end`; without a `start` it is dated as
    the refund is. `target_number` is the document's number, and none of a payment.
    """

    id: UUID
    kind: Literal["document", "payment"]
    target_id: UUID
    target_number: Number
    amount: int
    split: Split
    start: date | None = None
    end: date | None = None
    version: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Refund:
    """A refund as it is stored.

    `agreed_on` is the day on which it is owed; `paid` the sum of its completed payments, and
    `settled` the accounts of its parts that these have paid. `method`, `processor` and `fee` are
    what its first payment has where that does not say otherwise.
    """

    id: UUID
    version: int
    created_at: datetime
    updated_at: datetime
    party: Party
    external_id: str | None
    amount: int
    currency: str
    agreed_on: date
    completed_at: datetime | None
    cancelled_at: datetime | None
    allocations: tuple[RefundAllocation, ...]
    method: str
    processor: str | None
    fee: int
    paid: int = 0
    settled: Split = ()
    memo: str | None = None
    reference_number: str | None = None
    metadata: Any = None
    posted: tuple[Posted, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RefundPayment:
    """Money that pays a refund, with the spans in which it stood completed.

    `split` says which parts of the refund it pays. `agreed_on` is the refund's day; the money
    moves no earlier.
    """

    id: UUID
    version: int
    created_at: datetime
    updated_at: datetime
    refund_id: UUID
    agreed_on: date
    party: Party
    external_id: str | None
    amount: int
    currency: str
    method: str
    processor: str | None
    fee: int
    status: str
    completed_at: datetime
    cancelled_at: datetime | None
    completions: tuple[Span, ...]
    split: Split
    memo: str | None = None
    transaction_tags: Any = None
    metadata: Any = None
    posted: tuple[Posted, ...] = ()


def status(refund: Refund) -> str:
    """Derive the status: of 100, with 40 paid it is processing and with 100 paid."""
    if refund.cancelled_at is not None:
        return "cancelled"
    if refund.paid == refund.amount:
        return "paid"
    return "processing" if refund.paid else "pending"


def live_allocations(refund: Refund) -> tuple[RefundAllocation, ...]:
    """Pick what the refund gives back now."""
    return tuple(each for each in refund.allocations if each.end is None)


def is_dedicated(refund: Refund) -> bool:
    """Tell whether the refund gives back exactly one thing."""
    return len(live_allocations(refund)) == 1


def rest(refund: Refund) -> int:
    """Say how much of the refund is not paid yet: of 100 with 40 paid, 60."""
    return refund.amount - refund.paid


def parts(refund: Refund) -> dict[UUID, int]:
    """Say what the refund is made of, by account; the parts sum to its amount."""
    return summed(part for each in live_allocations(refund) for part in each.split)


def agreed_days(refund: Refund, allocation: RefundAllocation) -> Days:
    """Lay out the days on which an allocation was owed."""
    return days(allocation.start or refund.agreed_on, allocation.end, refund.agreed_on)


def paid_days(payment: RefundPayment) -> list[Days]:
    """Lay out the days on which the money stood paid."""
    on = payment.completed_at.date()
    floor = max(on, payment.agreed_on)
    return [days(span.start or on, span.end, floor) for span in payment.completions]
