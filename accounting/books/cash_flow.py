"""The classes of balance sheet accounts in a cash flow statement."""

from collections.abc import Container, Iterable
from enum import StrEnum
from uuid import UUID

from accounting.books.accounts import Account
from accounting.books.chart import Role
from accounting.errors import ValidationError


class CashFlow(StrEnum):
    """A class of the cash flow statement; each balance sheet account has one."""

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
    """Return the class of an account, or None for a profit and loss account.

    This is its explicit class, else the first that fits: the cash and bank accounts and all
    accounts under them are cash; accumulated depreciation and other contra accounts of fixed assets
    are non-cash; the rest follows from the subtype. `above` are the ancestors of the account,
    `banked` the ledger accounts of bank accounts. 1110 under 1100 is cash, 1600 is investing, and
    1650 under it is non-cash.
    """
    if account.cash_flow is not None:
        return CashFlow(account.cash_flow)
    if any(_is_cash(each, banked) for each in (account, *above)):
        return CashFlow.CASH
    if account.account_subtype == "non_current_assets" and _is_contra(account):
        return CashFlow.NON_CASH
    return _BY_SUBTYPE.get(account.account_subtype)


def refuse_class_of_profit(account: Account) -> None:
    """Refuse an explicit class on a profit and loss account, which has none.

    Raises ValidationError `validation_error` on `cash_flow`.
    """
    if account.cash_flow is not None and account.account_subtype not in _BY_SUBTYPE:
        raise ValidationError.fields(cash_flow=["is allowed only for balance sheet accounts"])


def _is_cash(account: Account, banked: Container[UUID]) -> bool:
    return account.role in (Role.CASH, Role.BANK) or account.id in banked


def _is_contra(account: Account) -> bool:
    depreciation = account.role == Role.ACCUMULATED_DEPRECIATION
    return depreciation or account.balance_behavior == "credit_positive"
