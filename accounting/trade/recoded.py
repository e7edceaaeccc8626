"""Settlements, refunds and credits after lines of a document or credit got other accounts.

Each gets a new split over the new accounts, on its own day: nothing changes but accounts, and a
unit of exchange in a foreign currency where the new parts are rounded otherwise. The difference
between the postings then follows from the records.
"""

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import TypeVar
from uuid import UUID

from accounting.books.businesses import Context
from accounting.books.chart import Roles
from accounting.books.ledger import Part, Shares, Split, added, rests, summed
from accounting.trade import credits, payments, refunds
from accounting.trade.allocation import Allocation
from accounting.trade.credits import Credit, CreditLine
from accounting.trade.documents import Document, LineItem, outstanding, parts, with_settled
from accounting.trade.line_changes import on_other_accounts
from accounting.trade.moved_parts import (
    Moves,
    Step,
    moves,
    shares_again,
    split_again,
    with_base_anew,
)
from accounting.trade.payments import Payment
from accounting.trade.postings import Subject
from accounting.trade.refunds import (
    Refund,
    RefundAllocation,
    RefundPayment,
    SplitByTarget,
    TargetPart,
    VendorRefund,
    VendorRefundPayment,
)
from accounting.trade.remaining_by_line import (
    assessed_split,
    charged_parts,
    charged_split,
    moved_parts,
)
from accounting.trade.sides import Side
from accounting.trade.translation import assessed_with_base
from accounting.trade.write_offs import WriteOff, written_off_days

K = TypeVar("K", bound=Hashable)
P = TypeVar("P", bound=RefundPayment)
Line = LineItem | CreditLine

NewSplits = Mapping[UUID, Split]
"""The new splits, by the id of an allocation or a write-off."""

Pairs = dict[UUID, list[tuple[Part, Part, int]]]
"""The old parts, new parts and amounts of refund allocations, by the id of the allocation."""


@dataclass(frozen=True, slots=True)
class Dependents:
    """The records with splits over the parts of one document or credit."""

    payments: tuple[Payment, ...] = ()
    credits: tuple[Credit, ...] = ()
    write_offs: tuple[WriteOff, ...] = ()
    refunds: tuple[Refund, ...] = ()
    refund_payments: tuple[RefundPayment, ...] = ()


def recode_document(
    side: Side,
    before: Document,
    after: Document,
    dependents: Dependents,
    roles: Roles,
    context: Context,
) -> tuple[Document, list[Subject]]:
    """Recode a document: return it, and the dependent records that change with it.

    600 paid of an invoice of 1000 and 200 tax settle 500 of sales; once its line is on another
    account they settle 500 of that.
    """
    if not on_other_accounts(before.lines, after.lines):
        return after, []
    net_account_id = None if side.refund_net is None else roles[side.refund_net]
    moved = _moves_of_lines(before.lines, after.lines)
    steps = list(_steps_of_document(after.id, dependents))
    again = with_base_anew(parts(after), steps, _closed(after, steps, split_again(moved, steps)))
    paid = [_with_splits(each, after.id, again) for each in dependents.payments]
    credited = [_with_splits(each, after.id, again) for each in dependents.credits]
    write_offs = [replace(each, split=again[each.id]) for each in dependents.write_offs]
    given, pairs = _refunded_again(before, after, dependents.refunds, moved, net_account_id)
    given = _refunded_in_base(after, given, net_account_id)
    given, paid_back = _paid_again(given, dependents.refund_payments, pairs)
    settled = added(*(again[step.id] for step in steps if step.live))
    recoded = replace(
        with_settled(after, settled),
        returned=added(
            *(
                each.split
                for refund in given
                for each in refunds.live_allocations(refund)
                if each.target_id == after.id
            )
        ),
    )
    return recoded, _changed(
        dependents, [*paid, *credited, *write_offs, *given, *paid_back], context
    )


