"""Refunds as they are stored: an obligation first, cash second. Values, status, parts and days."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import field
from datetime import date, datetime
from typing import Any, Literal
from uuid import UUID

from accounting.books.ledger import Posted
from accounting.books.numbers import Number
from accounting.books.spans import Days, Span, days, laid_out
from accounting.books.splits import Part, Shares, Split, summed
from accounting.trade.documents import LineShares
from accounting.trade.parties import Party
from accounting.values import dataclass

Kind = Literal["document", "payment", "credit", "refunded_credit"]
"""What a refund gives back of: a settled document, a payment, or a credit that is paid out.

What is of kind `credit` is not given back: it is kept as a credit for later use.
"""


SplitByTarget = tuple[tuple[UUID | None, Split], ...]
"""A split for each thing that is given back of; None is what is not allocated to anything."""

TargetPart = tuple[UUID | None, Part]
"""A part of one of the things that a refund gives back of."""


@dataclass(frozen=True, slots=True)
class ReleasedAllocation:
    """What a refund of a payment took off one of that payment's documents.

    `amount` is what was taken off; `split` and `description` are those of the whole allocation as
    it was before.
    """

    document_id: UUID
    amount: int
    split: Split
    description: str | None = None


@dataclass(frozen=True, slots=True)
class GivenBackLine:
    """What is asked for: an amount of a line, gross; `place` is where it stands in the request."""

    line_id: UUID
    amount: int
    place: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class RefundAllocation:
    """What a refund gives back: money that settled a document, of a payment, or of a credit.

    `split` says from which parts. Live while it has no `end`; without a `start` it is dated as
    the refund is. `target_number` is the number of the document or credit, and none of a payment.
    `lines` is what it takes of a document's lines, and `self_assessed` what is posted for the tax
    on them that was never charged. `released` is what was taken off a payment's documents to make
    its money free. Where allocations come later than their refund, `created_at` tells when.
    `tax_code_id` is what the credit that it is kept as is taxed by.
    """

    id: UUID
    kind: Kind
    target_id: UUID
    target_number: Number
    amount: int
    split: Split
    tax_code_id: UUID | None = None
    lines: LineShares = ()
    self_assessed: Split = ()
    start: date | None = None
    end: date | None = None
    released: tuple[ReleasedAllocation, ...] = ()
    description: str | None = None
    metadata: Any = None
    created_at: datetime | None = None
    version: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Refund:
    """A refund as it is stored, either way.

    `agreed_on` is the day on which it is owed; `paid` the sum of its completed payments, and
    `settled` what of its parts these have paid.
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
    paid: int = 0
    settled: Split = ()
    memo: str | None = None
    reference_number: str | None = None
    metadata: Any = None
    posted: tuple[Posted, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class InvoiceRefund(Refund):
    """A refund to a customer.

    `method`, `processor` and `fee` are what its first payment has where that does not say
    otherwise.
    """

    method: str
    processor: str | None
    fee: int


@dataclass(frozen=True, slots=True, kw_only=True)
class VendorRefund(Refund):
    """A refund from a vendor.

    `by_target` tells whether each part that is posted is about what it gives back of. Refunds from
    before are about the one thing that they give back of, or about themselves, and stay so.
    """

    refund_type: str
    by_target: bool = False
    expected_completion_date: date | None = None
    description: str | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RefundPayment:
    """Money that pays a refund, with the spans in which it stood completed.

    `splits` say, for each of these spans, which parts of the refund it paid, and `about` what that
    gives back of. It is dated on the day it moved, also before the refund's own: its
    `payment_date`, else the day it completed. Bank lines and a payout hold it as they hold a
    payment.
    """

    id: UUID
    version: int
    created_at: datetime
    updated_at: datetime
    refund_id: UUID
    party: Party
    external_id: str | None
    amount: int
    currency: str
    method: str
    processor: str | None
    fee: int
    status: str
    completed_at: datetime | None
    cancelled_at: datetime | None
    completions: tuple[Span, ...]
    splits: tuple[Split, ...]
    about: UUID | None = None
    memo: str | None = None
    transaction_tags: Any = None
    metadata: Any = None
    payment_date: date | None = None
    linked: int = 0
    money_account_id: UUID | None = None
    payout_id: UUID | None = None
    posted: tuple[Posted, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class VendorRefundPayment(RefundPayment):
    """Money that a vendor pays back, from the day it is announced.

    `shares` are its splits once more, by what the refund gives back of. Payments of refunds from
    before have none.
    """

    shares: tuple[SplitByTarget, ...] = ()
    payment_reference: str | None = None
    processor_payment_id: str | None = None
    submitted_at: datetime | None = None
    failed_at: datetime | None = None
    failure_reason: str | None = None
    description: str | None = None


def invoice_refund_status(refund: InvoiceRefund) -> str:
    """Derive the status: of 100, with 40 paid it is processing and with 100 paid."""
    if refund.cancelled_at is not None:
        return "cancelled"
    if refund.paid == refund.amount:
        return "paid"
    return "processing" if refund.paid else "pending"


def vendor_refund_status(refund: VendorRefund, payments: Iterable[RefundPayment]) -> str:
    """Derive the status of a vendor's refund; the first that fits.

    Of 100, with 40 allocated it is partially_allocated; with all of it allocated and every payment
    that is not cancelled completed, it is completed.
    """
    if refund.cancelled_at is not None:
        return "cancelled"
    if unallocated(refund):
        return "partially_allocated" if allocated(refund) else "pending"
    paid = all(each.status in ("completed", "cancelled") for each in payments)
    return "completed" if paid else "allocated"


def live_allocations(refund: Refund) -> tuple[RefundAllocation, ...]:
    """Pick what the refund gives back now."""
    return tuple(each for each in refund.allocations if each.end is None)


def is_dedicated(refund: Refund) -> bool:
    """Tell whether the refund gives back exactly one thing."""
    return len(live_allocations(refund)) == 1


def allocated(refund: Refund) -> int:
    """Say how much of the refund is allocated, money and credits: 40 and 30 come to 70."""
    return sum(each.amount for each in live_allocations(refund))


def unallocated(refund: Refund) -> int:
    """Say how much of the refund is not allocated yet: of 100 with 40 allocated, 60."""
    return refund.amount - allocated(refund)


def cash(refund: Refund) -> int:
    """Say how much of the refund is money: of 100 with 30 kept as a credit, 70."""
    return refund.amount - credited(refund)


def credited(refund: Refund) -> int:
    """Say how much of the refund is kept as a credit: of 70 money and 30 credited, 30."""
    return sum(each.amount for each in live_allocations(refund) if each.kind == "credit")


def rest(refund: Refund) -> int:
    """Say how much of the money is not paid yet: of 100 with 40 paid, 60."""
    return cash(refund) - refund.paid


def parts(refund: Refund, unallocated_account_id: UUID | None = None) -> dict[Part, int]:
    """Say what the money of the refund is made of, by part.

    What is not allocated yet stands on an account of its own; what is kept as a credit has no
    split.
    """
    split = [part for each in live_allocations(refund) for part in each.split]
    if unallocated_account_id is not None:
        split.append((Part(unallocated_account_id), unallocated(refund)))
    return summed(split)


def parts_by_target(refund: VendorRefund, unallocated_account_id: UUID) -> dict[TargetPart, int]:
    """Say what the money of a refund is made of, by part of each thing that it gives back of.

    Of 700 with 600 of a bill, 500 net and 100 tax are the bill's and 100 are nobody's yet.
    """
    split: list[tuple[TargetPart, int]] = [
        ((each.target_id, part), amount)
        for each in live_allocations(refund)
        for part, amount in each.split
    ]
    split.append(((None, Part(unallocated_account_id)), unallocated(refund)))
    return summed(split)


def parts_paid(payment: VendorRefundPayment) -> Shares[TargetPart]:
    """Say which parts of which things a payment that stands completed pays."""
    return tuple(
        ((target_id, part), amount)
        for target_id, split in shares_of(payment)[-1]
        for part, amount in split
    )


def shares_of(payment: VendorRefundPayment) -> tuple[SplitByTarget, ...]:
    """Lay out the shares of a payment for all its spans.

    What a server of before has split is nobody's.
    """
    rest = payment.splits[len(payment.shares) :]
    return (*payment.shares, *(((None, split),) for split in rest))


def by_target(shares: Shares[TargetPart]) -> SplitByTarget:
    """Gather shares by what they give back of, in the order in which that first appears."""
    splits: dict[UUID | None, Split] = defaultdict(tuple)
    for (target_id, part), amount in shares:
        splits[target_id] += ((part, amount),)
    return tuple(splits.items())


def about(refund: Refund) -> UUID | None:
    """Name the one thing that a refund ever gave back of; none where there were several."""
    targets = {each.target_id for each in refund.allocations if each.kind != "credit"}
    return targets.pop() if len(targets) == 1 else None


def agreed_days(refund: Refund, allocation: RefundAllocation) -> Days:
    """Lay out the days on which an allocation was owed."""
    return days(allocation.start or refund.agreed_on, allocation.end, refund.agreed_on)


def completion_days(payment: RefundPayment) -> list[Days]:
    """Lay out the days on which the money stood completed."""
    if not payment.completions:
        return []
    on = dated_on(payment)
    return laid_out(payment.completions, on, on)


def dated_on(payment: RefundPayment) -> date:
    """Say on which day the money is dated: its payment date, else when it completed."""
    if payment.payment_date is not None:
        return payment.payment_date
    assert payment.completed_at is not None, "what has neither has not moved"
    return payment.completed_at.date()
