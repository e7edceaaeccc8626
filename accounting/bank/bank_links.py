"""Links of bank transactions with the payments, payouts and entries that they show."""

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, TypeVar
from uuid import UUID

from accounting.bank import payouts
from accounting.bank.bank_transactions import (
    BankTransaction,
    refuse_reconciled,
    remaining,
    signed,
)
from accounting.bank.commands import LinkTransaction, TransferTransaction
from accounting.bank.payouts import Payout
from accounting.books.businesses import Context
from accounting.books.foreign import ForeignAmount, in_base, share_of, with_base
from accounting.books.ledger import added
from accounting.books.manual_entries import SOURCE, ManualEntry, ManualLine
from accounting.errors import Conflict, RuleViolation, ValidationError
from accounting.trade.holds import movements, on_money_account, refuse_in_opening
from accounting.trade.payments import Payment
from accounting.trade.refunds import RefundPayment
from accounting.trade.sides import Side

# The money that a manual entry moves on the ledger account of a bank account.


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryMoney:
    """The amount that a posted entry moves on one account, above zero if it comes in.

    It is in the currency of that account. `linked` is the amount that transactions of that bank
    account show. The same entry may move money on another bank account, which other transactions
    show.
    """

    id: UUID
    account_id: UUID
    amount: int
    linked: int = 0


def money_of(
    entry: ManualEntry, account_id: UUID, linked: int, currency: str | None = None
) -> EntryMoney:
    """Return the money of an entry on an account: of debits of 100 and a credit of 2 there, 98.

    On the account of a bank account in a foreign `currency` its own amounts count. Raises Conflict
    `system_entry` or `item_not_completed`; RuleViolation `bank_account_mismatch`.
    """
    if entry.source_type != SOURCE:
        raise Conflict(
            "system_entry",
            "The entry comes from a document. Match the document instead.",
            source_type=entry.source_type,
            source_id=str(entry.source_id),
        )
    if entry.status != "approved":
        raise Conflict(
            "item_not_completed",
            "An entry that is not posted has no money at the bank.",
            current_state=entry.status,
        )
    lines = [line for line in entry.lines if line.account_id == account_id]
    moves = sum(_amount_in(currency, line) for line in lines)
    if not moves:
        raise RuleViolation(
            "bank_account_mismatch",
            "The entry does not change the account of this bank account.",
            account_id=str(account_id),
        )
    return EntryMoney(id=entry.id, account_id=account_id, amount=moves, linked=linked)


def _amount_in(currency: str | None, line: ManualLine) -> int:
    return line.amount if currency is None else line.currency_amount or 0


Target = Payment | RefundPayment | Payout | EntryMoney
"""The money that a bank transaction can show; for a transfer of two, see `transfers`."""

ON_ITS_WAY = frozenset({"pending", "processing"})

T = TypeVar("T", bound=Target)


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """A link of a bank transaction, or part of it, with its money; active until `ended_at`.

    `target_type` selects the store of the target, such as `invoice_payment` or `payout`. The link
    uses `amount` of the target and `amount + rounding` of the transaction; `rounding` may be below
    zero. With `back` the transaction shows the return of the money. `other_id` is the second
    transaction of a transfer, once it is linked. If a transaction in base shows foreign money, the
    link uses `target_amount` of it, with its share of what the money moved in base.
    """

    id: UUID
    version: int
    transaction_id: UUID
    target_type: str
    target_id: UUID
    amount: int
    target_amount: int | None = None
    rounding: int = 0
    linked_at: datetime
    ended_at: datetime | None = None
    memo: str | None = None
    back: bool = False
    other_id: UUID | None = None

    @property
    def of_target(self) -> int:
        """The amount of the target that the link uses."""
        return self.amount if self.target_amount is None else self.target_amount

    @property
    def difference(self) -> int:
        """The amount in base that the transaction has more than it shows of foreign money."""
        return 0 if self.target_amount is None else self.amount - in_base(self.target_amount)


def movable(side: Side | None, target: Target) -> int:
    """Return the amount that a target moves on its money account, above zero if it comes in.

    Payouts and entries have no side, and do not come back. That of foreign money has its base.
    """
    match target:
        case Payout():
            return with_base(target.paid_out, target.worth)
        case EntryMoney():
            return target.amount
    assert side is not None, "money of trade is of a side"
    return on_money_account(side, target)


