"""The tax included in a gross amount, stored as JSON in a column of its own."""

from decimal import Decimal
from typing import Any

from accounting.tax.taxed_amounts import HeldTax
from persistence.engine.ids import known_id
from persistence.engine.sql import Row
from persistence.ledger.split_rows import tax_of, tax_rows


def held_row(held: HeldTax | None) -> Row | None:
    """Serialize the tax included in an amount."""
    if held is None:
        return None
    return {
        "code_id": held.code_id,
        "rate": str(held.rate),
        "taxes": tax_rows(held.taxes),
        "self_assessed": tax_rows(held.self_assessed),
    }


def held_of(row: Any) -> HeldTax | None:
    """Parse the tax included in an amount; rows older than tax codes have none."""
    if row is None:
        return None
    return HeldTax(
        code_id=known_id(row["code_id"]),
        rate=Decimal(row["rate"]),
        taxes=tuple(tax_of(*each) for each in row["taxes"]),
        self_assessed=tuple(tax_of(*each) for each in row["self_assessed"]),
    )
