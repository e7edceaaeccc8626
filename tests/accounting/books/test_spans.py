import pytest

from accounting.books.ledger import Days, Span, days
from tests.accounting.samples import day


class TestDays:
    @pytest.mark.parametrize(
        ("start", "end", "floor", "laid_out"),
        [
            ("5", None, "1", (day("5"), None)),
            ("5", None, "9", (day("9"), None)),
            ("5", "7", "5", (day("5"), day("7"))),
            ("5", "7", "6", (day("6"), day("7"))),
            ("5", "7", "10", (day("10"), day("10"))),
            ("5", "3", "1", (day("5"), day("5"))),
        ],
    )
    def test_a_span_begins_at_the_floor_and_ends_no_earlier(
        self, start: str, end: str | None, floor: str, laid_out: Days
    ) -> None:
        assert days(day(start), None if end is None else day(end), day(floor)) == laid_out


class TestSpan:
    def test_without_days_it_is_its_holders_own_and_goes_on(self) -> None:
        assert Span() == Span(None, None)
