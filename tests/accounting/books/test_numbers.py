from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accounting.books.numbers import LARGEST_GIVEN, given_in, journal_series, render


class TestNumbers:
    def test_six_digits_and_then_it_grows(self) -> None:
        assert render("INV", 42) == "INV-000042"
        assert render("INV", 1_234_567) == "INV-1234567"
        assert render(journal_series(date(2026, 3, 5)), 42) == "JE-2026-000042"

    @given(st.integers(1, LARGEST_GIVEN))
    def test_reads_what_render_writes(self, count: int) -> None:
        assert given_in("INV", render("INV", count)) == count

    @pytest.mark.parametrize(
        "text",
        [
            *("INV-42", "INV-0000042", "INV-000000", "inv-000042", "000042", "INV-", "INV-00004x"),
            *("CN-000042", "INV-٠٠٠٠٤٢", "INV-1000000000000", "INV--00042", "XINV-000042"),
        ],
    )
    def test_a_number_of_another_style_is_no_number_of_the_series(self, text: str) -> None:
        assert given_in("INV", text) is None
