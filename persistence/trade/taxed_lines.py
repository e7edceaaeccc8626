"""The tax data of document lines and credit lines, as JSON."""

from decimal import Decimal
from typing import Any, Final
from uuid import UUID

from accounting.tax.taxed_amounts import Tax
from accounting.trade.credits import CreditLine
from accounting.trade.documents import LineItem, LineShares
from persistence.engine.identifiers import known_id
from persistence.engine.sql import Row
from persistence.ledger import split_rows

TAXES: Final = ("taxes", "withheld", "self_assessed")


def tax_rows(line: LineItem | CreditLine) -> Row:
    """Serialize the taxes of a line: [amount, account] of each, followed by its tax mark."""
    return {name: split_rows.tax_rows(getattr(line, name)) for name in TAXES}


def taxes_of(row: Row) -> dict[str, tuple[Tax, ...]]:
    """Parse the taxes of a line; lines older than tax codes have only the charged taxes."""
    return {name: tuple(split_rows.tax_of(*each) for each in row.get(name, ())) for name in TAXES}


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
