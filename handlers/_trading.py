"""What the desks of sales and purchases do alike with what they changed."""

from collections.abc import Iterable

from accounting import bank_postings, postings
from accounting.bank_postings import Banked
from accounting.documents import Document
from accounting.payments import Payment
from persistence.books import Books
from persistence.trade import Trade, Traded


async def keep(trade: Trade, *subjects: Traded, moved: Iterable[Document | Payment] = ()) -> None:
    """Save what changed and post what it asks for; what only moved with it posts nothing."""
    trade.save(*subjects, *moved)
    books, roles = trade.books, await trade.books.roles()
    for subject in subjects:
        books.post(postings.entries_for(trade.side, subject, roles, books.lock_date))


async def settle(books: Books, *subjects: Banked) -> None:
    """Save payouts and bank lines, which are of no side, and post what they ask for."""
    books.save(*subjects)
    roles = await books.roles()
    for subject in subjects:
        books.post(bank_postings.entries_for(subject, roles, books.lock_date))
