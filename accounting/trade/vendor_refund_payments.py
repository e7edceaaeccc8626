"""Money that vendors pay back: announced, on its way, come, returned, cancelled."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from accounting.absent import said
from accounting.books.chart import Role, Roles
from accounting.books.context import Context, refuse_locked
from accounting.books.spans import Span
from accounting.books.splits import Split, added, negative, take
from accounting.errors import RuleBroken
from accounting.trade import refunds
from accounting.trade.commands import AnnouncePayment, ChangeVendorRefundPayment
from accounting.trade.payment_status import completions_after
from accounting.trade.refunds import VendorRefund, VendorRefundPayment

Payments = tuple[VendorRefundPayment, ...]

_MOMENTS = {
    "processing": "submitted_at",
    "completed": "completed_at",
    "failed": "failed_at",
    "cancelled": "cancelled_at",
}


def announce(
    refund: VendorRefund, command: AnnouncePayment, amount: int, context: Context
) -> VendorRefundPayment:
    """Make a payment that is on its way; nothing is posted before it has come.

    Raises RuleBroken `fee_exceeds_amount`.
    """
    refuse_fee(command.fee, amount)
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
        **{"processor": None, **said(command.details)},
    )


def net_amount(payment: VendorRefundPayment) -> int:
    """Say how much comes in after the fee: of 100 less 2, 98."""
    return payment.amount - payment.fee


def corrected(
    payment: VendorRefundPayment, command: ChangeVendorRefundPayment
) -> VendorRefundPayment:
    """Change the supplied facts of a payment; its status and its amount are not among them."""
    facts = said(command, "payment_date", "method", "fee")
    return replace(payment, **facts, **said(command.details))


def moved(
    refund: VendorRefund,
    payment: VendorRefundPayment,
    status: str,
    roles: Roles,
    context: Context,
) -> tuple[VendorRefund, VendorRefundPayment]:
    """Move a payment to a status; completed, it pays the parts of the refund that are left.

    The first time it is dated by its payment date, which is today where it has none, later today.
    Money that goes back is owed again.
    """
    if status == payment.status:
        return refund, payment
    facts: dict[str, Any] = {"status": status, "about": refunds.about(refund)}
    if status in _MOMENTS:
        facts[_MOMENTS[status]] = context.now
    facts["completions"] = completions_after(
        payment.completions, payment.status, status, context.today
    )
    if payment.status == "completed":
        facts["completed_at"] = None
        refund = _paid(refund, -payment.amount, negative(payment.splits[-1]))
    elif status == "completed":
        split = _share(refund, payment.amount, roles)
        facts["splits"] = (*payment.splits, split)
        facts["payment_date"] = payment.payment_date or context.today
        refund = _paid(refund, payment.amount, split)
    return refund, replace(payment, **facts)


def is_last(payments: Iterable[VendorRefundPayment]) -> bool:
    """Tell whether no payment of a refund is left that is not cancelled."""
    return all(each.status == "cancelled" for each in payments)


def split_anew(
    refund: VendorRefund, payments: Sequence[VendorRefundPayment], roles: Roles, context: Context
) -> tuple[VendorRefund, Payments]:
    """Let the payments that have come pay the parts that a refund has now, from today on."""
    refund = replace(refund, settled=())
    changed = []
    for each in payments:
        if each.status == "completed":
            split = _share(refund, each.amount, roles)
            refund = replace(refund, settled=added(refund.settled, split))
            changed.append(_again(refund, each, split, context))
        else:
            changed.append(each)
    return refund, tuple(changed)


def refuse_fee(fee: int, amount: int) -> None:
    """Refuse a fee that is more than the money that comes.

    Raises RuleBroken `fee_exceeds_amount`.
    """
    if fee > amount:
        raise RuleBroken(
            "fee_exceeds_amount",
            "The fee is more than the amount of the payment.",
            processing_fee_cents=fee,
            amount_cents=amount,
        )


def refuse_locked_date(
    before: VendorRefundPayment, payment: VendorRefundPayment, context: Context
) -> None:
    """Refuse a day inside the lock for money that comes, or that came on another day.

    Raises Conflict `period_locked`.
    """
    if not payment.completions:
        return
    on = refunds.dated_on(payment)
    if not before.completions or on != refunds.dated_on(before):
        refuse_locked(context, on)


def _share(refund: VendorRefund, amount: int, roles: Roles) -> Split:
    return take(refunds.parts(refund, roles[Role.SUSPENSE]), refund.settled, amount)


def _paid(refund: VendorRefund, amount: int, split: Split) -> VendorRefund:
    return replace(refund, paid=refund.paid + amount, settled=added(refund.settled, split))


def _again(
    refund: VendorRefund, payment: VendorRefundPayment, split: Split, context: Context
) -> VendorRefundPayment:
    if split == payment.splits[-1]:
        return payment
    ended = replace(payment.completions[-1], end=context.today)
    return replace(
        payment,
        completions=(*payment.completions[:-1], ended, Span(context.today)),
        splits=(*payment.splits, split),
        about=refunds.about(refund),
        updated_at=context.now,
    )
