"""Money between two own bank accounts: two lines, one transfer, one entry.

Either line may come first: the transfer is posted with it and waits for the other one, which posts
nothing more. Taken back, it frees both.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from uuid import UUID

from accounting.bank.bank_links import Link, joined, linkable, parted
from accounting.bank.bank_transactions import BankTransaction, remaining
from accounting.bank.commands import TransferTransaction
from accounting.books.context import Context, refuse_locked
from accounting.books.ledger import Posted
from accounting.errors import RuleBroken

TRANSFER = "transfer"


@dataclass(frozen=True, slots=True, kw_only=True)
class Transfer:
    """Money that leaves one own account for another, by their ledger accounts; live without an end.

    `moved_on` is the day of the earlier line, of those that have come.
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
    posted: tuple[Posted, ...] = ()


@dataclass(frozen=True, slots=True)
class Transferred:
    """A transfer with its lines and their links, as they are now."""

    transfer: Transfer
    lines: tuple[BankTransaction, ...]
    links: tuple[Link, ...]

    def line(self, id: UUID) -> BankTransaction:
        """The line with an id."""
        return next(each for each in self.lines if each.id == id)


def lines_of(transfer: Transfer) -> frozenset[UUID]:
    """Name the lines of a transfer that have come."""
    both = (transfer.out_transaction_id, transfer.in_transaction_id)
    return frozenset(each for each in both if each is not None)


def waits_for(transfer: Transfer, line: BankTransaction) -> bool:
    """Tell whether a line may be the one that a transfer waits for: its account, its direction."""
    if transfer.ended_at is not None:
        return False
    if line.direction == "credit":
        return transfer.in_transaction_id is None and transfer.to_account_id == line.account_id
    return transfer.out_transaction_id is None and transfer.from_account_id == line.account_id


def begin(
    line: BankTransaction, other_account_id: UUID, command: TransferTransaction, context: Context
) -> Transferred:
    """Post a transfer with its first line: it waits for a line of the other account.

    A debit of 100 on 12 March, where 100 are left of it, makes a transfer of 100 on that day.
    Raises Conflict `period_locked`; RuleBroken `same_account` or `link_exceeds_remaining`.
    """
    if other_account_id == line.account_id:
        raise RuleBroken(
            "same_account",
            "Money does not move within one bank account. Name a line of another one.",
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
    return Transferred(transfer, (used,), (made,))


def complete(
    transfer: Transfer, line: BankTransaction, command: TransferTransaction, context: Context
) -> Transferred:
    """Let the line come that a transfer waits for; the earlier day of both is its day.

    It is of the whole amount. Raises RuleBroken `link_exceeds_remaining`.
    """
    left = remaining(line)
    wanted = transfer.amount if command.amount is None else command.amount
    if wanted != transfer.amount or left < wanted:
        raise RuleBroken(
            "link_exceeds_remaining",
            "A line shows the whole of a transfer that waits for it, and nothing but that.",
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
    return Transferred(whole, (used,), (made,))


def between(
    line: BankTransaction,
    other: BankTransaction,
    waiting: Mapping[UUID, Transfer],
    command: TransferTransaction,
    context: Context,
) -> Transferred:
    """Link two lines of two own accounts to one transfer: to one that waits, else to a new one.

    `waiting` are the transfers that either line is linked with. Lines of 100 and 100, of which
    nothing is used, make one of 100. Raises Conflict `period_locked`; RuleBroken
    `link_direction_mismatch`, `same_account` or `link_exceeds_remaining`.
    """
    if line.direction == other.direction:
        raise RuleBroken(
            "link_direction_mismatch",
            "Both lines go the same way: one of them takes the money out, the other brings it in.",
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
    return Transferred(done.transfer, begun.lines + done.lines, begun.links + done.links)


def _likeliest(
    found: Sequence[Transfer], line: BankTransaction, command: TransferTransaction
) -> Transfer:
    """Choose one of several transfers that wait for a line: of its amount, else the oldest."""
    wanted = remaining(line) if command.amount is None else command.amount
    return min(found, key=lambda each: (each.amount != wanted, each.created_at, each.id))


def take_back(
    transfer: Transfer,
    lines: Mapping[UUID, BankTransaction],
    links: tuple[Link, ...],
    context: Context,
) -> Transferred:
    """Take a transfer back, whichever of its lines asks for it: both are free again.

    Raises Conflict `bank_reconciled`.
    """
    freed = [parted(lines[link.transaction_id], link, context) for link in links]
    ended = replace(transfer, ended_at=context.now, updated_at=context.now)
    return Transferred(ended, tuple(line for line, _ in freed), tuple(link for _, link in freed))
