"""What a refund gives back of documents and payments, and how that is taken back again."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import date
from typing import Any, TypeVar

from accounting import documents, payments
from accounting.allocation import Documents, Part, live, moved, parts_of, rearrange
from accounting.chart import Roles
from accounting.documents import Document
from accounting.errors import RuleBroken
from accounting.occasion import Occasion
from accounting.payments import Payment
from accounting.refunds import RefundAllocation, Released
from accounting.sides import Side
from accounting.splits import Split, negative, take

Target = TypeVar("Target", Document, Payment)


@dataclass(frozen=True, slots=True)
class Freed:
    """A payment whose money a refund gives back, and the documents it was taken off."""

    payment: Payment
    documents: Documents


def of_document(
    side: Side, document: Document, amount: int, roles: Roles, occasion: Occasion, **facts: Any
) -> tuple[RefundAllocation, Document]:
    """Give back a part of what a document came to, split over what is left of each of its parts.

    Of 8333 net and 1667 tax, 3333 gives 2777 and 556 back.
    """
    net_account_id = None if side.refund_net is None else roles[side.refund_net]
    split = take(documents.return_parts(document, net_account_id), document.returned, amount)
    allocation = RefundAllocation(
        id=occasion.identify(),
        kind="document",
        target_id=document.id,
        target_number=document.number,
        amount=amount,
        split=split,
        **facts,
    )
    return allocation, _given(document, amount, split, occasion)


def of_payment(
    side: Side, payment: Payment, amount: int, roles: Roles, occasion: Occasion, **facts: Any
) -> tuple[RefundAllocation, Payment]:
    """Give back money of a payment that has settled nothing, or not any more."""
    allocation = RefundAllocation(
        id=occasion.identify(),
        kind="payment",
        target_id=payment.id,
        target_number=None,
        amount=amount,
        split=((roles[side.prepayments], amount),),
        **facts,
    )
    return allocation, _held(payment, amount, occasion)


def free(
    side: Side, payment: Payment, amount: int, loaded: Documents, on: date, occasion: Occasion
) -> tuple[Freed, tuple[Released, ...]]:
    """Take money of a payment off its documents until an amount of it is free.

    The newest document comes first and the last one gives in part: of 1000 on two bills of 500,
    700 takes all of the newer and 200 of the older. It ends on a day, but on none before it was
    applied; nor does what stays of it begin before that. Raises RuleBroken
    `refund_exceeds_refundable` where a document would have less paid than is refunded of it.
    """
    short = amount - payments.remaining(payment)
    if short <= 0:
        return Freed(payment, loaded), ()
    held = {each.document_id: each for each in live(payment.allocations)}
    newest = sorted(held, key=lambda id_: (documents.opened_on(loaded[id_]), id_), reverse=True)
    parts, released, start = [], [], on
    for id_ in newest:
        old = held[id_]
        given = min(short, old.amount)
        short -= given
        if given:
            released.append(Released(id_, given, old.split, old.description))
        if old.amount > given:
            parts.append(Part(id_, old.amount - given, old.description))
        if 0 < given < old.amount:
            begun, _ = payments.applied_days(payment, old)[-1]
            start = max(on, begun)
    freed = _rearranged(side, payment, parts, loaded, (start, on), occasion)
    for each in released:
        refuse_released_below_refunds(
            side, loaded[each.document_id], freed.documents[each.document_id]
        )
    return freed, tuple(released)


def take_back(allocation: RefundAllocation, target: Target, occasion: Occasion) -> Target:
    """Let a document or payment have again what a refund gave back of it."""
    if isinstance(target, Document):
        return _given(target, -allocation.amount, negative(allocation.split), occasion)
    return _held(target, -allocation.amount, occasion)


def apply_again(
    side: Side,
    payment: Payment,
    released: Iterable[Released],
    loaded: Documents,
    occasion: Occasion,
) -> Freed:
    """Apply money again, today, to the documents it was taken off.

    That goes as far as the payment is still completed, and as each document has something left and
    is still that party's. What comes to the whole of the old allocation takes its old split.
    """
    if payment.status != "completed":
        return Freed(payment, loaded)
    parts = {each.document_id: each for each in parts_of(payment.allocations)}
    for each in released:
        id_ = each.document_id
        more = min(each.amount, _room(loaded[id_], payment))
        if more > 0:
            amount = more + (parts[id_].amount if id_ in parts else 0)
            whole = amount == sum(part for _, part in each.split)
            parts[id_] = Part(id_, amount, each.description, each.split if whole else ())
    days = occasion.today, occasion.today
    return _rearranged(side, payment, list(parts.values()), loaded, days, occasion)


def refuse_released_below_refunds(side: Side, before: Document, after: Document) -> None:
    """Refuse a release that leaves less paid on a document than its live refunds.

    Money that bounces is not held back by this: the party then owes it again. Raises RuleBroken
    `refund_exceeds_refundable`.
    """
    if after.paid < min(before.paid, after.refunded):
        raise RuleBroken(
            "refund_exceeds_refundable",
            f"Less of the {side.noun} would be paid than is refunded. Cancel refunds first.",
            paid=after.paid,
            refunded=after.refunded,
            **{side.document_id_field: str(after.id)},
        )


def refuse_more_than(limit: int, amount: int, **facts: Any) -> None:
    """Refuse to give back more than there is, or nothing; `facts` say of what, and why.

    Raises RuleBroken `refund_exceeds_refundable`.
    """
    if not 1 <= amount <= limit:
        raise RuleBroken(
            "refund_exceeds_refundable",
            f"At most {limit} can be refunded." if limit else "There is nothing to refund.",
            refundable=limit,
            amount=amount,
            **facts,
        )


def facts_of(side: Side, target: Document | Payment) -> dict[str, Any]:
    """Say what a refund gives back of, and what decides how much that can be."""
    if isinstance(target, Document):
        named = {side.document_id_field: str(target.id)}
        return {**named, "paid": target.paid, "refunded": target.refunded}
    named = {side.payment_id_field: str(target.id), "status": target.status}
    used = {"allocated_amount_cents": payments.allocated(target), "refunded": target.refunded}
    return {**named, **used}


def _room(document: Document, payment: Payment) -> int:
    """Say how much of a payment a document takes; one that was free may have got another party."""
    return documents.left(document) if document.party.id == payment.party.id else 0


def _rearranged(
    side: Side,
    payment: Payment,
    parts: list[Part],
    loaded: Documents,
    days: tuple[date, date],
    occasion: Occasion,
) -> Freed:
    """Let the parts be what a payment settles; new ones begin on the first day.

    Those that are over end on the second.
    """
    terms = payments.terms_of(payment, *days, occasion)
    allocations, after = rearrange(side, payment.allocations, parts, loaded, terms)
    freed = replace(payment, allocations=allocations, updated_at=occasion.now)
    return Freed(freed, {**loaded, **moved(after, loaded, occasion.now)})


def _given(document: Document, amount: int, split: Split, occasion: Occasion) -> Document:
    return replace(documents.give_back(document, amount, split), updated_at=occasion.now)


def _held(payment: Payment, amount: int, occasion: Occasion) -> Payment:
    return replace(payment, refunded=payment.refunded + amount, updated_at=occasion.now)
