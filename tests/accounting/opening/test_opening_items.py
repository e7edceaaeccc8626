"""What is open when books are opened."""

from typing import Any

import pytest

from accounting.books.numbers import Pending
from accounting.books.splits import Part
from accounting.opening.commands import OpenWithSide
from accounting.opening.opening_items import credit_lines_of, lines_of
from accounting.trade import credits, documents, payments
from accounting.trade.payments import completion_days
from accounting.trade.sides import PAYABLE, RECEIVABLE
from tests.accounting.opening.samples import (
    MILLER,
    ON,
    credited,
    opened,
    owed,
    prepaid,
)
from tests.accounting.samples import account_id, context_of, day, moment, part_on, refused

EQUITY = part_on("3290")


class TestDocuments:
    def test_one_is_of_its_own_day_and_in_the_books_from_that_of_the_opening_on(self) -> None:
        [invoice] = opened(sales=OpenWithSide(documents=(owed(120),))).sales.documents
        assert (invoice.issue_date, documents.opened_on(invoice)) == (day("10"), ON)
        assert (invoice.state, invoice.number, documents.left(invoice)) == ("open", "A-1", 120)
        assert documents.parts(invoice) == {EQUITY: 120}

    def test_it_is_overdue_by_its_own_due_day(self) -> None:
        given = owed(120, due_at=moment("20"))
        [invoice] = opened(sales=OpenWithSide(documents=(given,))).sales.documents
        assert documents.status(RECEIVABLE, invoice, day("20")) == "sent"
        assert documents.status(RECEIVABLE, invoice, day("21")) == "overdue"

    def test_what_has_no_number_takes_the_next_in_turn(self) -> None:
        given = [owed(1, MILLER, number=each) for each in (None, "B-1", None)]
        made = opened(purchases=OpenWithSide(documents=tuple(given))).purchases.documents
        numbers = [each.number for each in made]
        assert numbers == [Pending("BILL", 0), "B-1", Pending("BILL", 1)]

    def test_a_line_stands_for_each_part(self) -> None:
        parts = [(Part(account_id("3290")), 100), (Part(account_id("2200")), 20)]
        lines = lines_of(parts, context_of("31"))
        assert [(line.account_id, line.subtotal) for line in lines] == [
            (account_id("3290"), 100),
            (account_id("2200"), 20),
        ]
        credit_lines = credit_lines_of(parts, context_of("31"))
        assert [line.amount for line in credit_lines] == [100, 20]


class TestCredits:
    def test_one_can_be_used_from_the_day_of_the_opening_on(self) -> None:
        [credit] = opened(sales=OpenWithSide(credits=(credited(20),))).sales.credits
        assert (credit.opened_at, credits.opened_on(credit)) == (moment("11"), ON)
        assert (credits.unapplied(credit), credits.parts(credit)[EQUITY]) == (20, 20)
        assert credits.status(RECEIVABLE, credit) == "sent"


class TestPrepayments:
    def test_money_is_there_from_the_day_of_the_opening_on(self) -> None:
        [money] = opened(sales=OpenWithSide(prepayments=(prepaid(7),))).sales.payments
        assert (money.payment_date, money.status) == (day("12"), "completed")
        assert completion_days(money) == [(ON, None)]
        assert payments.remaining(money) == 7


@pytest.mark.parametrize(
    "given",
    [
        {"documents": (owed(1, issue_date=day("2-1")),)},
        {"documents": (owed(1, opened_at=moment("2-1")),)},
        {"credits": (credited(1, opened_at=moment("2-1")),)},
        {"prepayments": (prepaid(1, payment_date=day("2-1")),)},
    ],
)
def test_nothing_is_dated_after_the_opening(given: dict[str, Any]) -> None:
    fault = refused(opened, sales=OpenWithSide(**given))
    assert fault.code == "dated_after_opening"
    assert fault.detail["date"] == "2026-02-01"
    assert fault.detail["item"].endswith(".0")


def test_another_currency_is_refused_with_its_item() -> None:
    fault = refused(opened, sales=OpenWithSide(documents=(owed(1, currency="SEK"),)))
    assert (fault.code, fault.detail["item"]) == ("currency_mismatch", "invoices.0")


def test_both_sides_are_one_machine() -> None:
    [bill] = opened(purchases=OpenWithSide(documents=(owed(80, MILLER),))).purchases.documents
    assert documents.status(PAYABLE, bill, ON) == "received"
