"""Shapes that more than one desk shows."""

from datetime import date
from typing import Any

from accounting.parties import Party


def shape_party(party: Party) -> dict[str, Any]:
    """Show a customer or vendor in short."""
    return {
        "id": party.id,
        "external_id": party.external_id,
        "name": party.name,
        "email": party.email,
    }


def day_start(day: date | None) -> str | None:
    """Write a day where the contract has a moment: its first one, in UTC."""
    return None if day is None else f"{day}T00:00:00Z"
