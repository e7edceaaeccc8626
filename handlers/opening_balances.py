"""Opening balances: account balances and open items on a day, created and reversed together."""

from uuid import UUID

from accounting.books.accounts import Account
from accounting.opening import opening_changes
from accounting.opening.openings import (
    OpenedBooks,
    accounts_shown,
    refuse_untied,
    ties,
)
from handlers.bodies import JournalEntryReversal, OpeningBalanceCreate
from handlers.commands import journal_commands, opening_commands
from handlers.results import Created, Reply
from handlers.shared.opened_books import keep_opened, lock_opened, read_opened
from handlers.shared.opening_shapes import shape, summarize
from persistence.books import Books
from persistence.engine.pages import Page, PageRequest


async def create_opening_balance(books: Books, body: OpeningBalanceCreate, preview: bool) -> Reply:
    """Create the opening balances of a day, all or nothing.

    A preview returns the differences on control accounts, which are refused otherwise.
    """
    command, roles = opening_commands.open_books(body), await books.roles()
    named, codes, customers, vendors = await books.fetch(
        books.accounts.named(opening_changes.account_references(command, roles)),
        books.tax_codes.for_use(needed=opening_changes.names_codes(command)),
        books.customers.all_named({each.party for each in command.sales.items}),
        books.vendors.all_named({each.party for each in command.purchases.items}),
    )
    known = opening_changes.Known(roles, named, codes, customers, vendors)
    made = opening_changes.open_books(command, known, books.context)
    accounts = {account.id: account for account in named.values()}
    if not preview:
        refuse_untied(made.opening, ties(made.opening, accounts, roles), roles)
    await keep_opened(books, made)
    return Created(shape(books, made, accounts, roles))


async def list_opening_balances(books: Books, page: PageRequest) -> Page[Reply]:
    """List opening balances without their documents and payments."""
    roles = await books.roles()
    found = await books.opening_balances.page(page)
    return found.of(lambda opening: summarize(books, opening, roles))


async def get_opening_balance(books: Books, opening_balance_id: UUID) -> Reply:
    """Return one opening balance with its documents and payments."""
    books.pin_snapshot()
    opening = await books.opening_balances.get(opening_balance_id)
    return await _show(books, await read_opened(books, opening))


async def reverse_opening_balance(
    books: Books, opening_balance_id: UUID, body: JournalEntryReversal | None
) -> Reply:
    """Reverse an opening balance with its documents and payments, while none of them is settled."""
    opening = await books.opening_balances.lock(opening_balance_id)
    opening_changes.refuse_reversing(opening)
    opened, on = await lock_opened(books, opening), journal_commands.reversed_on(body)
    reversed_ = opening_changes.reverse(opened, on, books.context)
    await keep_opened(books, reversed_)
    return await _show(books, reversed_)


async def _show(books: Books, opened: OpenedBooks) -> Reply:
    """Serialize an opening balance with the accounts that it names."""
    roles = await books.roles()
    named = await books.accounts.named(accounts_shown(opened.opening, roles), hold=False)
    accounts: dict[UUID, Account] = {account.id: account for account in named.values()}
    return shape(books, opened, accounts, roles)
