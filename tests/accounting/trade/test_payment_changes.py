from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest

from accounting.errors import Malformed
from accounting.trade import payments
from accounting.trade.allocation import documents_affected
from accounting.trade.documents import left, outstanding, status
from accounting.trade.payment_changes import amend, record_with
from accounting.trade.sides import RECEIVABLE
from tests.accounting.trade import ACME, OTHER, Trade, allocations, day, line, moment, refused


class TestReceive:
    def test_amounts_follow_from_status_and_allocations(self) -> None:
        trade = Trade()
        invoice = trade.invoice(600)
        pending = trade.payments[trade.pay(1_000, (invoice, 200), status="pending")]
        done = trade.payments[trade.pay(500, (invoice, 400), processing_fee_cents=5)]
        assert (payments.allocated(pending), payments.applied(pending)) == (200, 0)
        assert (payments.unapplied(pending), payments.remaining(pending)) == (1_000, 800)
        assert (payments.allocated(done), payments.applied(done)) == (400, 400)
        assert (payments.unapplied(done), payments.remaining(done)) == (100, 100)
        assert payments.net_amount(done) == 495
        assert not payments.is_fully_allocated(done)
        document = trade.documents[invoice]
        assert (document.paid, document.reserved) == (400, 200)
        assert (outstanding(document), left(document)) == (200, 0)

    def test_note_wins_over_notes_and_providers_name_themselves(self) -> None:
        trade = Trade()
        first = trade.payments[trade.pay(1, note="a", notes="b", payment_method="paypal")]
        second = trade.payments[trade.pay(1, notes="b", payment_processor="adyen")]
        assert (first.note, first.processor) == ("a", "paypal")
        assert (second.note, second.processor) == ("b", "adyen")

    def test_the_key_of_its_request_is_kept(self) -> None:
        trade = Trade()
        assert trade.payments[trade.pay(1, idempotency_key="k")].idempotency_key == "k"

    def test_one_invoice_twice_is_malformed(self) -> None:
        trade = Trade()
        invoice = trade.invoice(600)
        refusal = refused(trade.pay, 500, (invoice, 1), (invoice, 2))
        assert isinstance(refusal, Malformed)
        assert set(refusal.detail["field_errors"]) == {"allocations.1.invoice_id"}

    @pytest.mark.parametrize(
        ("total", "part", "body", "code"),
        [
            (700, 601, {}, "allocation_exceeds_outstanding"),
            (500, 501, {}, "allocation_exceeds_total"),
            (500, 5, {"party": OTHER}, "invoice_customer_mismatch"),
            (500, 5, {"status": "failed"}, "payment_not_live"),
            (500, 5, {"party": replace(ACME, status="ARCHIVED")}, "customer_archived"),
            (500, 5, {"currency": "EUR"}, "currency_mismatch"),
            (500, 5, {"customer_external_id": "other"}, "reference_mismatch"),
        ],
    )
    def test_refusals(self, total: int, part: int, body: dict[str, Any], code: str) -> None:
        trade = Trade()
        invoice = trade.invoice(600)
        assert refused(trade.pay, total, (invoice, part), **body).code == code

    def test_what_is_left_is_told(self) -> None:
        trade = Trade()
        invoice = trade.invoice(600)
        trade.pay(100, (invoice, 100), status="pending")
        refusal = refused(trade.pay, 700, (invoice, 501))
        assert refusal.detail == {
            "left": 500,
            "amount": 501,
            "outstanding_balance": 600,
            "reserved": 100,
            "invoice_id": str(invoice),
        }

    def test_an_unknown_invoice_and_one_that_is_not_open(self) -> None:
        trade = Trade()
        draft = trade.invoice(600, sent_at=None)
        assert refused(trade.pay, 5, (UUID(int=5), 5)).code == "reference_not_found"
        refusal = refused(trade.pay, 5, (draft, 5))
        assert refusal.code == "invoice_not_open"
        assert refusal.detail == {"invoice_id": str(draft), "current_state": "draft"}

    def test_a_date_inside_the_lock_is_refused_once_money_is_posted(self) -> None:
        trade = Trade("9", lock="7")
        assert refused(trade.pay, 5, payment_date=day("7")).code == "period_locked"
        pending = trade.pay(5, payment_date=day("7"), status="pending")
        assert refused(trade.change, pending, status="completed").code == "period_locked"


