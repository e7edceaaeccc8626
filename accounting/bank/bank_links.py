"""Which line of a bank statement is which money: links of lines with what they show."""

from dataclasses import dataclass, replace
from datetime import datetime
from typing import TypeVar
from uuid import UUID

from accounting.bank import payouts
from accounting.bank.bank_transactions import (
    BankTransaction,
    refuse_reconciled,
    remaining,
    signed,
)
from accounting.bank.commands import LinkTransaction
from accounting.bank.entry_money import EntryMoney
from accounting.bank.payouts import Payout
from accounting.books.context import Context
from accounting.errors import Conflict, RuleBroken
from accounting.trade.holds import on_money_account
from accounting.trade.in_opening import refuse_in_opening
from accounting.trade.payments import LIVE, Payment
from accounting.trade.refunds import RefundPayment
from accounting.trade.sides import Side

Target = Payment | RefundPayment | Payout | EntryMoney
"""What a line of a bank statement can be; a transfer is of two lines (`transfers`)."""

T = TypeVar("T", bound=Target)


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """That a line, or part of it, is the money of a payment or payout; live without an `ended_at`.

    `target_type` tells which store keeps the target, as `invoice_payment` or `payout`. `amount` is
    linked of the target, and of the line `rounding` more, or less where it is below zero.
    `other_id` is the other line of a transfer, once it has come.
    """

    id: UUID
    version: int
    transaction_id: UUID
    target_type: str
    target_id: UUID
    amount: int
    rounding: int = 0
    linked_at: datetime
    ended_at: datetime | None = None
    memo: str | None = None
    other_id: UUID | None = None


def movable(side: Side | None, target: Target) -> int:
    """Say what a target moves on its money account, above zero where it comes in.

    Payouts and entries are of no side.
    """
    match target:
        case Payout():
            return target.paid_out
        case EntryMoney():
            return target.amount
    assert side is not None, "money of trade is of a side"
    return on_money_account(side, target)


def rest(side: Side | None, target: Target) -> int:
    """Say how much of a target can still be linked: of 98 with 40 linked, 58."""
    return abs(movable(side, target)) - target.linked


def link(
    side: Side | None,
    transaction: BankTransaction,
    target: T,
    command: LinkTransaction,
    context: Context,
) -> tuple[BankTransaction, T, Link]:
    """Link a line with its money, as much as is wanted, else all that is left on both sides.

    A line of 60 and a payment of 98 less 40 linked make a link of 58. Where the two differ by no
    more than the business tolerates, both are used up: a line of 99 and a payment of 100 make one
    of 100 with a rounding of -1. The money then stands on the ledger account of the line's bank
    account. Raises Conflict `in_payout`, `in_opening_balance` or `item_not_completed`;
    RuleBroken `link_direction_mismatch`, `bank_account_mismatch` or `link_exceeds_remaining`.
    """
    _refuse_unlinkable(side, transaction, target)
    of_line, of_target = remaining(transaction), rest(side, target)
    exact = isinstance(target, EntryMoney)  # What was written by hand is meant to the unit.
    rounding = 0 if exact else _rounding(of_line, of_target, command.amount, context)
    amount = of_target if rounding else linkable(of_line, of_target, command.amount)
    used, made = joined(transaction, command.target_type, target.id, amount, command.memo, context)
    linked = target.linked + amount
    held = _held(target, linked, transaction.account_id, context)
    return _with_more(used, rounding, rounding, context), held, replace(made, rounding=rounding)


def joined(
    transaction: BankTransaction,
    target_type: str,
    target_id: UUID,
    amount: int,
    memo: str | None,
    context: Context,
) -> tuple[BankTransaction, Link]:
    """Use up a part of a line, and say for what."""
    made = Link(
        id=context.identify(),
        version=0,
        transaction_id=transaction.id,
        target_type=target_type,
        target_id=target_id,
        amount=amount,
        linked_at=context.now,
        memo=memo,
    )
    return _with_more(transaction, amount, 0, context), made


