"""From when to when something held: the dated intervals that postings follow."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date

Days = tuple[date, date | None]
"""From a day to before another one, or on and on."""


@dataclass(frozen=True, slots=True)
class Span:
    """Days from `start` to before `end`; no start is the holder's own date and moves with it."""

    start: date | None = None
    end: date | None = None


def days(start: date, end: date | None, floor: date) -> Days:
    """Lay out a span that begins no earlier than a day, and ends no earlier than it begins.

    From the 5th to the 7th with nothing before the 10th, it comes and goes on the 10th.
    """
    begin = max(start, floor)
    return begin, None if end is None else max(end, begin)


def laid_out(spans: Iterable[Span], on: date, floor: date) -> list[Days]:
    """Lay out spans of what is dated on a day, none of which begins before a floor."""
    return [days(span.start or on, span.end, floor) for span in spans]
