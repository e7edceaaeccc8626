"""Headers about deprecated parameters and operations that a request used (RFC 9745, RFC 8594)."""

from collections.abc import Sequence
from datetime import UTC, date, datetime, time
from email.utils import format_datetime

from server.contract import Deprecation
from server.responses.errors import Headers


def lines_of(used: Sequence[Deprecation]) -> Headers:
    """Return the Deprecation header with the earliest start, and Sunset with the earliest end."""
    lines = [(b"deprecation", b"@%d" % midnight(min(each.since for each in used)).timestamp())]
    ends = [each.until for each in used if each.until is not None]
    if ends:
        lines.append((b"sunset", format_datetime(midnight(min(ends)), usegmt=True).encode()))
    return lines


def midnight(day: date) -> datetime:
    """Return the start of a day, in UTC."""
    return datetime.combine(day, time(), UTC)
