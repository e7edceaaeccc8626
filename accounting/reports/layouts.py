"""The layout of a report's figures: the whole period, its columns, and its comparison."""

from calendar import monthrange
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from enum import StrEnum

from accounting.books.businesses import fiscal_year
from accounting.books.periods import Period, month_end, month_start
from accounting.errors import ValidationError
from accounting.reports.statements import Amounts

# The days with which a report is compared.


ONE_DAY = timedelta(days=1)


class CompareTo(StrEnum):
    """The period with which a report is compared."""

    PREVIOUS_PERIOD = "previous_period"
    PREVIOUS_YEAR = "previous_year"


def compared(period: Period, to: CompareTo) -> Period:
    """Return the days before a period, or the same days a year before.

    Whole months are compared with as many whole months: February and March 2024 with December and
    January, February 2025 with all 29 days of February 2024. Other periods go back by their own
    length: 10 to 19 March 2024 is compared with 29 February to 9 March.
    """
    first, last = period.first, period.last
    whole = first.day == 1 and last == month_end(last)
    if to is CompareTo.PREVIOUS_YEAR:
        end = _months_before(last, 12)
        return Period(_months_before(first, 12), month_end(end) if whole else end)
    if whole:
        count = (last.year - first.year) * 12 + last.month - first.month + 1
        return Period(_months_before(first, count), first - ONE_DAY)
    return Period(first - (last - first) - ONE_DAY, first - ONE_DAY)


def compared_day(day: date, to: CompareTo) -> date:
    """Return the end of the month before a day, or the day a year before; a month's end stays one.

    15 March 2025 is compared with 28 February 2025, or 15 March 2024; 28 February 2025 with 29
    February 2024.
    """
    if to is CompareTo.PREVIOUS_PERIOD:
        return month_start(day) - ONE_DAY
    before = _months_before(day, 12)
    return month_end(before) if day == month_end(day) else before


def _months_before(day: date, months: int) -> date:
    place = day.year * 12 + day.month - 1 - months
    year, month = place // 12, place % 12 + 1
    return date(year, month, min(day.day, monthrange(year, month)[1]))


# Report columns: the days of a report, divided into months, quarters or years.


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
    June, and 1 July to 5 August. Raises ValidationError on `asked_as` if there are more than 60.
    """
    found: list[Period] = []
    first = period.first
    while first <= period.last:
        if len(found) == MOST_COLUMNS:
            fault = f"must not make more than {MOST_COLUMNS} columns of these dates"
            raise ValidationError.fields(**{asked_as: [fault]})
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


@dataclass(frozen=True, slots=True)
class ReportFigure:
    """A figure as it is shown; `previous` and `difference` are None without a comparison."""

    value: int
    columns: tuple[int, ...]
    previous: int | None
    difference: int | None


@dataclass(frozen=True, slots=True)
class Layout:
    """The periods of a report's figures: the whole, each column, and the comparison."""

    whole: Period
    columns: tuple[Period, ...] = ()
    previous: Period | None = None

    @property
    def periods(self) -> tuple[Period, ...]:
        """The periods in the order of the amounts of a figure."""
        return (self.whole, *self.columns, *(() if self.previous is None else (self.previous,)))

    @property
    def days(self) -> list[date]:
        """The last day of each period."""
        return [each.last for each in self.periods]

    def told(self, amounts: Amounts) -> ReportFigure:
        """Return a figure as it is shown.

        (30, 10, 20, 25) with two columns is 30, in columns 10 and 20, and was 25.
        """
        value, previous = amounts[0], None if self.previous is None else amounts[-1]
        difference = None if previous is None else value - previous
        return ReportFigure(value, amounts[1 : 1 + len(self.columns)], previous, difference)


def of_period(
    period: Period,
    fiscal_year_end: date,
    interval: Interval | None = None,
    compare_to: CompareTo | None = None,
    *,
    asked_as: str = "interval",
) -> Layout:
    """Create the layout of a period. Raises ValidationError if there would be too many columns."""
    cut = () if interval is None else columns(period, interval, fiscal_year_end, asked_as)
    previous = None if compare_to is None else compared(period, compare_to)
    return Layout(period, cut, previous)


def of_day(day: date, compare_to: CompareTo | None = None) -> Layout:
    """Create the layout of the balances on a day."""
    previous = None if compare_to is None else Period(last=compared_day(day, compare_to))
    return Layout(Period(last=day), (), previous)


def days(first: date | None, last: date, fiscal_year_end: date) -> Period:
    """Return the days of a report; without `first` they begin with the fiscal year.

    Up to 2026-05-10, with a year that ends on 31 March, they begin on 2026-04-01. Raises
    ValidationError on `end_date` if they end before they begin.
    """
    begin, _ = fiscal_year(fiscal_year_end, last) if first is None else (first, last)
    if last < begin:
        raise ValidationError.fields(end_date=["must not be before start_date"])
    return Period(begin, last)


def named(periods: Sequence[Period]) -> list[str]:
    """Return the names of columns by their days: 2026-01-01/2026-01-31."""
    return [f"{each.first}/{each.last}" for each in periods]
