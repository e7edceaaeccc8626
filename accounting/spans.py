"""From when to when something held: the dated intervals that postings follow."""

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
