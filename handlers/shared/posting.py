"""Saving and posting, as every operation that changes money does them."""

from collections.abc import Iterable

from accounting.bank import bank_postings, payout_changes
from accounting.bank.bank_postings import Banked
from accounting.bank.payouts import Money
from accounting.trade import postings
from accounting.trade.credits import Credit
from accounting.trade.documents import Document
from accounting.trade.payments import Payment
from accounting.trade.postings import Subject
from persistence.books import Books, Trade


async def save_and_post(
    trade: Trade, *subjects: Subject, affected: Iterable[Document | Payment | Credit] = ()
) -> None:
    """Save and post the subjects; save the `affected` records without posting."""
    trade.save(*subjects, *affected)
    books, roles = trade.books, await trade.books.roles()
    for subject in subjects:
        books.post(postings.entries_for(trade.side, subject, roles, books.lock_date))


async def save_and_post_banked(books: Books, *subjects: Banked) -> None:
    """Save and post payouts, transfers and bank transactions, which belong to no side."""
    books.save(*subjects)
    roles = await books.roles()
    for subject in subjects:
        books.post(bank_postings.entries_for(subject, roles, books.lock_date))


async def update_bank_records(trade: Trade, before: Money, after: Money) -> None:
    """Update the bank transactions and the payout that hold a payment, after it changed.

    The payment, its documents and its refunds are locked already: payouts are locked after them.
    """
    books = trade.books
    if before.linked and not after.linked:
        books.bank_links.drop(before.id)
    if before.payout_id is not None and payout_changes.counts_otherwise(before, after):
        payout = await books.payouts.lock_named(before.payout_id)
        await save_and_post_banked(
            books, payout_changes.item_moved(payout, before, after, books.context)
        )
