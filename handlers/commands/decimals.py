"""Numbers with digits after the point, which come as JSON numbers or as strings."""

from decimal import Decimal

from accounting.absent import Absent


def decimal(given: Decimal | str | Absent) -> Decimal | None:
    """Read a number that may be left out."""
    return None if isinstance(given, Absent) else Decimal(str(given))