def rest(side: Side | None, target: Target, *, back: bool = False) -> int:
    """Return the amount of a target that can still be linked: of 98 with 40 linked, 58.

    Money that moved several times is linked one movement after the other: of twice 98 with 138
    linked, 58. With `back` it is the amount of its returns. Of foreign money it has the base that
    no transaction in base shows yet: of USD 98.00 worth EUR 93.10 with 40.00 shown as 38.00, 58.00
    worth 55.10.
    """
    moves, times = abs(movable(side, target)), 1
    linked = target.linked
    if isinstance(target, Payment | RefundPayment):
        times = movements(target, back=back)
        linked = target.linked_back if back else target.linked
    if linked >= moves * times:
        return 0
    left = moves - linked % moves
    if not isinstance(moves, ForeignAmount):
        return left
    movement = linked // moves + 1
    shown = linked.base if isinstance(linked, ForeignAmount) else 0
    return ForeignAmount(left, moves.base * movement - shown, moves.currency)


def link(
    side: Side | None,
    transaction: BankTransaction,
    target: T,
    command: LinkTransaction,
    context: Context,
) -> tuple[BankTransaction, T, Link]:
    """Link a bank transaction with its money: the wanted amount, or all that remains on both sides.

    A transaction of 60 and a payment of 98 with 40 linked make a link of 58. If the two amounts
    differ by no more than the tolerance of the business, both are used up: a transaction of 99 and
    a payment of 100 make a link of 100 with a rounding of -1. The money is then posted to the
    ledger account of the bank account. A transaction in base may show foreign money, and one in a
    foreign currency shows only money of that currency, without a rounding. Raises Conflict
    `in_payout`, `in_opening_balance` or `item_not_completed`; RuleViolation `currency_mismatch`,
    `link_direction_mismatch`, `bank_account_mismatch` or `link_exceeds_remaining`; ValidationError
    `validation_error`.
    """
    _refuse_unlinkable(side, transaction, target, back=command.back)
    if _is_across(transaction, target, context):
        return _link_across(side, transaction, target, command, context)
    refuse_second_amount(command)
    of_line, of_target = remaining(transaction), int(rest(side, target, back=command.back))
    # Manual entries and foreign money are exact.
    exact = isinstance(target, EntryMoney) or transaction.currency != context.currency
    rounding = 0 if exact else _rounding(of_line, of_target, command.amount, context)
    amount = of_target if rounding else linkable(of_line, of_target, command.amount)
    used, made = joined(transaction, command.target_type, target.id, amount, command.memo, context)
    made = replace(made, rounding=rounding, back=command.back)
    held = _held(target, made, amount, transaction.account_id, context)
    return _with_more(used, rounding, rounding, context), held, made


def refuse_second_amount(command: LinkTransaction | TransferTransaction) -> None:
    """Refuse another amount for the other side of a link in one currency.

    Raises ValidationError `validation_error`.
    """
    if command.target_amount not in (None, command.amount):
        raise ValidationError.fields(target_amount_cents=["is allowed only between two currencies"])


def _is_across(transaction: BankTransaction, target: Target, context: Context) -> bool:
    """Return whether a transaction in base is to show foreign money.

    Raises RuleViolation `currency_mismatch` if it is foreign and its currency is another.
    """
    if isinstance(target, EntryMoney) or target.currency == transaction.currency:
        return False
    if transaction.currency != context.currency:
        raise RuleViolation(
            "currency_mismatch",
            f"The bank transaction is in {transaction.currency} and the money in"
            f" {target.currency}. It shows only money of its own currency.",
            currency=transaction.currency,
            target_currency=target.currency,
        )
    return True


def _link_across(
    side: Side | None,
    transaction: BankTransaction,
    target: T,
    command: LinkTransaction,
    context: Context,
) -> tuple[BankTransaction, T, Link]:
    """Link a transaction in base with foreign money: an amount of each.

    EUR 92.80 that show USD 98.00 worth EUR 93.10 lose 0.30, which the transaction posts. Money that
    is not completed is linked only whole, so that it completes with the link.
    """
    of_line, of_target = remaining(transaction), rest(side, target, back=command.back)
    amount = linkable(of_line, of_line, command.amount)
    own = linkable(int(of_target), int(of_target), command.target_amount)
    if not command.back:
        _refuse_part_on_its_way(target, own, int(of_target))
    used, made = joined(transaction, command.target_type, target.id, amount, command.memo, context)
    made = replace(made, target_amount=share_of(of_target, own), back=command.back)
    held = _held(target, made, made.of_target, transaction.account_id, context)
    return _exchanged(used, made, made.difference), held, made


def _refuse_part_on_its_way(target: Target, amount: int, whole: int) -> None:
    """Refuse to show a part of foreign money that is not completed yet.

    Raises Conflict `item_not_completed`.
    """
    if not isinstance(target, EntryMoney) and target.status in ON_ITS_WAY and amount != whole:
        raise Conflict(
            "item_not_completed",
            f"The money is {target.status}. A bank transaction in base currency can show only all"
            " of it, which completes it.",
            current_state=target.status,
            target_remaining_cents=whole,
        )


