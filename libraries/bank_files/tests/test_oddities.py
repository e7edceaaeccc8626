"""The right lines of files with an oddity, by the readers alone."""

from decimal import Decimal

import pytest

from libraries import bank_files
from libraries.bank_files import BadLine, Columns, FileLine, Unreadable, WrongColumns
from libraries.bank_files.tests.oddities import Oddity, csv_oddities, mt940_oddities, xml_oddities

ODDITIES = (*csv_oddities.ODDITIES, *mt940_oddities.ODDITIES, *xml_oddities.ODDITIES)


def read(case: Oddity) -> list[FileLine | BadLine]:
    columns = Columns(**case.columns) if case.columns else None
    return bank_files.read(case.content, case.format, columns)


class TestOddities:
    def test_there_are_many(self) -> None:
        names = [(case.format, case.oddity) for case in ODDITIES]
        assert len(set(names)) == len(names) >= 60

    @pytest.mark.parametrize("case", ODDITIES, ids=lambda case: f"{case.format}: {case.oddity}")
    def test_a_file_gives_the_right_lines_or_a_question(self, case: Oddity) -> None:
        if case.asks:
            with pytest.raises(Unreadable, match=case.why) as refused:
                read(case)
            column = refused.value.column if isinstance(refused.value, WrongColumns) else "file"
            assert column == case.asks
            return
        lines = read(case)
        good = [line for line in lines if isinstance(line, FileLine)]
        assert len(lines) - len(good) == case.bad
        told = [(line.booked_on.isoformat(), line.amount) for line in good]
        assert told == [(each.day, Decimal(each.amount)) for each in case.lines]
        for line, expected in zip(good, case.lines, strict=True):
            assert {name: getattr(line, name) for name in expected.facts} == expected.facts
