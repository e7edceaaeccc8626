"""Dated intervals in which something was in effect; postings follow them."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date

Days = tuple[date, date | None]
"""The first day, and the day after the last one; None if there is no end."""


@dataclass(frozen=True, slots=True)
class Span:
    """Days from `start` to before `end`; without a start it begins on its owner's own date."""

    start: date | None = None
    end: date | None = None


def days(start: date, end: date | None, floor: date) -> Days:
    """Resolve a span to days that begin at `floor` or later, and end no earlier than they begin.

    From the 5th to the 7th with a floor on the 10th, it begins and ends on the 10th.
    """
    begin = max(start, floor)
    return begin, None if end is None else max(end, begin)


def laid_out(spans: Iterable[Span], on: date, floor: date) -> list[Days]:
    """Resolve spans to days; a span without a start begins `on` a day, and none before `floor`."""
    return [days(span.start or on, span.end, floor) for span in spans]
