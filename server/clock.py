"""What time it is. Whoever asks is handed a clock, so that tests can stay on one day."""

from collections.abc import Callable
from datetime import UTC, datetime

Clock = Callable[[], datetime]
"""Tells the moment, aware and in UTC."""


def utc_now() -> datetime:
    """Return the moment by the machine's clock."""
    return datetime.now(UTC)
