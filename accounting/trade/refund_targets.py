"""Refunds of documents, payments and credits, and the reversal of such refunds."""

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Any, TypeVar
from uuid import UUID

from accounting.books.businesses import Context
from accounting.books.chart import Roles
from accounting.books.foreign import share_of, step
from accounting.books.ledger import Part, Split, negative, rests, take
from accounting.errors import RuleViolation, ValidationError
from accounting.money import capped
from accounting.trade import credits, documents, payments
from accounting.trade.allocation import (
    AllocationItem,
    Documents,
    changed_documents,
    items_of,
    live,
    rearrange,
)
from accounting.trade.credits import Credit
from accounting.trade.documents import Document, LineItem, LineShares
from accounting.trade.payments import Payment
from accounting.trade.refunds import GivenBackLine, RefundAllocation, ReleasedAllocation
from accounting.trade.remaining_by_line import (
    assessed_split,
    assessed_taken,
    by_gross,
    charged_parts,
    charged_split,
    gross_left,
    over_lines,
    parts_left,
    record_credited_lines,
    rest_of,
)
from accounting.trade.sides import Side
from accounting.trade.translation import assessed_with_base

Target = TypeVar("Target", Document, Payment, Credit)


@dataclass(frozen=True, slots=True)
class ReleasedPayment:
    """A payment and the documents, after money was released from them or applied to them again."""

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
    """Refund an amount of a document: of given lines, or of all that is left.

    Without lines, the amount is split over what is left of each part: of 8333 net and 1667 tax,
    3333 refunds 2777 and 556. Raises the errors of `given_back`.
    """
    net_account_id = None if side.refund_net is None else roles[side.refund_net]
    if lines:
        shares = given_back(document, lines, amount, net_account_id)
        split = charged_split(document, shares, net_account_id)
    else:
        split = take(returnable(document, net_account_id), (), amount)
        shares = over_lines(document, split, net_account_id)
    split = with_base(document, split, net_account_id)
    allocation = RefundAllocation(
        id=context.identify(),
        kind="document",
        target_id=document.id,
        target_number=document.number,
        amount=amount,
        split=split,
        lines=shares,
        self_assessed=assessed_with_base(
            document, assessed_split(document, shares), assessed_taken(document)
        ),
        **facts,
    )
    return allocation, _given(record_credited_lines(document, shares), amount, split, context)


def with_base(document: Document, split: Split, net_account_id: UUID | None) -> Split:
    """Return the split of a refund of a document with its base.

    Each part takes of the base that earlier refunds have left.
    """
    return step(rests(charged_parts(document, net_account_id), document.returned), split)


def refundable(document: Document) -> int:
    """Return the refundable amount of a document: at most what is left of its lines.

    1000 paid with 300 refunded is 700; with a credit of 400 of a line as well, it is 300. Credits
    may leave less than zero where a line is below zero; nothing is refundable then.
    """
    return min(documents.refundable(document), max(0, sum(returnable(document).values())))


def returnable(document: Document, net_account_id: UUID | None = None) -> dict[Part, int]:
    """Return the refundable amount of each part.

    Older refunds did not record lines, so they are deducted by part. No part passes zero: of 1000
    and -300 on one account, a credit of the 1000 leaves nothing.
    """
    left = parts_left(document, net_account_id)
    whole = parts_left(replace(document, reduced=()), net_account_id)
    by_part = rests(whole, document.returned)
    return {part: capped(amount, left[part], by_part[part]) for part, amount in whole.items()}


def given_back(
    document: Document,
    lines: Sequence[GivenBackLine],
    amount: int,
    net_account_id: UUID | None = None,
) -> LineShares:
    """Return the amounts taken from lines by requested gross amounts, which must sum to `amount`.

    They take no more of a part than is left of it in the document. Raises ValidationError
    `validation_error` if a line is named twice; RuleViolation `reference_not_found`,
    `lines_do_not_add_up` or `refund_exceeds_refundable`.
    """
    _refuse_repeated_lines(lines)
    total = sum(each.amount for each in lines)
    if total != amount:
        raise RuleViolation(
            "lines_do_not_add_up",
            f"The lines add up to {total}, not to {amount}, in minor units.",
            amount=amount,
            lines_total=total,
        )
    left = returnable(document, net_account_id)
    shares: LineShares = ()
    for each in lines:
        line = _line(document, each)
        most = _most_of(document, line, each.amount, left, net_account_id)
        refuse_more_than(most, each.amount, line_id=str(line.id))
        share = _share(document, line, each.amount)
        left = rests(left, charged_split(document, share, net_account_id))
        shares += share
    return shares


