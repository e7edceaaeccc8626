"""Payments that are created, changed and cancelled, and the documents they settle."""

from dataclasses import replace
from typing import Any

import pytest

from accounting.trade import payments
from accounting.trade.allocation import AllocationItem, documents_affected
from accounting.trade.commands import ChangePayment, InitialPayment
from accounting.trade.documents import left, outstanding
from accounting.trade.parties import PartyNamed
from accounting.trade.payment_changes import amend, record_with
from accounting.trade.payments import allowed_moves
from accounting.trade.sides import PAYABLE, RECEIVABLE, Side
from tests.accounting.samples import (
    ACME,
    ARCHIVED,
    OTHER,
    day,
    moment,
    no_move,
    refusal_of,
    refused,
)
from tests.accounting.trade.business import BOTH_SIDES, TAXED, Trade, code_on, items

STRANGER = PartyNamed(external_id="other")
DESCRIBED: dict[str, Any] = {
    **{"note": "n", "payment_reference": "p", "bank_reference": "b", "processor_reference": "r"},
    **{"check_number": "7", "references": {"a": "b"}, "transaction_tags": ("t",)},
    "metadata": {"k": 1},
}


@BOTH_SIDES
class TestRecord:
    def test_amounts_follow_from_status_and_allocations(self, trade: Trade) -> None:
        id_ = trade.document(600)
        pending = trade.payments[trade.pay(1_000, (id_, 200), status="pending")]
        done = trade.payments[trade.pay(500, (id_, 400), fee=5)]
        amounts = payments.allocated, payments.applied, payments.unapplied, payments.remaining
        assert [each(pending) for each in amounts] == [200, 0, 1_000, 800]
        assert [each(done) for each in amounts] == [400, 400, 100, 100]
        assert payments.net_amount(done) == 495
        assert not payments.is_fully_allocated(done)
        document = trade.documents[id_]
        assert (document.paid, document.reserved) == (400, 200)
        assert (outstanding(document), left(document)) == (200, 0)

    def test_a_payment_keeps_the_given_facts(self, trade: Trade) -> None:
        said = {**DESCRIBED, "external_id": "x", "idempotency_key": "k", "processor": "adyen"}
        kept = trade.payments[trade.pay(1, **said)]
        assert {name: getattr(kept, name) for name in said} == said

    def test_providers_name_themselves(self, trade: Trade) -> None:
        assert trade.payments[trade.pay(1, method="paypal")].processor == "paypal"
        assert trade.payments[trade.pay(1, method="cash")].processor is None

    @pytest.mark.parametrize(
        ("total", "part", "facts", "code"),
        [
            (700, 601, {}, "allocation_exceeds_outstanding"),
            (500, 501, {}, "allocation_exceeds_total"),
            (500, 5, {"loaded": OTHER}, "of_another_party"),
            (500, 5, {"status": "failed"}, "payment_not_live"),
            (500, 5, {"loaded": ARCHIVED}, "party_not_active"),
            (500, 5, {"currency": "EUR"}, "exchange_rate_missing"),
            (500, 5, {"party": STRANGER}, "reference_mismatch"),
            (500, 5, {"payment_date": day("7")}, "period_locked"),
        ],
    )
    def test_an_invalid_payment_is_refused(
        self, side: Side, total: int, part: int, facts: dict[str, Any], code: str
    ) -> None:
        trade = Trade("9", lock="7", side=side)
        refusal = refused(trade.pay, total, (trade.document(600), part), **facts)
        assert refusal.code == code_on(side, code)

    def test_a_pending_payment_cannot_complete_in_a_locked_period(self, side: Side) -> None:
        trade = Trade("9", lock="7", side=side)
        pending = trade.pay(5, payment_date=day("7"), status="pending")
        assert refused(trade.change, pending, status="completed").code == "period_locked"


