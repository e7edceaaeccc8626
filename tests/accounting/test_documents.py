from dataclasses import replace
from typing import Any

import pytest

from accounting import documents
from accounting.documents import (
    Document,
    is_overdue,
    left,
    outstanding,
    status,
)
from accounting.errors import Conflict, Refusal
from accounting.moves import open_document, refuse_deleting, void
from accounting.numbers import Pending
from accounting.sides import RECEIVABLE
from tests.accounting.trade import ACME, Trade, day, moment


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


class TestStatus:
    @pytest.mark.parametrize(
        ("facts", "word"),
        [
            ({"state": "void"}, "voided"),
            ({"state": "draft"}, "draft"),
            ({"paid": 1_000, "refunded": 1_000}, "refunded"),
            ({"paid": 600, "written_off": 400, "refunded": 600}, "refunded"),
            ({"paid": 1_000, "refunded": 999}, "paid"),
            ({"written_off": 1_000}, "written_off"),
            ({"paid": 600, "written_off": 400}, "written_off"),
            ({"paid": 600, "credited": 400}, "paid"),
            ({"total_amount": 0}, "paid"),
            ({"written_off": 1, "due_at": moment("1")}, "partially_written_off"),
            ({"paid": 1, "due_at": moment("9")}, "overdue"),
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
        sent = open_document(RECEIVABLE, invoice(None), None, trade.occasion())
        assert (sent.state, sent.opened_at, sent.number) == ("open", moment("7"), Pending("INV"))
        assert sent.updated_at == moment("7")

    def test_a_number_given_is_kept(self) -> None:
        draft = invoice(None, number="2026/7")
        assert open_document(RECEIVABLE, draft, None, Trade().occasion()).number == "2026/7"

    def test_due_follows_from_the_terms_unless_it_is_given(self) -> None:
        occasion = Trade("7").occasion()
        terms = replace(ACME, payment_terms_days=14)
        draft = invoice(None, due_at=None, party=terms)
        assert open_document(RECEIVABLE, draft, moment("3"), occasion).due_at == moment("17")
        given = open_document(RECEIVABLE, draft, None, occasion, due_at=moment("30"))
        assert given.due_at == moment("30")
        no_terms = replace(draft, party=ACME)
        assert open_document(RECEIVABLE, no_terms, None, occasion).due_at is None

    def test_a_total_of_zero_is_paid_when_sent(self) -> None:
        draft = invoice(None, total_amount=0)
        sent = open_document(RECEIVABLE, draft, moment("3"), Trade("7").occasion())
        assert (sent.paid_on, status(RECEIVABLE, sent, day("7"))) == (day("3"), "paid")

    def test_a_second_send_is_refused(self) -> None:
        with pytest.raises(Conflict) as refusal:
            open_document(RECEIVABLE, invoice(), None, Trade("7").occasion())
        assert code_of(refusal) == "invalid_state_transition"
        assert refusal.value.detail == {"current_state": "sent", "allowed_next_states": ["voided"]}

    def test_an_archived_customer_gets_no_invoice(self) -> None:
        draft = invoice(None, party=replace(ACME, archived=True))
        with pytest.raises(Conflict) as refusal:
            open_document(RECEIVABLE, draft, None, Trade().occasion())
        assert code_of(refusal) == "customer_archived"

    def test_a_date_inside_the_lock_is_refused(self) -> None:
        with pytest.raises(Conflict) as refusal:
            open_document(RECEIVABLE, invoice(None), moment("4"), Trade("9", "4").occasion())
        assert code_of(refusal) == "period_locked"


class TestVoid:
    def test_a_void_is_final(self) -> None:
        occasion = Trade("9").occasion()
        voided = void(RECEIVABLE, invoice(), None, occasion)
        assert (voided.state, voided.voided_at, voided.paid_on) == ("void", moment("9"), None)
        with pytest.raises(Conflict) as refusal:
            void(RECEIVABLE, voided, None, occasion)
        assert refusal.value.detail == {"current_state": "voided", "allowed_next_states": []}

    def test_a_draft_is_deleted_and_not_voided(self) -> None:
        with pytest.raises(Conflict) as refusal:
            void(RECEIVABLE, invoice(None), None, Trade().occasion())
        assert refusal.value.detail == {"current_state": "draft", "allowed_next_states": ["sent"]}

    @pytest.mark.parametrize("what", ["paid", "reserved", "credited", "refunded", "written_off"])
    def test_what_is_touched_stays(self, what: str) -> None:
        with pytest.raises(Conflict) as refusal:
            void(RECEIVABLE, invoice(**{what: 1}), None, Trade().occasion())
        assert code_of(refusal) == "invoice_has_allocations"
        assert sum(refusal.value.detail.values()) == 1

    def test_a_given_date_inside_the_lock_is_refused(self) -> None:
        with pytest.raises(Conflict) as refusal:
            void(RECEIVABLE, invoice(), moment("6"), Trade("9", "6").occasion())
        assert code_of(refusal) == "period_locked"


class TestDelete:
    def test_only_a_draft_is_deleted(self) -> None:
        occasion = Trade().occasion()
        refuse_deleting(RECEIVABLE, invoice(None), occasion)
        with pytest.raises(Conflict) as refusal:
            refuse_deleting(RECEIVABLE, invoice(), occasion)
        assert code_of(refusal) == "invalid_state_transition"


class TestOpenedOn:
    def test_a_draft_has_no_opening_day(self) -> None:
        assert documents.opened_on(invoice()) == day("5")
        with pytest.raises(ValueError, match="no opening day"):
            documents.opened_on(invoice(None))
