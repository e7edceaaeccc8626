"""The rates of a day, and the parts of a file from which they are read."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Final

MOST_BYTES: Final = 32 << 20  # All days since 1999 are 9 MB of XML.
MOST_DAYS: Final = 50_000
# Up to 12 digits: the largest rate of the bank has nine.
_RATE: Final = re.compile(r"[0-9]{1,6}(\.[0-9]{1,6})?", re.ASCII)
_DAY: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", re.ASCII)


class Unreadable(Exception):
    """A file that is none of the bank's; the message says why, as the rest of a sentence."""


@dataclass(frozen=True, slots=True)
class DayRates:
    """The rates of a day: units of each currency for one euro."""

    day: date
    rates: Mapping[str, Decimal]


def parse_rate(text: str, currency: str, day: date) -> Decimal:
    """Parse a rate above zero; raises Unreadable."""
    rate = Decimal(text) if _RATE.fullmatch(text) else Decimal(0)
    if not rate:
        raise Unreadable(f"has no rate of {currency} on {day}, but {text[:40]!r}")
    return rate


def parse_day(text: str) -> date:
    """Parse a day such as 2026-10-30; raises Unreadable."""
    try:
        if _DAY.fullmatch(text):
            return date.fromisoformat(text)
    except ValueError:
        pass
    raise Unreadable(f"has no day, but {text[:40]!r}")