class TestReceiveWith:
    def test_payments_that_come_with_an_invoice_settle_it(self) -> None:
        trade = Trade("9")
        document = trade.documents[trade.invoice(1_000, sent_at=moment("5"))]
        bodies = [
            {"payment_method": "cash", "total_amount_cents": 400},
            {"payment_method": "cash", "total_amount_cents": 600, "payment_date": day("7")},
        ]
        paid, made = record_with(RECEIVABLE, document, bodies, trade.context())
        assert (paid.paid, paid.paid_on) == (1_000, day("7"))
        assert [each.payment_date for each in made] == [day("5"), day("7")]
        assert all(payments.is_fully_allocated(each) for each in made)

    def test_an_amount_left_out_is_the_total(self) -> None:
        trade = Trade()
        document = trade.documents[trade.invoice(line(1_000, sales_taxes=[{"amount": 200}]))]
        _, (payment,) = record_with(
            RECEIVABLE, document, [{"payment_method": "cash"}], trade.context()
        )
        assert (payment.total, payment.status) == (1_200, "completed")

    @pytest.mark.parametrize(
        ("prices", "sent_at", "code"),
        [
            ([0], moment("5"), "allocation_exceeds_outstanding"),
            ([5], None, "invoice_not_open"),
        ],
    )
    def test_a_draft_or_nothing_owed_takes_none(
        self, prices: list[int], sent_at: Any, code: str
    ) -> None:
        trade = Trade("9", lock="1")
        document = trade.documents[trade.invoice(*prices, sent_at=sent_at)]
        bodies = [{"payment_method": "cash"}]
        assert refused(record_with, RECEIVABLE, document, bodies, trade.context()).code == code


