"""Saving and posting, as every operation that changes money does them."""

from collections.abc import Iterable
from uuid import UUID

from accounting.bank import bank_links, bank_postings, payout_changes
from accounting.bank.bank_postings import Banked
from accounting.bank.payouts import Money
from accounting.trade import postings
from accounting.trade.credits import Credit
from accounting.trade.documents import Document
from accounting.trade.payments import Payment
from accounting.trade.postings import Subject
from persistence.books import Books, Trade


async def keep(
    trade: Trade, *subjects: Subject, moved: Iterable[Document | Payment | Credit] = ()
) -> None:
    """Save and post the subjects; save the `moved` records without posting."""
    trade.save(*subjects, *moved)
    books, roles = trade.books, await trade.books.roles()
    for subject in subjects:
        books.post(postings.entries_for(trade.side, subject, roles, books.lock_date))


async def keep_banked(books: Books, *subjects: Banked) -> None:
    """Save and post payouts, transfers and bank transactions, which belong to no side."""
    books.save(*subjects)
    roles = await books.roles()
    for subject in subjects:
        books.post(bank_postings.entries_for(subject, roles, books.lock_date))


async def follow(trade: Trade, before: Money, after: Money) -> None:
    """Update the bank transactions and the payout that hold a payment, after it changed.

    The payment, its documents and its refunds are locked already: payouts are locked after them.
    """
    books = trade.books
    if before.linked and not after.linked:
        await _let_lines_go(books, before.id)
    if before.payout_id is not None and payout_changes.counts_otherwise(before, after):
        payout = await books.payouts.lock_named(before.payout_id)
        await keep_banked(books, payout_changes.item_moved(payout, before, after, books.context))


async def _let_lines_go(books: Books, target_id: UUID) -> None:
    """Remove the matches of a payment, and reverse the rounding differences posted for them."""
    links = await books.bank_links.of_target(target_id)
    if not any(each.rounding for each in links):
        books.bank_links.drop(target_id)
        return
    found = await books.bank_transactions.lock_all({each.transaction_id for each in links})
    lines = {id_: record.transaction for id_, record in found.items()}
    for each in links:
        line, ended = bank_links.parted(lines[each.transaction_id], each, books.context)
        lines[line.id] = line
        books.bank_links.save(ended)
    await keep_banked(books, *lines.values())
