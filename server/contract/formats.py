"""The string formats of the contract: their checks, messages and decoded values."""

import binascii
import re
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, timedelta, timezone
from functools import lru_cache
from types import MappingProxyType
from typing import Any
from uuid import UUID

from email_validator import EmailNotValidError, validate_email
from stdnum import iban

from accounting.books.periods import FIRST_YEAR, LAST_YEAR
from accounting.books.time_zones import NAMES

# A UUID has only one spelling: others that PostgreSQL accepts (braces, no hyphens) would give one
# record two names, and so two idempotency fingerprints.
UUID_PATTERN = "^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$"

# Most addresses match this; the library accepts each of them too, but takes 15 us instead of 1.
COMMON_EMAIL = re.compile(
    r"[A-Za-z0-9]+(?:[._+-][A-Za-z0-9]+)*"
    r"@(?:[a-z0-9]+(?:-[a-z0-9]+)*\.)+(?:com|org|net|[a-z]{2})"
)
COMMON_EMAIL_CHARACTERS = 64

# The limits of the contract. The libraries take a second for a mebibyte.
LONGEST_EMAIL = 254
LONGEST_IBAN = 42

_CURSOR = re.compile(r"[A-Za-z0-9_-]{1,512}")
_DATE_TIME = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2})[Tt]([0-9]{2}:[0-9]{2}:[0-9]{2})(?:\.([0-9]{1,9}))?"
    r"(?:[Zz]|([+-])([0-9]{2}):([0-9]{2}))"
)

WORDS: Mapping[str, str] = MappingProxyType(
    {
        "uuid": "must be a UUID, such as 0192f0c1-7b1a-7c3e-8f00-4d1c5a2b9e10",
        "date": f"must be a date between {FIRST_YEAR} and {LAST_YEAR}, such as 2025-01-31",
        "date-time": "must be a date and time with an offset, such as 2025-01-31T12:00:00Z",
        "email": "must be an email address",
        "iban": "must be an IBAN",
        "timezone": "must be an IANA time zone, such as Europe/Amsterdam",
        "cursor": "must be a cursor from page_info.next_cursor",
        "uri": "must be a URL, such as https://example.com/",
        "byte": "must be base64 with its padding and without line breaks",
    }
)


def decode_date(text: str) -> date:
    """Decode a date as `2025-01-31`; ValueError for any other spelling or year."""
    if len(text) != 10 or text[4] != "-" or text[7] != "-":  # `20250131` is not accepted.
        raise ValueError(text)
    day = date.fromisoformat(text)
    if not FIRST_YEAR <= day.year <= LAST_YEAR:
        raise ValueError(text)
    return day


def decode_date_time(text: str) -> datetime:
    """Decode an RFC 3339 date-time, in UTC; digits after the microsecond are dropped.

    `2025-01-31T12:00:00+02:00` is 10:00 UTC. ValueError without an offset, for a second 60, or for
    a year out of range, as written or in UTC.
    """
    found = _DATE_TIME.fullmatch(text)
    if found is None:
        raise ValueError(text)
    day, clock, fraction, sign, hours, minutes = found.groups()
    decode_date(day)
    moment = datetime.fromisoformat(f"{day}T{clock}.{(fraction or '')[:6]:0<6}")
    if sign is None:
        return moment.replace(tzinfo=UTC)
    if int(hours) > 23 or int(minutes) > 59:
        raise ValueError(text)
    offset = timedelta(hours=int(hours), minutes=int(minutes))
    moment = moment.replace(tzinfo=timezone(offset if sign == "+" else -offset)).astimezone(UTC)
    if not FIRST_YEAR <= moment.year <= LAST_YEAR:  # Answers show it in UTC.
        raise ValueError(text)
    return moment


def decode_bytes(text: str) -> bytes:
    """Decode base64 text (RFC 4648); ValueError for any other spelling."""
    content = binascii.a2b_base64(text, strict_mode=True)
    # The last character may have unused bits: a file has only one encoding.
    end = max(len(content) - 1, 0) // 3 * 3
    if binascii.b2a_base64(content[end:], newline=False).decode() != text[-4:]:
        raise ValueError("bits to spare")
    return content


def _succeeds(decode: Callable[[str], Any]) -> Callable[[str], bool]:
    def check(text: str) -> bool:
        try:
            decode(text)
        except ValueError:
            return False
        return True

    return check


def is_email(text: str) -> bool:
    """Return whether a text is a valid email address; no name server is queried.

    `.test` domains are accepted, because a partner's sandbox has customers without a mailbox.
    """
    if len(text) <= COMMON_EMAIL_CHARACTERS and COMMON_EMAIL.fullmatch(text):
        return True
    if len(text) > LONGEST_EMAIL:
        return False
    try:
        validate_email(text, check_deliverability=False, test_environment=True)
    except EmailNotValidError:
        return False
    return True


def is_iban(text: str) -> bool:
    """Return whether a text is an IBAN of its country with a valid checksum; spaces are allowed."""
    return len(text) <= LONGEST_IBAN and text.isascii() and bool(iban.is_valid(text))


def is_cursor(text: str) -> bool:
    """Return whether a text has the form of a cursor; the store reads its contents."""
    return _CURSOR.fullmatch(text) is not None


# `uuid` is missing here: it is compiled as a pattern, which needs no call back into Python.
CHECKS: Mapping[str, Callable[[str], bool]] = MappingProxyType(
    {
        "date": _succeeds(decode_date),
        "date-time": _succeeds(decode_date_time),
        "byte": _succeeds(decode_bytes),
        "email": is_email,
        "iban": is_iban,
        "timezone": NAMES.__contains__,
        "cursor": is_cursor,
    }
)

# Each request has the id of a business, and most other ids repeat. A cache of its own keeps ids
# from clients from evicting accounts from `known_id` of the stores.
uuid_of = lru_cache(maxsize=4096)(UUID)

DECODERS: Mapping[str, Callable[[str], Any]] = MappingProxyType(
    {"uuid": uuid_of, "date": decode_date, "date-time": decode_date_time, "byte": decode_bytes}
)