def _share(document: Document, line: LineItem, gross: int) -> LineShares:
    """Split a gross amount over what is left of a line."""
    return ((line.id, by_gross(line, rest_of(document, line), gross)),)


def _most_of(
    document: Document,
    line: LineItem,
    wanted: int,
    left: Mapping[Part, int],
    net_account_id: UUID | None,
) -> int:
    """Return the highest gross amount of a line, or one that a wanted amount does not exceed.

    Usually that is all that is left of the line. It takes no more of a part than is left of it: of
    a line of 1000 beside one of -300, with the same tax code and account, 700 and the tax on it.
    """

    def exceeds(gross: int) -> bool:
        taken = charged_split(document, _share(document, line, gross), net_account_id)
        return any(capped(share, left[part]) != share for part, share in taken)

    most = max(0, gross_left(line, rest_of(document, line)))
    if wanted > most or not exceeds(wanted):
        return most
    return bisect_left(range(wanted), True, key=exceeds) - 1


def _line(document: Document, wanted: GivenBackLine) -> LineItem:
    line = next((line for line in document.lines if line.id == wanted.line_id), None)
    if line is None:
        raise RuleViolation(
            "reference_not_found",
            "The document has no such line.",
            resource="line_item",
            reference=str(wanted.line_id),
        )
    return line


def _refuse_repeated_lines(lines: Sequence[GivenBackLine]) -> None:
    seen: set[UUID] = set()
    faults = {}
    for each in lines:
        if each.line_id in seen:
            faults[each.place] = ["repeats the line of an earlier item"]
        seen.add(each.line_id)
    if faults:
        raise ValidationError.with_faults(faults)


def of_payment(
    side: Side, payment: Payment, amount: int, roles: Roles, context: Context, **facts: Any
) -> tuple[RefundAllocation, Payment]:
    """Refund unapplied money of a payment: of a foreign one with its share of the base."""
    held = share_of(payments.unused(payment), amount)
    allocation = RefundAllocation(
        id=context.identify(),
        kind="payment",
        target_id=payment.id,
        target_number=None,
        amount=amount,
        split=((Part(roles[side.prepayments]), held),),
        **facts,
    )
    return allocation, _held(payment, held, context)


