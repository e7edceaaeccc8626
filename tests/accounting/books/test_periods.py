"""Periods: whole months, and the days at either end."""

from collections.abc import Iterable
from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accounting.books.periods import EVER, Period, Pieces, calendar_month, month_end, pieces

DAYS = st.dates(date(2023, 11, 1), date(2025, 2, 28))
Span = tuple[date, date]


def day(text: str) -> date:
    return date.fromisoformat(text)


def days_held(
    months: tuple[date, date] | None, added: Iterable[Span], taken: Iterable[Span] = ()
) -> list[date]:
    """Return the days of the months and the added spans without the taken spans, in order."""
    spans = [*added]
    if months is not None:
        spans.append((months[0], month_end(months[1])))
    held = [day for span in spans for day in days_between(*span)]
    for span in taken:
        for day in days_between(*span):
            held.remove(day)
    return sorted(held)


def days_between(first: date, last: date) -> list[date]:
    return [first + timedelta(days=n) for n in range((last - first).days + 1)]


@pytest.mark.parametrize(
    ("first", "last", "months", "edges"),
    [
        ("2026-01-01", "2026-01-31", ("2026-01-01", "2026-01-01"), []),
        ("2026-01-01", "2026-12-31", ("2026-01-01", "2026-12-01"), []),
        ("2026-01-15", "2026-01-20", None, [("2026-01-15", "2026-01-20")]),
        ("2026-01-15", "2026-02-20", None, [("2026-01-15", "2026-02-20")]),
        (
            *("2026-01-15", "2026-04-10", ("2026-02-01", "2026-03-01")),
            [("2026-01-15", "2026-01-31"), ("2026-04-01", "2026-04-10")],
        ),
        ("2026-01-02", "2026-02-28", ("2026-02-01", "2026-02-01"), [("2026-01-02", "2026-01-31")]),
        ("2026-01-01", "2026-02-27", ("2026-01-01", "2026-01-01"), [("2026-02-01", "2026-02-27")]),
        ("2026-02-01", "2026-01-31", None, []),
        ("0001-01-01", "2026-02-28", ("0001-01-01", "2026-02-01"), []),
        ("9999-12-02", "9999-12-31", None, [("9999-12-02", "9999-12-31")]),
        ("0001-01-01", "0001-01-30", None, [("0001-01-01", "0001-01-30")]),
    ],
)
def test_a_period_is_whole_months_and_what_is_left(
    first: str, last: str, months: tuple[str, str] | None, edges: list[tuple[str, str]]
) -> None:
    period = Period(day(first), day(last))
    assert period.months == (months and (day(months[0]), day(months[1])))
    assert list(period.edges) == [(day(a), day(b)) for a, b in edges]


@given(DAYS, DAYS)
def test_months_and_edges_hold_each_day_of_the_period_once(first: date, last: date) -> None:
    period = Period(first, last)
    assert days_held(period.months, period.edges) == days_between(first, last)


def test_ever_has_no_edges() -> None:
    assert (EVER.months, EVER.edges) == ((date.min, day("9999-12-01")), ())


def test_a_month_is_as_long_as_it_is() -> None:
    assert calendar_month(2024, 2) == Period(day("2024-02-01"), day("2024-02-29"))
    assert calendar_month(9999, 12).last == date.max


class TestPieces:
    @given(DAYS, DAYS)
    def test_pieces_hold_each_day_of_the_period_once(self, first: date, last: date) -> None:
        parts = pieces(Period(first, last))
        assert days_held(parts.months, parts.added, parts.taken) == days_between(first, last)

    @given(DAYS, DAYS)
    def test_at_neither_end_are_more_days_than_half_a_month(self, first: date, last: date) -> None:
        parts = pieces(Period(first, last))
        for span in (*parts.added, *parts.taken):
            assert 2 * len(days_between(*span)) <= month_end(span[0]).day

    @pytest.mark.parametrize(
        ("first", "last", "months", "added", "taken"),
        [
            (
                *("2026-01-10", "2026-04-10", ("2026-01-01", "2026-03-01")),
                [("2026-04-01", "2026-04-10")],
                [("2026-01-01", "2026-01-09")],
            ),
            ("2026-01-20", "2026-02-05", None, [(20, 31), (32, 36)], []),
            ("0001-01-01", "2026-02-27", ("0001-01-01", "2026-02-01"), [], [(59, 59)]),
            ("2026-03-02", "2026-03-30", ("2026-03-01", "2026-03-01"), [], [(60, 60), (90, 90)]),
        ],
    )
    def test_worked_examples(
        self,
        first: str,
        last: str,
        months: tuple[str, str] | None,
        added: list[tuple[str | int, str | int]],
        taken: list[tuple[str | int, str | int]],
    ) -> None:
        parts = pieces(Period(day(first), day(last)))
        assert parts.months == (months and (day(months[0]), day(months[1])))
        assert [*parts.added] == [(of_2026(a), of_2026(b)) for a, b in added]
        assert [*parts.taken] == [(of_2026(a), of_2026(b)) for a, b in taken]

    def test_ever_is_whole_months(self) -> None:
        assert pieces(EVER) == Pieces((date(1, 1, 1), date(9999, 12, 1)))


def of_2026(said: str | int) -> date:
    """Return a day from its text, or from its number in 2026."""
    return day(said) if isinstance(said, str) else date(2025, 12, 31) + timedelta(days=said)
