"""Payments as they are stored: invoice payments and bill payments. Values, amounts, days."""

from collections.abc import Mapping
from dataclasses import field
from datetime import date, datetime
from typing import Any
from uuid import UUID

from accounting.books.context import Context
from accounting.books.ledger import Posted, after_lock
from accounting.books.spans import Days, Span, days, laid_out
from accounting.trade.allocation import Allocation, AllocationSource, live
from accounting.trade.parties import Party
from accounting.values import dataclass

STATUSES = ("pending", "processing", "completed", "failed", "cancelled", "refunded")
LIVE = frozenset({"pending", "processing", "completed"})
CANCELLABLE = frozenset({"pending", "failed"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Payment:
    """A payment as it is stored, with the whole history of its status and allocations.

    `completions` are the spans in which it was completed; `allocations` hold the live ones and
    those that ended. `refunded` is what live refunds of money that settled nothing hold of it.
    `linked` is what bank lines show of it, on the ledger account `money_account_id`; `payout_id`
    is the live payout that it came in. The money of one that came with the opening of the books,
    `opening_id`, was in the bank before them.
    """

    id: UUID
    version: int
    created_at: datetime
    updated_at: datetime
    party: Party
    external_id: str | None
    total: int
    currency: str
    payment_date: date
    method: str
    processor: str | None
    fee: int
    status: str
    completions: tuple[Span, ...]
    allocations: tuple[Allocation, ...]
    refunded: int = 0
    linked: int = 0
    money_account_id: UUID | None = None
    payout_id: UUID | None = None
    note: str | None = None
    payment_reference: str | None = None
    bank_reference: str | None = None
    processor_reference: str | None = None
    check_number: str | None = None
    references: Mapping[str, str] = field(default_factory=dict)
    transaction_tags: tuple[str, ...] = ()
    metadata: Any = None
    idempotency_key: str | None = None
    opening_id: UUID | None = None
    posted: tuple[Posted, ...] = ()


def live_allocations(payment: Payment) -> tuple[Allocation, ...]:
    """Pick the allocations that hold money of the payment now."""
    return live(payment.allocations)


def allocated(payment: Payment) -> int:
    """Say how much has a use: applied, reserved while it is on its way, or refunded."""
    return allocated_to_documents(payment) + payment.refunded


def allocated_to_documents(payment: Payment) -> int:
    """Say how much documents hold: of 1000 with 600 allocated and 100 refunded, 600."""
    return sum(each.amount for each in live_allocations(payment))


def applied(payment: Payment) -> int:
    """Say how much has settled documents: all that they hold once it is completed."""
    return allocated_to_documents(payment) if payment.status == "completed" else 0


def unapplied(payment: Payment) -> int:
    """Say how much of the total has settled nothing: of 1000 with 600 reserved, 1000."""
    return payment.total - applied(payment)


def remaining(payment: Payment) -> int:
    """Say how much can still be allocated or refunded: of 1000 with 600 allocated, 400."""
    return payment.total - allocated(payment)


def net_amount(payment: Payment) -> int:
    """Say what is left of the total after the fee: of 100 less 2, 98."""
    return payment.total - payment.fee


def is_fully_allocated(payment: Payment) -> bool:
    """Tell whether all of the money has a use."""
    return remaining(payment) == 0


def completion_days(payment: Payment) -> list[Days]:
    """Lay out the days on which the payment stood completed.

    It begins no earlier than its payment date and ends no earlier than it begins: paid on the
    10th and failed on the 5th, the money comes and goes on the 10th.
    """
    return laid_out(payment.completions, payment.payment_date, payment.payment_date)


def applied_days(payment: Payment, allocation: Allocation) -> list[Days]:
    """Lay out the days on which an allocation settled its document.

    That takes a completed payment and begins no earlier than the payment and the document: money
    that came on the 5th for an invoice of the 10th waits until the 10th.
    """
    begin, end = days(
        allocation.start or payment.payment_date,
        allocation.end,
        max(payment.payment_date, allocation.document_date),
    )
    shared = []
    for completed, ended in completion_days(payment):
        first = max(begin, completed)
        last = min((day for day in (end, ended) if day is not None), default=None)
        if last is None or first < last:
            shared.append((first, last))
    return shared


def applied_on(payment: Payment, allocation: Allocation, lock_date: date | None) -> date:
    """Say on which day a live allocation of a completed payment came to settle its document."""
    begin, _ = applied_days(payment, allocation)[-1]
    return after_lock(begin, lock_date)


def allocation_source(
    payment: Payment, start: date | None, end: date, context: Context
) -> AllocationSource:
    """Say how a payment holds its parts; new ones begin on a day, released ones end on another."""
    return AllocationSource(
        party_id=payment.party.id,
        total=payment.total,
        held=payment.refunded,
        by="paid",
        applied=payment.status == "completed",
        start=start,
        end=end,
        identify=context.identify,
        applied_on=lambda each: applied_on(payment, each, context.lock_date),
    )