def _closed(after: Document, steps: Sequence[Step[Part]], again: dict[UUID, Split]) -> NewSplits:
    """Return new splits of which the last closes every part of a document that is settled in full.

    Lines of 300 and -300 on one account are no part of it. On two accounts they are two parts,
    which no earlier split has.
    """
    live = [step for step in steps if step.live]
    if not live or outstanding(after):
        return again
    left = rests(parts(after), added(*(again[step.id] for step in live)))
    last = max(live, key=lambda step: (step.on, str(step.id)))
    rest = tuple((part, amount) for part, amount in left.items() if amount)
    return {**again, last.id: added(again[last.id], rest)}


def recode_credit(
    before: Credit, after: Credit, dependents: Dependents, context: Context
) -> tuple[Credit, list[Subject]]:
    """Recode a credit: return it, and its refunds and their payments that change with it."""
    if not on_other_accounts(before.lines, after.lines):
        return after, []
    moved = _moves_of_lines(before.lines, after.lines)
    steps = list(_steps_of_credit(after, dependents.refunds))
    found = shares_again(moved, steps)
    pairs: Pairs = {
        step.id: [(old, new, n) for old, shares in parts for new, n in shares]
        for step, parts in found
    }
    again = with_base_anew(
        credits.parts(after),
        steps,
        {id_: added(tuple((new, n) for _, new, n in each)) for id_, each in pairs.items()},
    )
    allocations = tuple(replace(each, own_split=again[each.id]) for each in after.allocations)
    given = [_with_given(each, again) for each in dependents.refunds]
    given, paid_back = _paid_again(given, dependents.refund_payments, pairs)
    settled = added(*(again[step.id] for step in steps if step.live))
    recoded = replace(after, allocations=allocations, settled=settled)
    return recoded, _changed(dependents, [*given, *paid_back], context)


def _moves_of_lines(before: Iterable[Line], after: Iterable[Line]) -> Moves[Part]:
    return moves(
        (old, new, amount)
        for line, other in zip(before, after, strict=True)
        for (old, amount), (new, _) in zip(line.charged, other.charged, strict=True)
    )


def _changed(dependents: Dependents, now: Iterable[Subject], context: Context) -> list[Subject]:
    """Return the records that differ from before, updated now."""
    before: list[Subject] = [*dependents.payments, *dependents.credits, *dependents.write_offs]
    before += [*dependents.refunds, *dependents.refund_payments]
    known = {each.id: each for each in before}
    changed = (each for each in now if each != known[each.id])
    return [replace(each, updated_at=context.now) for each in changed]


# The steps of settlements, on the days from which they are in effect.


def _steps_of_document(id_: UUID, dependents: Dependents) -> Iterator[Step[Part]]:
    for payment in dependents.payments:
        for each in payment.allocations:
            if each.document_id == id_ and each.split:
                yield _step(each.id, _paid_on(payment, each), each.split, each.end)
    for credit in dependents.credits:
        for each in credit.allocations:
            if each.document_id == id_:
                on, _ = credits.applied_days(credit, each)
                yield _step(each.id, on, each.split, each.end)
    for write_off in dependents.write_offs:
        on, end = written_off_days(write_off)
        yield _step(write_off.id, on, write_off.split, end)


def _steps_of_credit(credit: Credit, given: Iterable[Refund]) -> Iterator[Step[Part]]:
    for each in credit.allocations:
        on, _ = credits.applied_days(credit, each)
        yield _step(each.id, on, each.own_split, each.end)
    for refund in given:
        for one in refund.allocations:
            if one.kind == "refunded_credit" and one.target_id == credit.id:
                on, _ = refunds.agreed_days(refund, one)
                yield _step(one.id, on, one.split, one.end)


def _step(id_: UUID, on: date, split: Split, end: date | None) -> Step[Part]:
    return Step(id_, on, split, live=end is None)


