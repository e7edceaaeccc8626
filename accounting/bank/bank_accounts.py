"""Bank accounts, and the ledger account that each of them uses."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from accounting.absent import said
from accounting.bank.commands import BankAccountDetails
from accounting.books.accounts import (
    Account,
    AccountReference,
    AccountTree,
    free_code,
    refuse_unfit_parent,
    usable,
    usable_in,
)
from accounting.books.businesses import Context
from accounting.books.chart import Role
from accounting.errors import Conflict, RuleViolation

# The fields of a bank account that its ledger account repeats, with their names there.
SHOWN: Final = {
    "institution_name": "institution_name",
    "iban": "iban",
    "mask": "account_number_mask",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class BankAccount:
    """A bank account; its money is posted to one ledger account of its own."""

    id: UUID
    version: int
    created_at: datetime
    updated_at: datetime
    display_name: str
    currency: str
    account_id: UUID
    iban: str | None = None
    mask: str | None = None
    institution_name: str | None = None
    external_id: str | None = None


@dataclass(frozen=True, slots=True)
class ChartInUse:
    """The chart of a business, and the bank accounts by the ledger accounts that they use."""

    chart: Sequence[Account]
    taken: Mapping[UUID, UUID]


def ledger_account_for(
    title: str, chart_in_use: ChartInUse, context: Context, currency: str | None = None
) -> Account:
    """Return the ledger account for a bank account that names none: 1100, else a new one below it.

    If another bank account uses 1100, a new 1101 gets the title of the bank account. A bank account
    in a foreign `currency` always gets a new one, in that currency. Raises Conflict
    `account_archived`, RuleViolation `account_too_deep`.
    """
    [own] = [account for account in chart_in_use.chart if account.role == Role.BANK]
    foreign = _foreign(currency, context)
    if own.id not in chart_in_use.taken and foreign is None:
        return usable(AccountReference("id", own.id), own)
    refuse_unfit_parent(own, own.account_type, AccountTree.of(chart_in_use.chart).level(own.id))
    return Account(
        id=context.identify(),
        version=0,
        created_at=context.now,
        updated_at=context.now,
        code=free_code(own.code, {account.code for account in chart_in_use.chart}),
        name=title,
        account_type=own.account_type,
        account_subtype=own.account_subtype,
        parent_id=own.id,
        currency=foreign,
    )


def named_ledger_account(
    reference: AccountReference,
    named: Account | None,
    chart_in_use: ChartInUse,
    context: Context,
    currency: str | None = None,
    *,
    is_named: bool = False,
) -> Account:
    """Check the ledger account that a caller names for a bank account, and return it.

    For a bank account in a foreign `currency`, the account is of that currency from now on, so
    nothing else may use it: `is_named` if lines, drafts, payouts, tax codes or bank rules do.
    Raises RuleViolation `reference_not_found`, `control_account`, `currency_mismatch` or
    `account_type_mismatch`; Conflict `account_archived`, `account_in_use` or `account_taken`.
    """
    foreign = _foreign(currency, context)
    account = usable_in(foreign, reference, named)
    fits = account.role is None if foreign is not None else True
    if not (fits and _may_be_at_bank(account)):
        raise RuleViolation(
            "account_type_mismatch",
            "A bank account needs an asset account other than the clearing account, or a current"
            " liability for a credit card or an overdraft.",
            account_code=account.code,
            account_type=str(account.account_type),
        )
    if account.id in chart_in_use.taken:
        raise Conflict(
            "account_taken",
            "Another bank account uses this account. Choose another account.",
            id=str(chart_in_use.taken[account.id]),
            account_id=str(account.id),
            account_code=account.code,
        )
    return account if foreign is None else _in_currency(account, foreign, is_named, context)


def _in_currency(account: Account, currency: str, is_named: bool, context: Context) -> Account:
    """Return an account that takes only lines in a foreign currency.

    Raises Conflict `account_in_use`.
    """
    if account.currency == currency:
        return account
    if is_named:
        raise Conflict(
            "account_in_use",
            "Entries, drafts, payouts, tax codes or bank rules use the account. Choose an account"
            f" that nothing uses for a bank account in {currency}.",
            account_id=str(account.id),
            account_code=account.code,
            currency=currency,
        )
    return replace(account, currency=currency, updated_at=context.now)


def _foreign(currency: str | None, context: Context) -> str | None:
    """Return the currency of a bank account if it is not the base currency, else None."""
    return None if currency is None or currency == context.currency else currency


def _may_be_at_bank(account: Account) -> bool:
    """Return whether an account is an asset, or the debt of a credit card or an overdraft.

    Money on the clearing account is at a processor; payouts bring it to a bank. A liability that
    the rules post to, such as VAT due, is no debt to a bank.
    """
    if account.account_subtype == "current_liabilities":
        return account.role is None
    return account.account_type == "asset" and account.role != Role.PROCESSOR_CLEARING


def facts(details: BankAccountDetails) -> dict[str, Any]:
    """Return the details of a bank account that were sent; an IBAN is normalized for comparison.

    `gb33 bukb 2020` becomes `GB33BUKB2020`.
    """
    given = said(details)
    if given.get("iban"):
        given["iban"] = "".join(letter for letter in given["iban"] if letter.isalnum()).upper()
    return given


def shown_on(account: Account, given: dict[str, Any], context: Context) -> Account:
    """Return the ledger account with the details of its bank account that were sent."""
    told = {SHOWN[name]: value for name, value in given.items() if name in SHOWN}
    if all(getattr(account, name) == value for name, value in told.items()):
        return account
    return replace(account, **told, updated_at=context.now)


def amend(bank_account: BankAccount, given: dict[str, Any], context: Context) -> BankAccount:
    """Change the details of a bank account; if nothing differs, return the same object."""
    changed = replace(bank_account, **given)
    return bank_account if changed == bank_account else replace(changed, updated_at=context.now)
