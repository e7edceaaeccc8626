"""Periods of days, split into whole months and the days that remain at either end."""

from calendar import monthrange
from dataclasses import dataclass
from datetime import date, timedelta

FIRST_YEAR, LAST_YEAR = 1900, 2199
"""The years in which every date of the books must be."""

FirstAndLast = tuple[date, date]
"""The first and the last of consecutive days, both included."""


@dataclass(frozen=True, slots=True)
class Period:
    """Consecutive days; a period that ends before it begins is empty."""

    first: date = date.min
    last: date = date.max

    @property
    def months(self) -> FirstAndLast | None:
        """The first days of the first and the last month that are wholly in the period.

        2026-01-15 to 2026-04-10 contains February and March: (2026-02-01, 2026-03-01).
        """
        first, last = self._first_month(), self._last_month()
        return None if first is None or last is None or first > last else (first, last)

    @property
    def edges(self) -> tuple[FirstAndLast, ...]:
        """The days before the first whole month and after the last one, if there are any.

        Of 2026-01-15 to 2026-04-10 these are 2026-01-15 to 2026-01-31 and 2026-04-01 to 2026-04-10.
        """
        if self.first > self.last:
            return ()
        months = self.months
        if months is None:
            return ((self.first, self.last),)
        before = (self.first, months[0] - timedelta(days=1)) if self.first < months[0] else None
        ended = month_end(months[1])
        after = (ended + timedelta(days=1), self.last) if ended < self.last else None
        return tuple(edge for edge in (before, after) if edge is not None)

    def _first_month(self) -> date | None:
        if self.first.day == 1:
            return self.first
        end = month_end(self.first)
        return None if end == date.max else end + timedelta(days=1)

    def _last_month(self) -> date | None:
        start = month_start(self.last)
        if self.last == month_end(self.last):
            return start
        return None if start == date.min else month_start(start - timedelta(days=1))


EVER = Period()


@dataclass(frozen=True, slots=True)
class Pieces:
    """A period as whole months, with days to add to them and days to take off.

    `months` are the first days of the first and the last of them.
    """

    months: FirstAndLast | None = None
    added: tuple[FirstAndLast, ...] = ()
    taken: tuple[FirstAndLast, ...] = ()


def pieces(period: Period) -> Pieces:
    """Split a period so that few days remain: more than half of a month counts as the month.

    2026-01-10 to 2026-04-10 is January to March, plus 1 to 10 April, less 1 to 9 January.
    """
    first, last = period.first, period.last
    if first > last:
        return Pieces()
    begun, ended = month_start(first), month_end(last)
    if begun == month_start(last):
        if _mostly(first, last):
            before, after = _days_before(first), _days_after(last)
            return Pieces((begun, begun), taken=(*before, *after))
        return Pieces(added=((first, last),))
    added: list[FirstAndLast] = []
    taken: list[FirstAndLast] = []
    first_month, last_month = begun, month_start(ended)
    if _mostly(first, month_end(first)):
        taken += _days_before(first)
    else:
        added.append((first, month_end(first)))
        first_month = month_end(first) + timedelta(days=1)
    if _mostly(last_month, last):
        taken += _days_after(last)
    else:
        added.append((last_month, last))
        last_month = month_start(last_month - timedelta(days=1))
    months = (first_month, last_month) if first_month <= last_month else None
    return Pieces(months, tuple(added), tuple(taken))


def _mostly(first: date, last: date) -> bool:
    """Return whether days of one month are more than half of it."""
    return 2 * (last.day - first.day + 1) > month_end(first).day


def _days_before(day: date) -> tuple[FirstAndLast, ...]:
    return () if day.day == 1 else ((month_start(day), day - timedelta(days=1)),)


def _days_after(day: date) -> tuple[FirstAndLast, ...]:
    return () if day == month_end(day) else ((day + timedelta(days=1), month_end(day)),)


def month_start(day: date) -> date:
    """Return the first day of a day's month."""
    return day.replace(day=1)


def month_end(day: date) -> date:
    """Return the last day of a day's month."""
    return day.replace(day=monthrange(day.year, day.month)[1])


def calendar_month(year: int, month: int) -> Period:
    """Return a month as a period: February 2024 is 2024-02-01 to 2024-02-29."""
    first = date(year, month, 1)
    return Period(first, month_end(first))