class TestAmend:
    def test_nothing_changed_is_the_same_object(self) -> None:
        trade = Trade()
        invoice = trade.invoice(600)
        id_ = trade.pay(500, (invoice, 500), note="n")
        before = trade.payments[id_]
        changes = {
            "customer_id": ACME.id,
            "currency": "gbp",
            "status": "completed",
            "note": "n",
            "allocations": allocations((invoice, 500)),
        }
        amended = trade.change(id_, **changes)
        assert amended.payment is before
        assert amended.changed == ()
        assert amended.documents[invoice] == trade.documents[invoice]

    def test_a_patch_changes_only_what_it_says_and_null_clears(self) -> None:
        trade = Trade()
        id_ = trade.pay(500, note="n", bank_reference="b", external_id="x", transaction_tags=["t"])
        trade.today = "3"
        trade.change(id_, bank_reference=None, external_id=None, references={"a": "b"})
        after = trade.payments[id_]
        assert (after.note, after.bank_reference, after.external_id) == ("n", None, None)
        assert (after.transaction_tags, after.references) == (("t",), {"a": "b"})
        assert after.updated_at == moment("3")

    def test_the_older_name_of_note_is_understood(self) -> None:
        trade = Trade()
        id_ = trade.pay(500, note="n")
        trade.change(id_, notes="older")
        assert trade.payments[id_].note == "older"

    def test_a_put_clears_descriptions_and_keeps_the_rest(self) -> None:
        trade = Trade()
        invoice = trade.invoice(500)
        body = {
            "note": "n",
            "payment_reference": "p",
            "processor_reference": "r",
            "references": {"a": "b"},
            "transaction_tags": ["t"],
            "metadata": {"k": 1},
            "external_id": "x",
            "payment_processor": "adyen",
            "processing_fee_cents": 3,
        }
        id_ = trade.pay(500, (invoice, 500), **body)
        before = trade.payments[id_]
        trade.change(id_, whole=True, payment_reference="new")
        after = trade.payments[id_]
        assert (after.note, after.payment_reference, after.processor_reference) == (
            None,
            "new",
            None,
        )
        assert (after.references, after.transaction_tags, after.metadata) == ({}, (), None)
        for name in ("external_id", "processor", "fee", "total", "status", "allocations"):
            assert getattr(after, name) == getattr(before, name)

    @pytest.mark.parametrize(
        ("method", "processor", "changes", "after"),
        [
            ("stripe", None, {"payment_method": "paypal"}, "paypal"),
            ("stripe", None, {"payment_method": "cash"}, None),
            ("cash", None, {"payment_method": "stripe"}, "stripe"),
            ("cash", "adyen", {"payment_method": "stripe"}, "adyen"),
            ("cash", "adyen", {"payment_processor": None}, None),
            ("stripe", "adyen", {"payment_processor": None}, "stripe"),
            ("cash", None, {"payment_processor": "mollie"}, "mollie"),
        ],
    )
    def test_a_processor_that_follows_from_the_method_changes_with_it(
        self, method: str, processor: str | None, changes: dict[str, Any], after: str | None
    ) -> None:
        trade = Trade()
        id_ = trade.pay(500, payment_method=method, payment_processor=processor)
        trade.change(id_, **changes)
        assert trade.payments[id_].processor == after

    @pytest.mark.parametrize(
        ("changes", "code"),
        [
            ({"customer_id": OTHER.id}, "immutable_field"),
            ({"customer_external_id": "other"}, "immutable_field"),
            ({"currency": "EUR"}, "immutable_field"),
            ({"total_amount_cents": 399}, "total_below_allocated"),
            ({"payment_date": day("1")}, "period_locked"),
        ],
    )
    def test_refusals(self, changes: dict[str, Any], code: str) -> None:
        trade = Trade("2")
        invoice = trade.invoice(600)
        id_ = trade.pay(500, (invoice, 400))
        trade.lock = "1"
        assert refused(trade.change, id_, **changes).code == code

    def test_a_list_over_the_total_or_for_a_dead_payment_is_refused(self) -> None:
        trade = Trade()
        invoice = trade.invoice(600)
        id_ = trade.pay(500)
        parts = allocations((invoice, 501))
        assert refused(trade.change, id_, allocations=parts).code == "allocation_exceeds_total"
        more = trade.invoice(600)
        trade.change(id_, allocations=allocations((more, 400)))
        both = allocations((more, 400), (invoice, 101))
        assert refused(trade.change, id_, allocations=both).code == "allocation_exceeds_total"
        refusal = refused(trade.change, id_, status="refunded", allocations=parts)
        assert (refusal.code, refusal.detail) == ("payment_not_live", {"status": "refunded"})

    def test_a_dead_payment_may_be_sent_back_with_its_empty_list(self) -> None:
        trade = Trade()
        id_ = trade.pay(500)
        trade.change(id_, status="failed", allocations=[])
        assert trade.payments[id_].status == "failed"

    def test_money_released_in_the_same_list_may_go_elsewhere(self) -> None:
        trade = Trade()
        first, second = trade.invoice(500), trade.invoice(500)
        id_ = trade.pay(500, (first, 500))
        amended = trade.change(id_, allocations=allocations((second, 500)))
        assert {each.id for each in amended.changed} == {first, second}
        assert trade.documents[first].paid_on is None
        assert trade.documents[first].settled == ()
        assert trade.documents[second].paid_on == day("1")

    @pytest.mark.parametrize("word", ["failed", "cancelled", "refunded"])
    def test_leaving_life_releases_and_nothing_comes_back_by_itself(self, word: str) -> None:
        trade = Trade()
        invoice = trade.invoice(500)
        id_ = trade.pay(500, (invoice, 500))
        trade.change(id_, status=word)
        assert payments.live_allocations(trade.payments[id_]) == ()
        assert status(RECEIVABLE, trade.documents[invoice], day("1")) == "sent"
        trade.change(id_, status="completed")
        assert payments.remaining(trade.payments[id_]) == 500

    def test_a_total_may_fall_with_the_release_of_its_allocations(self) -> None:
        trade = Trade()
        id_ = trade.pay(500, (trade.invoice(500), 500))
        trade.change(id_, status="failed", total_amount_cents=1)
        assert trade.payments[id_].total == 1

    def test_reserved_money_that_is_released_was_never_applied(self) -> None:
        trade = Trade("5")
        invoice = trade.invoice(500)
        id_ = trade.pay(500, (invoice, 500), status="pending")
        trade.today = "7"
        trade.change(id_, allocations=[])
        trade.change(id_, status="completed")
        assert trade.book(id_) == [("5", {"1100": 500, "2100": -500})]
        assert trade.documents[invoice].reserved == 0

    def test_what_a_list_repeats_of_reserved_money_stays_as_it_is(self) -> None:
        trade = Trade("5")
        first, second = trade.invoice(500), trade.invoice(500)
        id_ = trade.pay(800, (first, 500), status="pending")
        [before] = trade.payments[id_].allocations
        trade.today = "7"
        amended = trade.change(id_, allocations=allocations((first, 500), (second, 300)))
        kept, begun = trade.payments[id_].allocations
        assert (kept, begun.start, amended.payment.updated_at) == (before, day("7"), moment("7"))
        assert [each.id for each in amended.changed] == [second]

    def test_money_on_its_way_may_be_dated_inside_the_lock(self) -> None:
        trade = Trade("9", lock="7")
        id_ = trade.pay(500, status="pending")
        trade.change(id_, payment_date=day("7"))
        assert (trade.payments[id_].payment_date, trade.book(id_)) == (day("7"), [])

    def test_completed_and_dated_anew_at_once_it_settles_on_its_new_day(self) -> None:
        trade = Trade("5")
        invoice = trade.invoice(500)
        id_ = trade.pay(500, (invoice, 500), status="pending")
        trade.today = "9"
        trade.change(id_, status="completed", payment_date=day("7"))
        assert trade.book(id_) == [("7", {"1100": 500, "1200": -500})]
        assert trade.documents[invoice].paid_on == day("7")

    def test_paid_on_stays_with_the_entry_that_settled(self) -> None:
        trade = Trade("5")
        invoice = trade.invoice(500)
        first = trade.pay(200, (invoice, 200))
        trade.today = "9"
        last = trade.pay(300, (invoice, 300))
        trade.change(first, payment_date=day("6"))
        assert trade.documents[invoice].paid_on == day("9")
        trade.change(last, payment_date=day("12"), note="later")
        assert trade.documents[invoice].paid_on == day("12")
        trade.change(last, payment_date=day("11"))
        assert trade.documents[invoice].paid_on == day("11")

    def test_a_moved_date_leaves_open_invoices_alone(self) -> None:
        trade = Trade("5")
        invoice = trade.invoice(500)
        id_ = trade.pay(200, (invoice, 200))
        assert trade.change(id_, payment_date=day("6")).changed == ()


