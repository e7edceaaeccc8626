"""Comparisons: the preceding period of the same length, or the same days a year before."""

from datetime import date

import pytest

from accounting.books.periods import Period
from accounting.reports.layouts import CompareTo, compared, compared_day

PERIOD, YEAR = CompareTo.PREVIOUS_PERIOD, CompareTo.PREVIOUS_YEAR


def day(text: str) -> date:
    return date.fromisoformat(text)


class TestCompared:
    @pytest.mark.parametrize(
        ("first", "last", "to", "expected"),
        [
            ("2026-03-10", "2026-03-19", PERIOD, ("2026-02-28", "2026-03-09")),
            ("2024-03-10", "2024-03-19", PERIOD, ("2024-02-29", "2024-03-09")),
            ("2026-03-01", "2026-03-31", PERIOD, ("2026-02-01", "2026-02-28")),
            ("2024-02-01", "2024-03-31", PERIOD, ("2023-12-01", "2024-01-31")),
            ("2025-04-01", "2026-03-31", PERIOD, ("2024-04-01", "2025-03-31")),
            ("2026-01-01", "2026-01-01", PERIOD, ("2025-12-31", "2025-12-31")),
            ("2026-03-10", "2026-03-19", YEAR, ("2025-03-10", "2025-03-19")),
            ("2025-02-01", "2025-02-28", YEAR, ("2024-02-01", "2024-02-29")),
            ("2024-02-01", "2024-02-29", YEAR, ("2023-02-01", "2023-02-28")),
            ("2024-02-29", "2024-03-10", YEAR, ("2023-02-28", "2023-03-10")),
            ("2025-02-02", "2025-02-28", YEAR, ("2024-02-02", "2024-02-28")),
        ],
    )
    def test_days_are_held_against(
        self, first: str, last: str, to: CompareTo, expected: tuple[str, str]
    ) -> None:
        found = compared(Period(day(first), day(last)), to)
        assert (str(found.first), str(found.last)) == expected

    @pytest.mark.parametrize(
        ("on", "to", "expected"),
        [
            ("2025-03-15", PERIOD, "2025-02-28"),
            ("2025-03-31", PERIOD, "2025-02-28"),
            ("2025-03-15", YEAR, "2024-03-15"),
            ("2025-02-28", YEAR, "2024-02-29"),
            ("2024-02-29", YEAR, "2023-02-28"),
        ],
    )
    def test_a_day_is_held_against(self, on: str, to: CompareTo, expected: str) -> None:
        assert compared_day(day(on), to) == day(expected)