def _held(target: T, linked: int, account_id: UUID | None, context: Context) -> T:
    """Hold a target to the account of what it is linked with; an entry stands where it stands."""
    if isinstance(target, EntryMoney):
        return replace(target, linked=linked)
    return replace(target, linked=linked, money_account_id=account_id, updated_at=context.now)


def _rounding(of_line: int, of_target: int, wanted: int | None, context: Context) -> int:
    """Say what the line has more than its target, where that is tolerated; else 0.

    Whoever says how much to link means it to the unit.
    """
    more = of_line - of_target
    small = abs(more) <= context.business.matching_tolerance
    return more if small and wanted is None and of_line > 0 and of_target > 0 else 0


def _with_more(
    transaction: BankTransaction, linked: int, rounding: int, context: Context
) -> BankTransaction:
    return replace(
        transaction,
        linked=transaction.linked + linked,
        rounding=transaction.rounding + rounding,
        updated_at=context.now,
    )


def linkable(of_line: int, of_target: int, wanted: int | None) -> int:
    """Say how much to link of what is left of a line and of its target."""
    most = min(of_line, of_target)
    amount = most if wanted is None else wanted
    if not 0 < amount <= most:
        raise RuleBroken(
            "link_exceeds_remaining",
            "The link is more than what is left of the bank transaction or of its target.",
            amount_cents=amount,
            transaction_remaining_cents=of_line,
            target_remaining_cents=max(of_target, 0),
        )
    return amount


def is_linked_in_full(side: Side | None, target: Target) -> bool:
    """Tell whether all of a target's money is found at the bank: what was on its way has come."""
    return target.linked > 0 and rest(side, target) == 0


def unlink(
    transaction: BankTransaction, target: T, made: Link, context: Context
) -> tuple[BankTransaction, T, Link]:
    """Take a link back; with the last one the money is back on the account of its method.

    Of 98 linked by 58 and 40, taking the 58 back leaves 40. Raises Conflict `bank_reconciled`.
    """
    left = target.linked - made.amount
    freed = _held(target, left, transaction.account_id if left else None, context)
    unused, ended = parted(transaction, made, context)
    return unused, freed, ended


def parted(
    transaction: BankTransaction, made: Link, context: Context
) -> tuple[BankTransaction, Link]:
    """Free a line of a link, with its rounding; raises Conflict `bank_reconciled`."""
    refuse_reconciled(transaction)
    unused = _with_more(transaction, -made.amount - made.rounding, -made.rounding, context)
    return unused, replace(made, ended_at=context.now)


def _refuse_unlinkable(side: Side | None, transaction: BankTransaction, target: Target) -> None:
    if not isinstance(target, EntryMoney):
        _refuse_unfit(transaction, target)
    if movable(side, target) * signed(transaction) < 0:
        raise RuleBroken(
            "link_direction_mismatch",
            "The bank transaction brings money in, and the target takes it out."
            if transaction.direction == "credit"
            else "The bank transaction takes money out, and the target brings it in.",
            direction=transaction.direction,
        )


def _refuse_unfit(transaction: BankTransaction, target: Payment | RefundPayment | Payout) -> None:
    """Refuse what is held by a payout, is not at the bank, or is at another bank account."""
    if not isinstance(target, Payout) and target.payout_id is not None:
        raise Conflict(
            "in_payout",
            "The money came in a payout. Link the payout.",
            payout_id=str(target.payout_id),
        )
    if isinstance(target, Payment):
        refuse_in_opening(target.opening_id, "payment")
    standing = payouts.LIVE if isinstance(target, Payout) else LIVE
    if target.status not in standing:
        raise Conflict(
            "item_not_completed",
            f"What is {target.status} has no money at the bank.",
            current_state=target.status,
        )
    if target.money_account_id not in (None, transaction.account_id):
        raise RuleBroken(
            "bank_account_mismatch",
            "The target is linked with a line of another bank account. Unmatch that one first.",
            account_id=str(target.money_account_id),
        )
