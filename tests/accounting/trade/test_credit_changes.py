from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest

from accounting.books.accounts import AccountReference
from accounting.books.numbers import Pending
from accounting.errors import Malformed
from accounting.money import MAX_AMOUNT
from accounting.trade import credit_changes, credits
from accounting.trade.allocation import documents_affected
from accounting.trade.documents import outstanding, status
from accounting.trade.sides import RECEIVABLE
from tests.accounting.trade import (
    ACME,
    OTHER,
    Trade,
    account_id,
    by_code,
    credit_line,
    day,
    line,
    moment,
    refused,
    uses,
)


def word(trade: Trade, id_: UUID) -> str:
    return credits.status(RECEIVABLE, trade.credits[id_])


class TestDrawUp:
    def test_lines_and_their_tax_make_the_total(self) -> None:
        trade = Trade("5")
        credit = trade.credits[trade.credit(credit_line(1_000, 200, "4500"), 500)]
        assert (credit.tax_total, credit.total_amount) == (200, 1_700)
        assert [line.account_id for line in credit.lines] == [
            account_id("4500"),
            account_id("4100"),
        ]
        parts = tuple(credits.parts(credit).items())
        assert by_code(parts) == {"4500": 1_000, "4100": 500, "2200": 200}

    def test_it_keeps_what_was_said_of_it(self) -> None:
        trade = Trade("5")
        item = {**credit_line(5), "memo": "l", "tags": ["x"], "metadata": {"a": 1}}
        body = {"external_id": "c", "source_invoice_id": UUID(int=7), "memo": "m", "tags": ["t"]}
        credit = trade.credits[trade.credit(item, **body, metadata=[1])]
        assert (credit.external_id, credit.source_document_id) == ("c", UUID(int=7))
        assert (credit.memo, credit.transaction_tags, credit.metadata) == ("m", ("t",), [1])
        [kept] = credit.lines
        assert (kept.memo, kept.tags, kept.metadata) == ("l", ("x",), {"a": 1})

    def test_sent_it_has_a_number_and_a_draft_has_none(self) -> None:
        trade = Trade("5")
        sent = trade.credits[trade.credit(5)]
        draft = trade.credits[trade.credit(5, sent_at=None)]
        given = trade.credits[trade.credit(5, credit_note_number="G-1")]
        assert (sent.number, sent.opened_at) == (Pending("CN"), moment("5"))
        assert (draft.number, draft.state, credits.unapplied(draft)) == (None, "draft", 0)
        assert given.number == "G-1"

    def test_one_invoice_twice_is_malformed(self) -> None:
        trade = Trade("5")
        invoice = trade.invoice(600)
        refusal = refused(trade.credit, 500, to=[(invoice, 1), (invoice, 2)])
        assert isinstance(refusal, Malformed)
        assert set(refusal.detail["field_errors"]) == {"allocations.1.invoice_id"}

    @pytest.mark.parametrize(
        ("amount", "part", "body", "code"),
        [
            (700, 601, {}, "allocation_exceeds_outstanding"),
            (500, 501, {}, "allocation_exceeds_total"),
            (500, 5, {"party": OTHER}, "invoice_customer_mismatch"),
            (500, 5, {"party": replace(ACME, status="ARCHIVED")}, "customer_archived"),
            (500, 5, {"sent_at": None}, "credit_not_sent"),
            (500, 5, {"sent_at": moment("1")}, "period_locked"),
            (500, 5, {"currency": "EUR"}, "currency_mismatch"),
            (500, 5, {"customer_external_id": "other"}, "reference_mismatch"),
            (MAX_AMOUNT + 1, 5, {}, "amount_too_large"),
        ],
    )
    def test_refusals(self, amount: int, part: int, body: dict[str, Any], code: str) -> None:
        trade = Trade("5", lock="1")
        invoice = trade.invoice(600)
        assert refused(trade.credit, amount, to=[(invoice, part)], **body).code == code
        assert trade.documents[invoice].credited == 0

    def test_an_archived_customer_gets_no_draft_either(self) -> None:
        archived = replace(ACME, status="ARCHIVED")
        assert refused(Trade().credit, 5, party=archived, sent_at=None).code == "customer_archived"

    def test_what_pending_money_is_meant_for_is_not_credited(self) -> None:
        trade = Trade("5")
        invoice = trade.invoice(600)
        trade.pay(100, (invoice, 100), status="pending")
        refusal = refused(trade.credit, 600, to=[(invoice, 501)])
        assert refusal.detail == {
            "left": 500,
            "amount": 501,
            "outstanding_balance": 600,
            "reserved": 100,
            "invoice_id": str(invoice),
        }

    def test_a_draft_says_which_state_it_is_in(self) -> None:
        trade = Trade("5")
        refusal = refused(trade.credit, 5, to=[(trade.invoice(5), 5)], sent_at=None)
        assert refusal.detail == {"current_state": "draft"}

    def test_an_unknown_invoice_and_one_that_is_not_open(self) -> None:
        trade = Trade("5")
        draft = trade.invoice(600, sent_at=None)
        assert refused(trade.credit, 5, to=[(UUID(int=5), 5)]).code == "reference_not_found"
        refusal = refused(trade.credit, 5, to=[(draft, 5)])
        assert refusal.detail == {"invoice_id": str(draft), "current_state": "draft"}
        assert refusal.code == "invoice_not_open"

    @pytest.mark.parametrize(
        ("code", "refusal"), [("2250", "control_account"), ("9999", "reference_not_found")]
    )
    def test_the_account_of_a_line_must_be_usable(self, code: str, refusal: str) -> None:
        assert refused(Trade().credit, credit_line(5, code=code)).code == refusal


