"""Which payment a refund is shown at.

A refund of a document gives back of no payment in particular. To show it at payments all the same,
the refunds of a document are laid over the payments that settled it. Nothing is posted by this.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from datetime import date
from uuid import UUID

from accounting.trade.payments import Payment, live_allocations
from accounting.values import dataclass, replace


@dataclass(frozen=True, slots=True)
class RefundShare:
    """What a live refund gives back of a document; without one, of money that settled nothing."""

    refund_id: UUID
    document_id: UUID | None
    agreed_on: date
    reference_number: str | None
    amount: int


@dataclass(frozen=True, slots=True)
class SettledPart:
    """How much of a document a completed payment settles."""

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
    """Lay the refunds of a document over its payments, the oldest of both first.

    Of refunds of 300 and 500 over payments of 400 and 600, the first payment carries 300 and 100,
    the second 400. What is refunded beyond the payments, since money bounced later, lies nowhere.
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
    """Say what refunds give back of a payment, the oldest first.

    `unapplied` are the live refunds of its money that settled nothing; `refunded` those of its
    documents that have refunds. What the payment itself settles is taken from the payment as it is
    now, which may not be stored yet.
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
