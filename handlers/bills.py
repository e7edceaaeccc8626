"""Bills: what vendors ask to be paid, from draft to settled, written off or void."""

from uuid import UUID

from access.links import Links
from handlers.bodies import BillCreate, BillReceive, BillReplace, Voiding, WriteOffCreate
from handlers.commands import document_commands, file_commands
from handlers.results import Reply
from handlers.shared import trade_documents, trade_write_offs
from persistence.books import Books
from persistence.engine.pages import Page, PageRequest


async def create_bill(books: Books, body: BillCreate, links: Links) -> Reply:
    """Create a bill, draft or received, with the document that came with it."""
    file, command = file_commands.attached(body), document_commands.bill(body)
    return await trade_documents.create(books.purchases, command, file, links)


async def list_bills(books: Books, page: PageRequest) -> Page[Reply]:
    """List bills without their lines."""
    return await trade_documents.listed(books.purchases, page)


async def get_bill(books: Books, bill_id: UUID, links: Links) -> Reply:
    """Read one bill with its lines, and with what settles it."""
    return await trade_documents.read(books.purchases, bill_id, links)


async def replace_bill(books: Books, bill_id: UUID, body: BillReplace, links: Links) -> Reply:
    """Replace what a bill says, as long as nothing is allocated to it."""
    file, command = file_commands.attached(body), document_commands.bill(body)
    return await trade_documents.replace_one(books.purchases, bill_id, command, file, links)


async def receive_bill(
    books: Books, bill_id: UUID, body: BillReceive | None, links: Links
) -> Reply:
    """Receive a draft: it takes a number and goes into the ledger."""
    command = document_commands.receive_bill(body)
    return await trade_documents.open_draft(books.purchases, bill_id, command, links)


async def void_bill(books: Books, bill_id: UUID, body: Voiding | None, links: Links) -> Reply:
    """Take a received bill back, as long as nothing is allocated to it."""
    return await trade_documents.void(
        books.purchases, bill_id, document_commands.voided_at(body), links
    )


async def delete_bill(books: Books, bill_id: UUID) -> Reply:
    """Delete a draft for good."""
    return await trade_documents.delete(books.purchases, bill_id)


async def write_off_bill(
    books: Books, bill_id: UUID, body: WriteOffCreate | None, links: Links
) -> Reply:
    """Write off what is left of a bill, or a part; a known external id writes nothing off."""
    command = document_commands.write_off(body)
    return await trade_write_offs.write_off(books.purchases, bill_id, command, links)


async def reverse_bill_write_off(
    books: Books, bill_id: UUID, write_off_id: UUID, links: Links
) -> Reply:
    """Take a write-off back: the bill is owed again by as much."""
    return await trade_write_offs.reverse(books.purchases, bill_id, write_off_id, links)