def _paid_on(payment: Payment, allocation: Allocation) -> date:
    """Return the first day on which an allocation settled its document."""
    applied = payments.applied_days(payment, allocation)
    return applied[-1][0] if applied else payment.payment_date


def _with_splits(holder: Payment | Credit, document_id: UUID, again: NewSplits) -> Payment | Credit:
    """Return a payment or credit with the new splits of its allocations to a document."""
    allocations = tuple(
        replace(each, split=again[each.id])
        if each.document_id == document_id and each.split
        else each
        for each in holder.allocations
    )
    return replace(holder, allocations=allocations)


# Refunds, which are split by line where their lines were recorded.


def _refunded_again(
    before: Document,
    after: Document,
    given: Iterable[Refund],
    moved: Moves[Part],
    net_account_id: UUID | None,
) -> tuple[list[Refund], Pairs]:
    """Return refunds with the new splits of a document, and how their parts moved.

    What a refund of a payment released from the document is split again too.
    """
    found, pairs = [], Pairs()
    for refund in given:
        allocations = []
        for allocation in refund.allocations:
            each = allocation
            if each.kind == "document" and each.target_id == after.id:
                each, pairs[each.id] = _of_document(each, before, after, moved, net_account_id)
            allocations.append(_released_again(each, after.id, moved))
        found.append(replace(refund, allocations=tuple(allocations)))
    return found, pairs


def _refunded_in_base(
    after: Document, given: Sequence[Refund], net_account_id: UUID | None
) -> list[Refund]:
    """Return refunds of a foreign document with their base, which they take in their order."""
    if after.worth is None:
        return list(given)
    of_document = [
        (refund, each)
        for refund in given
        for each in refund.allocations
        if each.kind == "document" and each.target_id == after.id
    ]
    steps = [
        _step(each.id, refunds.agreed_days(refund, each)[0], each.split, each.end)
        for refund, each in of_document
    ]
    splits = {each.id: each.split for _, each in of_document}
    again = with_base_anew(charged_parts(after, net_account_id), steps, splits)
    assessed = {
        each.id: assessed_with_base(after, each.self_assessed, {}) for _, each in of_document
    }
    return [_with_given(refund, again, assessed) for refund in given]


def _of_document(
    allocation: RefundAllocation,
    before: Document,
    after: Document,
    moved: Moves[Part],
    net_account_id: UUID | None,
) -> tuple[RefundAllocation, list[tuple[Part, Part, int]]]:
    if not _is_of_lines(allocation, before, net_account_id):
        if net_account_id is not None:
            return allocation, [(part, part, n) for part, n in allocation.split]
        step = _step(allocation.id, date.min, allocation.split, date.min)
        [(_, shares)] = shares_again(moved, [step])
        pairs = [(old, new, n) for old, parts in shares for new, n in parts]
        return replace(allocation, split=added(tuple((new, n) for _, new, n in pairs))), pairs
    split = charged_split(after, allocation.lines, net_account_id)
    assessed = assessed_split(after, allocation.lines)
    pairs = moved_parts(before, after, allocation.lines, net_account_id)
    return replace(allocation, split=split, self_assessed=assessed), pairs


def _is_of_lines(
    allocation: RefundAllocation, document: Document, net_account_id: UUID | None
) -> bool:
    """Return whether the split follows from the lines: they may be unknown, or replaced since."""
    known = {line.id: len(line.charged) + len(line.assessed) for line in document.lines}
    if not allocation.lines:
        return False
    if any(known.get(id_) != len(amounts) for id_, amounts in allocation.lines):
        return False
    split = charged_split(document, allocation.lines, net_account_id)
    return dict(split) == dict(allocation.split)


def _released_again(
    allocation: RefundAllocation, document_id: UUID, moved: Moves[Part]
) -> RefundAllocation:
    released = tuple(
        replace(each, split=_alone(moved, each.split)) if each.document_id == document_id else each
        for each in allocation.released
    )
    return replace(allocation, released=released)


