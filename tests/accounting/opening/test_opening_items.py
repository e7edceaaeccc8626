"""Open items of an opening."""

from collections.abc import Iterable
from typing import Any

import pytest

from accounting.books.accounts import AccountReference
from accounting.books.ledger import Part
from accounting.books.numbers import PendingNumber
from accounting.opening.commands import OpenAccountGiven, OpenTaxGiven, OpenWithSide
from accounting.trade import credits, documents, payments, postings
from accounting.trade.documents import Document
from accounting.trade.payments import completion_days
from accounting.trade.postings import Subject
from accounting.trade.remaining_by_line import parts_left
from accounting.trade.sides import PAYABLE, RECEIVABLE, Side
from tests.accounting.opening.samples import (
    BUYER,
    MILLER,
    ON,
    by_code,
    credited,
    opened,
    owed,
    prepaid,
)
from tests.accounting.samples import ROLES, code_of, context_of, day, moment, part_on, refused

EQUITY = part_on("3290")


def opened_invoice(**facts: Any) -> Document:
    [invoice] = opened(sales=OpenWithSide(documents=(owed(120, **facts),))).sales.documents
    return invoice


class TestDocuments:
    def test_a_document_keeps_its_issue_date_and_is_in_the_books_from_the_opening(self) -> None:
        invoice = opened_invoice()
        assert (invoice.issue_date, documents.opened_on(invoice)) == (day("10"), ON)
        assert (invoice.state, invoice.number, documents.left(invoice)) == ("open", "A-1", 120)
        assert documents.parts(invoice) == {EQUITY: 120}
        assert parts_of_lines(RECEIVABLE, invoice) == []

    def test_a_document_is_overdue_after_its_own_due_date(self) -> None:
        invoice = opened_invoice(due_at=moment("20"))
        assert documents.status(RECEIVABLE, invoice, context_of("20")) == "sent"
        assert documents.status(RECEIVABLE, invoice, context_of("21")) == "overdue"

    def test_an_item_is_no_later_than_the_opening_in_its_zone(self) -> None:
        late = OpenWithSide(credits=(credited(10, opened_at=moment("31T23:30")),))
        assert opened(sales=late).sales.credits
        fault = refused(opened, sales=late, timezone="Europe/Amsterdam")
        assert fault.code == "dated_after_opening"

    def test_a_document_was_sent_when_its_issue_date_began(self) -> None:
        dutch = opened(sales=OpenWithSide(documents=(owed(10),)), timezone="Europe/Amsterdam")
        [invoice] = dutch.sales.documents
        assert invoice.opened_at == moment("9T23:00")

    def test_a_document_without_a_number_takes_the_next_number(self) -> None:
        given = tuple(owed(1, MILLER, number=each) for each in (None, "B-1", None))
        made = opened(purchases=OpenWithSide(documents=given)).purchases.documents
        numbers = [each.number for each in made]
        assert numbers == [PendingNumber("BILL", 0), "B-1", PendingNumber("BILL", 1)]
        assert documents.status(PAYABLE, made[0], context_of("31")) == "received"


def with_tax(amount: int, *taxes: OpenTaxGiven, party: Any = None, **facts: Any) -> Document:
    """Create an opening invoice, or a bill of a party, with the amounts owed by tax code."""
    side = "sales" if party is None else "purchases"
    given = owed(amount, party or BUYER, taxes=taxes, **facts)
    made = opened(**{side: OpenWithSide(documents=(given,))})
    [document] = getattr(made, side).documents
    assert isinstance(document, Document)
    return document


def amounts(split: Iterable[tuple[Part, int]]) -> list[tuple[str, str | None, int]]:
    """Return each amount of a split with its account and its part in a return."""
    return [
        (code_of(part.account_id), part.tax and str(part.tax.part), amount)
        for part, amount in split
    ]


def posted(side: Side, subject: Subject) -> list[tuple[str, str | None, int]]:
    """Return each desired posting: its account, its part in a return, and its amount."""
    moves = [each for each in postings.desired(side, subject, ROLES) if each.amount]
    return [
        (code_of(each.account_id), each.tax and str(each.tax.part), each.amount) for each in moves
    ]


def parts_of_lines(side: Side, subject: Subject) -> list[tuple[str, str | None, int]]:
    """Return the parts in the splits of the desired postings."""
    moves = postings.desired(side, subject, ROLES)
    return amounts(pair for each in moves for pair in each.split)


