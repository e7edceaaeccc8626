"""Customer credits: what customers may set against their invoices."""

from uuid import UUID

from access.links import Links
from handlers.bodies import CustomerCreditCreate, CustomerCreditReplace, Voiding
from handlers.commands import credit_commands, document_commands, file_commands
from handlers.results import Reply
from handlers.shared import trade_credits
from persistence.books import Books
from persistence.engine.pages import Page, PageRequest


async def create_customer_credit(books: Books, body: CustomerCreditCreate, links: Links) -> Reply:
    """Create a credit, draft or sent, and apply it; a known external id answers it."""
    file = file_commands.attached(body)
    command = credit_commands.create_customer_credit(body)
    return await trade_credits.create(books.sales, command, file, links)


async def list_customer_credits(books: Books, page: PageRequest, links: Links) -> Page[Reply]:
    """List credits with their lines and allocations."""
    return await trade_credits.listed(books.sales, page, links)


async def get_customer_credit(books: Books, credit_id: UUID, links: Links) -> Reply:
    """Read one credit with its lines and allocations."""
    return await trade_credits.read(books.sales, credit_id, links)


async def replace_customer_credit(
    books: Books, credit_id: UUID, body: CustomerCreditReplace, links: Links
) -> Reply:
    """Replace what a credit says, and which invoices it settles where a list is given."""
    file = file_commands.attached(body)
    command = credit_commands.replace_customer_credit(body)
    return await trade_credits.change(books.sales, credit_id, command, file, links)


async def void_customer_credit(
    books: Books, credit_id: UUID, body: Voiding | None, links: Links
) -> Reply:
    """Take a sent credit back, as long as nothing is applied of it."""
    at = document_commands.voided_at(body)
    return await trade_credits.void(books.sales, credit_id, at, links)
