"""The columns of what a foreign record is worth: null in records of the base currency."""

from fractions import Fraction
from typing import Any, Final

from sqlalchemy import Table
from sqlalchemy.sql.elements import ColumnElement

from accounting.books.foreign import Worth
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
    rate = worth.rate
    return dict(zip(NAMES, (rate.numerator, rate.denominator, worth.base_total), strict=True))
