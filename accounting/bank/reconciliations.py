"""Reconciliation of a bank account with its statements.

A statement is closed if the ledger has the same balance. Each account has at most one open
statement, the newest. A closed statement does not change: `bank_transactions.refuse_reconciled` and
guards in the database protect it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from uuid import UUID

from accounting.bank.bank_accounts import BankAccount
from accounting.bank.commands import ReconcileStatement
from accounting.books.businesses import Context
from accounting.errors import Conflict, RuleViolation

OPEN, CLOSED = "open", "closed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reconciliation:
    """A statement of a bank account: its closing balance at the end of a day.

    `account_id` is the ledger account of the bank account.
    """

    id: UUID
    version: int
    created_at: datetime
    updated_at: datetime
    bank_account_id: UUID
    account_id: UUID
    statement_date: date
    closing_balance: int
    status: str
    closed_at: datetime | None = None
    reopened_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class AccountStatements:
    """The open statement of a bank account, and its newest closed one."""

    open: Reconciliation | None
    closed: Reconciliation | None


@dataclass(frozen=True, slots=True)
class UnmatchedItem:
    """A transaction without money, or money without a transaction; above zero if it comes in.

    `kind` is the source of the ledger entry, such as `payment`, or `bank_transaction`.
    """

    kind: str
    id: UUID
    on: date
    amount: int
    description: str | None = None


@dataclass(frozen=True, slots=True)
class UnmatchedItems:
    """The total amount and number of items without a counterpart, and the first of them."""

    total: int
    count: int
    first: Sequence[UnmatchedItem]


@dataclass(frozen=True, slots=True)
class Explanation:
    """The ledger balance on a day, and the unmatched items since the previous statement.

    `lines` is the sum of the bank transactions in that time.
    """

    ledger_balance: int
    lines: int
    lines_without_money: UnmatchedItems
    money_without_lines: UnmatchedItems


@dataclass(frozen=True, slots=True)
class Comparison:
    """A statement with its explanation, and the closing balance of the previous statement."""

    statement: Reconciliation
    opening_balance: int
    explanation: Explanation

    @property
    def difference(self) -> int:
        """The statement balance less the ledger balance: 600 less 120 is 480."""
        return self.statement.closing_balance - self.explanation.ledger_balance

    @property
    def unexplained(self) -> int:
        """The change of the balance less the transactions: from 0 to 600 with 500, it is 100."""
        moved = self.statement.closing_balance - self.opening_balance
        return moved - self.explanation.lines


def opening_balance(before: Reconciliation | None) -> int:
    """Return the opening balance of a statement: the closing balance of the previous one, or 0."""
    return before.closing_balance if before else 0


def take(
    bank_account: BankAccount,
    standing: AccountStatements,
    command: ReconcileStatement,
    context: Context,
) -> Reconciliation:
    """Create an open statement, or update the one that is open.

    Raises Conflict `bank_reconciled`; RuleViolation `statement_date_in_future`.
    """
    on = command.statement_date
    if on > context.today:
        raise RuleViolation(
            "statement_date_in_future",
            f"The statement date must not be after today ({context.business.timezone}).",
            statement_date=on.isoformat(),
            today=context.today.isoformat(),
        )
    if standing.closed is not None and on <= standing.closed.statement_date:
        raise _held_by(standing.closed)
    if standing.open is not None:
        return replace(
            standing.open,
            statement_date=on,
            closing_balance=command.closing_balance,
            updated_at=context.now,
        )
    return Reconciliation(
        id=context.identify(),
        version=0,
        created_at=context.now,
        updated_at=context.now,
        bank_account_id=bank_account.id,
        account_id=bank_account.account_id,
        statement_date=on,
        closing_balance=command.closing_balance,
        status=OPEN,
    )


def close(compared: Comparison, context: Context) -> Comparison:
    """Close a statement if the ledger has the same balance; with a difference it stays open.

    600 against 600 closes, 600 against 599 does not.
    """
    if compared.difference:
        return compared
    closed = replace(compared.statement, status=CLOSED, closed_at=context.now)
    return replace(compared, statement=closed)


def reopen(
    statement: Reconciliation, standing: AccountStatements, context: Context
) -> Reconciliation:
    """Reopen the newest closed statement of its account; an open one stays as it is.

    Raises Conflict `bank_reconciled` if a later one is closed.
    """
    if statement.status == OPEN:
        return statement
    if standing.closed is not None and standing.closed.id != statement.id:
        raise _held_by(standing.closed)
    return replace(
        statement,
        status=OPEN,
        closed_at=None,
        reopened_at=context.now,
        updated_at=context.now,
    )


def _held_by(closed: Reconciliation) -> Conflict:
    on = closed.statement_date.isoformat()
    return Conflict(
        "bank_reconciled",
        f"The statement of {on} is reconciled. Reopen it first.",
        statement_date=on,
    )
