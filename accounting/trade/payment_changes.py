"""Payments as they are made, changed and cancelled, and the documents that move with them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from accounting.books.chart import processor_of
from accounting.books.context import Context, refuse_locked, refuse_other_currency
from accounting.books.spans import Span
from accounting.errors import Conflict, RuleBroken
from accounting.trade.allocation import (
    AllocationItem,
    Documents,
    items_given,
    items_of,
    live,
    moved,
    rearrange,
)
from accounting.trade.documents import Document
from accounting.trade.holds import held_to
from accounting.trade.parties import Party, refuse_inactive, refuse_reference_mismatch
from accounting.trade.payment_facts import DESCRIPTIVE, corrected, described
from accounting.trade.payment_status import completions_after, refuse_cancelling, refuse_move
from accounting.trade.payments import LIVE, Payment, allocation_source, applied_on
from accounting.trade.refund_targets import refuse_released_below_refunds
from accounting.trade.sides import Side

Body = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Amended:
    """A payment as it is now, the documents it touches, and which of them its change moved."""

    payment: Payment
    documents: Documents
    changed: tuple[Document, ...]


def record(side: Side, body: Body, party: Party, loaded: Documents, context: Context) -> Amended:
    """Make a payment from the body of a create, completed unless it says otherwise.

    Raises Malformed `validation_error`; Conflict `payment_not_live`, `customer_archived` or
    `period_locked`; RuleBroken `currency_mismatch`, `reference_mismatch`, `reference_not_found`,
    `allocation_exceeds_total` or `allocation_exceeds_outstanding`; the side's refusals.
    """
    wanted = items_given(side, body.get("allocations") or ())
    status = body.get("status") or "completed"
    _refuse_lifeless(wanted, status)
    refuse_inactive(side, party)
    refuse_reference_mismatch(party, body.get(side.party_external_id_field))
    refuse_other_currency(body.get("currency"), context)
    method = body["payment_method"]
    payment = Payment(
        id=context.identify(),
        version=0,
        created_at=context.now,
        updated_at=context.now,
        party=party,
        external_id=body.get("external_id"),
        total=body[side.payment_amount_field],
        currency=context.currency,
        payment_date=body["payment_date"],
        method=method,
        processor=body.get("payment_processor") or processor_of(method),
        fee=body.get("processing_fee_cents") or 0,
        status=status,
        completions=(Span(),) if status == "completed" else (),
        allocations=(),
        idempotency_key=body.get("idempotency_key"),
        **described(body, DESCRIPTIVE),
    )
    if payment.completions:
        refuse_locked(context, payment.payment_date)
    return _settled(side, None, payment, wanted, loaded, context)


def record_with(
    side: Side, document: Document, bodies: Iterable[Body], context: Context
) -> tuple[Document, tuple[Payment, ...]]:
    """Make the payments that come with a new document: completed, and allocated to it in full.

    A payment without an amount comes to the document's total, one without a date is of the day
    the document opened.
    """
    payments = []
    for body in bodies:
        total = body.get(side.payment_amount_field, document.total_amount)
        part = {side.document_id_field: document.id, "amount_cents": total}
        whole = {
            "payment_date": document.opened_on or context.today,
            **body,
            side.payment_amount_field: total,
            "allocations": [part],
        }
        amended = record(side, whole, document.party, {document.id: document}, context)
        document = amended.documents[document.id]
        payments.append(amended.payment)
    return document, tuple(payments)


def amend(
    side: Side,
    payment: Payment,
    loaded: Documents,
    changes: Body,
    context: Context,
    *,
    whole: bool = False,
) -> Amended:
    """Change what a body supplies; as the `whole` (PUT) it also clears descriptions it lacks.

    A list of allocations replaces the live ones. A payment that leaves its live states releases
    them. Where nothing changes, the payment comes back as the same object. Raises what `record`
    raises, and Conflict `in_payout`; RuleBroken `immutable_field`, `total_below_allocated`,
    `refund_exceeds_refundable` or `link_exceeds_remaining`.
    """
    given = changes.get("allocations")
    wanted = None if given is None else items_given(side, given)
    status = changes.get("status") or payment.status
    _refuse_lifeless(wanted or (), status)
    refuse_move(side, payment.status, status)
    amended = replace(
        payment,
        **corrected(side, payment, changes, whole=whole),
        status=status,
        completions=completions_after(payment.completions, payment.status, status, context.today),
    )
    amended = held_to(side, payment, amended)
    _refuse_new_date(payment, amended, context)
    _refuse_new_identity(side, payment, changes)
    if wanted is None:
        wanted = items_of(payment.allocations) if status in LIVE else []
    if not given:
        _refuse_total_below(side, amended, wanted)
    settled = _settled(side, payment, amended, wanted, loaded, context)
    if status == "refunded" or status in LIVE:
        _refuse_refunded_twice(side, payment, status, wanted, loaded, settled)
    return settled


def cancel(side: Side, payment: Payment, loaded: Documents, context: Context) -> Amended:
    """Cancel a payment that is pending or failed, and release what it reserves.

    Raises Conflict `invalid_state_transition`.
    """
    refuse_cancelling(side, payment.status)
    return amend(side, payment, loaded, {"status": "cancelled"}, context)


def _settled(
    side: Side,
    before: Payment | None,
    payment: Payment,
    wanted: Sequence[AllocationItem],
    loaded: Documents,
    context: Context,
) -> Amended:
    """Bring allocations and documents in line with what the payment now is and wants."""
    start = None if before is None else context.today
    source = allocation_source(payment, start, context.today, context)
    allocations, after = rearrange(side, payment.allocations, wanted, loaded, source)
    settled = replace(payment, allocations=allocations)
    if before is not None and settled == before:
        return Amended(before, loaded, ())
    settled = replace(settled, updated_at=context.now)
    after = _redated(before, settled, after, context)
    changed = moved(after, loaded, context.now)
    return Amended(settled, {**after, **changed}, tuple(changed.values()))


def _redated(
    before: Payment | None, payment: Payment, after: Documents, context: Context
) -> Documents:
    """Move `paid_on` with the entry that settled a document, where its day was corrected.

    A part that now settles later than everything else did is what the document waited for.
    """
    if before is None or payment.payment_date == before.payment_date:
        return after
    redated = dict(after)
    for each in live(payment.allocations):
        document = after[each.document_id]
        if each in before.allocations and document.paid_on is not None:
            was_on = applied_on(before, each, context.lock_date)
            on = applied_on(payment, each, context.lock_date)
            if document.paid_on == was_on or document.paid_on < on != was_on:
                redated[document.id] = replace(document, paid_on=on)
    return redated


def _refuse_lifeless(wanted: Sequence[AllocationItem], status: str) -> None:
    if wanted and status not in LIVE:
        raise Conflict(
            "payment_not_live",
            f"A payment that is {status} holds no allocations.",
            status=status,
        )


def _refuse_new_date(before: Payment, after: Payment, context: Context) -> None:
    """Refuse a day inside the lock for money that comes, or that came on another day."""
    if after.completions and (not before.completions or after.payment_date != before.payment_date):
        refuse_locked(context, after.payment_date)


def _refuse_new_identity(side: Side, payment: Payment, changes: Body) -> None:
    kept = {
        side.party_id_field: payment.party.id,
        side.party_external_id_field: payment.party.external_id,
        "currency": payment.currency,
    }
    for name, value in kept.items():
        given = changes.get(name)
        if name == "currency" and given is not None:
            given = given.upper()
        if given is not None and given != value:
            raise RuleBroken(
                "immutable_field",
                f"The {name} of a payment does not change.",
                field=name,
            )


def _refuse_refunded_twice(
    side: Side,
    payment: Payment,
    status: str,
    wanted: Sequence[AllocationItem],
    loaded: Documents,
    settled: Amended,
) -> None:
    """Hold money that refunds rest on: it is not released by hand, and does not go back whole.

    What a list repeats is not released by hand, also where the status releases it.
    """
    if status == "refunded" and payment.refunded:
        raise RuleBroken(
            "refund_exceeds_refundable",
            "Part of the payment is refunded already. Cancel its refunds first.",
            refunded=payment.refunded,
        )
    asked = {part.document_id: part.amount for part in wanted}
    for part in items_of(payment.allocations):
        if asked.get(part.document_id, 0) < part.amount:
            before, after = loaded[part.document_id], settled.documents[part.document_id]
            refuse_released_below_refunds(side, before, after)


def _refuse_total_below(side: Side, payment: Payment, held: Sequence[AllocationItem]) -> None:
    amount = payment.refunded + sum(part.amount for part in held)
    if payment.total < amount:
        raise RuleBroken(
            "total_below_allocated",
            "The total is lower than what is allocated and refunded of it. Release that first.",
            allocated_amount_cents=amount,
            **{side.payment_amount_field: payment.total},
        )
