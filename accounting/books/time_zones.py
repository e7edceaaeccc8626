"""Time zones, and the only functions that turn a moment into a day and a day into a moment.

The zones are those of the package `tzdata` (the IANA Time Zone Database), which is installed with
the product: the version of the operating system or of PostgreSQL does not matter.
"""

from collections.abc import Mapping
from datetime import UTC, date, datetime, time, timedelta
from functools import cache
from importlib.resources import files
from typing import Final, overload
from zoneinfo import ZoneInfo

UNIVERSAL: Final = "UTC"
"""The time zone of a business that has no country, or was opened before businesses had one."""

NAMES: Final = frozenset(files("tzdata").joinpath("zones").read_text("ascii").split())
"""The names of the time zones, old ones such as `Asia/Calcutta` included."""

BY_COUNTRY: Final[Mapping[str, str]] = {
    "GB": "Europe/London",
    "DE": "Europe/Berlin",
    "FR": "Europe/Paris",
    "NL": "Europe/Amsterdam",
    "ES": "Europe/Madrid",
    "BE": "Europe/Brussels",
    "IT": "Europe/Rome",
    "IE": "Europe/Dublin",
    "AT": "Europe/Vienna",
    "PT": "Europe/Lisbon",
    "SE": "Europe/Stockholm",
    "NO": "Europe/Oslo",
    "DK": "Europe/Copenhagen",
    "FI": "Europe/Helsinki",
    "IS": "Atlantic/Reykjavik",
    "MY": "Asia/Kuala_Lumpur",
    "SG": "Asia/Singapore",
}
"""The time zone of each country, from `zone.tab` of the IANA Time Zone Database, release 2026f.

Of a country with several, it is the one where most people live: not Büsingen, the Canary Islands,
Ceuta, Madeira, the Azores or Kuching.
"""


@cache
def _zone(timezone: str) -> ZoneInfo:
    with files("tzdata").joinpath("zoneinfo", *timezone.split("/")).open("rb") as file:
        return ZoneInfo.from_file(file, key=timezone)


def of_country(country: str | None) -> str:
    """Return the default time zone of a country."""
    return BY_COUNTRY.get(country or "", UNIVERSAL)


def day_of(moment: datetime, timezone: str) -> date:
    """Return the day of a moment: 23:30 UTC on 1 July is 2 July in Amsterdam."""
    return moment.astimezone(_zone(timezone)).date()


def start_of(day: date, timezone: str) -> datetime:
    """Return the first moment of a day, in UTC: 2 July begins in Amsterdam at 22:00 on 1 July."""
    return datetime.combine(day, time(), _zone(timezone)).astimezone(UTC)


def days_later(moment: datetime, days: int, timezone: str) -> datetime:
    """Return the moment at the same time of day, a number of days later.

    9:00 in Amsterdam is 7:00 UTC on 1 October, and 8:00 UTC thirty days later.
    """
    local = moment.astimezone(_zone(timezone)) + timedelta(days=days)
    return local.astimezone(UTC)


@overload
def stored_day(on: date | None, at: datetime) -> date: ...


@overload
def stored_day(on: date | None, at: datetime | None) -> date | None: ...


def stored_day(on: date | None, at: datetime | None) -> date | None:
    """Return the day `on` that is stored beside a moment, so that it stays in another time zone.

    Records from before time zones have none: their days are in UTC.
    """
    return None if at is None else on or day_of(at, UNIVERSAL)
