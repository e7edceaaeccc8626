"""Statements of customers and vendors."""

from datetime import date
from uuid import UUID

from accounting.books.periods import Period
from accounting.errors import ValidationError
from accounting.trade.party_statements import StatementLine, days_of, statement
from tests.accounting.samples import refused

MARCH, APRIL = date(2025, 3, 1), date(2025, 4, 1)


def line(amount: int) -> StatementLine:
    return StatementLine(
        entry_date=MARCH,
        entry_id=UUID(int=1),
        sequence_number="JE-2025-000001",
        source_type="invoice",
        source_id=UUID(int=2),
        reference=None,
        description="Invoice",
        document_id=UUID(int=2),
        document_number=None,
        amount=amount,
    )


class TestStatement:
    def test_each_line_has_what_is_owed_after_it(self) -> None:
        found = statement(50, [line(100), line(-30)], 7)
        assert [owed for _, owed in found.lines] == [150, 120]
        assert (found.opening, found.closing, found.unapplied) == (50, 120, 7)
        assert statement(50, [], 0).closing == 50

    def test_days_of_a_statement_are_the_requested_period(self) -> None:
        assert days_of(MARCH, APRIL) == Period(MARCH, APRIL)
        assert days_of(APRIL, APRIL) == Period(APRIL, APRIL)
        assert days_of(None, APRIL) == Period(date.min, APRIL)
        assert isinstance(refused(days_of, APRIL, MARCH), ValidationError)
