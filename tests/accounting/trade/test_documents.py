from dataclasses import replace
from typing import Any

import pytest

from accounting.books.numbers import Pending
from accounting.books.splits import negative
from accounting.errors import Conflict, Refusal
from accounting.trade import documents
from accounting.trade.document_moves import open_document, refuse_deleting, void
from accounting.trade.documents import (
    Document,
    is_overdue,
    left,
    outstanding,
    status,
)
from accounting.trade.sides import RECEIVABLE
from tests.accounting.trade import (
    ACME,
    Trade,
    account_id,
    account_named,
    by_code,
    day,
    line,
    moment,
)


def invoice(sent_at: str | None = "5", **facts: Any) -> Document:
    trade = Trade()
    sent = None if sent_at is None else moment(sent_at)
    drawn = trade.documents[trade.invoice(1_000, sent_at=sent, due_at=moment("20"))]
    return replace(drawn, **facts)


def code_of(refusal: pytest.ExceptionInfo[Refusal]) -> str:
    return refusal.value.code


class TestAmounts:
    def test_outstanding_is_what_nothing_has_settled(self) -> None:
        document = invoice(paid=300, credited=100, written_off=50, reserved=200)
        assert outstanding(document) == 550
        assert left(document) == 350

    def test_a_void_document_owes_nothing(self) -> None:
        assert outstanding(invoice(state="void")) == 0


class TestParts:
    def test_sales_net_of_discounts_and_taxes_where_they_stand(self) -> None:
        trade = Trade()
        tax = {"amount": 10, "tax_account": account_named("2400")}
        drawn = trade.documents[
            trade.invoice(
                line(900, account_identifier=account_named("4500")),
                line(300, sales_taxes=[tax, {"amount": 7}]),
                additional_discount=120,
            )
        ]
        parts = tuple(documents.parts(drawn).items())
        assert by_code(parts) == {"4500": 810, "4000": 270, "2400": 10, "2200": 7}
        returned = tuple(documents.return_parts(drawn, account_id("4100")).items())
        assert by_code(returned) == {"4100": 1_080, "2400": 10, "2200": 7}


class TestSettle:
    @pytest.mark.parametrize("by", ["paid", "credited", "written_off"])
    def test_the_day_of_what_closes_it_is_kept_until_it_is_taken_back(self, by: Any) -> None:
        split = ((account_id("4000"), 400),)
        part = documents.settle(invoice(paid=600), 400, split, day("9"), by)
        assert (outstanding(part), part.paid_on, part.settled) == (0, day("9"), split)
        assert getattr(part, by) == (1_000 if by == "paid" else 400)
        owed = documents.settle(part, -400, negative(split), by=by)
        assert (outstanding(owed), owed.paid_on, owed.settled) == (400, None, ())

    def test_a_part_does_not_close_it(self) -> None:
        assert documents.settle(invoice(), 999, (), day("9")).paid_on is None

    def test_what_is_given_back_is_owed_no_more_than_before(self) -> None:
        split = ((account_id("4100"), 300),)
        given = documents.give_back(invoice(paid=1_000, paid_on=day("9")), 300, split)
        assert (given.refunded, given.returned, outstanding(given)) == (300, split, 0)
        assert given.paid_on == day("9")
        kept = documents.give_back(given, -300, negative(split))
        assert (kept.refunded, kept.returned) == (0, ())


