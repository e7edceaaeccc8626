"""Bank accounts: where money is kept, each over an account of the chart."""

from uuid import UUID

from accounting import bank_accounts
from accounting.accounts import Account, AccountReference
from accounting.bank_accounts import Ground
from accounting.banking import BankAccount
from accounting.occasion import refuse_other_currency
from handlers._bank_shapes import shape_bank_account
from handlers.bodies import BankAccountCreate, BankAccountUpdate
from handlers.replies import Created, Reply
from persistence.bank_accounts import BankAccountRecord
from persistence.books import Books
from persistence.identifiers import new_id
from persistence.pages import Page, PageRequest


async def create_bank_account(books: Books, body: BankAccountCreate) -> Reply:
    """Create a bank account; one with this external id is answered as it is."""
    known = books.bank_accounts.with_external_id(body.get("external_id"))
    ground, existing = await books.ask(books.bank_accounts.ground(), known)
    if existing is not None:
        return shape_bank_account(books, existing)
    given = bank_accounts.facts(body)
    refuse_other_currency(given.pop("currency", None), books.occasion)
    ledger = await ledger_account(books, given["display_name"], given.pop("account", None), ground)
    shown = bank_accounts.shown_on(ledger, given, books.occasion)
    made = BankAccount(
        id=new_id(),
        version=0,
        created_at=books.now,
        updated_at=books.now,
        currency=books.currency,
        account_id=ledger.id,
        **given,
    )
    return Created(keep(books, made, shown, changed=shown not in ground.chart))


async def list_bank_accounts(books: Books, page: PageRequest) -> Page[Reply]:
    """List bank accounts."""
    found = await books.bank_accounts.page(page)
    return found.of(lambda record: shape_bank_account(books, record))


async def get_bank_account(books: Books, bank_account_id: UUID) -> Reply:
    """Read one bank account."""
    return shape_bank_account(books, await books.bank_accounts.get(bank_account_id))


async def update_bank_account(
    books: Books, bank_account_id: UUID, body: BankAccountUpdate
) -> Reply:
    """Change the supplied fields of a bank account; the account of the chart follows."""
    found = await books.bank_accounts.lock(bank_account_id)
    given = bank_accounts.facts(body)
    amended = bank_accounts.amend(found.bank_account, given, books.occasion)
    if amended == found.bank_account:
        return shape_bank_account(books, found)
    shown = bank_accounts.shown_on(found.ledger, given, books.occasion)
    return keep(books, amended, shown, changed=shown != found.ledger)


async def ledger_account(books: Books, title: str, name: str | None, ground: Ground) -> Account:
    """Return the account for a new bank account: the one that it names, else one to be had."""
    if name is None:
        return bank_accounts.ledger_account_for(title, ground, books.occasion)
    reference = AccountReference("any", name)
    named = await books.accounts.named([reference])
    return bank_accounts.named_ledger_account(reference, named.get(reference), ground)


def keep(books: Books, bank_account: BankAccount, ledger: Account, *, changed: bool) -> Reply:
    """Save a bank account and what its account of the chart shows of it, and show both."""
    books.save(bank_account)
    if changed:
        books.save(ledger)
    return shape_bank_account(books, BankAccountRecord(bank_account, ledger))