class TestApplied:
    def test_it_brings_down_what_is_owed(self) -> None:
        trade = Trade("5")
        invoice = trade.invoice(1_000)
        id_ = trade.credit(1_000, to=[(invoice, 600)])
        document = trade.documents[invoice]
        assert (document.credited, outstanding(document)) == (600, 400)
        assert status(RECEIVABLE, document, day("5")) == "partially_paid"
        credit = trade.credits[id_]
        assert (credits.applied(credit), credits.unapplied(credit)) == (600, 400)
        assert word(trade, id_) == "partially_applied"
        trade.today = "9"
        trade.apply(id_, (invoice, 1_000))
        assert word(trade, id_) == "applied"
        assert status(RECEIVABLE, trade.documents[invoice], day("9")) == "paid"
        assert trade.documents[invoice].paid_on == day("9")

    def test_both_sides_are_split_step_by_step_and_close_exactly(self) -> None:
        trade = Trade("5")
        first = trade.invoice(line(8_333, sales_taxes=[{"amount": 1_667}]))
        second = trade.invoice(6_667)
        id_ = trade.credit(credit_line(8_333, 1_667), to=[(first, 3_333), (second, 6_667)])
        one, two = trade.credits[id_].allocations
        assert by_code(one.own_split) == {"4100": 2_777, "2200": 556}
        assert by_code(two.own_split) == {"4100": 5_556, "2200": 1_111}
        assert by_code(one.split) == {"4000": 2_777, "2200": 556}
        assert by_code(trade.credits[id_].settled) == {"4100": 8_333, "2200": 1_667}

    def test_what_is_unchanged_keeps_its_day_and_its_split(self) -> None:
        trade = Trade("5")
        first, second = trade.invoice(500), trade.invoice(500)
        id_ = trade.credit(credit_line(900, 100), to=[(first, 300), (second, 500)])
        trade.today = "12"
        trade.apply(id_, (second, 500), (first, 500))
        ended, kept, begun = trade.credits[id_].allocations
        assert (ended.end, kept.end, begun.start) == (day("12"), None, day("12"))
        assert sum(part for _, part in trade.credits[id_].settled) == 1_000

    def test_a_released_part_gives_both_splits_back(self) -> None:
        trade = Trade("5")
        first, second = trade.invoice(500), trade.invoice(500)
        id_ = trade.credit(credit_line(900, 100), to=[(first, 333), (second, 500)])
        amended = trade.apply(id_, (second, 500))
        kept = trade.credits[id_].allocations[1]
        assert trade.credits[id_].settled == kept.own_split
        assert [each.id for each in amended.changed] == [first]
        assert trade.documents[first].settled == ()
        assert trade.documents[first].credited == 0

    def test_what_was_released_earlier_is_given_back_once(self) -> None:
        trade = Trade("5")
        first, second = trade.invoice(500), trade.invoice(500)
        id_ = trade.credit(credit_line(900, 100), to=[(first, 333)])
        trade.apply(id_)
        trade.apply(id_, (second, 500))
        trade.apply(id_, (second, 500), (first, 500))
        assert by_code(trade.credits[id_].settled) == {"4100": 900, "2200": 100}

    def test_refunds_do_not_hold_a_credit_back(self) -> None:
        trade = Trade("5")
        invoice = trade.invoice(1_000)
        id_ = trade.credit(400, to=[(invoice, 400)])
        trade.pay(600, (invoice, 600))
        trade.refund(invoice, 600)
        trade.apply(id_)
        assert outstanding(trade.documents[invoice]) == 400


