"""Serialization that the operations of several tags share."""

from datetime import date
from decimal import Decimal
from typing import Any

from accounting.trade.parties import Party
from persistence.trade.linked_lines import Lines


def shape_party(party: Party) -> dict[str, Any]:
    """Serialize a customer or vendor in brief."""
    return {
        "id": party.id,
        "external_id": party.external_id,
        "name": party.name,
        "display_name": party.name,
        "company_name": party.company_name,
        "individual_name": party.individual_name,
        "email": party.email,
    }


def shape_rate(rate: Decimal | None) -> float | None:
    """Return a rate in percent as a number; it has at most 15 digits, so JSON keeps it exactly."""
    return None if rate is None else float(rate)


def day_start(day: date | None) -> str | None:
    """Format a date as a date-time, where the contract has one: its first second, in UTC."""
    return None if day is None else f"{day}T00:00:00Z"


def shape_lines(lines: Lines) -> list[dict[str, Any]]:
    """Serialize the bank transactions that a payment or other target is matched with."""
    return [
        {
            "bank_transaction_id": line.transaction_id,
            "bank_transaction_date": day_start(line.booked_on),
            "bank_transaction_amount_cents": line.transaction_amount,
            "bank_transaction_direction": line.direction,
            "reconciled_amount_cents": line.amount,
            "reconciliation_link_id": line.link_id,
            "reconciled_at": line.linked_at,
            "currency": line.currency,
            "payment_type": line.target_type,
            "bank_account_name": line.bank_account_name,
            "notes": line.memo,
        }
        for line in lines
    ]
