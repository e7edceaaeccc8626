"""Transfers between bank accounts: lock their bank transactions together, and save.

A transfer has no lock of its own. A transaction that has locked one of its lines may read and
change it.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from functools import partial
from uuid import UUID

from accounting.bank import transfers
from accounting.bank.bank_links import Link
from accounting.bank.commands import TransferTransaction
from accounting.bank.transfers import TRANSFER, TransferWithLines
from handlers.shared.posting import save_and_post_banked
from persistence.bank.bank_transactions import BankTransactionRecord
from persistence.books import Books
from persistence.engine.database_errors import StaleRow
from persistence.store import no_such_reference


@dataclass(frozen=True, slots=True)
class LockedLines:
    """Locked bank transactions with their live links."""

    lines: Mapping[UUID, BankTransactionRecord]
    links: Mapping[UUID, tuple[Link, ...]]

    @property
    def named(self) -> frozenset[UUID]:
        """The transfers with which the lines are linked."""
        links = [each for of_line in self.links.values() for each in of_line]
        return frozenset(each.target_id for each in links if each.target_type == TRANSFER)


@dataclass(frozen=True, slots=True)
class LineWithLinks:
    """A bank transaction after a change, with its live links."""

    record: BankTransactionRecord
    links: tuple[Link, ...]


async def match(books: Books, id: UUID, command: TransferTransaction) -> LineWithLinks:
    """Match a line with the other line of a transfer, or begin a transfer that waits for it."""
    if command.bank_account_id is not None:
        return await _match_to_come(books, id, command.bank_account_id, command)
    assert command.other_id is not None, "a transfer names its other line, or the account of it"
    locked = await _lock(books, id, {id, command.other_id})
    waiting = await books.bank_transfers.of_links(locked.named)
    line, other = (locked.lines[each].transaction for each in (id, command.other_id))
    moved = await books.with_rates(partial(transfers.between, line, other, waiting, command))
    return await _put(books, id, locked, moved)


async def unmatch(books: Books, id: UUID, named: Link) -> LineWithLinks:
    """Undo a transfer, given the link of one of its lines.

    The transfer names its lines, so it is read before they are locked, and again afterwards. Raises
    StaleRow if its lines changed between, RuleViolation `reference_not_found` if it has ended.
    """
    found = (await books.bank_transfers.of_links([named.target_id]))[named.target_id]
    locked = await _lock(books, id, transfers.lines_of(found))
    transfer = (await books.bank_transfers.of_links([found.id]))[found.id]
    if transfers.lines_of(transfer) != locked.lines.keys():
        raise StaleRow
    if transfer.ended_at is not None:
        raise no_such_reference("reconciliation_link", named.id)
    links = (each for of_line in locked.links.values() for each in of_line)
    ended = tuple(each for each in links if each.target_id == transfer.id)
    lines = {each: record.transaction for each, record in locked.lines.items()}
    moved = transfers.take_back(transfer, lines, ended, books.context)
    return await _put(books, id, locked, moved)


async def _match_to_come(
    books: Books, id: UUID, bank_account_id: UUID, command: TransferTransaction
) -> LineWithLinks:
    """Begin a transfer with a line, to wait for a line of another bank account."""
    found = await books.bank_accounts.lock_all([bank_account_id])
    there = found[bank_account_id].bank_account
    locked = await _lock(books, id, [id])
    line = locked.lines[id].transaction
    moved = await books.with_rates(
        lambda context: transfers.begin(line, there.account_id, command, context, there.currency)
    )
    return await _put(books, id, locked, moved)


async def _lock(books: Books, id: UUID, ids: Collection[UUID]) -> LockedLines:
    """Lock lines in the order of their ids; raises Stale where If-Match names an older `id`."""
    lines, links = await books.fetch(
        books.bank_transactions.lock_all(ids), books.bank_links.of_transactions(ids)
    )
    books.check_precondition(lines[id])
    return LockedLines(lines, links)


async def _put(
    books: Books, id: UUID, locked: LockedLines, moved: TransferWithLines
) -> LineWithLinks:
    """Save a transfer with its lines and links, post them, and return the line `id`."""
    for link in moved.links:
        books.bank_links.save(link)
    await save_and_post_banked(books, *moved.lines, moved.transfer)
    record = locked.lines[id]
    line = next((each for each in moved.lines if each.id == id), record.transaction)
    before = {each.id: each for each in locked.links.get(id, ())}
    now = before | {each.id: each for each in moved.links if each.transaction_id == id}
    other = next(iter(transfers.lines_of(moved.transfer) - {id}), None)
    return LineWithLinks(
        replace(record, transaction=line),
        tuple(
            replace(each, other_id=other) if each.target_id == moved.transfer.id else each
            for each in now.values()
            if each.ended_at is None
        ),
    )
