"""Columns of reports: calendar months, and quarters and years of the fiscal year."""

import itertools
from datetime import date, timedelta

from hypothesis import given
from hypothesis import strategies as st

from accounting.books.periods import Period
from accounting.errors import ValidationError
from accounting.reports.layouts import Interval, columns
from tests.accounting.samples import refused

DECEMBER, MARCH, FEBRUARY = date(2000, 12, 31), date(2000, 3, 31), date(2000, 2, 29)
DAYS = st.dates(date(2020, 1, 1), date(2024, 12, 31))


def cut(first: str, last: str, interval: str, year_end: date = DECEMBER) -> list[tuple[str, str]]:
    period = Period(date.fromisoformat(first), date.fromisoformat(last))
    found = columns(period, Interval(interval), year_end)
    return [(str(each.first), str(each.last)) for each in found]


class TestColumns:
    def test_months_are_the_calendars_cut_to_the_dates(self) -> None:
        assert cut("2026-01-15", "2026-03-10", "month", MARCH) == [
            ("2026-01-15", "2026-01-31"),
            ("2026-02-01", "2026-02-28"),
            ("2026-03-01", "2026-03-10"),
        ]

    def test_quarters_are_the_fiscal_years(self) -> None:
        assert cut("2026-02-10", "2026-08-05", "quarter", MARCH) == [
            ("2026-02-10", "2026-03-31"),
            ("2026-04-01", "2026-06-30"),
            ("2026-07-01", "2026-08-05"),
        ]

    def test_years_are_the_fiscal_years(self) -> None:
        assert cut("2025-06-01", "2026-06-30", "year", MARCH) == [
            ("2025-06-01", "2026-03-31"),
            ("2026-04-01", "2026-06-30"),
        ]

    def test_a_year_to_the_last_of_february_has_quarters_of_whole_months(self) -> None:
        assert cut("2023-03-01", "2024-02-29", "quarter", FEBRUARY) == [
            ("2023-03-01", "2023-05-31"),
            ("2023-06-01", "2023-08-31"),
            ("2023-09-01", "2023-11-30"),
            ("2023-12-01", "2024-02-29"),
        ]
        assert cut("2024-03-01", "2025-02-28", "year", FEBRUARY) == [("2024-03-01", "2025-02-28")]

    def test_a_year_that_ends_within_a_month_has_quarters_that_do(self) -> None:
        april = date(2000, 4, 5)
        assert cut("2025-04-06", "2026-04-05", "quarter", april) == [
            ("2025-04-06", "2025-07-05"),
            ("2025-07-06", "2025-10-05"),
            ("2025-10-06", "2026-01-05"),
            ("2026-01-06", "2026-04-05"),
        ]

    def test_more_than_sixty_columns_are_refused(self) -> None:
        assert len(cut("2020-01-01", "2024-12-31", "month")) == 60
        refusal = refused(cut, "2020-01-01", "2025-01-01", "month")
        assert isinstance(refusal, ValidationError)
        fault = "must not make more than 60 columns of these dates"
        assert refusal.detail["field_errors"] == {"interval": [fault]}

    @given(DAYS, DAYS, st.sampled_from(Interval), st.dates(date(2000, 1, 1), date(2000, 12, 31)))
    def test_columns_hold_every_day_once(
        self, one: date, other: date, interval: Interval, year_end: date
    ) -> None:
        first, last = sorted((one, other))
        found = columns(Period(first, last), interval, year_end)
        assert (found[0].first, found[-1].last) == (first, last)
        for before, after in itertools.pairwise(found):
            assert before.last + timedelta(days=1) == after.first
        assert all(each.first <= each.last for each in found)
