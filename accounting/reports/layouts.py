"""The layout of a report's figures: the whole period, its columns, and its comparison."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from accounting.books.businesses import fiscal_year
from accounting.books.periods import Period
from accounting.errors import Malformed
from accounting.reports.columns import Interval, columns
from accounting.reports.comparisons import CompareTo, compared, compared_day
from accounting.reports.statements import Amounts


@dataclass(frozen=True, slots=True)
class Told:
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

    def told(self, amounts: Amounts) -> Told:
        """Return a figure as it is shown.

        (30, 10, 20, 25) with two columns is 30, in columns 10 and 20, and was 25.
        """
        value, previous = amounts[0], None if self.previous is None else amounts[-1]
        difference = None if previous is None else value - previous
        return Told(value, amounts[1 : 1 + len(self.columns)], previous, difference)


def of_period(
    period: Period,
    fiscal_year_end: date,
    interval: Interval | None = None,
    compare_to: CompareTo | None = None,
    *,
    asked_as: str = "interval",
) -> Layout:
    """Create the layout of a period. Raises Malformed if there would be too many columns."""
    cut = () if interval is None else columns(period, interval, fiscal_year_end, asked_as)
    previous = None if compare_to is None else compared(period, compare_to)
    return Layout(period, cut, previous)


def of_day(day: date, compare_to: CompareTo | None = None) -> Layout:
    """Create the layout of the balances on a day."""
    previous = None if compare_to is None else Period(last=compared_day(day, compare_to))
    return Layout(Period(last=day), (), previous)


def days(first: date | None, last: date, fiscal_year_end: date) -> Period:
    """Return the days of a report; without `first` they begin with the fiscal year.

    Up to 2026-05-10, with a year that ends on 31 March, they begin on 2026-04-01. Raises Malformed
    on `end_date` if they end before they begin.
    """
    begin, _ = fiscal_year(fiscal_year_end, last) if first is None else (first, last)
    if last < begin:
        raise Malformed.fields(end_date=["must not be before start_date"])
    return Period(begin, last)


def named(periods: Sequence[Period]) -> list[str]:
    """Return the names of columns by their days: 2026-01-01/2026-01-31."""
    return [f"{each.first}/{each.last}" for each in periods]
