"""Customer credits: credit notes that customers can apply to their invoices."""

from uuid import UUID

from access.links import Links
from handlers.bodies import (
    CustomerCreditCreate,
    CustomerCreditReplace,
    CustomerCreditUpdate,
    Voiding,
)
from handlers.results import Reply
from handlers.shared import file_commands
from handlers.trade import credit_commands, document_commands, trade_credits
from persistence.books import Books
from persistence.engine.pages import Page, PageRequest


async def create_customer_credit(books: Books, body: CustomerCreditCreate, links: Links) -> Reply:
    """Create a credit as a draft or sent, and apply its allocations.

    If the external id is in use, the existing credit is returned unchanged.
    """
    file = file_commands.attached(body)
    command = credit_commands.create_customer_credit(body)
    return await trade_credits.create(books.sales, command, file, links)


async def list_customer_credits(books: Books, page: PageRequest, links: Links) -> Page[Reply]:
    """List credits with their lines and allocations."""
    return await trade_credits.listed(books.sales, page, links)


async def get_customer_credit(books: Books, credit_id: UUID, links: Links) -> Reply:
    """Return one credit with its lines and allocations."""
    return await trade_credits.read(books.sales, credit_id, links)


async def replace_customer_credit(
    books: Books, credit_id: UUID, body: CustomerCreditReplace, links: Links
) -> Reply:
    """Replace the contents of a credit; a supplied list replaces its allocations."""
    file = file_commands.attached(body)
    command = credit_commands.replace_customer_credit(body)
    return await trade_credits.change(books.sales, credit_id, command, file, links)


async def update_customer_credit(
    books: Books, credit_id: UUID, body: CustomerCreditUpdate, links: Links
) -> Reply:
    """Change what a credit states beside its amounts, and the accounts of its lines."""
    file, command = file_commands.attached(body), credit_commands.change_customer_credit(body)
    return await trade_credits.revise(books.sales, credit_id, command, file, links)


async def void_customer_credit(
    books: Books, credit_id: UUID, body: Voiding | None, links: Links
) -> Reply:
    """Void a sent credit of which nothing is applied."""
    at = document_commands.voided_at(body)
    return await trade_credits.void(books.sales, credit_id, at, links)
