"""Vendor credits: what may be set against the bills of vendors."""

from uuid import UUID

from access.links import Links
from handlers.bodies import VendorCreditCreate, VendorCreditReplace, Voiding
from handlers.commands import credit_commands, document_commands, file_commands
from handlers.results import Reply
from handlers.shared import trade_credits
from persistence.books import Books
from persistence.engine.pages import Page, PageRequest


async def create_vendor_credit(books: Books, body: VendorCreditCreate, links: Links) -> Reply:
    """Create a credit, draft or received, and apply it; a known external id answers it."""
    file = file_commands.attached(body)
    command = credit_commands.create_vendor_credit(body)
    return await trade_credits.create(books.purchases, command, file, links)


async def list_vendor_credits(books: Books, page: PageRequest, links: Links) -> Page[Reply]:
    """List credits with their lines and allocations."""
    return await trade_credits.listed(books.purchases, page, links)


async def get_vendor_credit(books: Books, vendor_credit_id: UUID, links: Links) -> Reply:
    """Read one credit with its lines and allocations."""
    return await trade_credits.read(books.purchases, vendor_credit_id, links)


async def replace_vendor_credit(
    books: Books, vendor_credit_id: UUID, body: VendorCreditReplace, links: Links
) -> Reply:
    """Replace what a credit says, and which bills it settles where a list is given."""
    file = file_commands.attached(body)
    command = credit_commands.replace_vendor_credit(body)
    return await trade_credits.change(books.purchases, vendor_credit_id, command, file, links)


async def void_vendor_credit(
    books: Books, vendor_credit_id: UUID, body: Voiding | None, links: Links
) -> Reply:
    """Take a received credit back, as long as nothing is applied of it."""
    at = document_commands.voided_at(body)
    return await trade_credits.void(books.purchases, vendor_credit_id, at, links)
