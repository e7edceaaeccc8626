"""Holds on money: the payout that includes it, and the bank lines that it is matched to.

They are the same for a payment and a refund payment. A live payout holds its money until it ends; a
match holds it to the ledger account of one bank account, also after it came back. The opening of
the books holds its payments for good.
"""

from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise
from typing import TypeVar
from uuid import UUID

from accounting.books.businesses import Context
from accounting.books.foreign import ForeignAmount, share_of
from accounting.errors import Conflict, RuleViolation
from accounting.trade.payments import LIVE, Payment, own_account
from accounting.trade.refunds import RefundPayment
from accounting.trade.sides import Side

# Records from the opening of the books, which are reversed only with the whole opening.


def refuse_in_opening(opening_id: UUID | None, what: str) -> None:
    """Refuse to change a record that is a part of an opening.

    Raises Conflict `in_opening_balance`.
    """
    if opening_id is not None:
        raise Conflict(
            "in_opening_balance",
            f"The {what} is part of the opening balance. Reverse the whole opening balance"
            " instead.",
            opening_balance_id=str(opening_id),
        )


M = TypeVar("M", bound=Payment | RefundPayment)

FIXED_IN_OPENING = (
    *("total", "worth", "payment_date", "method", "processor", "fee", "status", "bank"),
)


def refuse_changing_opening(before: Payment, after: Payment) -> None:
    """Refuse to change the money of a payment that is a part of an opening.

    Raises Conflict `in_opening_balance`.
    """
    if any(getattr(before, name) != getattr(after, name) for name in FIXED_IN_OPENING):
        refuse_in_opening(before.opening_id, "payment")


def on_money_account(side: Side, money: Payment | RefundPayment) -> int:
    """Return the amount that completed money moves on its account, above zero if it comes in.

    The fee is paid from the same account: 100 from a customer less 2 is 98; 100 to a vendor plus 2
    is -102. That of foreign money has its base: USD 98.00 of 100.00 worth EUR 95.00 are 93.10.
    """
    sign = side.sign if isinstance(money, Payment) else -side.sign
    return sign * money.whole - share_of(money.whole, money.fee)


def on_own_account(side: Side, before: M, after: M, context: Context) -> M:
    """Choose the account that foreign money has in place of the bank's anew with its method."""
    if after.worth is None or (after.method, after.processor) == (before.method, before.processor):
        return after
    own = own_account(side, after.currency, after.method, after.processor, context)
    return replace(after, own_account_id=own)


def times_returned(money: Payment | RefundPayment) -> int:
    """Return how many times completed money came back.

    Completed until the 20th and again from the 25th, it came back once. If it was completed again
    on the day it came back, its account did not move. The database has the same function.
    """
    spans = money.completions
    stayed = sum(span.end == following.start for span, following in pairwise(spans))
    return sum(span.end is not None for span in spans) - stayed


def movements(money: Payment | RefundPayment, *, back: bool) -> int:
    """Return how many movements of money bank lines can show, out or `back`.

    Money that came back once and is completed again moved twice, and can come back twice. What is
    pending can be shown, and completes then.
    """
    standing = money.status == "completed" if back else money.status in LIVE
    return times_returned(money) + standing


def held_to(side: Side, before: M, after: M) -> M:
    """Check a change of money against its payout and its bank lines.

    Money that comes back keeps its matches: its bank lines show that it moved. Money that was never
    completed moved nothing: the result has no matches if it is no longer live. Raises
    Conflict `in_payout` or `linked_in_base`; RuleViolation `link_exceeds_remaining` or
    `bank_account_mismatch`.
    """
    if before.payout_id is not None:
        _refuse_in_payout(side, before, after)
    if before.worth is not None:
        _refuse_linked_in_base(before, after)
    if before.linked and not movements(after, back=False):
        return replace(after, linked=0, money_account_id=None)
    _refuse_below_linked(side, before, after)
    _refuse_other_bank(before, after)
    return after


def _refuse_in_payout(side: Side, before: M, after: M) -> None:
    """Refuse to change money that a payout has counted, except that a payment may bounce.

    Raises Conflict `in_payout`.
    """
    fixed = _fixed_in_payout(side, before).items()
    changed = [field for field, name in fixed if getattr(before, name) != getattr(after, name)]
    if changed:
        raise Conflict(
            "in_payout",
            "The payment or refund is in a payout. Remove it from the payout first.",
            payout_id=str(before.payout_id),
            fields=changed,
        )


def _fixed_in_payout(side: Side, money: Payment | RefundPayment) -> Mapping[str, str]:
    """Map the fields that a payout fixes, from their API names to their own names."""
    if not isinstance(money, Payment):
        return {"status": "status", "base_amount_cents": "worth"}  # Nothing else can be changed.
    return {
        side.names.payment_total: "total",
        "base_amount_cents": "worth",
        "processing_fee_cents": "fee",
        "payment_method": "method",
        "payment_processor": "processor",
        "bank_account_id": "bank",
    }


def is_linked_in_base(money: Payment | RefundPayment) -> bool:
    """Return whether bank lines in base show some of foreign money, or of its return."""
    shown = money.linked, money.linked_back
    return any(isinstance(each, ForeignAmount) and int(each) > 0 for each in shown)


def _refuse_linked_in_base(before: M, after: M) -> None:
    """Refuse to change the amount, rate, base or fee of money that a bank line in base shows.

    Raises Conflict `linked_in_base`.
    """
    changed = before.whole != after.whole or before.worth != after.worth or before.fee != after.fee
    if changed and is_linked_in_base(before):
        raise Conflict(
            "linked_in_base",
            "A bank transaction in base currency shows this money. Unmatch it first.",
            linked_amount_cents=int(before.linked),
            returned_amount_cents=int(before.linked_back),
        )


def _refuse_below_linked(side: Side, before: M, after: M) -> None:
    was, now = on_money_account(side, before), on_money_account(side, after)
    moves = max(now if was > 0 else -now, 0)
    for linked, back in ((after.linked, False), (after.linked_back, True)):
        left = moves * movements(after, back=back)
        if left < linked:
            raise RuleViolation(
                "link_exceeds_remaining",
                "The matches with bank transactions exceed the new amount. Unmatch them first.",
                linked_amount_cents=int(linked),
                amount_cents=int(left),
            )


def _refuse_other_bank(before: M, after: M) -> None:
    """Refuse to name another bank account than that of the matched bank lines."""
    bank, account_id = after.bank, before.money_account_id
    if bank in (None, before.bank) or account_id in (None, bank.account_id):
        return
    raise RuleViolation(
        "bank_account_mismatch",
        "The money is matched with a transaction of another bank account. Remove that match first.",
        account_id=str(account_id),
    )
