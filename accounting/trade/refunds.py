"""Refunds as they are stored, an obligation first and cash second: amounts, status and dates."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any, Literal
from uuid import UUID

from accounting.books.foreign import Worth, in_base, with_base
from accounting.books.ledger import (
    Days,
    Part,
    PostedEntry,
    Shares,
    Span,
    Split,
    days,
    laid_out,
    summed,
)
from accounting.books.numbers import Number
from accounting.books.time_zones import stored_day
from accounting.trade.documents import LineShares
from accounting.trade.parties import Party
from accounting.trade.payments import MoneyBank

Kind = Literal["document", "payment", "credit", "refunded_credit"]
"""The target of a refund: a settled document, a payment, or a credit that is paid out.

An amount of kind `credit` is not refunded: it is kept as a credit for later use.
"""


SplitByTarget = tuple[tuple[UUID | None, Split], ...]
"""A split for each target of a refund; None is the amount without a target."""

TargetPart = tuple[UUID | None, Part]
"""A part of one target of a refund."""


@dataclass(frozen=True, slots=True)
class ReleasedAllocation:
    """An amount that a refund of a payment released from one of the payment's documents.

    `amount` is the released amount; `split`, `description` and the `document_amount` of a document
    in another currency are those of the whole allocation before the release.
    """

    document_id: UUID
    amount: int
    split: Split
    description: str | None = None
    document_amount: int | None = None


@dataclass(frozen=True, slots=True)
class GivenBackLine:
    """A requested gross refund of a document line; `place` is its place in the request."""

    line_id: UUID
    amount: int
    place: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class RefundAllocation:
    """A part of a refund and its target: a document, a payment, or a credit.

    `split` lists the refunded parts. The allocation is live while it has no `end`; without a
    `start` it has the date of the refund. `target_number` is the number of the document or credit,
    and None for a payment. `lines` are the amounts taken from a document's lines, and
    `self_assessed` the postings for self-assessed tax on them, which was never charged. `released`
    lists what was released from a payment's documents to free its money. `created_at` is set where
    an allocation may be later than its refund. `tax_code_id` is the tax code of the credit that the
    amount is kept as.
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
    """A refund as it is stored, to a customer or from a vendor.

    `agreed_on` is the day on which it is owed; `paid` is the sum of its completed payments, and
    `settled` the amounts that these have paid of its parts. The splits of a refund that
    `is_foreign` have base amounts.
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
    cancelled_on: date | None = None
    is_foreign: bool = False
    posted: tuple[PostedEntry, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class InvoiceRefund(Refund):
    """A refund to a customer.

    `method`, `processor` and `bank` are the defaults of its payments; `fee` is the default of the
    first one.
    """

    method: str
    processor: str | None
    fee: int
    bank: MoneyBank | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class VendorRefund(Refund):
    """A refund from a vendor.

    `by_target` is true if each posted part is attributed (`about`) to the target that it refunds.
    Older refunds are attributed to their only target, or to themselves, and stay so.
    """

    refund_type: str
    by_target: bool = False
    expected_completion_date: date | None = None
    description: str | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RefundPayment:
    """A payment of a refund, with the spans in which it was completed.

    `splits` has, for each span, the parts of the refund that the payment paid; `about` is the
    refund's only target, if there is a single one. The payment is dated on the day the money moved,
    even if that is before the refund: its `payment_date`, else the day it was completed. Bank lines
    and a payout hold it as they hold a payment. One in a foreign currency has its `worth` and its
    `own_account_id`, as a payment has.
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
    completed_on: date | None = None
    linked: int = 0
    linked_back: int = 0
    money_account_id: UUID | None = None
    bank: MoneyBank | None = None
    own_account_id: UUID | None = None
    payout_id: UUID | None = None
    worth: Worth | None = None
    posted: tuple[PostedEntry, ...] = ()

    @property
    def whole(self) -> int:
        """The amount; in a foreign currency with its base."""
        return with_base(self.amount, self.worth)


@dataclass(frozen=True, slots=True, kw_only=True)
class VendorRefundPayment(RefundPayment):
    """A payment of a refund by a vendor, from the day it is announced.

    `shares` are its splits by target of the refund. Payments of older refunds have none.
    """

    shares: tuple[SplitByTarget, ...] = ()
    payment_reference: str | None = None
    processor_payment_id: str | None = None
    submitted_at: datetime | None = None
    failed_at: datetime | None = None
    failure_reason: str | None = None
    description: str | None = None


def invoice_refund_status(refund: InvoiceRefund) -> str:
    """Derive the status: 100 with 40 paid is processing, with 100 paid it is paid."""
    if refund.cancelled_at is not None:
        return "cancelled"
    if refund.paid == refund.amount:
        return "paid"
    return "processing" if refund.paid else "pending"


