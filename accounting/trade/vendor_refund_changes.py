"""Changes of vendor refunds: agree, describe, allocate, pay and cancel."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar
from uuid import UUID

from accounting.absent import ABSENT, Absent, or_else, said
from accounting.books.businesses import Context, refuse_locked
from accounting.books.chart import Role
from accounting.books.record_rates import currency_of_all, given_rate, refuse_unused
from accounting.errors import Conflict, RuleViolation
from accounting.tax.day_codes import TaxReferences
from accounting.trade import payments, refunds, vendor_refund_payments
from accounting.trade.allocation import live
from accounting.trade.commands import (
    AgreeVendorRefund,
    AnnouncePayment,
    ChangeVendorRefundPayment,
    RefundItem,
    VendorRefundDetails,
)
from accounting.trade.credits import Credit
from accounting.trade.documents import Document
from accounting.trade.holds import held_to
from accounting.trade.parties import Party, refuse_reference_mismatch
from accounting.trade.payments import NO_BANKS, MoneyBanks, Payment
from accounting.trade.postings import Subject
from accounting.trade.refunds import Kind, VendorRefund, VendorRefundPayment
from accounting.trade.sides import PAYABLE
from accounting.trade.vendor_refund_allocation import (
    AffectedTargets,
    RefundContext,
    allocate,
    refuse_repeated,
)
from accounting.trade.vendor_refund_payments import (
    announce,
    is_last,
    refuse_fee,
    split_anew,
    with_more,
    with_status,
)

S = TypeVar("S", bound=Subject)


@dataclass(frozen=True, slots=True)
class AmendedRefund:
    """A vendor refund after a change, with its payments (oldest first) and affected records."""

    refund: VendorRefund
    payments: tuple[VendorRefundPayment, ...]
    affected: AffectedTargets

    def payment(self, id: UUID) -> VendorRefundPayment:
        """Return one of its payments."""
        return next(each for each in self.payments if each.id == id)

    def with_payment(self, payment: VendorRefundPayment) -> "AmendedRefund":
        """Return a copy with one payment replaced."""
        payments = (payment if each.id == payment.id else each for each in self.payments)
        return replace(self, payments=tuple(payments))


@dataclass(frozen=True, slots=True)
class TargetIds:
    """The ids of the targets that a refund has or is to have."""

    documents: frozenset[UUID]
    payments: frozenset[UUID]
    credits: frozenset[UUID]


def target_ids(refund: VendorRefund | None, items: Iterable[RefundItem]) -> TargetIds:
    """Return the ids of the targets of a refund and of a list of allocations.

    These include the documents that the refund released money from.
    """
    held = () if refund is None else refunds.live_allocations(refund)
    ids: dict[Kind, set[UUID]] = defaultdict(set)
    for each in held:
        ids[each.kind].add(each.target_id)
        ids["document"] |= {one.document_id for one in each.released}
    for item in items:
        if item.target_id is not None:
            ids[item.kind].add(item.target_id)
    credits = ids["credit"] | ids["refunded_credit"]
    return TargetIds(frozenset(ids["document"]), frozenset(ids["payment"]), frozenset(credits))


def documents_of(holders: Iterable[Payment | Credit]) -> set[UUID]:
    """Return the ids of the documents that payments and credits have live allocations to."""
    return {each.document_id for holder in holders for each in live(holder.allocations)}


def agree(
    command: AgreeVendorRefund,
    party: Party,
    loaded: AffectedTargets,
    referenced: TaxReferences,
    context: Context,
    banks: MoneyBanks = NO_BANKS,
) -> AmendedRefund:
    """Create a refund with its allocations and its payments.

    By default there is one pending payment of all the money: of 7200 with 2400 kept as a credit,
    4800. Raises ValidationError `validation_error`; Conflict `period_locked`,
    `payment_not_completed` or `bill_not_open`; RuleViolation `currency_mismatch`,
    `reference_mismatch`, `reference_not_found`, `bill_vendor_mismatch`, `allocation_exceeds_total`,
    `refund_exceeds_refundable`, `fee_exceeds_amount`, `bank_account_inactive`,
    `exchange_rate_not_needed` or, in a foreign currency, `refund_not_allocated` and those of
    `worth_of`. A given exchange rate is that of a part kept as a credit, and of the payment by
    default.
    """
    refuse_repeated(command.allocations)
    refuse_reference_mismatch(party, command.party.external_id)
    currency = _currency(command, loaded, context)
    given_rate(currency, command.worth, context)  # One in base has none.
    _refuse_unused_worth(command)
    agreed_on = command.refund_date or context.today
    refuse_locked(context, agreed_on)
    refund = VendorRefund(
        id=context.identify(),
        version=0,
        created_at=context.now,
        updated_at=context.now,
        party=party,
        external_id=command.external_id,
        amount=command.amount,
        currency=currency,
        is_foreign=currency != context.currency,
        agreed_on=agreed_on,
        completed_at=None,
        cancelled_at=None,
        allocations=(),
        refund_type=command.refund_type,
        by_target=True,
        reference_number=command.reference_number,
        **said(command.details),
    )
    rate = replace(command.worth, base_amount=ABSENT)  # The base amount is that of the payment.
    made = RefundContext(referenced, context, worth=rate)
    refund, affected = allocate(made, refund, command.allocations, loaded)
    _refuse_not_allocated(refund)
    expected = command.payments or [AnnouncePayment(worth=command.worth)]
    announced = _announced(refund, expected, context, banks)
    return AmendedRefund(refund, announced, affected)


def _refuse_unused_worth(command: AgreeVendorRefund) -> None:
    """Refuse a base amount beside payments, and a rate that neither these nor a credit take.

    Raises RuleViolation `exchange_rate_not_needed`.
    """
    if not command.payments:
        return
    refuse_unused(replace(command.worth, exchange_rate=ABSENT))
    is_kept = any(item.kind == "credit" for item in command.allocations)
    taken = {each.worth.exchange_rate for each in command.payments}
    if not is_kept and command.worth.exchange_rate not in taken:
        refuse_unused(command.worth)


def _currency(command: AgreeVendorRefund, loaded: AffectedTargets, context: Context) -> str:
    """Return the currency of a refund: the given one, else that of all that it gives back."""
    targets: dict[UUID, Document | Payment | Credit] = {
        **loaded.documents,
        **loaded.payments,
        **loaded.credits,
    }
    named = (item.target_id for item in command.allocations)
    given_back = (targets[id_].currency for id_ in named if id_ in targets)
    return currency_of_all(command.currency, given_back, context, "The refund gives back")


def _refuse_not_allocated(refund: VendorRefund) -> None:
    """Refuse a refund in a foreign currency that is not allocated in full.

    Raises RuleViolation `refund_not_allocated`.
    """
    rest = refunds.unallocated(refund)
    if refund.is_foreign and rest:
        raise RuleViolation(
            "refund_not_allocated",
            "A refund in a foreign currency must be allocated in full.",
            unallocated_amount_cents=int(rest),
        )


def describe(
    refund: VendorRefund, details: VendorRefundDetails, context: Context, *, affected: bool
) -> VendorRefund:
    """Change the descriptive fields of a refund.

    If that changes nothing, and it is not `affected` otherwise, the same object is returned.
    """
    described = replace(refund, **said(details))
    if described == refund and not affected:
        return refund
    return replace(described, updated_at=context.now)


def amend(
    before: AmendedRefund,
    payment_id: UUID,
    command: ChangeVendorRefundPayment,
    referenced: TaxReferences,
    context: Context,
    banks: MoneyBanks = NO_BANKS,
) -> AmendedRefund:
    """Change a payment of a refund: its fields, the refund's allocations, and its status.

    If its last payment is cancelled, the refund is cancelled too, and its allocations are undone.
    If nothing changes, `before` is returned. Raises Conflict `invalid_state_transition`,
    `vendor_refund_paid` or `period_locked`, and the errors of `agree` for allocations and fees.
    """
    refuse_repeated(or_else(command.allocations, ()))
    payment = before.payment(payment_id)
    status = or_else(command.status, payment.status)
    payments.refuse_move(PAYABLE, payment.status, status)
    dated = or_else(command.payment_date, payment.payment_date)
    of_status = payments.context_of_status(
        payment.completions, payment.status, status, command.status_date, dated, context
    )
    after = before.with_payment(vendor_refund_payments.corrected(payment, command, banks, context))
    if not isinstance(command.allocations, Absent):
        _refuse_allocating_cancelled(payment, status)
        after = _allocated_anew(after, payment_id, command.allocations, referenced, context)
    refund, changed = with_status(
        after.refund,
        after.payments,
        after.payment(payment_id),
        status,
        referenced.roles,
        of_status,
    )
    refuse_fee(changed.fee, changed.amount)
    changed = held_to(PAYABLE, payment, changed)
    after = replace(after, refund=refund).with_payment(changed)
    if dated is not None:  # A day that nobody gave moves on from the lock.
        vendor_refund_payments.refuse_locked_date(payment, changed, context)
    if after == before:
        return before
    after = replace(after, refund=replace(after.refund, updated_at=context.now))
    if changed != payment:
        after = after.with_payment(replace(changed, updated_at=context.now))
    if status == "cancelled" != payment.status and is_last(after.payments):
        return _withdrawn(RefundContext(referenced, of_status), after)
    return after


def cancel(
    before: AmendedRefund, payment_id: UUID, referenced: TaxReferences, context: Context
) -> AmendedRefund:
    """Cancel a payment that is pending or failed, and the refund with its last payment.

    Raises Conflict `invalid_state_transition`.
    """
    payments.refuse_cancelling(PAYABLE, before.payment(payment_id).status)
    return amend(
        before, payment_id, ChangeVendorRefundPayment(status="cancelled"), referenced, context
    )


def changed(
    before: AmendedRefund | None, loaded: AffectedTargets, after: AmendedRefund
) -> tuple[list[Subject], list[Document]]:
    """List the changed subjects in the order of posting, and the changed documents.

    `loaded` has the affected records before the change.
    """
    held: Sequence[Subject] = () if before is None else (before.refund, *before.payments)
    subjects: list[Subject] = [
        *_new([after.refund], held),
        *_new(after.affected.payments.values(), loaded.payments.values()),
        *_new(after.affected.credits.values(), loaded.credits.values()),
        *_new(after.payments, held),
    ]
    return subjects, _new(after.affected.documents.values(), loaded.documents.values())


def _refuse_allocating_cancelled(payment: VendorRefundPayment, status: str) -> None:
    if status == "cancelled":
        allowed = payments.allowed_moves(PAYABLE, payment.status)
        raise Conflict.of_state(
            "A cancelled payment cannot have allocations.", payment.status, allowed
        )


def _new(now: Iterable[S], held: Iterable[Subject]) -> list[S]:
    known = {each.id: each for each in held}
    return [each for each in now if each != known.get(each.id)]


def _allocated_anew(
    before: AmendedRefund,
    payment_id: UUID,
    wanted: Sequence[RefundItem],
    referenced: TaxReferences,
    context: Context,
) -> AmendedRefund:
    """Replace the allocations of a refund, today; completed payments then pay its new parts.

    If the amount kept as a credit changes, the payment `payment_id` changes by the difference.
    Raises Conflict `vendor_refund_paid` if a payment is completed already, or RuleViolation
    `allocation_exceeds_total`.
    """
    refund_context = RefundContext(referenced, context, context.day)
    refund, affected = allocate(refund_context, before.refund, wanted, before.affected)
    _refuse_not_allocated(refund)
    more = refunds.cash(refund) - refunds.cash(before.refund)
    come = [str(each.id) for each in before.payments if each.status == "completed"]
    if more and come:
        raise Conflict(
            "vendor_refund_paid",
            "The amount kept as a credit cannot change after money is received.",
            vendor_refund_payment_ids=come,
        )
    after = AmendedRefund(refund, before.payments, affected)
    if more:
        after = after.with_payment(with_more(after.payment(payment_id), more))
    roles = referenced.roles
    waiting = roles[Role.SUSPENSE]
    parts = refunds.parts_by_target if refund.by_target else refunds.parts
    if parts(refund, waiting) == parts(before.refund, waiting):
        return after
    refund, payments = split_anew(refund, after.payments, roles, context)
    return replace(after, refund=refund, payments=payments)


def _withdrawn(refund_context: RefundContext, before: AmendedRefund) -> AmendedRefund:
    """Cancel a refund that has no payment left, and undo its allocations."""
    refund, affected = allocate(refund_context, before.refund, [], before.affected)
    context = refund_context.context
    cancelled = replace(
        refund, cancelled_at=context.at, cancelled_on=context.day, updated_at=context.now
    )
    return AmendedRefund(cancelled, before.payments, affected)


def _announced(
    refund: VendorRefund,
    commands: Sequence[AnnouncePayment],
    context: Context,
    banks: MoneyBanks,
) -> tuple[VendorRefundPayment, ...]:
    """Create the pending payments, which must sum to the money of the refund.

    Raises RuleViolation `allocation_exceeds_total`.
    """
    cash = refunds.cash(refund)
    amounts = [or_else(command.amount, cash) for command in commands]
    if sum(amounts) != cash:
        raise RuleViolation(
            "allocation_exceeds_total",
            "The payments must add up to the refund less the amount kept as a credit.",
            cash_amount_cents=cash,
            payments_amount_cents=sum(amounts),
        )
    each_one = zip(commands, amounts, strict=True)
    return tuple(announce(refund, command, amount, context, banks) for command, amount in each_one)
