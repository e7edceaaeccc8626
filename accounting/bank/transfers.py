"""Transfers between two own bank accounts: two bank transactions, one transfer, one entry.

Either transaction may come first: the transfer is posted with it and waits for the other one, which
posts nothing more. Between two currencies both come at once. Undoing the transfer releases both.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from uuid import UUID

from accounting.bank.bank_links import Link, joined, linkable, parted, refuse_second_amount
from accounting.bank.bank_transactions import BankTransaction, remaining
from accounting.bank.commands import TransferTransaction
from accounting.books.businesses import Context, refuse_locked
from accounting.books.foreign import ForeignAmount, in_base, with_base
from accounting.books.ledger import PostedEntry
from accounting.books.record_rates import NO_WORTH_GIVEN, worth_of
from accounting.errors import RuleViolation

TRANSFER = "transfer"


@dataclass(frozen=True, slots=True, kw_only=True)
class Transfer:
    """Money moved from one own ledger account to another; active until `ended_at`.

    `moved_on` is the day of the earlier transaction, of those that are linked. Between accounts of
    two currencies, `amount` leaves and `arrived` comes; amounts in a foreign currency have their
    base, which is the same for both.
    """

    id: UUID
    version: int
    created_at: datetime
    updated_at: datetime
    amount: int
    arrived: int | None = None
    from_account_id: UUID
    to_account_id: UUID
    out_transaction_id: UUID | None
    in_transaction_id: UUID | None
    moved_on: date
    ended_at: datetime | None = None
    posted: tuple[PostedEntry, ...] = ()


@dataclass(frozen=True, slots=True)
class TransferWithLines:
    """A transfer with its transactions and their links, after a change."""

    transfer: Transfer
    lines: tuple[BankTransaction, ...]
    links: tuple[Link, ...]

    def line(self, id: UUID) -> BankTransaction:
        """Return the transaction with an id."""
        return next(each for each in self.lines if each.id == id)


def lines_of(transfer: Transfer) -> frozenset[UUID]:
    """Return the ids of the transactions that are linked with a transfer."""
    both = (transfer.out_transaction_id, transfer.in_transaction_id)
    return frozenset(each for each in both if each is not None)


def waits_for(transfer: Transfer, line: BankTransaction) -> bool:
    """Return whether a transfer waits for a transaction, by its account and direction."""
    if transfer.ended_at is not None:
        return False
    if line.direction == "credit":
        return transfer.in_transaction_id is None and transfer.to_account_id == line.account_id
    return transfer.out_transaction_id is None and transfer.from_account_id == line.account_id


def begin(
    line: BankTransaction,
    other_account_id: UUID,
    command: TransferTransaction,
    context: Context,
    currency: str | None = None,
) -> TransferWithLines:
    """Create a transfer with its first transaction; it waits for one of the other account.

    A debit of 100 on 12 March, of which 100 remain, makes a transfer of 100 on that day. `currency`
    is that of the other bank account, by default that of the transaction: a transfer between two
    currencies needs both transactions at once. One in a foreign currency has the rate of its day.
    Raises Conflict `period_locked`; RuleViolation `same_account`, `currency_mismatch`,
    `link_exceeds_remaining` or those of `worth_of`; ValidationError `validation_error`.
    """
    if other_account_id == line.account_id:
        raise RuleViolation(
            "same_account",
            "A transfer needs two bank accounts. Name a transaction of another bank account.",
            account=str(other_account_id),
        )
    if currency not in (None, line.currency):
        raise RuleViolation(
            "currency_mismatch",
            "The bank accounts have two currencies. Name both bank transactions of the transfer.",
            currency=line.currency,
            other_currency=currency,
        )
    refuse_second_amount(command)
    left = remaining(line)
    amount = linkable(left, left, command.amount)
    refuse_locked(context, line.booked_on)
    comes_in = line.direction == "credit"
    accounts = (other_account_id, line.account_id)
    from_id, to_id = accounts if comes_in else reversed(accounts)
    transfer = Transfer(
        id=context.identify(),
        version=0,
        created_at=context.now,
        updated_at=context.now,
        amount=_at_rate_of_day(amount, line.currency, line.booked_on, context),
        from_account_id=from_id,
        to_account_id=to_id,
        out_transaction_id=None if comes_in else line.id,
        in_transaction_id=line.id if comes_in else None,
        moved_on=line.booked_on,
    )
    used, made = joined(line, TRANSFER, transfer.id, amount, command.memo, context)
    return TransferWithLines(transfer, (used,), (made,))


def complete(
    transfer: Transfer, line: BankTransaction, command: TransferTransaction, context: Context
) -> TransferWithLines:
    """Link the second transaction of a transfer; the earlier day of both becomes its day.

    The transaction must cover the whole amount. Raises RuleViolation `link_exceeds_remaining`.
    """
    left = remaining(line)
    wanted = int(transfer.amount) if command.amount is None else command.amount
    if wanted != transfer.amount or left < wanted:
        raise RuleViolation(
            "link_exceeds_remaining",
            "The second transaction must match the whole amount of the transfer, no more and"
            " no less.",
            amount_cents=wanted,
            transaction_remaining_cents=left,
            target_remaining_cents=int(transfer.amount),
        )
    comes_in = line.direction == "credit"
    whole = replace(
        transfer,
        out_transaction_id=transfer.out_transaction_id if comes_in else line.id,
        in_transaction_id=line.id if comes_in else transfer.in_transaction_id,
        moved_on=min(transfer.moved_on, line.booked_on),
        updated_at=context.now,
    )
    used, made = joined(line, TRANSFER, transfer.id, wanted, command.memo, context)
    return TransferWithLines(whole, (used,), (made,))


def between(
    line: BankTransaction,
    other: BankTransaction,
    waiting: Mapping[UUID, Transfer],
    command: TransferTransaction,
    context: Context,
) -> TransferWithLines:
    """Link two transactions of two own accounts as one transfer: a waiting one, else a new one.

    `waiting` are the transfers with which either transaction is linked. Two unused transactions of
    100 make a transfer of 100. Raises Conflict `period_locked`; RuleViolation
    `link_direction_mismatch`, `same_account`, `link_exceeds_remaining` or those of `worth_of`;
    ValidationError `validation_error`.
    """
    if line.direction == other.direction:
        raise RuleViolation(
            "link_direction_mismatch",
            "Both transactions have the same direction. A transfer needs one debit and one credit.",
            direction=line.direction,
        )
    if line.currency != other.currency:
        return _across(line, other, command, context)
    refuse_second_amount(command)
    for coming, there in ((line, other), (other, line)):
        found = [
            each
            for each in waiting.values()
            if there.id in lines_of(each) and waits_for(each, coming)
        ]
        if found:
            return complete(_likeliest(found, coming, command), coming, command, context)
    first, second = sorted((line, other), key=lambda each: each.booked_on)
    amount = linkable(remaining(line), remaining(other), command.amount)
    sized = replace(command, amount=amount)
    begun = begin(first, second.account_id, sized, context)
    done = complete(begun.transfer, second, sized, context)
    return TransferWithLines(done.transfer, begun.lines + done.lines, begun.links + done.links)


def _across(
    line: BankTransaction,
    other: BankTransaction,
    command: TransferTransaction,
    context: Context,
) -> TransferWithLines:
    """Link two transactions of two currencies as one transfer, each with an amount of its own.

    If EUR 92.00 come for USD 100.00, both sides are worth 92.00.
    """
    left, of_other = remaining(line), remaining(other)
    amount = linkable(left, left, command.amount)
    target = linkable(of_other, of_other, command.target_amount)
    moved_on = min(line.booked_on, other.booked_on)
    refuse_locked(context, moved_on)
    comes_in = line.direction == "credit"
    going, coming = (other, line) if comes_in else (line, other)
    out, arrived = (target, amount) if comes_in else (amount, target)
    base = _common_base((going, out), (coming, arrived), moved_on, context)
    transfer = Transfer(
        id=context.identify(),
        version=0,
        created_at=context.now,
        updated_at=context.now,
        amount=_with_base(out, base, going.currency, context),
        arrived=_with_base(arrived, base, coming.currency, context),
        from_account_id=going.account_id,
        to_account_id=coming.account_id,
        out_transaction_id=going.id,
        in_transaction_id=coming.id,
        moved_on=moved_on,
    )
    used = [
        joined(each, TRANSFER, transfer.id, linked, command.memo, context)
        for each, linked in ((line, amount), (other, target))
    ]
    return TransferWithLines(
        transfer, tuple(each for each, _ in used), tuple(link for _, link in used)
    )


def _common_base(
    going: tuple[BankTransaction, int],
    coming: tuple[BankTransaction, int],
    on: date,
    context: Context,
) -> int:
    """Return the base of both sides: the amount in base, else what leaves at the rate of the day.

    Raises RuleViolation `exchange_rate_missing`.
    """
    for line, amount in (going, coming):
        if line.currency == context.currency:
            return amount
    line, amount = going
    return in_base(_at_rate_of_day(amount, line.currency, on, context))


def _with_base(amount: int, base: int, currency: str, context: Context) -> int:
    return amount if currency == context.currency else ForeignAmount(amount, base, currency)


def _at_rate_of_day(amount: int, currency: str, on: date, context: Context) -> int:
    """Return an amount; in a foreign currency with its base at the rate of a day."""
    return with_base(amount, worth_of(currency, amount, NO_WORTH_GIVEN, on, context))


def _likeliest(
    found: Sequence[Transfer], line: BankTransaction, command: TransferTransaction
) -> Transfer:
    """Choose among transfers that wait for a transaction: one of its amount, else the oldest."""
    wanted = remaining(line) if command.amount is None else command.amount
    return min(found, key=lambda each: (each.amount != wanted, each.created_at, each.id))


def take_back(
    transfer: Transfer,
    lines: Mapping[UUID, BankTransaction],
    links: tuple[Link, ...],
    context: Context,
) -> TransferWithLines:
    """Undo a transfer, and release both of its transactions.

    Raises Conflict `bank_reconciled`.
    """
    freed = [parted(lines[link.transaction_id], link, context) for link in links]
    ended = replace(transfer, ended_at=context.now, updated_at=context.now)
    return TransferWithLines(
        ended, tuple(line for line, _ in freed), tuple(link for _, link in freed)
    )