def _alone(moved: Moves[Part], split: Split) -> Split:
    """Split an ended settlement again, as the only one."""
    [again] = split_again(moved, [Step(UUID(int=0), date.min, split, live=False)]).values()
    return again


def _with_given(refund: Refund, again: NewSplits, assessed: NewSplits | None = None) -> Refund:
    of_tax = assessed or {}
    allocations = tuple(
        replace(each, split=again[each.id], self_assessed=of_tax.get(each.id, each.self_assessed))
        if each.id in again
        else each
        for each in refund.allocations
    )
    return replace(refund, allocations=allocations)


# Payments of refunds, which settle the parts of their refund.


def _paid_again(
    given: Sequence[Refund], paid: Sequence[RefundPayment], pairs: Pairs
) -> tuple[list[Refund], list[RefundPayment]]:
    """Split the payments of refunds again over the parts that these have now."""
    found: list[RefundPayment] = []
    changed: list[Refund] = []
    for refund in given:
        own = [each for each in paid if each.refund_id == refund.id]
        live = [each for each in refunds.live_allocations(refund) if each.id in pairs]
        if not live:
            found, changed = [*found, *own], [*changed, refund]
            continue
        if isinstance(refund, VendorRefund) and refund.by_target:
            own = _by_target(refunds.live_allocations(refund), own, pairs)
        else:
            moved = moves(pair for each in live for pair in pairs[each.id])
            own = _by_part(refunds.parts(refund), own, moved)
        found += own
        settled = (each.splits[-1] for each in own if each.status == "completed")
        changed.append(replace(refund, settled=added(*settled)))
    return changed, found


def _by_part(
    whole: Mapping[Part, int], paid: Iterable[RefundPayment], moved: Moves[Part]
) -> list[RefundPayment]:
    again = _spans_again(whole, moved, [(each, each.splits) for each in paid])
    return [replace(each, splits=splits) for each, splits in again]


def _by_target(
    live: Iterable[RefundAllocation], paid: Iterable[RefundPayment], pairs: Pairs
) -> list[RefundPayment]:
    moved: Moves[TargetPart] = moves(
        ((each.target_id, old), (each.target_id, new), amount)
        for each in live
        for old, new, amount in pairs.get(each.id, ())
    )
    whole: dict[TargetPart, int] = summed(
        ((each.target_id, part), amount) for each in live for part, amount in each.split
    )
    spans = [(each, tuple(map(_flat, refunds.shares_of(each)))) for each in _of_vendors(paid)]
    return [
        replace(
            each,
            shares=tuple(refunds.by_target(span) for span in again[: len(each.shares)]),
            splits=tuple(added(tuple((part, n) for (_, part), n in span)) for span in again),
        )
        for each, again in _spans_again(whole, moved, spans)
    ]


def _of_vendors(paid: Iterable[RefundPayment]) -> Iterator[VendorRefundPayment]:
    return (each for each in paid if isinstance(each, VendorRefundPayment))


def _flat(by_target: SplitByTarget) -> Shares[TargetPart]:
    return tuple(((target, part), n) for target, split in by_target for part, n in split)


def _spans_again(
    whole: Mapping[K, int], moved: Moves[K], paid: Iterable[tuple[P, tuple[Shares[K], ...]]]
) -> list[tuple[P, tuple[Shares[K], ...]]]:
    """Split the spans of payments again; the last one of a completed payment is live."""
    held = list(paid)
    steps = [
        Step((each.id, place), on, span, live=end is None)
        for each, spans in held
        for place, ((on, end), span) in enumerate(
            zip(refunds.completion_days(each), spans, strict=True)
        )
    ]
    again = with_base_anew(whole, steps, split_again(moved, steps))
    return [
        (each, tuple(again[each.id, place] for place in range(len(spans)))) for each, spans in held
    ]
