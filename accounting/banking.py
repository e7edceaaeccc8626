"""Bank accounts and the lines of their statements, and which line is which money."""

from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import Literal, TypeVar
from uuid import UUID

from accounting import payouts
from accounting.accounts import Account
from accounting.errors import Conflict, RuleBroken
from accounting.holds import on_money_account
from accounting.ledger import Posted
from accounting.occasion import Occasion, refuse_locked
from accounting.payments import LIVE, Payment
from accounting.payouts import Payout
from accounting.refunds import RefundPayment
from accounting.sides import Side

Target = Payment | RefundPayment | Payout
"""What a line of a bank statement can be."""

T = TypeVar("T", bound=Target)


@dataclass(frozen=True, slots=True, kw_only=True)
class BankAccount:
    """A bank account; its money stands on one ledger account of its own."""

    id: UUID
    version: int
    created_at: datetime
    updated_at: datetime
    display_name: str
    currency: str
    account_id: UUID
    iban: str | None = None
    mask: str | None = None
    institution_name: str | None = None
    external_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BankTransaction:
    """One line of a bank statement, amount above zero, and what became of it.

    `account_id` is the ledger account of its bank account. `linked` is the sum of its live links,
    `categorized` what was posted straight to `category_account_id`.
    """

    id: UUID
    version: int
    created_at: datetime
    updated_at: datetime
    bank_account_id: UUID
    account_id: UUID
    external_id: str
    booked_on: date
    amount: int
    direction: Literal["credit", "debit"]
    currency: str
    description: str | None = None
    counterparty_name: str | None = None
    reference: str | None = None
    imported_at: datetime
    source_format: str
    linked: int = 0
    categorized: int = 0
    category_account_id: UUID | None = None
    category_memo: str | None = None
    posted: tuple[Posted, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """That a line, or part of it, is the money of a payment or payout; live without an `ended_at`.

    `target_type` tells which store keeps the target, as `invoice_payment` or `payout`.
    """

    id: UUID
    version: int
    transaction_id: UUID
    target_type: str
    target_id: UUID
    amount: int
    linked_at: datetime
    ended_at: datetime | None = None
    memo: str | None = None


@dataclass(frozen=True, slots=True)
class Wanted:
    """A link as it is asked for; without an amount it takes all that is left on both sides."""

    target_type: str
    amount: int | None = None
    memo: str | None = None


def signed(transaction: BankTransaction) -> int:
    """Say what a line moves on the bank account: a credit of 98 brings 98, a debit -98."""
    return transaction.amount if transaction.direction == "credit" else -transaction.amount


def remaining(transaction: BankTransaction) -> int:
    """Say how much of a line is not explained: of 100 with 60 linked and 10 categorized, 30."""
    return transaction.amount - transaction.linked - transaction.categorized


def is_reconciled(transaction: BankTransaction) -> bool:
    """Tell whether all of a line is explained."""
    return remaining(transaction) == 0


def movable(side: Side | None, target: Target) -> int:
    """Say what a target moves on its money account, above zero where it comes in.

    Payouts are of no side.
    """
    if isinstance(target, Payout):
        return target.paid_out
    assert side is not None, "money of trade is of a side"
    return on_money_account(side, target)


def rest(side: Side | None, target: Target) -> int:
    """Say how much of a target can still be linked: of 98 with 40 linked, 58."""
    return abs(movable(side, target)) - target.linked


def link(
    side: Side | None,
    transaction: BankTransaction,
    target: T,
    wanted: Wanted,
    occasion: Occasion,
) -> tuple[BankTransaction, T, Link]:
    """Link a line with its money, as much as is wanted, else all that is left on both sides.

    A line of 60 and a payment of 98 less 40 linked make a link of 58. The money then stands on the
    ledger account of the line's bank account. Raises Conflict `in_payout` or `item_not_completed`;
    RuleBroken `link_direction_mismatch`, `bank_account_mismatch` or `link_exceeds_remaining`.
    """
    _refuse_unlinkable(side, transaction, target)
    amount = _linkable(remaining(transaction), rest(side, target), wanted.amount)
    made = Link(
        id=occasion.identify(),
        version=0,
        transaction_id=transaction.id,
        target_type=wanted.target_type,
        target_id=target.id,
        amount=amount,
        linked_at=occasion.now,
        memo=wanted.memo,
    )
    now = occasion.now
    held = replace(
        target,
        linked=target.linked + amount,
        money_account_id=transaction.account_id,
        updated_at=now,
    )
    used = replace(transaction, linked=transaction.linked + amount, updated_at=now)
    return used, held, made


def _linkable(of_line: int, of_target: int, wanted: int | None) -> int:
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
    transaction: BankTransaction, target: T, made: Link, occasion: Occasion
) -> tuple[BankTransaction, T, Link]:
    """Take a link back; with the last one the money is back on the account of its method.

    Of 98 linked by 58 and 40, taking the 58 back leaves 40.
    """
    now, left = occasion.now, target.linked - made.amount
    freed = replace(
        target,
        linked=left,
        money_account_id=target.money_account_id if left else None,
        updated_at=now,
    )
    unused = replace(transaction, linked=transaction.linked - made.amount, updated_at=now)
    return unused, freed, replace(made, ended_at=now)


def categorize(
    transaction: BankTransaction, account: Account, memo: str | None, occasion: Occasion
) -> BankTransaction:
    """Post what is left of a line straight to an account, on the line's day.

    Of 100 with 60 linked, 40. Raises Conflict `bank_transaction_used_up` or `period_locked`;
    RuleBroken `same_account`.
    """
    if transaction.categorized or not remaining(transaction):
        raise Conflict(
            "bank_transaction_used_up",
            "The bank transaction is categorized already, or all of it is linked. Undo that first.",
            linked_amount_cents=transaction.linked,
            categorized_amount_cents=transaction.categorized,
        )
    if account.id == transaction.account_id:
        raise RuleBroken(
            "same_account",
            "The account is the bank account's own. Name what the money was for.",
            account=str(account.id),
        )
    refuse_locked(occasion, transaction.booked_on)
    return replace(
        transaction,
        categorized=remaining(transaction),
        category_account_id=account.id,
        category_memo=memo,
        updated_at=occasion.now,
    )


def uncategorize(transaction: BankTransaction, occasion: Occasion) -> BankTransaction:
    """Take a categorization back; where there is none, nothing changes."""
    if not transaction.categorized:
        return transaction
    return replace(
        transaction,
        categorized=0,
        category_account_id=None,
        category_memo=None,
        updated_at=occasion.now,
    )


def _refuse_unlinkable(side: Side | None, transaction: BankTransaction, target: Target) -> None:
    if not isinstance(target, Payout) and target.payout_id is not None:
        raise Conflict(
            "in_payout",
            "The money came in a payout. Link the payout.",
            payout_id=str(target.payout_id),
        )
    standing = payouts.LIVE if isinstance(target, Payout) else LIVE
    if target.status not in standing:
        raise Conflict(
            "item_not_completed",
            f"What is {target.status} has no money at the bank.",
            current_state=target.status,
        )
    moves = movable(side, target)
    if moves * signed(transaction) < 0:
        raise RuleBroken(
            "link_direction_mismatch",
            "One of the two brings money in, the other takes it out.",
            direction=transaction.direction,
        )
    if target.money_account_id not in (None, transaction.account_id):
        raise RuleBroken(
            "bank_account_mismatch",
            "The target is linked with a line of another bank account. Unmatch that one first.",
        )
