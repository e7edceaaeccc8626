"""Payments of vendor refunds: announced, processing, completed, failed and cancelled."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from accounting.absent import said
from accounting.books.businesses import Context, refuse_locked
from accounting.books.chart import Role, Roles
from accounting.books.foreign import Worth
from accounting.books.ledger import Span, Split, added, negative, take
from accounting.books.record_rates import worth_of
from accounting.errors import RuleViolation
from accounting.trade import refunds
from accounting.trade.commands import AnnouncePayment, ChangeVendorRefundPayment
from accounting.trade.holds import on_own_account
from accounting.trade.payments import (
    NO_BANKS,
    MoneyBanks,
    chosen_bank,
    completions_after,
    own_account,
)
from accounting.trade.refunds import VendorRefund, VendorRefundPayment
from accounting.trade.sides import PAYABLE

Payments = tuple[VendorRefundPayment, ...]

_MOMENTS = {
    "processing": "submitted_at",
    "completed": "completed_at",
    "failed": "failed_at",
    "cancelled": "cancelled_at",
}


def announce(
    refund: VendorRefund,
    command: AnnouncePayment,
    amount: int,
    context: Context,
    banks: MoneyBanks = NO_BANKS,
) -> VendorRefundPayment:
    """Create a pending payment; nothing is posted before it is completed.

    Raises RuleViolation `fee_exceeds_amount` or `bank_account_inactive`.
    """
    refuse_fee(command.fee, amount)
    day = command.payment_date or context.today
    return VendorRefundPayment(
        id=context.identify(),
        version=0,
        created_at=context.now,
        updated_at=context.now,
        refund_id=refund.id,
        party=refund.party,
        external_id=None,
        amount=amount,
        currency=refund.currency,
        method=command.method,
        fee=command.fee,
        status="pending",
        completed_at=None,
        cancelled_at=None,
        completions=(),
        splits=(),
        payment_date=command.payment_date,
        bank=chosen_bank(command.bank_account_id, banks, currency=refund.currency),
        own_account_id=own_account(PAYABLE, refund.currency, command.method, None, context),
        worth=worth_of(refund.currency, amount, command.worth, day, context),
        **{"processor": None, **said(command.details)},
    )


def net_amount(payment: VendorRefundPayment) -> int:
    """Return the amount less the fee: 100 less 2 is 98."""
    return payment.amount - payment.fee


def corrected(
    payment: VendorRefundPayment,
    command: ChangeVendorRefundPayment,
    banks: MoneyBanks,
    context: Context,
) -> VendorRefundPayment:
    """Change the supplied fields of a payment, but not its status or its amount."""
    facts = said(command, "payment_date", "method", "fee")
    bank = chosen_bank(command.bank_account_id, banks, payment.bank, payment.currency)
    changed = replace(payment, **facts, **said(command.details), bank=bank)
    day = changed.payment_date or context.today
    currency, before = payment.currency, payment.worth
    worth = worth_of(currency, payment.amount, command.worth, day, context, before)
    return on_own_account(PAYABLE, payment, replace(changed, worth=worth), context)


def with_more(payment: VendorRefundPayment, more: int) -> VendorRefundPayment:
    """Change the amount of a payment at its rate.

    Raises RuleViolation `allocation_exceeds_total` if it is below zero then.
    """
    amount, worth = payment.amount + more, payment.worth
    if amount < 0:
        raise RuleViolation(
            "allocation_exceeds_total",
            "The amount kept as a credit exceeds the payment.",
            payment_amount_cents=payment.amount,
        )
    if worth is not None:
        worth = Worth.of(amount, worth.rate, worth.currency)
    return replace(payment, amount=amount, worth=worth)


def with_status(
    refund: VendorRefund,
    payments: Payments,
    payment: VendorRefundPayment,
    status: str,
    roles: Roles,
    context: Context,
) -> tuple[VendorRefund, VendorRefundPayment]:
    """Change the status of a payment; a completed one pays the remaining parts of the refund.

    `payments` are all payments of the refund; the completed ones have paid their parts. The first
    completion is dated by the payment date, or today if there is none; a later one is dated today.
    A day that the context gives goes before both. If a payment is no longer completed, its amount
    is owed again.
    """
    if status == payment.status:
        return refund, payment
    facts: dict[str, Any] = {"status": status, "about": refunds.about(refund)}
    if status in _MOMENTS:
        facts[_MOMENTS[status]] = context.now
    facts["completions"] = completions_after(payment.completions, payment.status, status, context)
    if payment.status == "completed":
        facts["completed_at"] = None
        refund = _paid(refund, -payment.amount, negative(payment.splits[-1]))
    elif status == "completed":
        facts |= _taking(refund, payments, payment, roles)
        facts["payment_date"] = payment.payment_date or context.day
        refund = _paid(refund, payment.amount, facts["splits"][-1])
    return refund, replace(payment, **facts)


def is_last(payments: Iterable[VendorRefundPayment]) -> bool:
    """Return whether all payments of a refund are cancelled."""
    return all(each.status == "cancelled" for each in payments)


def split_anew(
    refund: VendorRefund, payments: Sequence[VendorRefundPayment], roles: Roles, context: Context
) -> tuple[VendorRefund, Payments]:
    """Split the completed payments again over the parts that a refund has now, from today on."""
    refund = replace(refund, settled=())
    changed: Payments = ()
    for each in payments:
        if each.status == "completed":
            taking = _taking(refund, changed, each, roles)
            refund = replace(refund, settled=added(refund.settled, taking["splits"][-1]))
            changed += (_again(refund, each, taking, context),)
        else:
            changed += (each,)
    return refund, changed


def refuse_fee(fee: int, amount: int) -> None:
    """Refuse a fee that is more than the amount of the payment.

    Raises RuleViolation `fee_exceeds_amount`.
    """
    if fee > amount:
        raise RuleViolation(
            "fee_exceeds_amount",
            "The fee is more than the amount of the payment.",
            processing_fee_cents=fee,
            amount_cents=amount,
        )


def refuse_locked_date(
    before: VendorRefundPayment, payment: VendorRefundPayment, context: Context
) -> None:
    """Refuse a locked date, if the payment is first completed or its date changes.

    Raises Conflict `period_locked`.
    """
    if not payment.completions:
        return
    on = refunds.dated_on(payment)
    if not before.completions or on != refunds.dated_on(before):
        refuse_locked(context, on)


def _taking(
    refund: VendorRefund,
    payments: Iterable[VendorRefundPayment],
    payment: VendorRefundPayment,
    roles: Roles,
) -> dict[str, Any]:
    """Return the splits of a payment with those of a new span, from what the others have left."""
    waiting = roles[Role.SUSPENSE]
    if not refund.by_target:
        split = take(refunds.parts(refund, waiting), refund.settled, payment.amount)
        return {"splits": (*payment.splits, split)}
    taken = added(*(refunds.parts_paid(each) for each in payments if each.status == "completed"))
    shares = take(refunds.parts_by_target(refund, waiting), taken, payment.amount)
    split = added(tuple((part, amount) for (_, part), amount in shares))
    return {
        "splits": (*payment.splits, split),
        "shares": (*refunds.shares_of(payment), refunds.by_target(shares)),
    }


def _paid(refund: VendorRefund, amount: int, split: Split) -> VendorRefund:
    return replace(refund, paid=refund.paid + amount, settled=added(refund.settled, split))


def _again(
    refund: VendorRefund,
    payment: VendorRefundPayment,
    taking: Mapping[str, Any],
    context: Context,
) -> VendorRefundPayment:
    """End the current span of a payment and begin a new one, if the parts that it pays change."""
    *_, before, now = taking.get("shares", taking["splits"])
    if before == now:
        return payment
    ended = replace(payment.completions[-1], end=context.day)
    return replace(
        payment,
        completions=(*payment.completions[:-1], ended, Span(context.day)),
        about=refunds.about(refund),
        **taking,
        updated_at=context.now,
    )
