"""Bills: invoices from vendors, from draft to settled, written off or void."""

from uuid import UUID

from access.links import Links
from handlers.bodies import (
    BillCreate,
    BillReceive,
    BillReplace,
    BillUpdate,
    Voiding,
    WriteOffCreate,
)
from handlers.results import Reply
from handlers.shared import file_commands
from handlers.trade import document_commands, trade_documents
from persistence.books import Books
from persistence.engine.pages import Page, PageRequest


async def create_bill(books: Books, body: BillCreate, links: Links) -> Reply:
    """Create a bill as a draft or received, with its attached document.

    If the external id is in use, the existing bill is returned unchanged.
    """
    file, command = file_commands.attached(body), document_commands.bill(body)
    return await trade_documents.create(books.purchases, command, file, links)


async def list_bills(books: Books, page: PageRequest) -> Page[Reply]:
    """List bills without their lines."""
    return await trade_documents.listed(books.purchases, page)


async def get_bill(books: Books, bill_id: UUID, links: Links) -> Reply:
    """Return one bill with its lines and settlements."""
    return await trade_documents.read(books.purchases, bill_id, links)


async def replace_bill(books: Books, bill_id: UUID, body: BillReplace, links: Links) -> Reply:
    """Replace the contents of a bill to which nothing is allocated."""
    file, command = file_commands.attached(body), document_commands.bill(body)
    return await trade_documents.replace_one(books.purchases, bill_id, command, file, links)


async def update_bill(books: Books, bill_id: UUID, body: BillUpdate, links: Links) -> Reply:
    """Change what a bill states beside its amounts, and the accounts of its lines."""
    file, command = file_commands.attached(body), document_commands.change_bill(body)
    return await trade_documents.change(books.purchases, bill_id, command, file, links)


async def receive_bill(
    books: Books, bill_id: UUID, body: BillReceive | None, links: Links
) -> Reply:
    """Receive a draft: assign its number and post it to the ledger."""
    command = document_commands.receive_bill(body)
    return await trade_documents.open_draft(books.purchases, bill_id, command, links)


async def void_bill(books: Books, bill_id: UUID, body: Voiding | None, links: Links) -> Reply:
    """Void a received bill to which nothing is allocated."""
    return await trade_documents.void(
        books.purchases, bill_id, document_commands.voided_at(body), links
    )


async def delete_bill(books: Books, bill_id: UUID) -> Reply:
    """Delete a draft permanently."""
    return await trade_documents.delete(books.purchases, bill_id)


async def write_off_bill(
    books: Books, bill_id: UUID, body: WriteOffCreate | None, links: Links
) -> Reply:
    """Write off the outstanding amount of a bill, or part of it.

    If the external id is in use, the bill is returned without another write-off.
    """
    command = document_commands.write_off(body)
    return await trade_documents.write_off(books.purchases, bill_id, command, links)


async def reverse_bill_write_off(
    books: Books, bill_id: UUID, write_off_id: UUID, links: Links
) -> Reply:
    """Reverse a write-off, which raises the outstanding amount of the bill again."""
    return await trade_documents.reverse(books.purchases, bill_id, write_off_id, links)
