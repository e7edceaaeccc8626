"""Allocations of vendor refunds: to bills, to bill payments, and to credits kept or paid out."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Any
from uuid import UUID

from accounting.books.businesses import Context
from accounting.books.chart import Roles
from accounting.books.numbers import PendingNumber
from accounting.books.record_rates import NO_WORTH_GIVEN, GivenWorth
from accounting.errors import Conflict, RuleViolation, ValidationError
from accounting.tax.day_codes import TaxReferences
from accounting.trade import credit_changes, credit_lines, credits, documents, refunds
from accounting.trade.allocation import refuse_not_open
from accounting.trade.commands import RefundItem
from accounting.trade.credits import Credit
from accounting.trade.documents import Document
from accounting.trade.payments import Payment
from accounting.trade.refund_targets import (
    Target,
    apply_again,
    facts_of,
    free,
    of_credit,
    of_document,
    of_payment,
    refundable,
    refuse_more_than,
    take_back,
)
from accounting.trade.refunds import Kind, RefundAllocation, VendorRefund
from accounting.trade.sides import PAYABLE

FIELDS: Mapping[Kind, str] = {
    "document": PAYABLE.names.document_id,
    "payment": PAYABLE.names.payment_id,
    "refunded_credit": PAYABLE.names.credit_id,
}
"""The name of each allocation target in error messages."""


@dataclass(frozen=True, slots=True)
class AffectedTargets:
    """The targets of refunds, and the records that change with them, by id."""

    documents: Mapping[UUID, Document]
    payments: Mapping[UUID, Payment]
    credits: Mapping[UUID, Credit]

    def with_document(self, document: Document) -> "AffectedTargets":
        """Return a copy with one document replaced."""
        return replace(self, documents={**self.documents, document.id: document})

    def with_payment(self, payment: Payment, moved: Mapping[UUID, Document]) -> "AffectedTargets":
        """Return a copy with one payment replaced, and all documents as in `moved`."""
        return AffectedTargets(moved, {**self.payments, payment.id: payment}, self.credits)

    def with_credit(self, credit: Credit, moved: Mapping[UUID, Document]) -> "AffectedTargets":
        """Return a copy with one credit replaced, and all documents as in `moved`."""
        return AffectedTargets(moved, self.payments, {**self.credits, credit.id: credit})


@dataclass(frozen=True, slots=True)
class RefundContext:
    """The context of new allocations; without a `start` they have the date of the refund.

    `worth` is the given exchange rate of an amount that is kept as a credit.
    """

    referenced: TaxReferences
    context: Context
    start: date | None = None
    worth: GivenWorth = NO_WORTH_GIVEN

    @property
    def roles(self) -> Roles:
        """The account of each role."""
        return self.referenced.roles


def refuse_repeated(items: Sequence[RefundItem]) -> None:
    """Refuse a list of allocations that names a target twice.

    Raises ValidationError `validation_error`.
    """
    seen: set[UUID] = set()
    faults = {}
    for item in items:
        if item.target_id in seen:
            faults[item.place] = ["repeats the target of an earlier item"]
        if item.target_id is not None:
            seen.add(item.target_id)
    if faults:
        raise ValidationError.fields(**faults)


def allocate(
    refund_context: RefundContext,
    refund: VendorRefund,
    wanted: Sequence[RefundItem],
    affected: AffectedTargets,
) -> tuple[VendorRefund, AffectedTargets]:
    """Make the wanted items the live allocations of a refund.

    An allocation that is wanted unchanged keeps its date. The others are undone today, credits
    first (paid out, then kept), then the latest first; then the new allocations are created. Raises
    the Conflict and RuleViolation errors of `vendor_refund_changes.agree`.
    """
    _refuse_excess(refund, wanted)
    waiting, staying = list(wanted), {}
    for each in refunds.live_allocations(refund):
        same = next((one for one in waiting if _is_as(one, each)), None)
        if same is not None:
            waiting.remove(same)
            staying[each.id] = replace(each, **_words(same))
    refund, affected = _end_unwanted(refund_context, refund, affected, staying)
    history = list(refund.allocations)
    for one in waiting:
        allocation, affected = _MAKERS[one.kind](refund_context, refund, one, affected)
        history.append(replace(allocation, created_at=refund_context.context.now))
    return replace(refund, allocations=tuple(history)), affected


def _end_unwanted(
    refund_context: RefundContext,
    refund: VendorRefund,
    affected: AffectedTargets,
    staying: Mapping[UUID, RefundAllocation],
) -> tuple[VendorRefund, AffectedTargets]:
    history = {each.id: staying.get(each.id, each) for each in refund.allocations}
    latest_first = list(reversed(refunds.live_allocations(refund)))
    # A credit's payout is undone before the credit is withdrawn. The documents that credits have
    # settled are outstanding again before money is applied to them again.
    for each in sorted(latest_first, key=lambda each: _TURNS.get(each.kind, len(_TURNS))):
        if each.id not in staying:
            history[each.id] = replace(each, end=refund_context.context.day)
            affected = _without(refund_context, each, affected)
    return replace(refund, allocations=tuple(history.values())), affected


_TURNS: Mapping[Kind, int] = {"refunded_credit": 0, "credit": 1}


def _without(
    refund_context: RefundContext, allocation: RefundAllocation, affected: AffectedTargets
) -> AffectedTargets:
    """Undo the effects of an allocation."""
    context, id_ = refund_context.context, allocation.target_id
    if allocation.kind == "document":
        return affected.with_document(take_back(allocation, affected.documents[id_], context))
    if allocation.kind == "payment":
        payment = take_back(allocation, affected.payments[id_], context)
        again = apply_again(PAYABLE, payment, allocation.released, affected.documents, context)
        return affected.with_payment(again.payment, again.documents)
    if allocation.kind == "refunded_credit":
        whole = take_back(allocation, affected.credits[id_], context)
        return affected.with_credit(whole, affected.documents)
    gone = credit_changes.withdraw(PAYABLE, affected.credits[id_], affected.documents, context)
    return affected.with_credit(gone.credit, gone.documents)


def _to_document(
    refund_context: RefundContext,
    refund: VendorRefund,
    wanted: RefundItem,
    affected: AffectedTargets,
) -> tuple[RefundAllocation, AffectedTargets]:
    document = _target("bill", affected.documents, refund, wanted)
    refuse_not_open(PAYABLE, document)
    refuse_more_than(refundable(document), wanted.amount, **facts_of(PAYABLE, document))
    facts = {
        "start": _begun(refund_context, refund, documents.opened_on(document)),
        **_words(wanted),
    }
    allocation, after = of_document(
        PAYABLE,
        document,
        wanted.amount,
        refund_context.roles,
        refund_context.context,
        lines=wanted.lines,
        **facts,
    )
    return allocation, affected.with_document(after)


def _to_payment(
    refund_context: RefundContext,
    refund: VendorRefund,
    wanted: RefundItem,
    affected: AffectedTargets,
) -> tuple[RefundAllocation, AffectedTargets]:
    payment = _target("bill payment", affected.payments, refund, wanted)
    if payment.status != "completed":
        raise Conflict(
            "payment_not_completed",
            "Only a completed bill payment can be refunded. Complete it first.",
            current_state=payment.status,
            **{FIELDS["payment"]: str(payment.id)},
        )
    refundable = payment.total - payment.refunded
    refuse_more_than(refundable, wanted.amount, **facts_of(PAYABLE, payment))
    begun = _begun(refund_context, refund, payment.payment_date)
    on = max(begun or refund.agreed_on, refund.agreed_on)
    freed, released = free(
        PAYABLE, payment, wanted.amount, affected.documents, on, refund_context.context
    )
    facts = {"start": begun, "released": released, **_words(wanted)}
    allocation, after = of_payment(
        PAYABLE, freed.payment, wanted.amount, refund_context.roles, refund_context.context, **facts
    )
    return allocation, affected.with_payment(after, freed.documents)


def _to_credit(
    refund_context: RefundContext,
    refund: VendorRefund,
    wanted: RefundItem,
    affected: AffectedTargets,
) -> tuple[RefundAllocation, AffectedTargets]:
    on = max(refund_context.start or refund.agreed_on, refund.agreed_on)
    taken = sum(isinstance(each.number, PendingNumber) for each in affected.credits.values())
    number = PendingNumber(PAYABLE.credit_series, taken)
    codes = refund_context.referenced.codes_on(PAYABLE.tax_direction, on)
    code = None if wanted.tax_code is None else codes.named(wanted.tax_code, wanted.place)
    roles, context = refund_context.roles, refund_context.context
    line = credit_lines.of_gross(PAYABLE, wanted.amount, code, roles, context)
    credit = credit_changes.of_refund(PAYABLE, refund, line, roles, context, on=on, number=number)
    credit = credit_changes.with_worth(credit, refund_context.worth, on, context)
    allocation = RefundAllocation(
        id=refund_context.context.identify(),
        kind="credit",
        target_id=credit.id,
        target_number=credit.number,
        amount=wanted.amount,
        split=(),
        tax_code_id=line.tax_code_id,
        start=refund_context.start,
        **_words(wanted),
    )
    return allocation, affected.with_credit(credit, affected.documents)


def _to_refunded_credit(
    refund_context: RefundContext,
    refund: VendorRefund,
    wanted: RefundItem,
    affected: AffectedTargets,
) -> tuple[RefundAllocation, AffectedTargets]:
    credit = _target("vendor credit", affected.credits, refund, wanted)
    credits.refuse_not_open(PAYABLE, credit, "refunded")
    refuse_more_than(credits.unapplied(credit), wanted.amount, **facts_of(PAYABLE, credit))
    facts = {
        "start": _begun(refund_context, refund, credits.opened_on(credit)),
        **_words(wanted),
    }
    allocation, after = of_credit(credit, wanted.amount, refund_context.context, **facts)
    return allocation, affected.with_credit(after, affected.documents)


_Maker = Callable[
    [RefundContext, VendorRefund, RefundItem, AffectedTargets],
    tuple[RefundAllocation, AffectedTargets],
]
_MAKERS: Mapping[Kind, _Maker] = {
    "document": _to_document,
    "payment": _to_payment,
    "credit": _to_credit,
    "refunded_credit": _to_refunded_credit,
}


def _target(
    noun: str, loaded: Mapping[UUID, Target], refund: VendorRefund, wanted: RefundItem
) -> Target:
    """Return the loaded target of a wanted item.

    Raises RuleViolation `reference_not_found` or `bill_vendor_mismatch`.
    """
    found = None if wanted.target_id is None else loaded.get(wanted.target_id)
    if found is None:
        raise RuleViolation(
            "reference_not_found",
            f"The business has no such {noun}.",
            resource=noun.replace(" ", "_"),
            reference=str(wanted.target_id),
        )
    if found.party.id != refund.party.id:
        raise PAYABLE.refusals.of_another_party(**{FIELDS[wanted.kind]: str(found.id)})
    if found.currency != refund.currency:
        raise RuleViolation(
            "currency_mismatch",
            f"The {noun} is in {found.currency}, and the refund in {refund.currency}.",
            currency=refund.currency,
            **{FIELDS[wanted.kind]: str(found.id)},
        )
    return found


def _is_as(item: RefundItem, allocation: RefundAllocation) -> bool:
    """Return whether an allocation is already as wanted, apart from descriptive fields.

    An item with lines or a tax code is always allocated again.
    """
    if item.lines or item.tax_code is not None:
        return False
    same = item.kind == allocation.kind and item.amount == allocation.amount
    return same and item.target_id in (None, allocation.target_id)


def _refuse_excess(refund: VendorRefund, wanted: Sequence[RefundItem]) -> None:
    total = sum(each.amount for each in wanted)
    if total > refund.amount:
        raise RuleViolation(
            "allocation_exceeds_total",
            "The allocations exceed the refund.",
            total_amount_cents=refund.amount,
            allocated_amount_cents=total,
        )


def _begun(refund_context: RefundContext, refund: VendorRefund, floor: date) -> date | None:
    """Return the start of an allocation, but no earlier than the date of its target.

    None is the date of the refund.
    """
    return floor if floor > (refund_context.start or refund.agreed_on) else refund_context.start


def _words(wanted: RefundItem) -> dict[str, Any]:
    return {"description": wanted.description, "metadata": wanted.metadata}
