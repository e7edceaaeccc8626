"""Rates, and lines of bank accounts in a foreign currency; the books are kept in GBP."""

from decimal import Decimal
from typing import Any
from uuid import UUID

from accounting.bank.bank_transactions import BankTransaction
from accounting.books.ledger import Entry
from accounting.books.record_rates import GivenWorth
from tests.accounting.bank.statements import line
from tests.accounting.samples import account_id, code_of, rates_on

DOLLARS, CROWNS = account_id("1121"), account_id("1122")
OWN_ACCOUNTS = {"USD": DOLLARS, "SEK": CROWNS}

RATES = rates_on("10", USD="1.25", SEK="12.5")
"""A dollar is worth 0.80 and a crown 0.08."""


def rate(text: str) -> GivenWorth:
    return GivenWorth(exchange_rate=Decimal(text))


def at(text: str, currency: str = "USD", **facts: Any) -> dict[str, Any]:
    """Return the currency and the rate of a record."""
    return {"currency": currency, "worth": rate(text), **facts}


def dollar_line(amount: int, on: str = "12", **facts: Any) -> BankTransaction:
    """Create a line of the dollar account."""
    known = {"account_id": DOLLARS, "bank_account_id": UUID(int=21), "currency": "USD"}
    return line(amount, on, **{**known, **facts})


def crown_line(amount: int, on: str = "12", **facts: Any) -> BankTransaction:
    """Create a line of the account in crowns."""
    known = {"account_id": CROWNS, "bank_account_id": UUID(int=22), "currency": "SEK"}
    return line(amount, on, **{**known, **facts})


def own(entry: Entry) -> dict[str, tuple[str | None, int | None]]:
    """Return the own amounts of an entry by account code."""
    return {code_of(each.account_id): (each.currency, each.currency_amount) for each in entry.lines}
