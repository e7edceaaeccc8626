"""What the desks of sales and purchases do alike with what they changed."""

from collections.abc import Iterable

from accounting import postings
from accounting.documents import Document
from accounting.payments import Payment
from persistence.trade import Trade, Traded


async def keep(trade: Trade, *subjects: Traded, moved: Iterable[Document | Payment] = ()) -> None:
    """Save what changed and post what it asks for; what only moved with it posts nothing."""
    trade.save(*subjects, *moved)
    books, roles = trade.books, await trade.books.roles()
    for subject in subjects:
        books.post(postings.entries_for(trade.side, subject, roles, books.lock_date))
