"""Decimal numbers, which are sent as JSON numbers or as strings."""

from decimal import Decimal

from accounting.absent import Absent


def decimal(given: Decimal | str | Absent) -> Decimal | None:
    """Parse an optional decimal number."""
    return None if isinstance(given, Absent) else Decimal(str(given))