def vendor_refund_status(refund: VendorRefund, payments: Iterable[RefundPayment]) -> str:
    """Derive the status of a vendor refund: the first rule that applies.

    100 with 40 allocated is partially_allocated. With all of it allocated, and every payment
    completed or cancelled, it is completed.
    """
    if refund.cancelled_at is not None:
        return "cancelled"
    if unallocated(refund):
        return "partially_allocated" if allocated(refund) else "pending"
    paid = all(each.status in ("completed", "cancelled") for each in payments)
    return "completed" if paid else "allocated"


def live_allocations(refund: Refund) -> tuple[RefundAllocation, ...]:
    """Return the allocations that have not ended."""
    return tuple(each for each in refund.allocations if each.end is None)


def is_dedicated(refund: Refund) -> bool:
    """Return whether the refund has exactly one live allocation."""
    return len(live_allocations(refund)) == 1


def allocated(refund: Refund) -> int:
    """Return the allocated amount, in money and credits: 40 and 30 is 70."""
    return sum(each.amount for each in live_allocations(refund))


def unallocated(refund: Refund) -> int:
    """Return the amount that is not allocated yet: 100 with 40 allocated is 60."""
    return refund.amount - allocated(refund)


def base_amount(refund: Refund) -> int:
    """Return the base of what a refund gives back: USD 40.00 of an invoice at 0.90 is EUR 36.00."""
    if not refund.is_foreign:
        return refund.amount
    shares = (each.split for each in live_allocations(refund))
    return sum(in_base(amount) for split in shares for _, amount in split)


def cash(refund: Refund) -> int:
    """Return the amount that is money: 100 with 30 kept as a credit is 70."""
    return refund.amount - credited(refund)


def credited(refund: Refund) -> int:
    """Return the amount that is kept as a credit: of 70 money and 30 credited, 30."""
    return sum(each.amount for each in live_allocations(refund) if each.kind == "credit")


def rest(refund: Refund) -> int:
    """Return the money that is not paid yet: 100 with 40 paid is 60."""
    return cash(refund) - refund.paid


def parts(refund: Refund, unallocated_account_id: UUID | None = None) -> dict[Part, int]:
    """Return the money of the refund by part.

    The unallocated amount is a part on `unallocated_account_id`, if that is given. An amount kept
    as a credit has no split.
    """
    split = [part for each in live_allocations(refund) for part in each.split]
    if unallocated_account_id is not None:
        split.append((Part(unallocated_account_id), unallocated(refund)))
    return summed(split)


def parts_by_target(refund: VendorRefund, unallocated_account_id: UUID) -> dict[TargetPart, int]:
    """Return the money of a refund by target and part.

    Of 700 with 600 of a bill, 500 net and 100 tax belong to the bill, and 100 to no target yet.
    """
    split: list[tuple[TargetPart, int]] = [
        ((each.target_id, part), amount)
        for each in live_allocations(refund)
        for part, amount in each.split
    ]
    split.append(((None, Part(unallocated_account_id)), unallocated(refund)))
    return summed(split)


def parts_paid(payment: VendorRefundPayment) -> Shares[TargetPart]:
    """Return the amounts that a completed payment pays, by target and part."""
    return tuple(
        ((target_id, part), amount)
        for target_id, split in shares_of(payment)[-1]
        for part, amount in split
    )


def shares_of(payment: VendorRefundPayment) -> tuple[SplitByTarget, ...]:
    """Return the shares of a payment for all its spans.

    A split without shares, as older servers wrote it, has no target.
    """
    rest = payment.splits[len(payment.shares) :]
    return (*payment.shares, *(((None, split),) for split in rest))


def by_target(shares: Shares[TargetPart]) -> SplitByTarget:
    """Group shares by target, in the order in which each target first appears."""
    splits: dict[UUID | None, Split] = defaultdict(tuple)
    for (target_id, part), amount in shares:
        splits[target_id] += ((part, amount),)
    return tuple(splits.items())


def about(refund: Refund) -> UUID | None:
    """Return the only target that the refund ever had, or None if there were several.

    Amounts kept as a credit do not count.
    """
    targets = {each.target_id for each in refund.allocations if each.kind != "credit"}
    return targets.pop() if len(targets) == 1 else None


def agreed_days(refund: Refund, allocation: RefundAllocation) -> Days:
    """Return the days on which an allocation was owed."""
    return days(allocation.start or refund.agreed_on, allocation.end, refund.agreed_on)


def completion_days(payment: RefundPayment) -> list[Days]:
    """Return the days on which the payment was completed."""
    if not payment.completions:
        return []
    on = dated_on(payment)
    return laid_out(payment.completions, on, on)


def dated_on(payment: RefundPayment) -> date:
    """Return the date of the money: its payment date, else the day it was completed."""
    if payment.payment_date is not None:
        return payment.payment_date
    assert payment.completed_at is not None, "what has neither has not moved"
    return stored_day(payment.completed_on, payment.completed_at)
