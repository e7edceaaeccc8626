"""Report columns: the days of a report, divided into months, quarters or years."""

from calendar import monthrange
from collections.abc import Iterator
from datetime import date, timedelta
from enum import StrEnum

from accounting.books.businesses import fiscal_year
from accounting.books.periods import Period, month_end
from accounting.errors import Malformed

MOST_COLUMNS = 60
DAY = timedelta(days=1)


class Interval(StrEnum):
    """The length of a column."""

    MONTH = "month"
    QUARTER = "quarter"
    YEAR = "year"


GRANULARITIES = {
    **{each.value: each for each in Interval},
    "monthly": Interval.MONTH,
    "quarterly": Interval.QUARTER,
    "yearly": Interval.YEAR,
}
"""The names that callers may use for the interval of a trend."""


def columns(
    period: Period, interval: Interval, fiscal_year_end: date, asked_as: str = "interval"
) -> tuple[Period, ...]:
    """Divide a period into columns; the first and the last one may be incomplete.

    Months are those of the calendar, quarters and years those of the fiscal year: with a year that
    ends on 31 March, the quarters of 2026-02-10 to 2026-08-05 are 10 February to 31 March, April to
    June, and 1 July to 5 August. Raises Malformed on `asked_as` if there are more than 60.
    """
    found: list[Period] = []
    first = period.first
    while first <= period.last:
        if len(found) == MOST_COLUMNS:
            fault = f"must not make more than {MOST_COLUMNS} columns of these dates"
            raise Malformed.fields(**{asked_as: [fault]})
        end = min(_end(first, interval, fiscal_year_end), period.last)
        found.append(Period(first, end))
        first = end + DAY
    return tuple(found)


def _end(day: date, interval: Interval, fiscal_year_end: date) -> date:
    """Find the last day of the month, quarter or year that a day falls in."""
    if interval is Interval.MONTH:
        return month_end(day)
    _, last = fiscal_year(fiscal_year_end, day)
    if interval is Interval.YEAR:
        return last
    return next(end for end in _quarter_ends(last) if day <= end)


def _quarter_ends(last: date) -> Iterator[date]:
    """Yield the last days of the quarters of a year; if the year ends with a month, so do they.

    For a year to 28 February 2025: 31 May, 31 August, 30 November and 28 February.
    """
    whole = last == month_end(last)
    for months in (9, 6, 3, 0):
        place = last.year * 12 + last.month - 1 - months
        year, month = place // 12, place % 12 + 1
        longest = monthrange(year, month)[1]
        yield date(year, month, longest if whole else min(last.day, longest))
