"""Splits as JSON: [account, amount] of each part, followed by its tax mark if it has one.

A foreign part is [account, amount, tax mark or three nulls, [base amount, currency]].
"""

from collections.abc import Iterable
from decimal import Decimal
from functools import lru_cache
from typing import Any, Final
from uuid import UUID

from accounting.books.foreign import ForeignAmount
from accounting.books.ledger import Part, Split, TaxMark, TaxPart
from accounting.tax.taxed_amounts import Tax
from accounting.trade.credits import CreditLine
from accounting.trade.documents import LineItem, LineShares
from persistence.engine.ids import known_id
from persistence.engine.sql import Row

MARK_COLUMNS = ("tax_code_id", "tax_rate", "tax_part")


def split_of(rows: list[Any]) -> Split:
    """Parse a split from JSON."""
    if rows and isinstance(rows[0][-1], list):
        return tuple(_foreign(*row) for row in rows)
    return tuple((_part(account, *mark), amount) for account, amount, *mark in rows)


def _foreign(account: str, amount: int, *rest: Any) -> tuple[Part, int]:
    *mark, (base, currency) = rest
    return _part(account, *mark), ForeignAmount(amount, base, currency)


def split_rows(split: Split) -> list[list[Any]]:
    """Serialize a split as JSON."""
    return [
        _foreign_row(part, amount)
        if isinstance(amount, ForeignAmount)
        else [part.account_id, amount, *mark_row(part.tax)]
        for part, amount in split
    ]


def _foreign_row(part: Part, amount: ForeignAmount) -> list[Any]:
    mark = mark_row(part.tax) or [None, None, None]
    return [part.account_id, int(amount), *mark, [amount.base, amount.currency]]


def tax_rows(taxes: Iterable[Tax]) -> list[list[Any]]:
    """Serialize taxes: [amount, account] of each, followed by its tax mark if it has one."""
    return [[int(each.amount), each.account_id, *mark_row(each.mark)] for each in taxes]


def tax_of(amount: int, account: str, *mark: str) -> Tax:
    """Parse a tax from its JSON row."""
    return Tax(amount, known_id(account), mark_of(*mark))


def mark_of(code_id: Any = None, rate: Any = None, part: str | None = None) -> TaxMark | None:
    """Make a tax mark from its code, rate and part; None without a code."""
    return None if code_id is None else _mark(str(code_id), str(rate), str(part))


def mark_row(mark: TaxMark | None) -> list[Any]:
    """Serialize a tax mark as the end of a JSON row; an empty list without a mark."""
    return [] if mark is None else [mark.code_id, str(mark.rate), mark.part]


def mark_columns(mark: TaxMark | None) -> dict[str, Any]:
    """Return the tax columns of a line; they are null without a mark."""
    if mark is None:
        return dict.fromkeys(MARK_COLUMNS)
    return dict(zip(MARK_COLUMNS, mark_row(mark), strict=True))


def mark_in(row: Row) -> TaxMark | None:
    """Remove the tax columns from a row and make the tax mark, or None."""
    return mark_of(*(row.pop(name) for name in MARK_COLUMNS))


@lru_cache(maxsize=4096)
def _mark(code_id: str, rate: str, part: str) -> TaxMark:
    return TaxMark(known_id(code_id), Decimal(rate), TaxPart(part))


@lru_cache(maxsize=4096)
def _part(account: str, *mark: str) -> Part:
    return Part(known_id(account), mark_of(*mark))


# The tax data of document lines and credit lines, as JSON.


TAXES: Final = ("taxes", "withheld", "self_assessed")


def line_tax_rows(line: LineItem | CreditLine) -> Row:
    """Serialize the taxes of a line: [amount, account] of each, followed by its tax mark."""
    return {name: tax_rows(getattr(line, name)) for name in TAXES}


def taxes_of(row: Row) -> dict[str, tuple[Tax, ...]]:
    """Parse the taxes of a line; lines older than tax codes have only the charged taxes."""
    return {name: tuple(tax_of(*each) for each in row.get(name, ())) for name in TAXES}


def without_opening(row: Row) -> Row:
    """Leave `opened_against` out of the row of a line that has none, as in earlier rows."""
    if row["opened_against"] is None:
        del row["opened_against"]
    return row


def ids_of(row: Row, *names: str) -> dict[str, UUID | None]:
    """Parse the optional ids of a line."""
    return {name: known_id(row[name]) if row.get(name) else None for name in names}


def rate_row(rate: Decimal | None) -> str | None:
    """Serialize a rate in percent."""
    return None if rate is None else str(rate)


def rate_of(text: str | None) -> Decimal | None:
    """Parse a rate in percent."""
    return None if text is None else Decimal(text)


def line_shares_of(rows: list[Any]) -> LineShares:
    """Parse amounts by line, in minor units."""
    return tuple((UUID(line_id), tuple(amounts)) for line_id, amounts in rows)
