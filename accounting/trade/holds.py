"""What holds money that moved: the payout that it came in, and the bank lines it is linked to.

A payment and a refund payment are held alike. A live payout holds them until it ends; links hold
them to the ledger account of one bank account. The opening of the books holds for good what came
with it.
"""

from collections.abc import Mapping
from typing import TypeVar

from accounting.errors import Conflict, RuleBroken
from accounting.trade.in_opening import refuse_in_opening
from accounting.trade.payments import LIVE, Payment
from accounting.trade.refunds import RefundPayment
from accounting.trade.sides import Side
from accounting.values import replace

M = TypeVar("M", bound=Payment | RefundPayment)

FIXED_IN_OPENING = ("total", "payment_date", "method", "processor", "fee", "status")


def on_money_account(side: Side, money: Payment | RefundPayment) -> int:
    """Say what money moves on its account when it is completed, above zero where it comes in.

    The fee goes off the same account: of 100 from a customer less 2, 98 come in; 100 to a vendor
    and 2 on top are -102.
    """
    if isinstance(money, Payment):
        return side.sign * money.total - money.fee
    return -side.sign * money.amount - money.fee


def held_to(side: Side, before: M, after: M) -> M:
    """Hold a change of money to the opening, the payout and the bank lines it belongs to.

    Money that leaves `completed`, or will not come any more, loses its links. Raises Conflict
    `in_opening_balance` or `in_payout`; RuleBroken `link_exceeds_remaining`.
    """
    if isinstance(before, Payment) and any(
        getattr(before, name) != getattr(after, name) for name in FIXED_IN_OPENING
    ):
        refuse_in_opening(before.opening_id, "payment")
    if before.payout_id is not None:
        _refuse_in_payout(side, before, after)
    if not before.linked:
        return after
    if after.status != before.status and (before.status == "completed" or after.status not in LIVE):
        return replace(after, linked=0, money_account_id=None)
    _refuse_below_linked(side, before, after)
    return after


def _refuse_in_payout(side: Side, before: M, after: M) -> None:
    """A payment of a payout may bounce; else its money stays as the payout counted it."""
    fixed = _fixed_in_payout(side, before).items()
    changed = [field for field, name in fixed if getattr(before, name) != getattr(after, name)]
    if changed:
        raise Conflict(
            "in_payout",
            "The money belongs to a payout. Take it out of the payout first.",
            payout_id=str(before.payout_id),
            fields=changed,
        )


def _fixed_in_payout(side: Side, money: Payment | RefundPayment) -> Mapping[str, str]:
    """Say what stays, by the names of the fields that callers know."""
    if not isinstance(money, Payment):
        return {"status": "status"}  # Nothing else of it can be changed.
    return {
        side.names.payment_total: "total",
        "processing_fee_cents": "fee",
        "payment_method": "method",
        "payment_processor": "processor",
    }


def _refuse_below_linked(side: Side, before: M, after: M) -> None:
    was, now = on_money_account(side, before), on_money_account(side, after)
    left = now if was > 0 else -now
    if left < before.linked:
        raise RuleBroken(
            "link_exceeds_remaining",
            "More is linked to bank transactions than would be left of the money. Unmatch first.",
            linked_amount_cents=before.linked,
            amount_cents=max(left, 0),
        )
