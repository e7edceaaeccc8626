"""Bank accounts, each with its own account in the chart of accounts."""

from uuid import UUID

from accounting.absent import or_none
from accounting.bank import bank_accounts
from accounting.bank.bank_accounts import BankAccount, ChartInUse
from accounting.bank.commands import CreateBankAccount
from accounting.books.accounts import Account
from handlers.bank import bank_commands
from handlers.bank.bank_responses import serialize_bank_account
from handlers.bodies import BankAccountCreate, BankAccountUpdate
from handlers.results import Created, ExistingRecord, Reply
from persistence.bank.bank_accounts import BankAccountRecord
from persistence.books import Books
from persistence.engine.ids import new_id
from persistence.engine.pages import Page, PageRequest


async def create_bank_account(books: Books, body: BankAccountCreate) -> Reply:
    """Create a bank account.

    If the external id is in use, the existing bank account is returned unchanged.
    """
    command = bank_commands.create_bank_account(body)
    if command.account is not None and command.currency is not None:
        books.run_alone()  # Nothing may use the account, nor begin to meanwhile.
    given = bank_accounts.facts(command.details)
    known = books.bank_accounts.with_external_id(or_none(command.details.external_id))
    chart_in_use, existing = await books.fetch(books.bank_accounts.chart_in_use(hold=True), known)
    if existing is not None:
        return ExistingRecord(serialize_bank_account(books, existing))
    ledger = await ledger_account(books, command, chart_in_use)
    shown = bank_accounts.shown_on(ledger, given, books.context)
    made = BankAccount(
        id=new_id(),
        version=0,
        created_at=books.now,
        updated_at=books.now,
        currency=command.currency or books.currency,
        account_id=ledger.id,
        **given,
    )
    return Created(save_and_serialize(books, made, shown, changed=shown not in chart_in_use.chart))


async def list_bank_accounts(books: Books, page: PageRequest) -> Page[Reply]:
    """List bank accounts."""
    found = await books.bank_accounts.page(page)
    return found.of(lambda record: serialize_bank_account(books, record))


async def get_bank_account(books: Books, bank_account_id: UUID) -> Reply:
    """Return one bank account."""
    return serialize_bank_account(books, await books.bank_accounts.get(bank_account_id))


async def update_bank_account(
    books: Books, bank_account_id: UUID, body: BankAccountUpdate
) -> Reply:
    """Change the supplied fields of a bank account, and their copies on its ledger account."""
    found = await books.bank_accounts.lock(bank_account_id)
    given = bank_accounts.facts(bank_commands.change_bank_account(body))
    amended = bank_accounts.amend(found.bank_account, given, books.context)
    if amended == found.bank_account:
        return serialize_bank_account(books, found)
    shown = bank_accounts.shown_on(found.ledger, given, books.context)
    return save_and_serialize(books, amended, shown, changed=shown != found.ledger)


async def ledger_account(
    books: Books, command: CreateBankAccount, chart_in_use: ChartInUse
) -> Account:
    """Return the ledger account of a new bank account: the named one, or a default."""
    reference, currency = command.account, command.currency
    if reference is None:
        title = command.display_name
        return bank_accounts.ledger_account_for(title, chart_in_use, books.context, currency)
    named = await books.accounts.named([reference])
    account, is_named = named.get(reference), False
    if account is not None and currency not in (None, books.currency):
        is_named = await books.accounts.is_named(account.id)
    return bank_accounts.named_ledger_account(
        reference, account, chart_in_use, books.context, currency, is_named=is_named
    )


def save_and_serialize(
    books: Books, bank_account: BankAccount, ledger: Account, *, changed: bool
) -> Reply:
    """Save a bank account, and its ledger account if `changed`; return both serialized."""
    books.save(bank_account)
    if changed:
        books.save(ledger)
    return serialize_bank_account(books, BankAccountRecord(bank_account, ledger))
