"""The current time. Callers receive a clock as an argument, so that tests can fix the time."""

from collections.abc import Callable
from datetime import UTC, datetime

Clock = Callable[[], datetime]
"""A function that returns the current time, aware and in UTC."""


def utc_now() -> datetime:
    """Return the current time of the machine's clock, in UTC."""
    return datetime.now(UTC)