class TestStatus:
    @pytest.mark.parametrize(
        ("facts", "word"),
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
    def test_the_first_that_fits(self, facts: dict[str, Any], word: str) -> None:
        assert status(RECEIVABLE, invoice(**facts), day("10")) == word

    def test_overdue_stands_beside_the_status(self) -> None:
        late = invoice(written_off=1)
        assert is_overdue(late, day("21"))
        assert not is_overdue(late, day("20"))
        assert not is_overdue(invoice(paid=1_000), day("21"))
        assert not is_overdue(invoice(state="draft"), day("21"))
        assert not is_overdue(invoice(due_at=None), day("21"))


class TestSend:
    def test_a_draft_opens_now_with_a_number_of_the_series(self) -> None:
        trade = Trade("7")
        sent = open_document(RECEIVABLE, invoice(None), None, trade.context())
        assert (sent.state, sent.opened_at, sent.number) == ("open", moment("7"), Pending("INV"))
        assert (sent.updated_at, sent.paid_on) == (moment("7"), None)

    def test_its_day_in_the_books_is_when_it_is_sent_and_not_the_date_on_it(self) -> None:
        draft = invoice(None, issue_date=day("3"))
        sent = open_document(RECEIVABLE, draft, moment("5"), Trade("7", "4").context())
        assert documents.opened_on(sent) == day("5")

    def test_a_number_given_is_kept(self) -> None:
        draft = invoice(None, number="2026/7")
        assert open_document(RECEIVABLE, draft, None, Trade().context()).number == "2026/7"

    def test_due_follows_from_the_terms_unless_it_is_given(self) -> None:
        context = Trade("7").context()
        terms = replace(ACME, payment_terms_days=14)
        draft = invoice(None, due_at=None, party=terms)
        assert open_document(RECEIVABLE, draft, moment("3"), context).due_at == moment("17")
        given = open_document(RECEIVABLE, draft, None, context, due_at=moment("30"))
        assert given.due_at == moment("30")
        own = replace(draft, due_at=moment("20"))
        assert open_document(RECEIVABLE, own, None, context).due_at == moment("20")
        no_terms = replace(draft, party=ACME)
        assert open_document(RECEIVABLE, no_terms, None, context).due_at is None

    def test_a_total_of_zero_is_paid_when_sent(self) -> None:
        draft = invoice(None, total_amount=0)
        sent = open_document(RECEIVABLE, draft, moment("3"), Trade("7").context())
        assert (sent.paid_on, status(RECEIVABLE, sent, day("7"))) == (day("3"), "paid")
        voided = void(RECEIVABLE, sent, None, Trade("9").context())
        assert (voided.paid_on, voided.updated_at) == (None, moment("9"))

    def test_a_second_send_is_refused(self) -> None:
        with pytest.raises(Conflict) as refusal:
            open_document(RECEIVABLE, invoice(), None, Trade("7").context())
        assert code_of(refusal) == "invalid_state_transition"
        assert refusal.value.detail == {"current_state": "sent", "allowed_next_states": ["voided"]}

    def test_an_archived_customer_gets_no_invoice(self) -> None:
        draft = invoice(None, party=replace(ACME, status="ARCHIVED"))
        with pytest.raises(Conflict) as refusal:
            open_document(RECEIVABLE, draft, None, Trade().context())
        assert code_of(refusal) == "customer_archived"

    def test_a_date_inside_the_lock_is_refused(self) -> None:
        with pytest.raises(Conflict) as refusal:
            open_document(RECEIVABLE, invoice(None), moment("4"), Trade("9", "4").context())
        assert code_of(refusal) == "period_locked"


class TestVoid:
    def test_a_void_is_final(self) -> None:
        context = Trade("9").context()
        voided = void(RECEIVABLE, invoice(), None, context)
        assert (voided.state, voided.voided_at, voided.paid_on) == ("void", moment("9"), None)
        with pytest.raises(Conflict) as refusal:
            void(RECEIVABLE, voided, None, context)
        assert refusal.value.detail == {"current_state": "voided", "allowed_next_states": []}

    def test_a_draft_is_deleted_and_not_voided(self) -> None:
        with pytest.raises(Conflict) as refusal:
            void(RECEIVABLE, invoice(None), None, Trade().context())
        assert refusal.value.detail == {"current_state": "draft", "allowed_next_states": ["sent"]}

    @pytest.mark.parametrize("what", ["paid", "reserved", "credited", "refunded", "written_off"])
    def test_what_is_touched_stays(self, what: str) -> None:
        with pytest.raises(Conflict) as refusal:
            void(RECEIVABLE, invoice(**{what: 1}), None, Trade().context())
        assert code_of(refusal) == "invoice_has_allocations"
        nothing = dict.fromkeys(("allocated", "credited", "refunded", "written_off"), 0)
        shown = "allocated" if what in ("paid", "reserved") else what
        assert refusal.value.detail == {**nothing, shown: 1}

    def test_a_given_date_inside_the_lock_is_refused(self) -> None:
        with pytest.raises(Conflict) as refusal:
            void(RECEIVABLE, invoice(), moment("6"), Trade("9", "6").context())
        assert code_of(refusal) == "period_locked"


class TestDelete:
    def test_only_a_draft_is_deleted(self) -> None:
        context = Trade().context()
        refuse_deleting(RECEIVABLE, invoice(None), context)
        with pytest.raises(Conflict) as refusal:
            refuse_deleting(RECEIVABLE, invoice(), context)
        assert code_of(refusal) == "invalid_state_transition"


class TestOpenedOn:
    def test_a_draft_has_no_opening_day(self) -> None:
        assert documents.opened_on(invoice()) == day("5")
        with pytest.raises(ValueError, match="no opening day"):
            documents.opened_on(invoice(None))