@BOTH_SIDES
class TestRecordWith:
    def test_payments_that_come_with_a_document_settle_it(self, side: Side, trade: Trade) -> None:
        opened = {"opened_at": moment("5"), "issue_date": day("3")}
        document = trade.documents[trade.on("9").document(1_000, **opened)]
        commands = [
            InitialPayment(method="cash", total=400, processor="adyen", note="n"),
            InitialPayment(method="cash", total=600, payment_date=day("7")),
        ]
        paid, made = record_with(side, document, commands, trade.context())
        assert (paid.paid, paid.paid_on) == (1_000, day("7"))
        assert [each.payment_date for each in made] == [day("5"), day("7")]
        assert all(payments.is_fully_allocated(each) for each in made)
        assert (made[0].processor, made[0].note) == ("adyen", "n")

    def test_an_amount_left_out_is_the_total(self, side: Side, trade: Trade) -> None:
        document = trade.documents[trade.document(TAXED)]
        command = InitialPayment(method="cash")
        _, [payment] = record_with(side, document, [command], trade.context())
        assert (payment.total, payment.status) == (10_000, "completed")

    @pytest.mark.parametrize(
        ("price", "opened_at", "code"),
        [(0, moment("5"), "allocation_exceeds_outstanding"), (5, None, "not_open")],
    )
    def test_a_draft_or_nothing_owed_takes_none(
        self, side: Side, trade: Trade, price: int, opened_at: Any, code: str
    ) -> None:
        document = trade.documents[trade.on("9").document(price, opened_at=opened_at)]
        commands = [InitialPayment(method="cash")]
        refusal = refused(record_with, side, document, commands, trade.context())
        assert refusal.code == code_on(side, code)


