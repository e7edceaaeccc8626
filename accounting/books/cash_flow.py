"""Which part of a cash flow statement a balance sheet account belongs to."""

from collections.abc import Container, Iterable
from enum import StrEnum
from uuid import UUID

from accounting.books.accounts import Account
from accounting.books.chart import Role


class CashFlow(StrEnum):
    """What moves cash: each balance sheet account has one of these."""

    CASH = "cash"
    OPERATING = "operating"
    INVESTING = "investing"
    FINANCING = "financing"
    NON_CASH = "non_cash"


_BY_SUBTYPE = {
    "current_assets": CashFlow.OPERATING,
    "current_liabilities": CashFlow.OPERATING,
    "non_current_assets": CashFlow.INVESTING,
    "non_current_liabilities": CashFlow.FINANCING,
    "share_capital": CashFlow.FINANCING,
    "share_premium": CashFlow.FINANCING,
    "reserves": CashFlow.FINANCING,
    "retained_earnings": CashFlow.FINANCING,
}


def cash_flow_class(
    account: Account, above: Iterable[Account], banked: Container[UUID]
) -> CashFlow | None:
    """Tell the class of an account that says none itself; None of a profit and loss account.

    `above` are the accounts over it, `banked` those that stand for a bank account. The first that
    fits: what is cash, in the bank or under such an account is cash; depreciation that adds up and
    other contra accounts of fixed assets move none; the rest goes by its subtype. 1110 under
    1100 is cash, 1600 is investing, and 1650 under it is non-cash.
    """
    if any(_is_cash(each, banked) for each in (account, *above)):
        return CashFlow.CASH
    if account.account_subtype == "non_current_assets" and _is_contra(account):
        return CashFlow.NON_CASH
    return _BY_SUBTYPE.get(account.account_subtype)


def _is_cash(account: Account, banked: Container[UUID]) -> bool:
    return account.role in (Role.CASH, Role.BANK) or account.id in banked


def _is_contra(account: Account) -> bool:
    depreciation = account.role == Role.ACCUMULATED_DEPRECIATION
    return depreciation or account.balance_behavior == "credit_positive"
