"""Bank transactions, the stored statement lines, and their categorization without a document."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import Literal
from uuid import UUID

from accounting.bank.commands import CategoryGiven
from accounting.books.accounts import AccountReference, BookAccounts, usable_in
from accounting.books.businesses import Context, refuse_locked
from accounting.books.chart import Roles
from accounting.books.foreign import Worth
from accounting.books.ledger import PostedEntry, Shares
from accounting.books.record_rates import NO_WORTH_GIVEN, GivenWorth, worth_of
from accounting.errors import Conflict, RuleViolation
from accounting.tax.day_codes import TaxReferences
from accounting.tax.taxed_amounts import DayCode, Gross, HeldTax, held_taxes


@dataclass(frozen=True, slots=True, kw_only=True)
class CategoryPart:
    """A gross part of a transaction that is posted to an account; rules may set its party.

    Its lines have its tags in reports.
    """

    account_id: UUID
    amount: int
    memo: str | None = None
    customer_id: UUID | None = None
    vendor_id: UUID | None = None
    tax: HeldTax | None = None
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class BankTransaction:
    """A line of a bank statement, with an amount above zero, and what explains it.

    `account_id` is the ledger account of its bank account. `linked` is the amount that its active
    links use; `rounding` is `linked` less the money that they link. `categorized` is the sum of its
    `parts`; `rule_id` is the bank rule that made them, if any. Up to the day `reconciled_through`
    the statements of its bank account are closed; a line imported `after_closing` is in none of
    them. A line in a foreign currency has the `worth` of what is categorized. `exchanged` is what a
    line in base shows more of foreign money than that moved in base, by the id of the money.
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
    parts: tuple[CategoryPart, ...] = ()
    rule_id: UUID | None = None
    reconciled_through: date | None = None
    after_closing: bool = False
    worth: Worth | None = None
    exchanged: Shares[UUID] = ()
    posted: tuple[PostedEntry, ...] = ()


def sign(transaction: BankTransaction) -> int:
    """Return the sign of a change of the bank balance: 1 for a credit, -1 for a debit."""
    return 1 if transaction.direction == "credit" else -1


def signed(transaction: BankTransaction) -> int:
    """Return the change of the bank balance: a credit of 98 gives 98, a debit of 98 gives -98."""
    return sign(transaction) * transaction.amount


def remaining(transaction: BankTransaction) -> int:
    """Return the amount that is not explained: of 100 with 60 linked and 10 categorized, 30."""
    return transaction.amount - transaction.linked - transaction.categorized


def base_categorized(transaction: BankTransaction) -> int:
    """Return the categorized amount in base: USD 100.00 at 0.92 is EUR 92.00."""
    worth = transaction.worth
    return transaction.categorized if worth is None else worth.base_total or 0


def is_reconciled(transaction: BankTransaction) -> bool:
    """Return whether all of a transaction is linked or categorized."""
    return remaining(transaction) == 0


def refuse_reconciled(transaction: BankTransaction) -> None:
    """Refuse to change the links or categories of a transaction in a closed statement.

    Raises Conflict `bank_reconciled`.
    """
    closed = transaction.reconciled_through
    if closed is not None and transaction.booked_on <= closed:
        raise Conflict(
            "bank_reconciled",
            f"The statement of {closed} is reconciled. Reopen it first.",
            statement_date=closed.isoformat(),
        )


def categorize(
    transaction: BankTransaction,
    given: Sequence[CategoryGiven],
    referenced: TaxReferences,
    context: Context,
    rate: GivenWorth = NO_WORTH_GIVEN,
) -> BankTransaction:
    """Post the remaining amount of a transaction to accounts, part by part, on its day.

    Of 100 with 60 linked, 40 remains: two parts may be 30 and 10. A part without an amount takes
    all of it. If a part names a tax code, its tax is taken out of it. A transaction in a foreign
    currency is posted at a given rate, or that of its day. Raises Conflict
    `bank_transaction_used_up`, `account_archived`, `tax_code_archived`, `bank_reconciled` or
    `period_locked`; RuleViolation `reference_not_found`, `control_account`, `same_account`,
    `currency_mismatch`, `tax_code_mismatch`, `tax_rate_missing`, `splits_mismatch` or those of
    `worth_of`.
    """
    _refuse_used_up(transaction)
    left = remaining(transaction)
    accounts = referenced.accounts.of(transaction.currency, context.currency)
    parts = tuple(
        CategoryPart(
            account_id=_other_account(transaction, each.account, accounts),
            amount=left if each.amount is None else each.amount,
            memo=each.memo,
            tags=each.tags,
        )
        for each in given
    )
    total = sum(part.amount for part in parts)
    if total != left:
        raise RuleViolation(
            "splits_mismatch",
            "The splits must add up to the remaining amount of the bank transaction.",
            splits_total_cents=total,
            remaining_amount_cents=left,
        )
    codes = referenced.codes_on(None, transaction.booked_on)
    day_codes = [
        None if each.tax_code is None else codes.named(each.tax_code, each.place) for each in given
    ]
    taxed_parts = taxed(parts, day_codes, referenced.roles)
    return in_parts(transaction, taxed_parts, context, rate=rate)


def taxed(
    parts: Sequence[CategoryPart], codes: Sequence[DayCode | None], roles: Roles
) -> tuple[CategoryPart, ...]:
    """Compute the tax included in parts, once for each tax code."""
    gross = [
        Gross(part.amount, part.account_id, code) for part, code in zip(parts, codes, strict=True)
    ]
    held = held_taxes(gross, roles)
    return tuple(replace(part, tax=each) for part, each in zip(parts, held, strict=True))


def in_parts(
    transaction: BankTransaction,
    parts: tuple[CategoryPart, ...],
    context: Context,
    rule_id: UUID | None = None,
    rate: GivenWorth = NO_WORTH_GIVEN,
) -> BankTransaction:
    """Post checked parts of a transaction; `rule_id` is the bank rule that made them, if any.

    Raises Conflict `bank_reconciled` or `period_locked`; RuleViolation of `worth_of`.
    """
    refuse_reconciled(transaction)
    refuse_locked(context, transaction.booked_on)
    total, day = sum(part.amount for part in parts), transaction.booked_on
    return replace(
        transaction,
        categorized=total,
        parts=parts,
        worth=worth_of(transaction.currency, total, rate, day, context),
        rule_id=rule_id,
        updated_at=context.now,
    )


def uncategorize(transaction: BankTransaction, context: Context) -> BankTransaction:
    """Remove all categories of a transaction; without any, nothing changes.

    Raises Conflict `bank_reconciled`.
    """
    if not transaction.categorized:
        return transaction
    refuse_reconciled(transaction)
    return replace(
        transaction, categorized=0, parts=(), worth=None, rule_id=None, updated_at=context.now
    )


def _refuse_used_up(transaction: BankTransaction) -> None:
    if transaction.categorized or not remaining(transaction):
        raise Conflict(
            "bank_transaction_used_up",
            "The bank transaction is already categorized or fully matched. Undo that first.",
            linked_amount_cents=transaction.linked,
            categorized_amount_cents=transaction.categorized,
        )


def _other_account(
    transaction: BankTransaction, reference: AccountReference, accounts: BookAccounts
) -> UUID:
    account = usable_in(accounts.currency, reference, accounts.named.get(reference))
    if account.id == transaction.account_id:
        raise RuleViolation(
            "same_account",
            "This is the bank account's own account. Choose the account that the money was for.",
            account=str(account.id),
        )
    return account.id