@BOTH_SIDES
class TestAmend:
    def test_nothing_changed_is_the_same_object(self, trade: Trade) -> None:
        id_ = trade.document(600)
        payment = trade.pay(500, (id_, 500), note="n")
        before = trade.payments[payment]
        same = {"currency": "GBP", "status": "completed", "note": "n"}
        whole = items((id_, 500))
        amended = trade.change(payment, party=PartyNamed(ACME.id), allocations=whole, **same)
        assert amended.payment is before
        assert amended.changed == ()
        assert amended.documents[id_] == trade.documents[id_]

    def test_only_what_is_said_changes_and_null_clears(self, trade: Trade) -> None:
        id_ = trade.pay(500, **DESCRIBED, external_id="x")
        trade.on("3").change(id_, bank_reference=None, external_id=None, references={"c": "d"})
        after = trade.payments[id_]
        assert (after.bank_reference, after.external_id) == (None, None)
        assert (after.note, after.check_number, after.references) == ("n", "7", {"c": "d"})
        assert (after.transaction_tags, after.updated_at) == (("t",), moment("3"))

    def test_a_whole_replacement_clears_only_descriptions(self, trade: Trade) -> None:
        facts: dict[str, Any] = {"external_id": "x", "processor": "adyen", "fee": 3}
        id_ = trade.pay(500, (trade.document(500), 500), **DESCRIBED, **facts)
        before = trade.payments[id_]
        trade.change(id_, whole=True, payment_reference="new")
        empty: dict[str, Any] = {
            **dict.fromkeys(DESCRIBED),
            "references": {},
            "transaction_tags": (),
        }
        assert trade.payments[id_] == replace(before, **{**empty, "payment_reference": "new"})

    @pytest.mark.parametrize(
        ("method", "processor", "changes", "after"),
        [
            ("stripe", None, {"method": "paypal"}, "paypal"),
            ("stripe", None, {"method": "cash"}, None),
            ("cash", None, {"method": "stripe"}, "stripe"),
            ("cash", "adyen", {"method": "stripe"}, "adyen"),
            ("cash", "adyen", {"processor": None}, None),
            ("stripe", "adyen", {"processor": None}, "stripe"),
            ("cash", None, {"processor": "mollie"}, "mollie"),
        ],
    )
    def test_a_processor_that_follows_from_the_method_changes_with_it(
        self, trade: Trade, method: str, processor: Any, changes: dict[str, Any], after: Any
    ) -> None:
        id_ = trade.pay(500, method=method, processor=processor)
        trade.change(id_, **changes)
        assert trade.payments[id_].processor == after

    @pytest.mark.parametrize(
        ("changes", "code"),
        [
            ({"party": PartyNamed(OTHER.id)}, "immutable_field"),
            ({"party": STRANGER}, "immutable_field"),
            ({"currency": "EUR"}, "immutable_field"),
            ({"total": 399}, "total_below_allocated"),
            ({"payment_date": day("1")}, "period_locked"),
        ],
    )
    def test_a_bad_change_is_refused(self, side: Side, changes: dict[str, Any], code: str) -> None:
        trade = Trade("2", lock="1", side=side)
        id_ = trade.pay(500, (trade.document(600), 400))
        assert refused(trade.change, id_, **changes).code == code

    def test_a_list_over_the_total_is_refused(self, trade: Trade) -> None:
        first, second = trade.document(600), trade.document(600)
        id_ = trade.pay(500, (first, 400))
        more = items((first, 400), (second, 101))
        assert refused(trade.change, id_, allocations=more).code == "allocation_exceeds_total"

    def test_a_failed_payment_may_have_an_empty_list_only(self, trade: Trade) -> None:
        id_, some = trade.pay(500), items((trade.document(600), 5))
        refusal = refusal_of(trade.change, id_, status="failed", allocations=some)
        assert refusal == ("payment_not_live", {"status": "failed"})
        trade.change(id_, status="failed", allocations=())
        assert trade.payments[id_].status == "failed"

    def test_money_released_in_the_same_list_may_go_elsewhere(self, trade: Trade) -> None:
        second = trade.document(500)
        first, id_ = trade.paid_document(500)
        amended = trade.change(id_, allocations=items((second, 500)))
        assert {each.id for each in amended.changed} == {first, second}
        released, settled = trade.documents[first], trade.documents[second]
        assert (released.paid_on, released.settled, settled.paid_on) == (None, (), day("5"))

    def test_a_description_of_an_allocation_changes_nothing_else(self, trade: Trade) -> None:
        document, id_ = trade.paid_document(500)
        trade.change(id_, allocations=(AllocationItem(document, 500, "half"),))
        [allocation] = trade.payments[id_].allocations
        assert (allocation.description, allocation.end) == ("half", None)
        assert len(trade.book(id_)) == 1

    def test_a_total_may_fall_with_the_release_of_its_allocations(self, trade: Trade) -> None:
        _, id_ = trade.paid_document(500)
        trade.change(id_, status="failed", total=1)
        assert trade.payments[id_].total == 1

    def test_reserved_money_that_is_released_was_never_applied(self, trade: Trade) -> None:
        document = trade.document(500)
        id_ = trade.pay(500, (document, 500), status="pending")
        trade.on("7").change(id_, allocations=())
        trade.change(id_, status="completed")
        assert trade.booked(id_) == [("5", {"bank": 500, "prepayments": -500})]
        assert trade.documents[document].reserved == 0

    def test_a_repeated_allocation_of_reserved_money_stays_unchanged(self, trade: Trade) -> None:
        first, second = trade.document(500), trade.document(500)
        id_ = trade.pay(800, (first, 500), status="pending")
        [before] = trade.payments[id_].allocations
        amended = trade.on("7").change(id_, allocations=items((first, 500), (second, 300)))
        kept, begun = trade.payments[id_].allocations
        assert (kept, begun.start, amended.payment.updated_at) == (before, day("7"), moment("7"))
        assert [each.id for each in amended.changed] == [second]

    def test_money_on_its_way_may_be_dated_inside_the_lock(self, side: Side) -> None:
        trade = Trade("9", lock="7", side=side)
        id_ = trade.pay(500, status="pending")
        trade.change(id_, payment_date=day("7"))
        assert (trade.payments[id_].payment_date, trade.book(id_)) == (day("7"), [])

    def test_completed_and_dated_anew_at_once_it_settles_on_its_new_day(self, trade: Trade) -> None:
        document = trade.document(500)
        id_ = trade.pay(500, (document, 500), status="pending")
        trade.on("9").change(id_, status="completed", payment_date=day("7"))
        assert trade.booked(id_) == [("7", {"bank": 500, "control": -500})]
        assert trade.documents[document].paid_on == day("7")

    def test_paid_on_stays_with_the_entry_that_settled(self, trade: Trade) -> None:
        document = trade.document(500)
        first = trade.pay(200, (document, 200))
        last = trade.on("9").pay(300, (document, 300))
        for payment, dated, on in ((first, "6", "9"), (last, "12", "12"), (last, "11", "11")):
            trade.change(payment, payment_date=day(dated), note=dated)
            assert trade.documents[document].paid_on == day(on)

    def test_a_moved_date_leaves_open_documents_alone(self, trade: Trade) -> None:
        id_ = trade.pay(200, (trade.document(500), 200))
        assert trade.change(id_, payment_date=day("6")).changed == ()


