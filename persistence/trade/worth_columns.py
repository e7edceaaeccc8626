"""The columns of what a foreign record is worth: null in records of the base currency.

Foreign money also has its account at the bank, and the base of what bank lines in base show of it.
"""

from fractions import Fraction
from typing import Any, Final

from sqlalchemy import Table
from sqlalchemy.sql.elements import ColumnElement

from accounting.bank.payouts import Money, Payout
from accounting.books.foreign import ForeignAmount, Worth
from persistence.engine.sql import Row

NAMES: Final = ("rate_base", "rate_own", "base_total")


def worth_columns(record: Table) -> tuple[ColumnElement[Any], ...]:
    """Return the columns of a record's exchange rate and base total, for `take_worth`."""
    return tuple(record.c[name] for name in NAMES)


def take_worth(row: Row) -> Worth | None:
    """Remove the columns from a row with a currency, and make what the record is worth."""
    base, own, base_total = (row.pop(name) for name in NAMES)
    if base is None:
        return None
    return Worth(row["currency"], Fraction(base) / Fraction(own), base_total)


def worth_row(worth: Worth | None, before: Worth | None = None) -> Row:
    """Serialize what a record is worth; without columns if it is a base record, now and before."""
    if worth is None:
        return {} if before is None else dict.fromkeys(NAMES)
    # As texts: they may have more digits than the integers of JSON.
    base, own = (str(each) for each in worth.rate.as_integer_ratio())
    return dict(zip(NAMES, (base, own, worth.base_total), strict=True))


LINKED: Final = ("linked", "linked_back")


def money_columns(money: Table) -> tuple[ColumnElement[Any], ...]:
    """Return the columns of foreign money, for `take_money`."""
    names = ("own_account_id", *(f"{name}_base" for name in LINKED))
    return (*worth_columns(money), *(money.c[name] for name in names if name in money.c))


def take_money(row: Row) -> Row:
    """Make the worth, the account and the linked amounts of money from its row."""
    row["worth"] = take_worth(row)
    for name in LINKED:
        base = row.pop(f"{name}_base", None)
        if base is not None:
            row[name] = ForeignAmount(row[name], base, row["currency"])
    return row


def money_row(money: Money | Payout) -> Row:
    """Serialize what foreign money has; without columns if it is in base."""
    if money.worth is None:
        return {}
    row: Row = {**worth_row(money.worth), "own_account_id": money.own_account_id}
    for name in LINKED:
        linked = getattr(money, name, None)
        if linked is not None:
            row[name] = int(linked)
            row[f"{name}_base"] = linked.base if isinstance(linked, ForeignAmount) else None
    return row