def of_credit(
    credit: Credit, amount: int, context: Context, **facts: Any
) -> tuple[RefundAllocation, Credit]:
    """Pay out an amount of a credit, split over what is left of each of its parts.

    Of 8333 net and 1667 tax, 3333 pays out 2777 and 556.
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
    """Release money of a payment from its documents until an amount of it is free.

    The newest document comes first, and the last one may be released in part: of 1000 on two bills
    of 500, 700 takes all of the newer and 200 of the older. A released allocation ends on `on`, but
    never before it was applied; its remaining part begins no earlier than that. Raises
    RuleViolation `refund_exceeds_refundable` if a document would have less allocated than is
    refunded of it.
    """
    short = amount - int(payments.remaining(payment))
    if short <= 0:
        return ReleasedPayment(payment, loaded), ()
    held = {each.document_id: each for each in live(payment.allocations)}
    newest = sorted(held, key=lambda id_: (documents.opened_on(loaded[id_]), id_), reverse=True)
    parts, released, start = [], [], on
    for id_ in newest:
        old = held[id_]
        given = min(short, int(old.amount))
        if given and old.document_amount is not None:
            given = int(old.amount)  # Amounts across currencies are only released whole.
        short = max(0, short - given)
        if given:
            whole = old.document_amount
            released.append(ReleasedAllocation(id_, given, old.split, old.description, whole))
        if old.amount > given:
            rest = int(old.amount) - given
            parts.append(
                AllocationItem(id_, rest, old.description, document_amount=old.document_amount)
            )
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
    """Undo the refund of an allocation on its document, payment or credit."""
    if isinstance(target, Document):
        whole = record_credited_lines(target, allocation.lines, -1)
        return _given(whole, -allocation.amount, negative(allocation.split), context)
    if isinstance(target, Credit):
        return _paid_out(target, -allocation.amount, negative(allocation.split), context)
    [(_, held)] = allocation.split
    return _held(target, -held, context)


def apply_again(
    side: Side,
    payment: Payment,
    released: Iterable[ReleasedAllocation],
    loaded: Documents,
    context: Context,
) -> ReleasedPayment:
    """Apply released money again, on the day of the change, to the documents it was released from.

    A payment that is no longer completed is returned unchanged. Each document takes no more than
    can still be allocated to it, and nothing if it has another party now. An allocation that is
    restored in full has its old split. One across currencies is restored only in full.
    """
    if payment.status != "completed":
        return ReleasedPayment(payment, loaded)
    parts = {each.document_id: each for each in items_of(payment.allocations)}
    free = int(payments.remaining(payment))
    for each in released:
        id_ = each.document_id
        room = _room(loaded[id_], payment)
        if each.document_amount is not None:
            fits = each.document_amount <= room and each.amount <= free
            if fits and id_ not in parts:
                free -= each.amount
                parts[id_] = AllocationItem(
                    *(id_, each.amount, each.description),
                    old_split=each.split,
                    document_amount=each.document_amount,
                )
            continue
        more = min(each.amount, room)
        if more > 0:
            amount = more + (parts[id_].amount if id_ in parts else 0)
            whole = amount == sum(part for _, part in each.split)
            parts[id_] = AllocationItem(
                id_, amount, each.description, old_split=each.split if whole else ()
            )
    days = context.day, context.day
    return _rearranged(side, payment, list(parts.values()), loaded, days, context)


def refuse_released_below_refunds(side: Side, before: Document, after: Document) -> None:
    """Refuse a release that leaves less allocated to a document than its live refunds.

    Reserved money counts: of 1000 completed, 400 refunded and then pending again, 600 can be
    released. This rule does not block money that bounces: the party then owes it again. Raises
    RuleViolation `refund_exceeds_refundable`.
    """
    if documents.allocated(after) < min(documents.allocated(before), after.refunded):
        raise RuleViolation(
            "refund_exceeds_refundable",
            f"The {side.words.document} would have less allocated than refunded. Cancel refunds"
            " first.",
            paid=after.paid,
            reserved=after.reserved,
            refunded=after.refunded,
            **{side.names.document_id: str(after.id)},
        )


def refuse_more_than(limit: int, amount: int, **facts: Any) -> None:
    """Refuse to refund more than `limit`, or less than 1; the error includes `facts`.

    Raises RuleViolation `refund_exceeds_refundable`.
    """
    if not 1 <= amount <= limit:
        raise RuleViolation(
            "refund_exceeds_refundable",
            f"At most {limit} can be refunded." if limit else "There is nothing to refund.",
            refundable=limit,
            amount=amount,
            **facts,
        )


def facts_of(side: Side, target: Document | Payment | Credit) -> dict[str, Any]:
    """Return the id of a target and the fields that limit its refund, for an error."""
    if isinstance(target, Document):
        named = {side.names.document_id: str(target.id)}
        return {**named, "paid": target.paid, "refunded": target.refunded}
    if isinstance(target, Credit):
        named = {side.names.credit_id: str(target.id)}
        return {**named, "applied": credits.applied(target), "refunded": target.refunded}
    named = {side.names.payment_id: str(target.id), "status": target.status}
    allocated, refunded = int(payments.allocated(target)), int(target.refunded)
    used = {"allocated_amount_cents": allocated, "refunded": refunded}
    return {**named, **used}


def _room(document: Document, payment: Payment) -> int:
    """Return the amount that a document can take of a payment; 0 if its party has changed."""
    return documents.left(document) if document.party.id == payment.party.id else 0


def _rearranged(
    side: Side,
    payment: Payment,
    parts: list[AllocationItem],
    loaded: Documents,
    days: tuple[date, date],
    context: Context,
) -> ReleasedPayment:
    """Replace the live allocations of a payment with the given parts.

    New allocations begin on the first day, and released ones end on the second.
    """
    source = payments.allocation_source(payment, *days, context)
    allocations, after = rearrange(side, payment.allocations, parts, loaded, source)
    freed = replace(payment, allocations=allocations, updated_at=context.now)
    return ReleasedPayment(freed, {**loaded, **changed_documents(after, loaded, context.now)})


def _given(document: Document, amount: int, split: Split, context: Context) -> Document:
    return replace(documents.record_refund(document, amount, split), updated_at=context.now)


def _paid_out(credit: Credit, amount: int, split: Split, context: Context) -> Credit:
    return replace(credits.record_refund(credit, amount, split), updated_at=context.now)


def _held(payment: Payment, amount: int, context: Context) -> Payment:
    return replace(payment, refunded=payment.refunded + amount, updated_at=context.now)
