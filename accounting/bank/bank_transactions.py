"""Lines of bank statements as they are kept, and what is posted for one without any document."""

from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import Literal
from uuid import UUID

from accounting.books.accounts import Account
from accounting.books.context import Context, refuse_locked
from accounting.books.ledger import Posted
from accounting.errors import Conflict, RuleBroken


@dataclass(frozen=True, slots=True, kw_only=True)
class BankTransaction:
    """One line of a bank statement, amount above zero, and what became of it.

    `account_id` is the ledger account of its bank account. `linked` is what its live links account
    for; `rounding` is how much of that their money does not come to, below zero where it comes to
    more. `categorized` is what was posted straight to `category_account_id`.
    """

    id: UUID
    version: int
    created_at: datetime
    updated_at: datetime
    bank_account_id: UUID
    account_id: UUID
    external_id: str
    booked_on: date
    amount: int
    direction: Literal["credit", "debit"]
    currency: str
    description: str | None = None
    counterparty_name: str | None = None
    reference: str | None = None
    imported_at: datetime
    source_format: str
    linked: int = 0
    rounding: int = 0
    categorized: int = 0
    category_account_id: UUID | None = None
    category_memo: str | None = None
    posted: tuple[Posted, ...] = ()


def signed(transaction: BankTransaction) -> int:
    """Say what a line moves on the bank account: a credit of 98 brings 98, a debit -98."""
    return transaction.amount if transaction.direction == "credit" else -transaction.amount


def remaining(transaction: BankTransaction) -> int:
    """Say how much of a line is not explained: of 100 with 60 linked and 10 categorized, 30."""
    return transaction.amount - transaction.linked - transaction.categorized


def is_reconciled(transaction: BankTransaction) -> bool:
    """Tell whether all of a line is explained."""
    return remaining(transaction) == 0


def categorize(
    transaction: BankTransaction, account: Account, memo: str | None, context: Context
) -> BankTransaction:
    """Post what is left of a line straight to an account, on the line's day.

    Of 100 with 60 linked, 40. Raises Conflict `bank_transaction_used_up` or `period_locked`;
    RuleBroken `same_account`.
    """
    if transaction.categorized or not remaining(transaction):
        raise Conflict(
            "bank_transaction_used_up",
            "The bank transaction is categorized already, or all of it is linked. Undo that first.",
            linked_amount_cents=transaction.linked,
            categorized_amount_cents=transaction.categorized,
        )
    if account.id == transaction.account_id:
        raise RuleBroken(
            "same_account",
            "The account is the bank account's own. Name what the money was for.",
            account=str(account.id),
        )
    refuse_locked(context, transaction.booked_on)
    return replace(
        transaction,
        categorized=remaining(transaction),
        category_account_id=account.id,
        category_memo=memo,
        updated_at=context.now,
    )


def uncategorize(transaction: BankTransaction, context: Context) -> BankTransaction:
    """Take a categorization back; where there is none, nothing changes."""
    if not transaction.categorized:
        return transaction
    return replace(
        transaction,
        categorized=0,
        category_account_id=None,
        category_memo=None,
        updated_at=context.now,
    )
