"""Opening balances with all their records: locked, saved and posted together."""

from uuid import UUID

from accounting.opening import opening_postings
from accounting.opening.openings import OpenedBooks, OpenedWith, Opening
from handlers.shared.posting import keep
from persistence.books import Books, Trade


async def keep_opened(books: Books, opened: OpenedBooks) -> None:
    """Save an opening balance with its documents, credits and payments, and post all of them."""
    opening, roles = opened.opening, await books.roles()
    books.save(opening)
    books.post(opening_postings.entries_for(opening, roles, books.lock_date))
    for trade, mine in ((books.sales, opened.sales), (books.purchases, opened.purchases)):
        await keep(trade, *mine.documents, *mine.credits, *mine.payments)


async def lock_opened(books: Books, opening: Opening) -> OpenedBooks:
    """Lock all records of an opening balance that is locked; their list never changes."""
    sales = await _lock(books.sales, opening)
    return OpenedBooks(opening, sales, await _lock(books.purchases, opening))


async def read_opened(books: Books, opening: Opening) -> OpenedBooks:
    """Read all records of an opening balance."""
    sales = await _read(books.sales, opening)
    return OpenedBooks(opening, sales, await _read(books.purchases, opening))


async def _read(trade: Trade, opening: Opening) -> OpenedWith:
    documents, credits, payments = await _brought(trade, opening)
    read = await trade.books.fetch(
        trade.documents.by_ids(documents),
        trade.credits.by_ids(credits),
        trade.payments.by_ids(payments),
    )
    return OpenedWith(*(tuple(sorted(each, key=lambda one: one.id)) for each in read))


async def _lock(trade: Trade, opening: Opening) -> OpenedWith:
    """Lock the records of one side in the lock order; also read the documents, to post them."""
    documents, credits, payments = await _brought(trade, opening)
    paid, credited, _, owed = await trade.books.fetch(
        trade.payments.lock_all(payments),
        trade.credits.lock_all(credits),
        trade.documents.lock_all(documents),
        trade.documents.by_ids(documents),
    )
    owed.sort(key=lambda one: one.id)
    return OpenedWith(tuple(owed), tuple(credited.values()), tuple(paid.values()))


async def _brought(trade: Trade, opening: Opening) -> list[list[UUID]]:
    """Return the ids of the documents, credits and payments of one side."""
    tables = (trade.documents.table, trade.credits.table, trade.payments.table)
    return await trade.books.opening_balances.brought(opening.id, tables)
