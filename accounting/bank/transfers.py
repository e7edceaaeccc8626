"""Transfers between two own bank accounts: two bank transactions, one transfer, one entry.

Either transaction may come first: the transfer is posted with it and waits for the other one, which
posts nothing more. Undoing the transfer releases both.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from uuid import UUID

from accounting.bank.bank_links import Link, joined, linkable, parted
from accounting.bank.bank_transactions import BankTransaction, remaining
from accounting.bank.commands import TransferTransaction
from accounting.books.businesses import Context, refuse_locked
from accounting.books.ledger import PostedEntry
from accounting.errors import RuleViolation

TRANSFER = "transfer"


@dataclass(frozen=True, slots=True, kw_only=True)
class Transfer:
    """Money moved from one own ledger account to another; active until `ended_at`.

    `moved_on` is the day of the earlier transaction, of those that are linked.
    """

    id: UUID
    version: int
    created_at: datetime
    updated_at: datetime
    amount: int
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
    line: BankTransaction, other_account_id: UUID, command: TransferTransaction, context: Context
) -> TransferWithLines:
    """Create a transfer with its first transaction; it waits for one of the other account.

    A debit of 100 on 12 March, of which 100 remain, makes a transfer of 100 on that day. Raises
    Conflict `period_locked`; RuleViolation `same_account` or `link_exceeds_remaining`.
    """
    if other_account_id == line.account_id:
        raise RuleViolation(
            "same_account",
            "A transfer needs two bank accounts. Name a transaction of another bank account.",
            account=str(other_account_id),
        )
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
        amount=amount,
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
    wanted = transfer.amount if command.amount is None else command.amount
    if wanted != transfer.amount or left < wanted:
        raise RuleViolation(
            "link_exceeds_remaining",
            "The second transaction must match the whole amount of the transfer, no more and"
            " no less.",
            amount_cents=wanted,
            transaction_remaining_cents=left,
            target_remaining_cents=transfer.amount,
        )
    comes_in = line.direction == "credit"
    whole = replace(
        transfer,
        out_transaction_id=transfer.out_transaction_id if comes_in else line.id,
        in_transaction_id=line.id if comes_in else transfer.in_transaction_id,
        moved_on=min(transfer.moved_on, line.booked_on),
        updated_at=context.now,
    )
    used, made = joined(line, TRANSFER, transfer.id, transfer.amount, command.memo, context)
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
    `link_direction_mismatch`, `same_account` or `link_exceeds_remaining`.
    """
    if line.direction == other.direction:
        raise RuleViolation(
            "link_direction_mismatch",
            "Both transactions have the same direction. A transfer needs one debit and one credit.",
            direction=line.direction,
        )
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