class TestTaxedDocuments:
    def test_a_taxed_document_is_settled_on_3290_and_refunded_with_its_tax(self) -> None:
        """Split 120.00 at 20 % and 50.00 without tax: 60.00 are 35.29 and 7.06, and 17.65."""
        invoice = with_tax(17_000, by_code("S20", 10_000, 2_000), by_code("S0", 5_000))
        assert (invoice.subtotal, invoice.tax_total) == (15_000, 2_000)
        split = documents.share_out(invoice, 6_000)
        nets = [("3290", "net", 3_529), ("3290", "net", 1_765)]
        assert amounts(split) == [*nets, ("3290", "output", 706)]
        own = amounts(documents.on_own_accounts(invoice, split))
        assert own == [*nets, ("2200", "output", 706)]
        left = amounts(parts_left(invoice).items())[-2:]
        assert left == [("2200", "output", 2_000), ("3290", "net", 5_000)]

    def test_a_posting_of_a_taxed_document_is_in_no_tax_return(self) -> None:
        invoice = with_tax(170, by_code("S20", 100, 20), by_code("S0", 50))
        assert posted(RECEIVABLE, invoice) == [("1200", None, 170), ("3290", None, -170)]
        assert parts_of_lines(RECEIVABLE, invoice) == [
            ("3290", "net", -100),
            ("3290", "net", -50),
            ("3290", "output", -20),
        ]
        bill = with_tax(100, by_code("PR20", 100), party=MILLER)
        assert posted(PAYABLE, bill) == [("2000", None, -100), ("3290", None, 100)]

    def test_the_rate_is_that_of_its_day_in_other_books(self) -> None:
        """Apply 20 % up to the 6th and 10 % from the 7th; the date on it decides."""
        late = {"opened_at": moment("8")}
        for issued, facts, percent in (("6", {}, 20), ("7", {}, 10), ("6", late, 20)):
            invoice = with_tax(11, by_code("MOVES", 10, 1), issue_date=day(issued), **facts)
            assert invoice.lines[0].tax_rate == percent

    def test_tax_that_is_not_recoverable_stays_on_3290(self) -> None:
        bill = with_tax(110, by_code("PH", 100, 10), party=MILLER)
        assert amounts(bill.lines[0].charged) == [
            ("3290", "net", 100),
            ("1300", "input", 5),
            ("3290", "blocked", 5),
        ]

    def test_self_assessed_tax_of_a_bill_can_be_reversed(self) -> None:
        bill = with_tax(100, by_code("PR20", 100), party=MILLER)
        assert (bill.total_amount, bill.tax_total) == (100, 0)
        assert amounts(bill.lines[0].assessed) == [("2200", "output", -20), ("1300", "input", 20)]

    @pytest.mark.parametrize(
        ("taxes", "code", "place"),
        [
            ((by_code("S20", 100, 19),), "lines_do_not_add_up", "invoices.0"),
            ((by_code("S20", 100, 20), by_code("S0", 1)), "lines_do_not_add_up", "invoices.0"),
            ((by_code("S0", 100, 20),), "tax_code_mismatch", "invoices.0.tax.0"),
            ((by_code("W15", 120),), "tax_code_mismatch", "invoices.0.tax.0"),
            ((by_code("P20", 100, 20),), "tax_code_mismatch", "invoices.0.tax.0"),
            ((by_code("none", 120),), "reference_not_found", "invoices.0.tax.0"),
            ((by_code("GONE", 120),), "tax_code_archived", "invoices.0.tax.0"),
        ],
    )
    def test_an_invalid_tax_is_refused_with_its_place(
        self, taxes: tuple[OpenTaxGiven, ...], code: str, place: str
    ) -> None:
        fault = refused(with_tax, 120, *taxes)
        assert (fault.code, fault.detail["item"]) == (code, place)

    def test_tax_that_a_buyer_owes_is_not_in_what_is_owed(self) -> None:
        fault = refused(with_tax, 120, by_code("PR20", 100, 20), party=MILLER)
        assert fault.code == "tax_code_mismatch"


class TestCreditsAndPrepayments:
    def test_all_of_one_with_tax_stays_on_3290(self) -> None:
        given = credited(120, taxes=(by_code("S20", 100, 20),))
        [credit] = opened(sales=OpenWithSide(credits=(given,))).sales.credits
        assert (credit.tax_total, credit.total_amount) == (20, 120)
        parts = [("3290", "net", 100), ("3290", "output", 20)]
        assert amounts(credits.parts(credit).items()) == parts_of_lines(RECEIVABLE, credit) == parts
        assert posted(RECEIVABLE, credit) == [("3290", None, 120), ("2250", None, -120)]

    def test_a_credit_is_usable_from_the_day_of_the_opening(self) -> None:
        [credit] = opened(sales=OpenWithSide(credits=(credited(20),))).sales.credits
        assert (credit.opened_at, credits.opened_on(credit)) == (moment("11"), ON)
        assert (credits.unapplied(credit), credits.parts(credit)[EQUITY]) == (20, 20)
        assert credits.status(RECEIVABLE, credit) == "sent"

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


class TestNamedAccounts:
    def test_each_net_takes_of_what_the_earlier_ones_left_of_the_accounts(self) -> None:
        nets = tuple(
            OpenAccountGiven(place="x", account=AccountReference("code", code), net=net)
            for code, net in (("4000", 90), ("4100", 60))
        )
        taxes = (by_code("S20", 100, 20), by_code("S0", 50))
        invoice = with_tax(170, *taxes, accounts=nets)
        assert amounts(documents.parts(invoice).items()) == [
            ("4000", "net", 60),
            ("4100", "net", 40),
            ("4000", "net", 30),
            ("4100", "net", 20),
            ("3290", "output", 20),
        ]
        assert posted(RECEIVABLE, invoice) == [("1200", None, 170), ("3290", None, -170)]
        assert [line.tax_total for line in invoice.lines] == [12, 8, 0, 0]
        assert sum(parts_left(invoice).values()) == 170
