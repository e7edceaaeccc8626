"""What a refund gives back of documents, payments and credits, and how that is taken back."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from typing import Any, TypeVar
from uuid import UUID

from accounting.books.chart import Roles
from accounting.books.context import Context
from accounting.books.splits import Part, Split, negative, rests, take
from accounting.errors import Malformed, RuleBroken
from accounting.trade import credits, documents, payments
from accounting.trade.allocation import AllocationItem, Documents, items_of, live, moved, rearrange
from accounting.trade.credits import Credit
from accounting.trade.documents import Document, LineItem, LineShares
from accounting.trade.line_rests import (
    assessed_split,
    by_gross,
    charged_split,
    gross_left,
    over_lines,
    parts_left,
    reduced,
    rest_of,
)
from accounting.trade.payments import Payment
from accounting.trade.refunds import GivenBackLine, RefundAllocation, ReleasedAllocation
from accounting.trade.sides import Side
from accounting.values import dataclass, replace

Target = TypeVar("Target", Document, Payment, Credit)


@dataclass(frozen=True, slots=True)
class ReleasedPayment:
    """A payment whose money a refund gives back, and the documents it was taken off."""

    payment: Payment
    documents: Documents


def of_document(
    side: Side,
    document: Document,
    amount: int,
    roles: Roles,
    context: Context,
    *,
    lines: Sequence[GivenBackLine] = (),
    **facts: Any,
) -> tuple[RefundAllocation, Document]:
    """Give back a part of what a document came to, of lines or of all that is left.

    Without lines it is split over what is left of each part: of 8333 net and 1667 tax, 3333 gives
    2777 and 556 back. Raises what `given_back` raises.
    """
    net_account_id = None if side.refund_net is None else roles[side.refund_net]
    if lines:
        shares = given_back(document, lines, amount)
        split = charged_split(document, shares, net_account_id)
    else:
        split = take(returnable(document, net_account_id), (), amount)
        shares = over_lines(document, split, net_account_id)
    allocation = RefundAllocation(
        id=context.identify(),
        kind="document",
        target_id=document.id,
        target_number=document.number,
        amount=amount,
        split=split,
        lines=shares,
        self_assessed=assessed_split(document, shares),
        **facts,
    )
    return allocation, _given(reduced(document, shares), amount, split, context)


def refundable(document: Document) -> int:
    """Say what can be given back of a document: at most what is left of its lines.

    Of 1000 paid with 300 refunded, 700; with a credit of 400 of a line beside that, 300.
    """
    return min(documents.refundable(document), sum(returnable(document).values()))


def returnable(document: Document, net_account_id: UUID | None = None) -> dict[Part, int]:
    """Say what can be given back of each part.

    Refunds from before lines were told apart are known by part alone.
    """
    left = parts_left(document, net_account_id)
    whole = parts_left(replace(document, reduced=()), net_account_id)
    by_part = rests(whole, document.returned)
    return {
        part: min(amount, by_part[part]) if whole[part] > 0 else max(amount, by_part[part])
        for part, amount in left.items()
    }


def given_back(document: Document, lines: Sequence[GivenBackLine], amount: int) -> LineShares:
    """Take amounts, gross, of lines; they come to the amount that is given back.

    Raises Malformed `validation_error` where a line is named twice; RuleBroken
    `reference_not_found`, `lines_do_not_add_up` or `refund_exceeds_refundable`.
    """
    _refuse_repeated_lines(lines)
    total = sum(each.amount for each in lines)
    if total != amount:
        raise RuleBroken(
            "lines_do_not_add_up",
            f"The lines come to {total} and not to {amount}, in minor units.",
            amount=amount,
            lines_total=total,
        )
    known = {line.id: line for line in document.lines}
    return tuple((each.line_id, _of_line(document, known, each)) for each in lines)


def _of_line(
    document: Document, known: Mapping[UUID, LineItem], wanted: GivenBackLine
) -> tuple[int, ...]:
    line = known.get(wanted.line_id)
    if line is None:
        raise RuleBroken(
            "reference_not_found",
            "The document has no such line.",
            resource="line_item",
            reference=str(wanted.line_id),
        )
    rest = rest_of(document, line)
    left = gross_left(line, rest)
    refuse_more_than(left, wanted.amount, line_id=str(line.id))
    return by_gross(line, rest, wanted.amount)


def _refuse_repeated_lines(lines: Sequence[GivenBackLine]) -> None:
    seen: set[UUID] = set()
    faults = {}
    for each in lines:
        if each.line_id in seen:
            faults[each.place] = ["repeats the line of an earlier item"]
        seen.add(each.line_id)
    if faults:
        raise Malformed.with_faults(faults)


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
        split=((Part(roles[side.prepayments]), amount),),
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
        whole = reduced(target, allocation.lines, -1)
        return _given(whole, -allocation.amount, negative(allocation.split), context)
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
