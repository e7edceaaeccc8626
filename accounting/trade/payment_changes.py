"""Creation, change and cancellation of payments, with the documents that change with them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from accounting.absent import Absent, or_else, said
from accounting.books.businesses import Context, refuse_locked
from accounting.books.chart import processor_of
from accounting.books.foreign import Worth
from accounting.books.ledger import Span
from accounting.books.record_rates import currency_of_all, worth_of
from accounting.errors import Conflict, RuleViolation
from accounting.trade.allocation import (
    AllocationItem,
    Documents,
    changed_documents,
    items_of,
    rearrange,
    redated,
    refuse_repeated,
)
from accounting.trade.commands import ChangePayment, InitialPayment, PaymentDetails, RecordPayment
from accounting.trade.documents import Document
from accounting.trade.holds import held_to, on_own_account, refuse_changing_opening
from accounting.trade.parties import Party, PartyNamed, refuse_inactive, refuse_reference_mismatch
from accounting.trade.payments import (
    LIVE,
    NO_BANKS,
    MoneyBanks,
    Payment,
    allocation_source,
    chosen_bank,
    completions_after,
    context_of_status,
    own_account,
    refuse_cancelling,
    refuse_move,
    uses_anew,
)
from accounting.trade.refund_targets import refuse_released_below_refunds
from accounting.trade.sides import Side

# Changes to the fields of a payment: corrected, cleared, or left unchanged.


NOTHING_SAID: Mapping[str, Any] = {
    **{item.name: None for item in fields(PaymentDetails)},
    "references": {},
    "transaction_tags": (),
}
"""The default description of a payment."""


def corrected(payment: Payment, command: ChangePayment) -> dict[str, Any]:
    """Return the fields that a change corrects.

    An absent field keeps its value, but a change of the whole payment clears absent descriptive
    fields. Null clears a field that may be empty.
    """
    supplied = said(command, "total", "payment_date", "fee", "method")
    may_be_empty = {
        "external_id": or_else(command.external_id, payment.external_id),
        "processor": _processor(payment, command),
    }
    details = cleared(command.details) if command.whole else said(command.details)
    return {**supplied, **may_be_empty, **details}


def cleared(details: PaymentDetails) -> dict[str, Any]:
    """Return the descriptive fields of a payment; absent ones are empty."""
    return {**NOTHING_SAID, **said(details)}


def _processor(payment: Payment, command: ChangePayment) -> str | None:
    """Return the processor; one that was derived from the method changes with the method."""
    method = or_else(command.method, payment.method)
    if not isinstance(command.processor, Absent):
        return command.processor or processor_of(method)
    if payment.processor == processor_of(payment.method):
        return processor_of(method)
    return payment.processor


@dataclass(frozen=True, slots=True)
class AmendedPayment:
    """A payment after a change, the documents it affects, and those of them that changed."""

    payment: Payment
    documents: Documents
    changed: tuple[Document, ...]


def record(
    side: Side,
    command: RecordPayment,
    party: Party,
    loaded: Documents,
    context: Context,
    banks: MoneyBanks = NO_BANKS,
) -> AmendedPayment:
    """Create a payment, completed unless another status is given.

    `banks` has the bank account that the command names. Raises ValidationError `validation_error`;
    Conflict `payment_not_live`, `customer_archived` or `period_locked`; RuleViolation
    `currency_mismatch`, those of `worth_of`, `reference_mismatch`, `reference_not_found`,
    `allocation_exceeds_total`, `allocation_exceeds_outstanding`, `bank_account_inactive` or
    `bank_account_currency_mismatch`; the side's API errors.
    """
    wanted, status = command.allocations, command.status
    refuse_repeated(side, wanted)
    _refuse_allocating_not_live(wanted, status)
    refuse_inactive(side, party)
    refuse_reference_mismatch(party, command.party.external_id)
    currency = _currency(command, loaded, context)
    payment = Payment(
        id=context.identify(),
        version=0,
        created_at=context.now,
        updated_at=context.now,
        party=party,
        external_id=command.external_id,
        total=command.total,
        currency=currency,
        worth=worth_of(currency, command.total, command.worth, command.payment_date, context),
        payment_date=command.payment_date,
        method=command.method,
        processor=command.processor or processor_of(command.method),
        fee=command.fee,
        status=status,
        completions=(Span(),) if status == "completed" else (),
        allocations=(),
        idempotency_key=command.idempotency_key,
        bank=chosen_bank(command.bank_account_id, banks, currency=currency),
        **cleared(command.details),
    )
    if payment.worth is not None:
        own = own_account(side, currency, payment.method, payment.processor, context)
        payment = replace(payment, own_account_id=own)
    if payment.completions:
        refuse_locked(context, payment.payment_date)
    return _settled(side, None, payment, wanted, loaded, context)


def _currency(command: RecordPayment, loaded: Documents, context: Context) -> str:
    """Return the currency of a new payment: the given one, else that of all that it settles."""
    named = (loaded.get(item.document_id) for item in command.allocations)
    settled = (document.currency for document in named if document is not None)
    return currency_of_all(command.currency, settled, context, "The documents are in")


def record_with(
    side: Side,
    document: Document,
    commands: Iterable[InitialPayment],
    context: Context,
    banks: MoneyBanks = NO_BANKS,
) -> tuple[Document, tuple[Payment, ...]]:
    """Create the payments of a new document: completed, and allocated to it in full.

    The default amount is the document's total, and the default date is the day when the document
    was opened, or today for a draft.
    """
    at, payments = document.opened_at, []
    for each in commands:
        total = or_else(each.total, document.total_amount)
        command = RecordPayment(
            party=PartyNamed(document.party.id),
            total=total,
            payment_date=or_else(each.payment_date, context.day_of(at or context.now)),
            method=each.method,
            allocations=(AllocationItem(document.id, total),),
            worth=each.worth,
            processor=each.processor,
            fee=each.fee,
            external_id=each.external_id,
            bank_account_id=each.bank_account_id,
            details=PaymentDetails(payment_reference=each.payment_reference, note=each.note),
        )
        amended = record(side, command, document.party, {document.id: document}, context, banks)
        document = amended.documents[document.id]
        payments.append(amended.payment)
    return document, tuple(payments)


def amend(
    side: Side,
    payment: Payment,
    loaded: Documents,
    command: ChangePayment,
    context: Context,
    banks: MoneyBanks = NO_BANKS,
) -> AmendedPayment:
    """Change the fields of a payment; a change of the whole (PUT) clears absent descriptive fields.

    A list of allocations replaces the live ones. A payment that leaves its live states releases
    them. If nothing changes, the result has the same payment object. Raises the errors of `record`;
    Conflict `invalid_state_transition`, `in_payout`, `linked_in_base`, `payment_has_refunds` or
    `in_opening_balance`; RuleViolation
    `immutable_field`, `total_below_allocated`, `refund_exceeds_refundable`,
    `link_exceeds_remaining` or `bank_account_mismatch`.
    """
    given = or_else(command.allocations, ())
    refuse_repeated(side, given)
    status = or_else(command.status, payment.status)
    _refuse_allocating_not_live(given, status)
    refuse_move(side, payment.status, status)
    bank = chosen_bank(command.bank_account_id, banks, payment.bank, payment.currency)
    amended = replace(payment, **corrected(payment, command), status=status, bank=bank)
    worth = _worth(payment, amended, command, context)
    if worth is not amended.worth:
        amended = replace(amended, worth=worth)
    amended = on_own_account(side, payment, amended, context)
    refuse_changing_opening(payment, amended)
    if worth is not None and (amended.total, worth) != (payment.total, payment.worth):
        _refuse_refunded(payment)
        amended = replace(amended, allocations=uses_anew(amended))
    context = context_of_status(
        payment.completions,
        payment.status,
        status,
        command.status_date,
        amended.payment_date,
        context,
    )
    completions = completions_after(payment.completions, payment.status, status, context)
    amended = replace(amended, completions=completions)
    amended = held_to(side, payment, amended)
    _refuse_new_date(payment, amended, context)
    _refuse_new_identity(side, payment, command)
    wanted: Sequence[AllocationItem] = given
    if isinstance(command.allocations, Absent):
        wanted = items_of(payment.allocations) if status in LIVE else []
    if not given:
        _refuse_total_below(side, amended, wanted)
    settled = _settled(side, payment, amended, wanted, loaded, context)
    if status == "refunded" or status in LIVE:
        _refuse_refunded_twice(side, payment, status, wanted, loaded, settled)
    return settled


def _worth(
    payment: Payment, amended: Payment, command: ChangePayment, context: Context
) -> Worth | None:
    """Return what a changed payment is worth: a changed amount keeps the rate."""
    day = amended.payment_date
    return worth_of(payment.currency, amended.total, command.worth, day, context, payment.worth)


def _refuse_refunded(payment: Payment) -> None:
    """Refuse to change what a foreign payment brings while a refund holds some of it.

    Raises Conflict `payment_has_refunds`.
    """
    if payment.refunded:
        raise Conflict(
            "payment_has_refunds",
            "Part of the payment is refunded, so its amount and its exchange rate cannot change."
            " Cancel the refunds first.",
            refunded=int(payment.refunded),
        )


def cancel(side: Side, payment: Payment, loaded: Documents, context: Context) -> AmendedPayment:
    """Cancel a payment that is pending or failed, and release what it reserves.

    Raises Conflict `invalid_state_transition`.
    """
    refuse_cancelling(side, payment.status)
    return amend(side, payment, loaded, ChangePayment(status="cancelled"), context)


def _settled(
    side: Side,
    before: Payment | None,
    payment: Payment,
    wanted: Sequence[AllocationItem],
    loaded: Documents,
    context: Context,
) -> AmendedPayment:
    """Update allocations and documents to match the payment and the wanted items."""
    start = None if before is None else context.day
    source = allocation_source(payment, start, context.day, context)
    allocations, after = rearrange(side, payment.allocations, wanted, loaded, source)
    settled = replace(payment, allocations=allocations)
    if before is not None:
        if settled == before:
            return AmendedPayment(before, loaded, ())
        settled = replace(settled, updated_at=context.now)
        was_on = allocation_source(before, start, context.day, context).applied_on
        after = redated(before.allocations, allocations, after, was_on, source.applied_on)
    changed = changed_documents(after, loaded, context.now)
    return AmendedPayment(settled, {**after, **changed}, tuple(changed.values()))


def _refuse_allocating_not_live(wanted: Sequence[AllocationItem], status: str) -> None:
    if wanted and status not in LIVE:
        raise Conflict(
            "payment_not_live",
            f"A {status} payment cannot have allocations.",
            status=status,
        )


def _refuse_new_date(before: Payment, after: Payment, context: Context) -> None:
    """Refuse a locked payment date, if the payment is first completed or its date changes.

    Raises Conflict `period_locked`.
    """
    if after.completions and (not before.completions or after.payment_date != before.payment_date):
        refuse_locked(context, after.payment_date)


def _refuse_new_identity(side: Side, payment: Payment, command: ChangePayment) -> None:
    kept = (
        (side.names.party_id, command.party.id, payment.party.id),
        (side.names.party_external_id, command.party.external_id, payment.party.external_id),
        ("currency", command.currency, payment.currency),
    )
    for name, given, value in kept:
        if given is not None and given != value:
            raise RuleViolation(
                "immutable_field",
                f"The {name} of a payment cannot be changed.",
                field=name,
            )


def _refuse_refunded_twice(
    side: Side,
    payment: Payment,
    status: str,
    wanted: Sequence[AllocationItem],
    loaded: Documents,
    settled: AmendedPayment,
) -> None:
    """Refuse to release refunded money by hand, or to set such a payment to `refunded`.

    An amount that the list of allocations repeats is not released by hand, even if the status
    releases it. Raises RuleViolation `refund_exceeds_refundable`.
    """
    if status == "refunded" and payment.refunded:
        raise RuleViolation(
            "refund_exceeds_refundable",
            "Part of the payment is already refunded. Cancel its refunds first.",
            refunded=int(payment.refunded),
        )
    asked = {part.document_id: part.amount for part in wanted}
    for part in items_of(payment.allocations):
        if asked.get(part.document_id, 0) < part.amount:
            before, after = loaded[part.document_id], settled.documents[part.document_id]
            refuse_released_below_refunds(side, before, after)


def _refuse_total_below(side: Side, payment: Payment, held: Sequence[AllocationItem]) -> None:
    amount = payment.refunded + sum(part.amount for part in held)
    if payment.total < amount:
        raise RuleViolation(
            "total_below_allocated",
            "The total is below the amount already allocated and refunded. Release allocations"
            " first.",
            allocated_amount_cents=int(amount),
            **{side.names.payment_total: payment.total},
        )
