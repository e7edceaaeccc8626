from dataclasses import replace
from typing import Any

import pytest

from accounting.books.ledger import negative
from accounting.trade import documents
from accounting.trade.commands import TaxGiven
from accounting.trade.documents import Document, is_overdue, left, outstanding, status
from accounting.trade.remaining_by_line import parts_left
from accounting.trade.sides import PAYABLE, RECEIVABLE, Side
from tests.accounting.samples import (
    account_id,
    by_code,
    context_of,
    day,
    moment,
    named,
    part_on,
)
from tests.accounting.trade.business import Trade, line


def document(**facts: Any) -> Document:
    """Create a document of 1000, opened on the 5th and due on the 20th."""
    trade = Trade("5")
    made = trade.documents[trade.document(1_000, due_at=moment("20"))]
    return replace(made, **facts)


class TestAmounts:
    def test_outstanding_is_what_nothing_has_settled(self) -> None:
        owed = document(paid=300, credited=100, written_off=50, reserved=200)
        assert (outstanding(owed), left(owed)) == (550, 350)
        assert outstanding(document(state="void")) == 0

    def test_sales_net_of_discounts_and_taxes_where_they_stand(self, trade: Trade) -> None:
        taxed = line(300, taxes=(TaxGiven(10, named("2400")), TaxGiven(7)))
        lines = line(900, account=named("4500")), taxed
        made = trade.documents[trade.document(*lines, additional_discount=120)]
        parts = tuple(documents.parts(made).items())
        assert by_code(parts) == {"4500": 810, "4000": 270, "2400": 10, "2200": 7}
        returned = tuple(parts_left(made, account_id("4100")).items())
        assert by_code(returned) == {"4100": 1_080, "2400": 10, "2200": 7}


class TestSettle:
    @pytest.mark.parametrize("by", ["paid", "credited", "written_off"])
    def test_the_day_of_what_closes_it_is_kept_until_it_is_taken_back(self, by: Any) -> None:
        split = ((part_on("4000"), 400),)
        part = documents.settle(document(paid=600), 400, split, day("9"), by)
        assert (outstanding(part), part.paid_on, part.settled) == (0, day("9"), split)
        assert getattr(part, by) == (1_000 if by == "paid" else 400)
        owed = documents.settle(part, -400, negative(split), by=by)
        assert (outstanding(owed), owed.paid_on, owed.settled) == (400, None, ())

    def test_a_part_does_not_close_it(self) -> None:
        assert documents.settle(document(), 999, (), day("9")).paid_on is None

    def test_a_refund_does_not_raise_the_outstanding_balance(self) -> None:
        split = ((part_on("4100"), 300),)
        given = documents.record_refund(document(paid=1_000, paid_on=day("9")), 300, split)
        assert (given.refunded, given.returned, outstanding(given)) == (300, split, 0)
        assert given.paid_on == day("9")
        kept = documents.record_refund(given, -300, negative(split))
        assert (kept.refunded, kept.returned) == (0, ())


class TestStatus:
    @pytest.mark.parametrize(
        ("facts", "expected"),
        [
            ({"state": "void"}, "voided"),
            ({"state": "draft"}, "draft"),
            ({"paid": 1_000, "refunded": 1_000}, "refunded"),
            ({"paid": 600, "written_off": 400, "refunded": 600}, "refunded"),
            ({"paid": 1_000, "refunded": 999}, "paid"),
            ({"total_amount": 1, "paid": 1, "refunded": 1}, "refunded"),
            ({"written_off": 1_000}, "written_off"),
            ({"paid": 600, "written_off": 400}, "written_off"),
            ({"paid": 600, "credited": 400}, "paid"),
            ({"total_amount": 0}, "paid"),
            ({"written_off": 1, "due_at": moment("1")}, "partially_written_off"),
            ({"paid": 1, "due_at": moment("9")}, "overdue"),
            ({"paid": 999, "due_at": moment("9")}, "overdue"),
            ({"paid": 1, "due_at": moment("10")}, "partially_paid"),
            ({"credited": 1, "due_at": None}, "partially_paid"),
            ({"reserved": 1_000}, "sent"),
        ],
    )
    def test_the_first_that_fits(self, facts: dict[str, Any], expected: str) -> None:
        assert status(RECEIVABLE, document(**facts), context_of("10")) == expected

    @pytest.mark.parametrize(("side", "opened"), [(RECEIVABLE, "sent"), (PAYABLE, "received")])
    def test_each_side_has_a_word_for_an_open_one(self, side: Side, opened: str) -> None:
        assert status(side, document(), context_of("10")) == opened

    def test_overdue_stands_beside_the_status(self) -> None:
        late = document(written_off=1)
        assert is_overdue(late, context_of("21"))
        assert not is_overdue(late, context_of("20"))
        for facts in ({"paid": 1_000}, {"state": "draft"}, {"due_at": None}):
            assert not is_overdue(document(**facts), context_of("21"))

    def test_a_draft_has_no_opening_day(self) -> None:
        assert documents.opened_on(document()) == day("5")
        with pytest.raises(ValueError, match="no opening day"):
            documents.opened_on(document(opened_on=None))
