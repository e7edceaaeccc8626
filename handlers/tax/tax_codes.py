"""Tax codes: the tax treatment and rates of sales and purchases."""

from uuid import UUID

from accounting.books.accounts import Account, AccountReference, BookAccounts
from accounting.tax import code_changes
from accounting.tax.codes import TaxCode
from accounting.tax.commands import ChangeTaxCode, CreateTaxCode
from handlers.bodies import TaxCodeCreate, TaxCodeUpdate
from handlers.results import Created, Reply
from handlers.tax import tax_commands
from handlers.tax.tax_code_responses import serialize_tax_code
from persistence.books import Books
from persistence.engine.pages import Page, PageRequest
from persistence.tax.tax_codes import TaxCodeRecord


async def create_tax_code(books: Books, body: TaxCodeCreate) -> Reply:
    """Create a tax code; a new default replaces the previous default of its direction."""
    command = tax_commands.create_tax_code(body)
    if command.is_default:
        books.run_alone()
    accounts = await named_accounts(books, command)
    made = code_changes.created(command, accounts, books.context)
    return Created(await save(books, made))


async def list_tax_codes(books: Books, page: PageRequest) -> Page[Reply]:
    """List tax codes."""
    found = await books.tax_codes.page(page)
    return found.of(lambda record: show(books, record))


async def get_tax_code(books: Books, tax_code_id: UUID) -> Reply:
    """Return one tax code."""
    return show(books, await books.tax_codes.get(tax_code_id))


async def update_tax_code(books: Books, tax_code_id: UUID, body: TaxCodeUpdate) -> Reply:
    """Change the supplied fields of a tax code; once it is in use, past rates cannot change."""
    command = tax_commands.change_tax_code(body)
    # Meanwhile no request posts with this code or sets another default.
    books.run_alone()
    found = await books.tax_codes.lock(tax_code_id)
    in_use = await books.tax_codes.in_use(tax_code_id)
    accounts = await named_accounts(books, command)
    amended = code_changes.changed(found.tax_code, command, in_use, accounts, books.context)
    return show(books, found) if amended == found.tax_code else await save(books, amended)


async def archive_tax_code(books: Books, tax_code_id: UUID) -> Reply:
    """Archive a tax code, whether it is in use or not."""
    books.run_alone()
    found = await books.tax_codes.lock(tax_code_id)
    gone = code_changes.archived(found.tax_code, books.context)
    if gone != found.tax_code:
        books.save(gone)
    return show(books, TaxCodeRecord(gone, found.ledger))


async def named_accounts(books: Books, command: CreateTaxCode | ChangeTaxCode) -> BookAccounts:
    """Load the account that a command names, and the accounts with roles."""
    named = await books.accounts.named(code_changes.account_references(command))
    return BookAccounts(await books.roles(), named)


async def save(books: Books, code: TaxCode) -> Reply:
    """Save a tax code, clear the default it replaces, and return it serialized."""
    if code.is_default:
        others = await books.tax_codes.all()
        books.save(*code_changes.displaced(code, others.codes, books.context))
    books.save(code)
    return show(books, TaxCodeRecord(code, await ledger_account(books, code)))


async def ledger_account(books: Books, code: TaxCode) -> Account:
    """Load the account to which the tax of a code is posted."""
    reference = AccountReference("id", code.tax_account_id)
    return (await books.accounts.named([reference], hold=False))[reference]


def show(books: Books, record: TaxCodeRecord) -> Reply:
    """Serialize a tax code with its current rate."""
    return serialize_tax_code(record.tax_code, record.ledger, books.context.today)