class TestRelease:
    @pytest.mark.parametrize("status", ["failed", "cancelled", "refunded"])
    def test_money_that_did_not_stay_is_released_for_good(self, trade: Trade, status: str) -> None:
        invoice, id_ = trade.paid_document(500)
        trade.change(id_, status=status)
        assert payments.live_allocations(trade.payments[id_]) == ()
        assert trade.status(invoice) == "sent"
        trade.change(id_, status="completed")
        assert payments.remaining(trade.payments[id_]) == 500

    @BOTH_SIDES
    def test_a_document_of_a_failed_payment_is_owed_again(self, side: Side, trade: Trade) -> None:
        document, id_ = trade.paid_document(500)
        assert trade.status(document) == "paid"
        trade.change(id_, status="failed")
        assert trade.status(document) == side.opened_status
        assert trade.payments[id_].status == "failed"


class TestCancel:
    @BOTH_SIDES
    def test_pending_and_failed_payments_are_cancelled(self, trade: Trade) -> None:
        document = trade.document(500)
        pending, failed = trade.pay(200, (document, 200), status="pending"), trade.pay(200)
        trade.change(failed, status="failed")
        for id_ in (pending, failed):
            trade.cancel(id_)
            assert trade.payments[id_].status == "cancelled"
        assert left(trade.documents[document]) == 500

    @pytest.mark.parametrize(
        ("side", "status"),
        [
            *((RECEIVABLE, each) for each in ("processing", "completed", "cancelled", "refunded")),
            *((PAYABLE, each) for each in ("processing", "completed", "cancelled")),
        ],
    )
    def test_only_such_payments_are_cancelled(self, side: Side, trade: Trade, status: str) -> None:
        refusal = refusal_of(trade.cancel, trade.pay(200, status=status))
        assert refusal == no_move(status, *allowed_moves(side, status))


class TestDocumentsAffected:
    def test_held_and_given_documents_are_named(self, trade: Trade) -> None:
        held, given = trade.document(5), trade.document(5)
        allocations = trade.payments[trade.pay(5, (held, 5))].allocations
        assert documents_affected(allocations, items((given, 5))) == {held, given}
        assert documents_affected((), items((given, 5))) == {given}
        assert documents_affected(allocations) == {held}

    def test_the_affected_documents_suffice_for_a_change(self, trade: Trade) -> None:
        held, _ = trade.document(5), trade.document(9)
        payment = trade.payments[trade.pay(5, (held, 5))]
        needed = {id_: trade.documents[id_] for id_ in documents_affected(payment.allocations)}
        command = ChangePayment(status="failed")
        amended = amend(RECEIVABLE, payment, needed, command, trade.context())
        assert [each.id for each in amended.changed] == [held]
