"""Serialization of tax codes."""

from datetime import date
from typing import Any

from accounting.books.accounts import Account
from accounting.books.ledger import TaxMark
from accounting.tax.codes import Rate, TaxCode, rate_on
from handlers.shared.responses import serialize_account


def serialize_tax_code(code: TaxCode, ledger: Account, today: date) -> dict[str, Any]:
    """Serialize a tax code with its tax account and its current rate."""
    current = rate_on(code, today)
    return {
        "id": code.id,
        "code": code.code,
        "name": code.name,
        "direction": code.direction,
        "treatment": code.treatment,
        "rates": [serialize_rate(rate) for rate in code.rates],
        "current_rate": None if current is None else serialize_rate(current),
        "tax_account": serialize_account(ledger),
        "boxes": {part.value: list(numbers) for part, numbers in code.boxes.items()},
        "is_default": code.is_default,
        "is_active": code.archived_at is None,
        "archived_at": code.archived_at,
        "created_at": code.created_at,
        "updated_at": code.updated_at,
    }


def serialize_mark(mark: TaxMark | None) -> dict[str, Any]:
    """Serialize the tax code, rate and part of a posted line."""
    return {
        "tax_code_id": None if mark is None else mark.code_id,
        "tax_rate": None if mark is None else float(mark.rate),
        "tax_part": None if mark is None else mark.part,
    }


def serialize_rate(rate: Rate) -> dict[str, Any]:
    """Serialize a rate with its period of validity."""
    return {
        "rate": float(rate.rate),
        "recoverable_percent": float(rate.recoverable_percent),
        "valid_from": rate.valid_from,
        "valid_to": rate.valid_to,
    }
