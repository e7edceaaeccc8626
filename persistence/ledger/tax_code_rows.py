"""Conversion of tax codes to and from rows; rates and boxes are JSON."""

from collections.abc import Iterable, Mapping
from dataclasses import fields
from datetime import date
from decimal import Decimal
from typing import Any

from accounting.books.tax_marks import TaxPart
from accounting.tax.codes import Direction, Rate, TaxCode, Treatment
from persistence.engine.sql import Row

STORED = tuple(item.name for item in fields(TaxCode))


def row_of(code: TaxCode) -> Row:
    """Serialize a tax code as a row."""
    row = {name: getattr(code, name) for name in STORED}
    return {**row, "rates": rates_as_json(code.rates), "boxes": boxes_as_json(code.boxes)}


def tax_code_of(row: Row) -> TaxCode:
    """Make a tax code from its row."""
    return TaxCode(
        **{
            **row,
            "direction": Direction(row["direction"]),
            "treatment": Treatment(row["treatment"]),
            "rates": tuple(_rate(each) for each in row["rates"]),
            "boxes": {TaxPart(part): tuple(each) for part, each in row["boxes"].items()},
        }
    )


def rates_as_json(rates: Iterable[Rate]) -> list[dict[str, str | None]]:
    """Serialize rates as JSON; percentages are strings, so that no digit is lost."""
    return [
        {
            "rate": str(each.rate),
            "recoverable_percent": str(each.recoverable_percent),
            "valid_from": _written(each.valid_from),
            "valid_to": _written(each.valid_to),
        }
        for each in rates
    ]


def boxes_as_json(boxes: Mapping[TaxPart, tuple[str, ...]]) -> dict[str, list[str]]:
    """Serialize the return boxes of each tax part as JSON."""
    return {part.value: list(numbers) for part, numbers in boxes.items()}


def _rate(stored: Mapping[str, Any]) -> Rate:
    return Rate(
        rate=Decimal(stored["rate"]),
        recoverable_percent=Decimal(stored["recoverable_percent"]),
        valid_from=_day(stored["valid_from"]),
        valid_to=_day(stored["valid_to"]),
    )


def _written(day: date | None) -> str | None:
    return day.isoformat() if day else None


def _day(text: str | None) -> date | None:
    return date.fromisoformat(text) if text else None
