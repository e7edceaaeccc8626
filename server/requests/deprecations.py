"""What an answer tells of the deprecated things that its request used, as RFC 9745 and 8594 say."""

from collections.abc import Sequence
from datetime import UTC, date, datetime, time
from email.utils import format_datetime

from server.contract import Deprecation
from server.responses.errors import Headers


def lines_of(used: Sequence[Deprecation]) -> Headers:
    """Write since when the first of them is deprecated, and when the first of them ends."""
    lines = [(b"deprecation", b"@%d" % midnight(min(each.since for each in used)).timestamp())]
    ends = [each.until for each in used if each.until is not None]
    if ends:
        lines.append((b"sunset", format_datetime(midnight(min(ends)), usegmt=True).encode()))
    return lines


def midnight(day: date) -> datetime:
    """Return the moment at which a day begins."""
    return datetime.combine(day, time(), UTC)
