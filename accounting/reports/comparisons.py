"""The days with which a report is compared."""

from calendar import monthrange
from datetime import date, timedelta
from enum import StrEnum

from accounting.books.periods import Period, month_end, month_start

DAY = timedelta(days=1)


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
        return Period(_months_before(first, count), first - DAY)
    return Period(first - (last - first) - DAY, first - DAY)


def compared_day(day: date, to: CompareTo) -> date:
    """Return the end of the month before a day, or the day a year before; a month's end stays one.

    15 March 2025 is compared with 28 February 2025, or 15 March 2024; 28 February 2025 with 29
    February 2024.
    """
    if to is CompareTo.PREVIOUS_PERIOD:
        return month_start(day) - DAY
    before = _months_before(day, 12)
    return month_end(before) if day == month_end(day) else before


def _months_before(day: date, months: int) -> date:
    place = day.year * 12 + day.month - 1 - months
    year, month = place // 12, place % 12 + 1
    return date(year, month, min(day.day, monthrange(year, month)[1]))
