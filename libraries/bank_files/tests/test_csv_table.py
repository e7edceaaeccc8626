"""CSV files, read by the names of their columns."""

from datetime import date
from decimal import Decimal

import pytest

from libraries.bank_files import BadLine, Columns, FileLine, WrongColumns, csv_table
from libraries.bank_files.tests.statements import good_lines, lines_of


class TestCsvTable:
    def test_a_header_below_other_lines_is_found(self) -> None:
        first, second, third, bad = lines_of("de.csv")
        assert (first.amount, first.counterparty_name) == (1119, "Müller & Söhne GmbH")
        assert (second.amount, second.description) == (Decimal("-89.95"), 'Strom "Juli"')
        assert second.reference is None
        assert (third.booked_on, third.amount) == (date(2026, 7, 17), Decimal("-12.9"))
        assert isinstance(bad, BadLine)

    def test_a_word_says_which_way_the_money_went(self) -> None:
        assert [line.amount for line in good_lines("nl.csv")] == [1210, -104, Decimal("-2.50")]

    def test_two_columns_say_which_way_the_money_went(self) -> None:
        assert [line.amount for line in good_lines("gb_in_out.csv")] == [600, -250]
        columns = Columns(date="D", credit="In", debit="Out")
        both = csv_table.read(b"D,In,Out\n2026-07-15,1,2\n", columns)
        assert list(both) == [BadLine("The line has both a credit and a debit.")]

    def test_columns_may_be_numbers_where_there_is_no_header(self) -> None:
        lines = good_lines("nl_without_header.tab")
        assert [line.amount for line in lines] == [1210, Decimal("-45.32")]
        assert {line.currency for line in lines} == {"EUR"}
        headed = csv_table.read(b"Day,Sum\n2026-07-15,1.50\n", Columns(date="1", amount="2"))
        assert [line.amount for line in headed if isinstance(line, FileLine)] == [Decimal("1.50")]

    def test_a_column_that_is_not_there_is_named(self) -> None:
        columns = Columns(date="D", amount="A", reference="R")
        with pytest.raises(WrongColumns) as refused:
            list(csv_table.read(b"D,A\n2026-07-15,1\n", columns))
        assert refused.value.column == "reference"

    def test_utf_16_is_read(self) -> None:
        text = "Day\tSum\tWhat\n2026-07-15\t1,50\tKäse\n"
        columns = Columns(date="Day", amount="Sum", description="What")
        [line] = csv_table.read(text.encode("utf-16"), columns)
        assert isinstance(line, FileLine)
        assert (line.amount, line.description) == (Decimal("1.50"), "Käse")
