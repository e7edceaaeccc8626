"""Vendor credits: credit notes that the business can apply to bills of a vendor."""

from uuid import UUID

from access.links import Links
from handlers.bodies import VendorCreditCreate, VendorCreditReplace, VendorCreditUpdate, Voiding
from handlers.results import Reply
from handlers.shared import file_commands
from handlers.trade import credit_commands, document_commands, trade_credits
from persistence.books import Books
from persistence.engine.pages import Page, PageRequest


async def create_vendor_credit(books: Books, body: VendorCreditCreate, links: Links) -> Reply:
    """Create a credit as a draft or received, and apply its allocations.

    If the external id is in use, the existing credit is returned unchanged.
    """
    file = file_commands.attached(body)
    command = credit_commands.create_vendor_credit(body)
    return await trade_credits.create(books.purchases, command, file, links)


async def list_vendor_credits(books: Books, page: PageRequest, links: Links) -> Page[Reply]:
    """List credits with their lines and allocations."""
    return await trade_credits.listed(books.purchases, page, links)


async def get_vendor_credit(books: Books, vendor_credit_id: UUID, links: Links) -> Reply:
    """Return one credit with its lines and allocations."""
    return await trade_credits.read(books.purchases, vendor_credit_id, links)


async def replace_vendor_credit(
    books: Books, vendor_credit_id: UUID, body: VendorCreditReplace, links: Links
) -> Reply:
    """Replace the contents of a credit; a supplied list replaces its allocations."""
    file = file_commands.attached(body)
    command = credit_commands.replace_vendor_credit(body)
    return await trade_credits.change(books.purchases, vendor_credit_id, command, file, links)


async def update_vendor_credit(
    books: Books, vendor_credit_id: UUID, body: VendorCreditUpdate, links: Links
) -> Reply:
    """Change what a credit states beside its amounts, and the accounts of its lines."""
    file, command = file_commands.attached(body), credit_commands.change_vendor_credit(body)
    return await trade_credits.revise(books.purchases, vendor_credit_id, command, file, links)


async def void_vendor_credit(
    books: Books, vendor_credit_id: UUID, body: Voiding | None, links: Links
) -> Reply:
    """Void a received credit of which nothing is applied."""
    at = document_commands.voided_at(body)
    return await trade_credits.void(books.purchases, vendor_credit_id, at, links)