class TestReplaced:
    def test_nothing_changed_is_the_same_object(self) -> None:
        trade = Trade("5")
        invoice = trade.invoice(600)
        id_ = trade.credit(500, to=[(invoice, 500)], memo="m")
        before = trade.credits[id_]
        credited = trade.apply(id_, (invoice, 500), memo="m", sent_at=moment("5"))
        assert credited.credit is before
        assert (credited.changed, credited.documents) == ((), trade.documents)

    def test_without_a_list_the_allocations_stay_and_descriptions_are_cleared(self) -> None:
        trade = Trade("5")
        id_ = trade.credit(500, to=[(trade.invoice(600), 500)], memo="m", tags=["t"], metadata=1)
        trade.today = "9"
        trade.change_credit(id_, tags=["u"])
        credit = trade.credits[id_]
        assert (credit.memo, credit.transaction_tags, credit.metadata) == (None, ("u",), None)
        assert (credits.applied(credit), credit.updated_at) == (500, moment("9"))

    def test_a_draft_is_sent_by_a_date_and_may_be_applied_at_once(self) -> None:
        trade = Trade("5")
        invoice = trade.invoice(600)
        id_ = trade.credit(500, sent_at=None)
        assert refused(trade.apply, id_, (invoice, 5)).code == "credit_not_sent"
        trade.today = "9"
        trade.apply(id_, (invoice, 100), sent_at=moment("7"))
        credit = trade.credits[id_]
        assert (credit.number, credit.opened_at) == (Pending("CN"), moment("7"))
        assert credit.allocations[0].start == day("9")

    @pytest.mark.parametrize(
        ("party", "lock", "code"),
        [
            (replace(ACME, status="ARCHIVED"), None, "customer_archived"),
            (ACME, "5", "period_locked"),
        ],
    )
    def test_sending_is_refused_as_on_create(self, party: Any, lock: str | None, code: str) -> None:
        trade = Trade("5")
        id_ = trade.credit(500, sent_at=None)
        trade.credits[id_] = replace(trade.credits[id_], party=party)
        trade.lock = lock
        assert refused(trade.change_credit, id_, sent_at=moment("5")).code == code

    def test_the_moment_it_was_sent_does_not_change(self) -> None:
        trade = Trade("5")
        refusal = refused(trade.change_credit, trade.credit(500), sent_at=moment("6"))
        assert (refusal.code, refusal.detail) == ("immutable_field", {"field": "sent_at"})

    def test_a_void_credit_stays_as_it_is(self) -> None:
        trade = Trade("5")
        id_ = trade.void_credit(trade.credit(500))
        refusal = refused(trade.change_credit, id_, memo="m")
        assert refusal.code == "invalid_state_transition"
        assert refusal.detail == {"current_state": "void", "allowed_next_states": []}

    def test_the_rest_of_an_archived_customers_credit_may_be_used(self) -> None:
        trade = Trade("5")
        invoice = trade.invoice(600)
        id_ = trade.credit(500)
        trade.credits[id_] = replace(trade.credits[id_], party=replace(ACME, status="ARCHIVED"))
        trade.apply(id_, (invoice, 500))
        assert word(trade, id_) == "applied"


class TestVoid:
    def test_a_void_credit_is_worth_nothing(self) -> None:
        trade = Trade("5")
        id_ = trade.credit(500)
        trade.today = "9"
        trade.void_credit(id_)
        credit = trade.credits[id_]
        assert (word(trade, id_), credits.unapplied(credit)) == ("void", 0)
        assert credit.voided_at == credit.updated_at == moment("9")

    def test_what_is_applied_is_taken_back_first(self) -> None:
        trade = Trade("5")
        id_ = trade.credit(500, to=[(trade.invoice(600), 300)])
        refusal = refused(trade.void_credit, id_)
        assert (refusal.code, refusal.detail) == ("credit_applied", {"applied_amount": 300})
        trade.apply(id_)
        trade.void_credit(id_)
        assert trade.balances() == {"1200": 600, "4000": -600}

    @pytest.mark.parametrize(("state", "allowed"), [("draft", ["sent"]), ("void", [])])
    def test_only_a_sent_one(self, state: str, allowed: list[str]) -> None:
        trade = Trade("5")
        id_ = trade.credit(500, sent_at=None if state == "draft" else moment("5"))
        if state == "void":
            trade.void_credit(id_)
        refusal = refused(trade.void_credit, id_)
        assert refusal.code == "invalid_state_transition"
        assert refusal.detail == {"current_state": state, "allowed_next_states": allowed}

    def test_a_given_day_inside_the_lock_is_refused(self) -> None:
        trade = Trade("5")
        id_ = trade.credit(500)
        trade.today, trade.lock = "20", "9"
        assert refused(trade.void_credit, id_, "9").code == "period_locked"


class TestNeeded:
    def test_accounts_and_invoices_are_named_so_that_they_can_be_loaded(self) -> None:
        trade = Trade("5")
        held, given = trade.invoice(5), trade.invoice(5)
        credit = trade.credits[trade.credit(5, to=[(held, 5)])]
        body = {
            "line_items": [credit_line(5), credit_line(5, code="4500")],
            "allocations": uses((given, 5)),
        }
        affected = documents_affected(RECEIVABLE, credit.allocations, body)
        assert affected == {held, given}
        assert documents_affected(RECEIVABLE, (), body) == {given}
        assert credit_changes.account_references(RECEIVABLE, body) == {
            AccountReference("code", "4500")
        }

    def test_a_draft_has_no_opening_day(self) -> None:
        trade = Trade("5")
        draft = trade.credits[trade.credit(5, sent_at=None)]
        with pytest.raises(ValueError, match="no opening day"):
            credits.opened_on(draft)
