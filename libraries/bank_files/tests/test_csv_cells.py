"""Days, amounts and directions in the cells of a CSV file."""

from datetime import date
from decimal import Decimal

import pytest

from libraries.bank_files import WrongColumns
from libraries.bank_files.csv_cells import Amounts, Days, sign_of


class TestAmounts:
    @pytest.mark.parametrize(
        ("text", "comma", "amount"),
        [
            ("1,234.50", False, "1234.50"),
            ("1.234,50", True, "1234.50"),
            ("1'234.50", False, "1234.50"),
            ("1 234,50", True, "1234.50"),
            ("1\u00a0234,50 €", True, "1234.50"),
            ("-12.50", False, "-12.50"),
            ("12.50-", False, "-12.50"),
            ("(12.50)", False, "-12.50"),
            ("\u221212,50", True, "-12.50"),
            ("+12", False, "12"),
            ("£8.5", False, "8.5"),
            (".50", False, "0.50"),
            ("GBP 1,000", False, "1000"),
            ("RM1,650.00", False, "1650"),
            ("RM 12.50-", False, "-12.50"),
            ("-$5", False, "-5"),
            ("$(12.50)", False, "-12.50"),
            ("12.50 DR", False, "-12.50"),
            ("12.50Cr.", False, "12.50"),
            ("5.00 USD DR", False, "-5"),
            ("(12.50) DR", False, "-12.50"),
            ("12,50 kr.", True, "12.50"),
            ("12,50 S", True, "-12.50"),
        ],
    )
    def test_it_reads(self, text: str, comma: bool, amount: str) -> None:
        assert Amounts.of([], comma).read(text) == Decimal(amount)

    @pytest.mark.parametrize(
        "text", ["", "-", "12,50", "1,23,4.00", "1.2.3", "ten", "1e9", "9" * 50, "-12.50 CR", "DR"]
    )
    def test_it_does_not_read(self, text: str) -> None:
        with pytest.raises(ValueError, match="not a number"):
            Amounts.of([], False).read(text)

    @pytest.mark.parametrize(
        ("cells", "decimal"),
        [
            (["1.234,50", "3"], ","),
            (["1,234.50"], "."),
            (["1,234", "2.50"], "."),
            (["1.234", "1.234.567"], ","),
            (["0.500", "1.234"], "."),
            (["1234,500"], ","),
            (["12,5"], ","),
            ([], "."),
            (["", "7"], "."),
        ],
    )
    def test_the_amounts_of_a_file_show_what_stands_before_the_cents(
        self, cells: list[str], decimal: str
    ) -> None:
        assert Amounts.of(cells, None).decimal == decimal

    @pytest.mark.parametrize(
        "cells",
        [
            ["1,50", "1.50"],
            ["1.000", "12.500"],
            ["-1,650"],
            ["RM 1,650 DR", "20", "0"],
            ["(1.650)", "3"],
        ],
    )
    def test_amounts_with_two_meanings_are_not_guessed(self, cells: list[str]) -> None:
        with pytest.raises(WrongColumns) as refused:
            Amounts.of(cells, None)
        assert refused.value.column == "decimal_comma"


class TestDays:
    @pytest.mark.parametrize(
        ("text", "written"),
        [
            ("2026-07-03", None),
            ("2026-07-03T10:00:00", None),
            ("20260703", None),
            ("03/07/2026", None),
            ("3.7.2026 14:22", None),
            ("03-07-26", None),
            ("03 Jul 2026", None),
            ("07/03/2026", "MM/DD/YYYY"),
            ("3 JUL 26", "D MMM YY"),
            ("030726", "DDMMYY"),
        ],
    )
    def test_it_reads(self, text: str, written: str | None) -> None:
        assert Days.of([text, "13/07/2026"], written).read(text) == date(2026, 7, 3)

    @pytest.mark.parametrize(
        "text", ["", "31/02/2026", "31/31/2026", "2026-07", "tomorrow", "1", "03 Mai 2026"]
    )
    def test_it_does_not_read(self, text: str) -> None:
        with pytest.raises(ValueError, match="date"):
            Days.of([text], None).read(text)

    @pytest.mark.parametrize(
        ("cells", "days"),
        [
            (["03/07/2026", "25/07/2026"], ["07-03", "07-25"]),
            (["07/25/2026", "07/03/2026"], ["07-25", "07-03"]),
            (["3-7-26", "7-25-26"], ["03-07", "07-25"]),
            (["07/07/2026", "08/08/2026"], ["07-07", "08-08"]),
            (["03.07.2026", "04.07.2026"], ["07-03", "07-04"]),
            (["03.07.2026", "07.25.2026"], ["03-07", "07-25"]),
            (["03/07/26", "17.07.2026", "2026-07-18"], ["07-03", "07-17", "07-18"]),
            (["03/07/2026 10:30", "25/07/2026 08:00"], ["07-03", "07-25"]),
        ],
    )
    def test_a_day_after_the_12th_decides_the_order_of_all(
        self, cells: list[str], days: list[str]
    ) -> None:
        reader = Days.of(cells, None)
        assert [reader.read(cell) for cell in cells] == [
            date.fromisoformat(f"2026-{each}") for each in days
        ]

    @pytest.mark.parametrize(
        "cells",
        [
            ["03/07/2026", "04/07/2026"],
            ["03-07-26", "07/07/2026"],
            ["25/07/2026", "07/25/2026"],
            ["12/11/2026 10:30"],
        ],
    )
    def test_dates_with_two_meanings_are_not_guessed(self, cells: list[str]) -> None:
        with pytest.raises(WrongColumns) as refused:
            Days.of(cells, None)
        assert refused.value.column == "date_format"

    @pytest.mark.parametrize("written", ["YYYY", "DDDD", "YYYYYYMM", "MM/MM/YYYY"])
    def test_what_is_no_way_to_write_a_day_is_refused(self, written: str) -> None:
        with pytest.raises(WrongColumns) as refused:
            Days.of([], written)
        assert refused.value.column == "date_format"


class TestSignOf:
    def test_a_word_has_to_say_a_way(self) -> None:
        assert (sign_of(" Bij "), sign_of("AF")) == (1, -1)
        with pytest.raises(ValueError, match="came in or went out"):
            sign_of("sideways")
