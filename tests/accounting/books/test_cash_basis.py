"""The part of an entry that counts on cash, and the document that its lines are about."""

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
    def test_only_a_settling_line_is_replaced_by_the_parts_that_it_settles(self) -> None:
        paid = entry(MONEY, APPLIED)
        assert (ledger.stays(paid, APPLIED), ledger.parts(paid, APPLIED)) == (False, SPLIT)
        assert (ledger.stays(paid, MONEY), ledger.parts(paid, MONEY)) == (True, ())

    @pytest.mark.parametrize("line", [MONEY, APPLIED])
    def test_an_entry_that_only_agrees_something_counts_nothing(self, line: Line) -> None:
        agreed = entry(MONEY, APPLIED, in_cash=False)
        assert not ledger.stays(agreed, line)
        assert ledger.parts(agreed, line) == ()


class TestDocument:
    def test_a_line_is_about_what_it_settles_and_else_about_its_source(self) -> None:
        assert ledger.document_of(entry(MONEY, APPLIED), APPLIED) == INVOICE
        assert ledger.document_of(entry(MONEY, APPLIED), MONEY) == PAYMENT

    def test_a_line_that_pays_a_refund_is_about_the_refunded_document(self) -> None:
        paying = Line(RECEIVABLES, 50_000, REFUND)
        paid = entry(paying, MONEY, about={REFUND: INVOICE})
        assert ledger.document_of(paid, paying) == INVOICE
        assert ledger.document_of(paid, MONEY) == PAYMENT

    def test_a_write_off_is_about_its_document(self) -> None:
        written_off = entry(MONEY, about={PAYMENT: INVOICE})
        assert ledger.document_of(written_off, MONEY) == INVOICE
