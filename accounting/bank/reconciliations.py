"""Statements of a bank account held against the ledger, and closed where both say the same.

Of each account there is at most one open statement, the newest. What a closed one holds stays as it
is: `bank_transactions.refuse_reconciled`, and guards in the database for all that posts.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from uuid import UUID

from accounting.bank.bank_accounts import BankAccount
from accounting.bank.commands import ReconcileStatement
from accounting.books.context import Context
from accounting.errors import Conflict, RuleBroken

OPEN, CLOSED = "open", "closed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reconciliation:
    """A statement of a bank account: what is on the account at the end of a day.

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
class Standing:
    """What there is of the statements of a bank account: the open one, and the newest closed."""

    open: Reconciliation | None
    closed: Reconciliation | None


@dataclass(frozen=True, slots=True)
class Unshown:
    """A line without money, or money without a line; above zero where it comes in.

    `kind` is the source of what the ledger has, as `payment`; of a line `bank_transaction`.
    """

    kind: str
    id: UUID
    on: date
    amount: int
    description: str | None = None


@dataclass(frozen=True, slots=True)
class Found:
    """How much there is without its counterpart, how many, and the first of them."""

    total: int
    count: int
    first: Sequence[Unshown]


@dataclass(frozen=True, slots=True)
class Explanation:
    """What the ledger has on a day, and what came on either side since the statement before.

    `lines` is what the lines of the bank come to in that time.
    """

    ledger_balance: int
    lines: int
    lines_without_money: Found
    money_without_lines: Found


@dataclass(frozen=True, slots=True)
class Comparison:
    """A statement beside its explanation, and what the statement before closed with."""

    statement: Reconciliation
    opening_balance: int
    explanation: Explanation

    @property
    def difference(self) -> int:
        """What the statement has more than the ledger: 600 against 120 is 480."""
        return self.statement.closing_balance - self.explanation.ledger_balance

    @property
    def unexplained(self) -> int:
        """What the lines do not come to: from 0 to 600 with lines of 500, 100."""
        moved = self.statement.closing_balance - self.opening_balance
        return moved - self.explanation.lines


def opening_balance(before: Reconciliation | None) -> int:
    """What a statement begins with: what the closed one before it ended with, else nothing."""
    return before.closing_balance if before else 0


def take(
    bank_account: BankAccount, standing: Standing, command: ReconcileStatement, context: Context
) -> Reconciliation:
    """Take a statement, which is open: a new one, or the open one as it is said now.

    Raises Conflict `bank_reconciled`; RuleBroken `statement_date_in_future`.
    """
    on = command.statement_date
    if on > context.today:
        raise RuleBroken(
            "statement_date_in_future",
            "A statement is of today at most.",
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
    """Close a statement where the ledger has what it says; any difference leaves it open.

    600 against 600 closes, 600 against 599 does not.
    """
    if compared.difference:
        return compared
    closed = replace(compared.statement, status=CLOSED, closed_at=context.now)
    return replace(compared, statement=closed)


def reopen(statement: Reconciliation, standing: Standing, context: Context) -> Reconciliation:
    """Open the newest closed statement of its account again; an open one stays as it is.

    Raises Conflict `bank_reconciled` where a later one is closed.
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
