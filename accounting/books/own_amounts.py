"""The own amounts of lines that a caller gives: beside the base amount, or required with it."""

from typing import Protocol

from accounting.books.accounts import Account
from accounting.books.foreign import ForeignAmount
from accounting.errors import AboutItem, RuleViolation


class GivenAmounts(Protocol):
    """A line with its base amount, and with its currency and own amount if it has them."""

    @property
    def amount(self) -> int:
        """The amount in base, a debit above zero."""

    @property
    def currency(self) -> str | None:
        """The foreign currency, if it is given."""

    @property
    def currency_amount(self) -> int | None:
        """The own amount, a debit above zero, if it is given."""


def with_own_amount(line: GivenAmounts, account: Account, base_currency: str, place: str) -> int:
    """Return the amount of a line, as a foreign amount if the line has an own amount.

    A line on an account with a currency must have one, in that currency: a debit of EUR 90.00 on an
    account in USD is USD 100.00 that are worth 90.00. `place` is the path of the line in the
    request. Raises RuleViolation `currency_amount_required`, `currency_mismatch` or
    `currency_amount_invalid`.
    """
    given = line.currency is not None or line.currency_amount is not None
    if not given and account.currency is None:
        return line.amount
    with AboutItem(place):
        return _foreign(line, account, base_currency)


def _foreign(line: GivenAmounts, account: Account, base_currency: str) -> ForeignAmount:
    currency = account.currency if line.currency is None else line.currency
    if currency is None or currency == base_currency or account.currency not in (None, currency):
        raise _mismatch(line.currency, account, base_currency)
    own = line.currency_amount
    if own is None:
        raise RuleViolation(
            "currency_amount_required",
            f"The line is in {currency}. Give currency_amount, its amount in that currency.",
            field="currency_amount",
            account_code=account.code,
            currency=currency,
        )
    if own * line.amount < 0:
        raise RuleViolation(
            "currency_amount_invalid",
            "currency_amount must be above 0 for a debit and below 0 for a credit, or 0.",
            field="currency_amount",
            currency_amount=own,
        )
    return ForeignAmount(own, line.amount, currency)


def _mismatch(currency: str | None, account: Account, base_currency: str) -> RuleViolation:
    if account.currency is None:
        words = f"A line in {base_currency}, the base currency, has neither currency nor"
        words += " currency_amount. Omit both, or give a foreign currency."
    else:
        words = f"The account is kept in {account.currency}. Give the amount in this currency."
    return RuleViolation(
        "currency_mismatch",
        words,
        field="currency",
        account_code=account.code,
        account_currency=account.currency or base_currency,
        currency=currency,
    )
