"""Bank reconciliations: statements compared with the ledger, and closed where they agree.

A statement is closed or reopened while no other transaction writes to the books. So a posting or
the removal of a match either commits before it, or finds the statement closed.
"""

from typing import Any
from uuid import UUID

from accounting.bank import reconciliations
from accounting.bank.bank_accounts import BankAccount
from accounting.bank.reconciliations import Comparison, Reconciliation, UnmatchedItems
from handlers.bank import bank_commands
from handlers.bodies import BankReconciliationCreate
from handlers.results import Created, Reply
from persistence.books import Books
from persistence.engine.pages import Page, PageRequest


async def create_bank_reconciliation(
    books: Books, bank_account_id: UUID, body: BankReconciliationCreate
) -> Reply:
    """Compare a statement with the ledger, and close it if there is no difference.

    A statement of this bank account that is still open is updated instead.
    """
    books.run_alone()
    command = bank_commands.reconcile_statement(body)
    found, standing = await books.fetch(
        books.bank_accounts.get(bank_account_id), books.reconciliations.standing(bank_account_id)
    )
    statement = reconciliations.take(found.bank_account, standing, command, books.context)
    compared = await compare(books, statement, found.bank_account)
    closed = reconciliations.close(compared, books.context)
    books.save(closed.statement)
    shown = serialize(books, closed)
    return Created(shown) if standing.open is None else shown


async def list_bank_reconciliations(
    books: Books, bank_account_id: UUID, page: PageRequest
) -> Page[Reply]:
    """List the statements of a bank account."""
    _, found = await books.fetch(
        books.bank_accounts.get(bank_account_id), books.reconciliations.page(bank_account_id, page)
    )
    shown: Page[Reply] = found.of(lambda each: summarize(books, each))
    return shown


async def get_bank_reconciliation(
    books: Books, bank_account_id: UUID, reconciliation_id: UUID
) -> Reply:
    """Return one statement with the items that explain its difference now."""
    books.pin_snapshot()
    found, statement = await books.fetch(
        books.bank_accounts.get(bank_account_id),
        books.reconciliations.within(bank_account_id, reconciliation_id),
    )
    return serialize(books, await compare(books, statement, found.bank_account))


async def reopen_bank_reconciliation(
    books: Books, bank_account_id: UUID, reconciliation_id: UUID
) -> Reply:
    """Reopen the newest closed statement of a bank account, and drop a later open one.

    The statement includes the lines that were imported after its closing.
    """
    books.run_alone()
    found, statement, standing = await books.fetch(
        books.bank_accounts.get(bank_account_id),
        books.reconciliations.within(bank_account_id, reconciliation_id),
        books.reconciliations.standing(bank_account_id),
    )
    books.check_precondition(statement)
    reopened = reconciliations.reopen(statement, standing, books.context)
    if reopened is not statement:
        if standing.open is not None:
            books.reconciliations.drop(standing.open)
        books.bank_transactions.include_late(reopened)
        books.save(reopened)
    return serialize(books, await compare(books, reopened, found.bank_account))


async def compare(books: Books, statement: Reconciliation, bank_account: BankAccount) -> Comparison:
    """Compare a statement with the ledger, from the previous closed statement on."""
    before = await books.reconciliations.before(statement.bank_account_id, statement.statement_date)
    explanation = await books.bank_balances.explain(statement, before, bank_account.currency)
    return Comparison(statement, reconciliations.opening_balance(before), explanation)


def summarize(books: Books, statement: Reconciliation) -> dict[str, Any]:
    """Serialize a statement for a list."""
    return {
        "id": statement.id,
        "business_id": books.business_id,
        "bank_account_id": statement.bank_account_id,
        "statement_date": statement.statement_date,
        "status": statement.status,
        "closing_balance_cents": statement.closing_balance,
        "closed_at": statement.closed_at,
        "reopened_at": statement.reopened_at,
        "created_at": statement.created_at,
        "updated_at": statement.updated_at,
    }


def serialize(books: Books, compared: Comparison) -> dict[str, Any]:
    """Serialize a statement with its difference to the ledger and the items that explain it."""
    explanation = compared.explanation
    lines, money = explanation.lines_without_money, explanation.money_without_lines
    return {
        **summarize(books, compared.statement),
        "opening_balance_cents": compared.opening_balance,
        "ledger_balance_cents": explanation.ledger_balance,
        "difference_cents": compared.difference,
        "lines_without_money_cents": lines.total,
        "lines_without_money": serialize_lines(lines),
        "lines_without_money_count": lines.count,
        "money_without_lines_cents": money.total,
        "money_without_lines": serialize_money(money),
        "money_without_lines_count": money.count,
        "unexplained_cents": compared.unexplained,
    }


def serialize_lines(found: UnmatchedItems) -> list[dict[str, Any]]:
    """Serialize bank transactions that no money accounts for."""
    return [
        {
            "bank_transaction_id": each.id,
            "date": each.on,
            "description": each.description,
            "amount_cents": each.amount,
        }
        for each in found.first
    ]


def serialize_money(found: UnmatchedItems) -> list[dict[str, Any]]:
    """Serialize money that appears on no bank transaction."""
    return [
        {
            "source_type": each.kind,
            "source_id": each.id,
            "date": each.on,
            "amount_cents": each.amount,
        }
        for each in found.first
    ]
