"""What of an entry counts on cash, and which document its lines are about."""

from datetime import date
from uuid import UUID

import pytest

from accounting.books import ledger
from accounting.books.ledger import Entry, Line, Part

RECEIVABLES, SALES, TAX, BANK = (UUID(int=n) for n in range(1, 5))
PAYMENT, INVOICE, REFUND = (UUID(int=n) for n in range(11, 14))
SPLIT = ((Part(SALES), -41_667), (Part(TAX), -8_333))
APPLIED = Line(RECEIVABLES, -50_000, INVOICE, SPLIT)
MONEY = Line(BANK, 50_000)


def entry(*lines: Line, about: dict[UUID, UUID] | None = None, in_cash: bool = True) -> Entry:
    return Entry(
        entry_date=date(2026, 3, 5),
        stream="main",
        lines=lines,
        description="Payment",
        source_type="payment",
        source_id=PAYMENT,
        about=about or {},
        in_cash=in_cash,
    )


class TestOnCash:
    def test_a_settling_line_is_replaced_by_the_parts_that_it_settles(self) -> None:
        paid = entry(MONEY, APPLIED)
        assert not ledger.stays(paid, APPLIED)
        assert ledger.parts(paid, APPLIED) == SPLIT

    def test_every_other_line_stays(self) -> None:
        paid = entry(MONEY, APPLIED)
        assert ledger.stays(paid, MONEY)
        assert ledger.parts(paid, MONEY) == ()

    @pytest.mark.parametrize("line", [MONEY, APPLIED])
    def test_an_entry_that_only_agrees_something_counts_nothing(self, line: Line) -> None:
        agreed = entry(MONEY, APPLIED, in_cash=False)
        assert not ledger.stays(agreed, line)
        assert ledger.parts(agreed, line) == ()

    def test_an_entry_balances_on_cash_where_it_balances_in_the_ledger(self) -> None:
        paid = entry(MONEY, APPLIED)
        stays = [line.amount for line in paid.lines if ledger.stays(paid, line)]
        parts = [share for line in paid.lines for _, share in ledger.parts(paid, line)]
        assert sum(stays) + sum(parts) == 0


class TestDocument:
    def test_a_line_is_about_what_it_settles(self) -> None:
        assert ledger.document_of(entry(MONEY, APPLIED), APPLIED) == INVOICE

    def test_a_line_without_another_document_is_about_its_source(self) -> None:
        assert ledger.document_of(entry(MONEY, APPLIED), MONEY) == PAYMENT

    def test_a_line_that_pays_a_refund_is_about_the_refunded_document(self) -> None:
        paying = Line(RECEIVABLES, 50_000, REFUND)
        paid = entry(paying, MONEY, about={REFUND: INVOICE})
        assert ledger.document_of(paid, paying) == INVOICE
        assert ledger.document_of(paid, MONEY) == PAYMENT

    def test_a_write_off_is_about_its_document(self) -> None:
        written_off = entry(MONEY, about={PAYMENT: INVOICE})
        assert ledger.document_of(written_off, MONEY) == INVOICE
