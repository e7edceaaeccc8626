"""What a refund gives back of documents, payments and credits, and how that is taken back."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import date
from typing import Any, TypeVar

from accounting.books.chart import Roles
from accounting.books.context import Context
from accounting.books.splits import Split, negative, take
from accounting.errors import RuleBroken
from accounting.trade import credits, documents, payments
from accounting.trade.allocation import AllocationItem, Documents, items_of, live, moved, rearrange
from accounting.trade.credits import Credit
from accounting.trade.documents import Document
from accounting.trade.payments import Payment
from accounting.trade.refunds import RefundAllocation, ReleasedAllocation
from accounting.trade.sides import Side

Target = TypeVar("Target", Document, Payment, Credit)


@dataclass(frozen=True, slots=True)
class ReleasedPayment:
    """A payment whose money a refund gives back, and the documents it was taken off."""

    payment: Payment
    documents: Documents


def of_document(
    side: Side, document: Document, amount: int, roles: Roles, context: Context, **facts: Any
) -> tuple[RefundAllocation, Document]:
    """Give back a part of what a document came to, split over what is left of each of its parts.

    Of 8333 net and 1667 tax, 3333 gives 2777 and 556 back.
    """
    net_account_id = None if side.refund_net is None else roles[side.refund_net]
    split = take(documents.return_parts(document, net_account_id), document.returned, amount)
    allocation = RefundAllocation(
        id=context.identify(),
        kind="document",
        target_id=document.id,
        target_number=document.number,
        amount=amount,
        split=split,
        **facts,
    )
    return allocation, _given(document, amount, split, context)


def of_payment(
    side: Side, payment: Payment, amount: int, roles: Roles, context: Context, **facts: Any
) -> tuple[RefundAllocation, Payment]:
    """Give back money of a payment that has settled nothing, or not any more."""
    allocation = RefundAllocation(
        id=context.identify(),
        kind="payment",
        target_id=payment.id,
        target_number=None,
        amount=amount,
        split=((roles[side.prepayments], amount),),
        **facts,
    )
    return allocation, _held(payment, amount, context)


def of_credit(
    credit: Credit, amount: int, context: Context, **facts: Any
) -> tuple[RefundAllocation, Credit]:
    """Pay out a part of a credit, split over what is left of each of its own parts.

    Of 8333 net and 1667 tax, 3333 gives 2777 and 556 back.
    """
    split = take(credits.parts(credit), credit.settled, amount)
    allocation = RefundAllocation(
        id=context.identify(),
        kind="refunded_credit",
        target_id=credit.id,
        target_number=credit.number,
        amount=amount,
        split=split,
        **facts,
    )
    return allocation, _paid_out(credit, amount, split, context)


def free(
    side: Side, payment: Payment, amount: int, loaded: Documents, on: date, context: Context
) -> tuple[ReleasedPayment, tuple[ReleasedAllocation, ...]]:
    """Take money of a payment off its documents until an amount of it is free.

    The newest document comes first and the last one gives in part: of 1000 on two bills of 500,
    700 takes all of the newer and 200 of the older. It ends on a day, but on none before it was
    applied; nor does what stays of it begin before that. Raises RuleBroken
    `refund_exceeds_refundable` where a document would have less paid than is refunded of it.
    """
    short = amount - payments.remaining(payment)
    if short <= 0:
        return ReleasedPayment(payment, loaded), ()
    held = {each.document_id: each for each in live(payment.allocations)}
    newest = sorted(held, key=lambda id_: (documents.opened_on(loaded[id_]), id_), reverse=True)
    parts, released, start = [], [], on
    for id_ in newest:
        old = held[id_]
        given = min(short, old.amount)
        short -= given
        if given:
            released.append(ReleasedAllocation(id_, given, old.split, old.description))
        if old.amount > given:
            parts.append(AllocationItem(id_, old.amount - given, old.description))
        if 0 < given < old.amount:
            begun, _ = payments.applied_days(payment, old)[-1]
            start = max(on, begun)
    freed = _rearranged(side, payment, parts, loaded, (start, on), context)
    for each in released:
        refuse_released_below_refunds(
            side, loaded[each.document_id], freed.documents[each.document_id]
        )
    return freed, tuple(released)


def take_back(allocation: RefundAllocation, target: Target, context: Context) -> Target:
    """Let a document, payment or credit have again what a refund gave back of it."""
    if isinstance(target, Document):
        return _given(target, -allocation.amount, negative(allocation.split), context)
    if isinstance(target, Credit):
        return _paid_out(target, -allocation.amount, negative(allocation.split), context)
    return _held(target, -allocation.amount, context)


def apply_again(
    side: Side,
    payment: Payment,
    released: Iterable[ReleasedAllocation],
    loaded: Documents,
    context: Context,
) -> ReleasedPayment:
    """Apply money again, today, to the documents it was taken off.

    That goes as far as the payment is still completed, and as each document has something left and
    is still that party's. What comes to the whole of the old allocation takes its old split.
    """
    if payment.status != "completed":
        return ReleasedPayment(payment, loaded)
    parts = {each.document_id: each for each in items_of(payment.allocations)}
    for each in released:
        id_ = each.document_id
        more = min(each.amount, _room(loaded[id_], payment))
        if more > 0:
            amount = more + (parts[id_].amount if id_ in parts else 0)
            whole = amount == sum(part for _, part in each.split)
            parts[id_] = AllocationItem(
                id_, amount, each.description, old_split=each.split if whole else ()
            )
    days = context.today, context.today
    return _rearranged(side, payment, list(parts.values()), loaded, days, context)


def refuse_released_below_refunds(side: Side, before: Document, after: Document) -> None:
    """Refuse a release that leaves less allocated to a document than its live refunds.

    Money on its way counts: of 1000 completed, 400 refunded and then pending again, 600 can be
    released. Money that bounces is not held back by this: the party then owes it again. Raises
    RuleBroken `refund_exceeds_refundable`.
    """
    if documents.allocated(after) < min(documents.allocated(before), after.refunded):
        raise RuleBroken(
            "refund_exceeds_refundable",
            f"Less would be allocated to the {side.words.document} than is refunded of it."
            " Cancel refunds first.",
            paid=after.paid,
            reserved=after.reserved,
            refunded=after.refunded,
            **{side.names.document_id: str(after.id)},
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


def facts_of(side: Side, target: Document | Payment | Credit) -> dict[str, Any]:
    """Say what a refund gives back of, and what decides how much that can be."""
    if isinstance(target, Document):
        named = {side.names.document_id: str(target.id)}
        return {**named, "paid": target.paid, "refunded": target.refunded}
    if isinstance(target, Credit):
        named = {side.names.credit_id: str(target.id)}
        return {**named, "applied": credits.applied(target), "refunded": target.refunded}
    named = {side.names.payment_id: str(target.id), "status": target.status}
    used = {"allocated_amount_cents": payments.allocated(target), "refunded": target.refunded}
    return {**named, **used}


def _room(document: Document, payment: Payment) -> int:
    """Say how much of a payment a document takes; one that was free may have got another party."""
    return documents.left(document) if document.party.id == payment.party.id else 0


def _rearranged(
    side: Side,
    payment: Payment,
    parts: list[AllocationItem],
    loaded: Documents,
    days: tuple[date, date],
    context: Context,
) -> ReleasedPayment:
    """Let the parts be what a payment settles; new ones begin on the first day.

    Those that are over end on the second.
    """
    source = payments.allocation_source(payment, *days, context)
    allocations, after = rearrange(side, payment.allocations, parts, loaded, source)
    freed = replace(payment, allocations=allocations, updated_at=context.now)
    return ReleasedPayment(freed, {**loaded, **moved(after, loaded, context.now)})


def _given(document: Document, amount: int, split: Split, context: Context) -> Document:
    return replace(documents.give_back(document, amount, split), updated_at=context.now)


def _paid_out(credit: Credit, amount: int, split: Split, context: Context) -> Credit:
    return replace(credits.give_back(credit, amount, split), updated_at=context.now)


def _held(payment: Payment, amount: int, context: Context) -> Payment:
    return replace(payment, refunded=payment.refunded + amount, updated_at=context.now)
