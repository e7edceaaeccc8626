"""Money that vendors pay back: announced, on its way, come, returned, cancelled."""

from collections.abc import Iterable, Mapping, Sequence
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
from accounting.values import replace

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
    payments: Payments,
    payment: VendorRefundPayment,
    status: str,
    roles: Roles,
    context: Context,
) -> tuple[VendorRefund, VendorRefundPayment]:
    """Move a payment to a status; completed, it pays the parts of the refund that are left.

    `payments` are all of the refund, of which those that stand completed have paid theirs.
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
        facts |= _taking(refund, payments, payment, roles)
        facts["payment_date"] = payment.payment_date or context.today
        refund = _paid(refund, payment.amount, facts["splits"][-1])
    return refund, replace(payment, **facts)


def is_last(payments: Iterable[VendorRefundPayment]) -> bool:
    """Tell whether no payment of a refund is left that is not cancelled."""
    return all(each.status == "cancelled" for each in payments)


def split_anew(
    refund: VendorRefund, payments: Sequence[VendorRefundPayment], roles: Roles, context: Context
) -> tuple[VendorRefund, Payments]:
    """Let the payments that have come pay the parts that a refund has now, from today on."""
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


def _taking(
    refund: VendorRefund,
    payments: Iterable[VendorRefundPayment],
    payment: VendorRefundPayment,
    roles: Roles,
) -> dict[str, Any]:
    """Say which parts a payment takes in the span that begins, of what the others have left."""
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
    """Let a payment end what it paid and pay what it takes now, where that is something else."""
    *_, before, now = taking.get("shares", taking["splits"])
    if before == now:
        return payment
    ended = replace(payment.completions[-1], end=context.today)
    return replace(
        payment,
        completions=(*payment.completions[:-1], ended, Span(context.today)),
        about=refunds.about(refund),
        **taking,
        updated_at=context.now,
    )
