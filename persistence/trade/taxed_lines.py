"""What lines of documents and credits say of tax, as JSON."""

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
    """Write the taxes of a line: [amount, account] of each, and behind them what it is marked."""
    return {name: split_rows.tax_rows(getattr(line, name)) for name in TAXES}


def taxes_of(row: Row) -> dict[str, tuple[Tax, ...]]:
    """Read the taxes of a line; those from before there were codes have charged ones alone."""
    return {name: tuple(split_rows.tax_of(*each) for each in row.get(name, ())) for name in TAXES}


def ids_of(row: Row, *names: str) -> dict[str, UUID | None]:
    """Read ids that a line may have."""
    return {name: known_id(row[name]) if row.get(name) else None for name in names}


def rate_row(rate: Decimal | None) -> str | None:
    """Write a rate in percent."""
    return None if rate is None else str(rate)


def rate_of(text: str | None) -> Decimal | None:
    """Read a rate in percent."""
    return None if text is None else Decimal(text)


def line_shares_of(rows: list[Any]) -> LineShares:
    """Read amounts by line from their JSON."""
    return tuple((UUID(line_id), tuple(amounts)) for line_id, amounts in rows)
