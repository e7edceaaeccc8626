"""Write-offs of invoices and bills, and their reversal."""

from uuid import UUID

from access.links import Links
from accounting.books.accounts import BookAccounts
from accounting.trade import write_offs
from accounting.trade.commands import WriteOffDocument
from handlers.results import Created, Reply
from handlers.shared import trade_documents
from handlers.shared.posting import keep
from persistence.books import Trade


async def write_off(trade: Trade, id: UUID, command: WriteOffDocument, links: Links) -> Reply:
    """Write off the outstanding amount of a document, or part of it.

    A known external id returns the document without another write-off.
    """
    side, books = trade.side, trade.books
    document, settlements, existing, accounts = await books.fetch(
        trade.documents.lock(id),
        trade.documents.settlements(id),
        trade.write_offs.with_external_id(command.external_id),
        books.accounts.named(write_offs.account_references(command)),
    )
    if existing is not None:
        write_offs.refuse_elsewhere(side, document, existing)
        return await trade_documents.show(trade, document, settlements, links)
    known = BookAccounts(await books.roles(), accounts)
    lesser, made = write_offs.write_off(side, document, command, known, books.context)
    await keep(trade, made, moved=[lesser])
    settlements = settlements.with_write_off(made)
    return Created(await trade_documents.show(trade, lesser, settlements, links))


async def reverse(trade: Trade, id: UUID, write_off_id: UUID, links: Links) -> Reply:
    """Reverse a write-off, which raises the outstanding amount of the document again."""
    books = trade.books
    document, settlements, written_off = await books.fetch(
        trade.documents.lock_named(id),
        trade.documents.settlements(id),
        trade.write_offs.get_within(id, write_off_id),
    )
    books.check_precondition(document)  # If-Match is of the document; 404 precedes 412.
    owed, reversed_ = write_offs.reverse(document, written_off, books.context)
    await keep(trade, reversed_, moved=[owed])
    settlements = settlements.with_write_off(reversed_)
    return await trade_documents.show(trade, owed, settlements, links)