class TestCancel:
    def test_pending_and_failed_payments_are_cancelled(self) -> None:
        trade = Trade()
        invoice = trade.invoice(500)
        pending = trade.pay(200, (invoice, 200), status="pending")
        failed = trade.pay(200)
        trade.change(failed, status="failed")
        for id_ in (pending, failed):
            trade.cancel(id_)
            assert trade.payments[id_].status == "cancelled"
        assert trade.documents[invoice].reserved == 0

    @pytest.mark.parametrize("word", ["processing", "completed", "cancelled", "refunded"])
    def test_others_are_not(self, word: str) -> None:
        trade = Trade()
        id_ = trade.pay(200, status=word)
        refusal = refused(trade.cancel, id_)
        assert refusal.code == "invalid_state_transition"
        assert refusal.detail["current_state"] == word
        assert word not in refusal.detail["allowed_next_states"]


class TestDocumentsTouched:
    def test_held_and_given_documents_are_named(self) -> None:
        trade = Trade()
        held, given = trade.invoice(5), trade.invoice(line(5))
        payment = trade.payments[trade.pay(5, (held, 5))]
        body = {"allocations": allocations((given, 5))}
        assert documents_affected(RECEIVABLE, payment.allocations, body) == {held, given}
        assert documents_affected(RECEIVABLE, (), body) == {given}
        assert documents_affected(RECEIVABLE, payment.allocations, {}) == {held}

    def test_they_are_all_that_a_change_needs(self) -> None:
        trade = Trade()
        held = trade.invoice(5)
        trade.invoice(9)
        payment = trade.payments[trade.pay(5, (held, 5))]
        needed = {
            id_: trade.documents[id_]
            for id_ in documents_affected(RECEIVABLE, payment.allocations, {})
        }
        amended = amend(RECEIVABLE, payment, needed, {"status": "failed"}, trade.context())
        assert [each.id for each in amended.changed] == [held]
