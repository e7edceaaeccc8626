"""Attribution of refunds to payments, for display only.

A refund of a document belongs to no payment in particular. To show it at payments, the refunds of a
document are spread over the payments that settled it. This posts nothing.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import date
from uuid import UUID

from accounting.trade.payments import Payment, live_allocations


@dataclass(frozen=True, slots=True)
class RefundShare:
    """An amount that a live refund refunds of a document; without one, of unapplied money."""

    refund_id: UUID
    document_id: UUID | None
    agreed_on: date
    reference_number: str | None
    amount: int


@dataclass(frozen=True, slots=True)
class SettledPart:
    """The amount of a document that a completed payment settles."""

    payment_id: UUID
    payment_date: date
    amount: int


@dataclass(frozen=True, slots=True)
class RefundedDocument:
    """The live refunds of a document, and the completed payments that settle it."""

    refunds: tuple[RefundShare, ...]
    payments: tuple[SettledPart, ...]


def spread_refunds(
    refunds: Iterable[RefundShare], payments: Iterable[SettledPart]
) -> dict[UUID, list[RefundShare]]:
    """Spread the refunds of a document over its payments, the oldest of both first.

    Of refunds of 300 and 500 over payments of 400 and 600, the first payment has 300 and 100, the
    second 400. An amount refunded beyond the payments, because money bounced later, has no payment.
    """
    shares_by_payment: dict[UUID, list[RefundShare]] = defaultdict(list)
    waiting = sorted(refunds, key=_age, reverse=True)
    for part in sorted(payments, key=lambda each: (each.payment_date, each.payment_id)):
        left = part.amount
        while left and waiting:
            refund = waiting.pop()
            amount = min(left, refund.amount)
            shares_by_payment[part.payment_id].append(replace(refund, amount=amount))
            left -= amount
            if amount < refund.amount:
                waiting.append(replace(refund, amount=refund.amount - amount))
    return dict(shares_by_payment)


def refund_shares_of(
    payment: Payment, unapplied: Iterable[RefundShare], refunded: Mapping[UUID, RefundedDocument]
) -> tuple[RefundShare, ...]:
    """Return the refunds of a payment, the oldest first.

    `unapplied` are the live refunds of its unapplied money; `refunded` are its documents that have
    refunds. The amounts that the payment settles are read from `payment`, which may not be stored
    yet.
    """
    shares = list(unapplied)
    for allocation in live_allocations(payment) if payment.status == "completed" else ():
        document = refunded.get(allocation.document_id)
        if document is not None:
            others = [each for each in document.payments if each.payment_id != payment.id]
            own = SettledPart(payment.id, payment.payment_date, allocation.amount)
            shares += spread_refunds(document.refunds, [*others, own]).get(payment.id, ())
    return tuple(sorted(shares, key=_age))


def _age(refund: RefundShare) -> tuple[date, UUID]:
    return refund.agreed_on, refund.refund_id