def _exchanged(transaction: BankTransaction, made: Link, more: int) -> BankTransaction:
    """Add a difference with foreign money to those that a transaction posts."""
    exchanged = added(transaction.exchanged, ((made.target_id, more),))
    return replace(transaction, exchanged=exchanged)


def joined(
    transaction: BankTransaction,
    target_type: str,
    target_id: UUID,
    amount: int,
    memo: str | None,
    context: Context,
) -> tuple[BankTransaction, Link]:
    """Use up a part of a bank transaction, and create the link that records this."""
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


def _held(target: T, link: Link, more: int, account_id: UUID | None, context: Context) -> T:
    """Change the linked amount of a target by `more`, and set its money account.

    Without any link the money is on the account of its method. An entry keeps its account.
    """
    if isinstance(target, EntryMoney):
        return replace(target, linked=target.linked + more)
    field = "linked_back" if link.back else "linked"
    linked: dict[str, Any] = {field: getattr(target, field) + more or 0}
    held = replace(target, **linked, updated_at=context.now)
    is_linked = held.linked or (not isinstance(held, Payout) and held.linked_back)
    return replace(held, money_account_id=account_id if is_linked else None)


def _rounding(of_line: int, of_target: int, wanted: int | None, context: Context) -> int:
    """Return how much more the transaction has than its target, if that is tolerated; else 0.

    An explicit amount is meant exactly, so it has no rounding.
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
    """Return the amount to link, given the remaining amounts of a transaction and its target.

    Raises RuleViolation `link_exceeds_remaining`.
    """
    most = min(of_line, of_target)
    amount = most if wanted is None else wanted
    if not 0 < amount <= most:
        raise RuleViolation(
            "link_exceeds_remaining",
            "The amount exceeds the remaining amount of the bank transaction or of its target.",
            amount_cents=amount,
            transaction_remaining_cents=of_line,
            target_remaining_cents=max(of_target, 0),
        )
    return amount


def is_linked_in_full(side: Side | None, target: Target) -> bool:
    """Return whether the last link of a target completes the amount of a movement."""
    return target.linked > 0 and target.linked % abs(movable(side, target)) == 0


def unlink(
    transaction: BankTransaction, target: T, made: Link, context: Context
) -> tuple[BankTransaction, T, Link]:
    """Remove a link; without any link the money is posted to the account of its method again.

    Of 98 linked by 58 and 40, removing the 58 leaves 40 linked. Raises Conflict `bank_reconciled`.
    """
    freed = _held(target, made, -made.of_target, transaction.account_id, context)
    unused, ended = parted(transaction, made, context)
    return unused, freed, ended


def parted(
    transaction: BankTransaction, made: Link, context: Context
) -> tuple[BankTransaction, Link]:
    """End a link, and release the amount and rounding of the bank transaction that it used.

    Raises Conflict `bank_reconciled`.
    """
    if not transaction.after_closing:
        refuse_reconciled(transaction)
    unused = _with_more(transaction, -made.amount - made.rounding, -made.rounding, context)
    if made.target_amount is not None:
        unused = _exchanged(unused, made, -made.difference)
    return unused, replace(made, ended_at=context.now)


def _refuse_unlinkable(
    side: Side | None, transaction: BankTransaction, target: Target, *, back: bool
) -> None:
    if not isinstance(target, EntryMoney):
        _refuse_unfit(transaction, target, back=back)
    moves = -movable(side, target) if back else movable(side, target)
    if moves * signed(transaction) < 0:
        raise RuleViolation(
            "link_direction_mismatch",
            "The bank transaction brings money in, but the target takes money out."
            if transaction.direction == "credit"
            else "The bank transaction takes money out, but the target brings money in.",
            direction=transaction.direction,
        )


def _refuse_unfit(
    transaction: BankTransaction, target: Payment | RefundPayment | Payout, *, back: bool
) -> None:
    """Refuse a target that is in a payout, has no such movement, or is at another bank account."""
    if not isinstance(target, Payout) and target.payout_id is not None:
        raise Conflict(
            "in_payout",
            "The money is part of a payout. Match the payout instead.",
            payout_id=str(target.payout_id),
        )
    if isinstance(target, Payment):
        refuse_in_opening(target.opening_id, "payment")
    if isinstance(target, Payout):
        moved = target.status in payouts.LIVE
    else:
        moved = movements(target, back=back) > 0
    if not moved:
        message = f"A target with the status {target.status} has no money at the bank."
        if back:
            message = "The money was never completed, so it did not come back."
        raise Conflict("item_not_completed", message, current_state=target.status)
    if target.money_account_id not in (None, transaction.account_id):
        raise RuleViolation(
            "bank_account_mismatch",
            "The target is matched with a transaction of another bank account. Remove that"
            " match first.",
            account_id=str(target.money_account_id),
        )
