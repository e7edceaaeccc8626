"""Days that a caller gives to later events: `allocation_date` and `status_date`."""

from typing import Any

import pytest

from tests.accounting.samples import day, refused
from tests.accounting.trade.business import BOTH_SIDES, Trade, item


@BOTH_SIDES
class TestAllocationDate:
    def test_a_late_allocation_is_posted_on_its_day(self, trade: Trade) -> None:
        id_, payment = trade.document(1_000), trade.pay(1_000)
        trade.on("20").change(payment, allocations=(item(id_, 1_000, "8"),))
        assert trade.booked(payment)[1:] == [("8", {"prepayments": 1_000, "control": -1_000})]
        assert trade.documents[id_].paid_on == day("8")

    def test_an_allocation_made_with_its_payment_may_apply_later(self, trade: Trade) -> None:
        id_ = trade.document(1_000)
        facts = {"allocations": (item(id_, 1_000, "9"),), "payment_date": day("6")}
        payment = trade.on("20").pay(1_000, **facts)
        assert trade.booked(payment) == [
            ("6", {"bank": 1_000, "prepayments": -1_000}),
            ("9", {"prepayments": 1_000, "control": -1_000}),
        ]

    def test_an_unchanged_item_with_another_day_moves_to_it(self, trade: Trade) -> None:
        id_, payment = trade.document(1_000), trade.pay(1_000)
        trade.on("20").change(payment, allocations=(item(id_, 1_000),))
        trade.on("25").change(payment, allocations=(item(id_, 1_000, "8"),))
        assert trade.booked(payment)[1:] == [
            ("20", {"prepayments": 1_000, "control": -1_000}),
            ("8", {"prepayments": 1_000, "control": -1_000}),
            ("20", {"prepayments": -1_000, "control": 1_000}),
        ]
        assert trade.documents[id_].paid_on == day("8")

    def test_an_unchanged_item_with_its_own_day_changes_nothing(self, trade: Trade) -> None:
        id_, payment = trade.paid_document(1_000)
        before = trade.payments[payment]
        same = trade.on("20").change(payment, allocations=(item(id_, 1_000, "5"),))
        assert same.payment is before

    def test_another_amount_replaces_the_old_one_on_the_day(self, trade: Trade) -> None:
        id_, payment = trade.paid_document(1_000)
        trade.on("20").change(payment, allocations=(item(id_, 400, "8"),))
        assert trade.booked(payment)[1:] == [("8", {"prepayments": -600, "control": 600})]

    def test_a_reservation_applies_from_its_day_once_completed(self, trade: Trade) -> None:
        id_ = trade.document(1_000)
        facts = {"allocations": (item(id_, 1_000, "9"),), "payment_date": day("6")}
        payment = trade.on("20").pay(1_000, status="pending", **facts)
        trade.change(payment, status="completed")
        assert trade.booked(payment)[1:] == [("9", {"prepayments": 1_000, "control": -1_000})]

    def test_a_late_allocation_of_a_credit_is_posted_on_its_day(self, trade: Trade) -> None:
        id_, credit = trade.document(1_000), trade.credit(400)
        trade.on("20").change_credit(credit, allocations=(item(id_, 400, "8"),))
        assert trade.booked(credit)[1:] == [("8", {"credits": 400, "control": -400})]
        trade.on("25").change_credit(credit, allocations=(item(id_, 400, "9"),))
        assert trade.booked(credit)[2:] == [
            ("8", {"credits": -400, "control": 400}),
            ("9", {"credits": 400, "control": -400}),
        ]

    @pytest.mark.parametrize(
        ("on", "code", "earliest"),
        [
            ("6", "date_out_of_order", "7"),  # Before the payment.
            ("21", "date_out_of_order", "7"),  # Tomorrow.
            ("10", "period_locked", None),
        ],
    )
    def test_a_day_that_cannot_be_is_refused(
        self, trade: Trade, on: str, code: str, earliest: str | None
    ) -> None:
        id_, payment = trade.document(1_000), trade.on("7").pay(1_000)
        trade.on("20", lock="10")
        refusal = refused(trade.change, payment, allocations=(item(id_, 1_000, on),))
        assert (refusal.code, refusal.detail["item"]) == (code, "items.0")
        if earliest is not None:
            assert refusal.detail["earliest"] == day(earliest).isoformat()

    def test_a_day_before_the_document_is_refused(self, trade: Trade) -> None:
        payment, id_ = trade.pay(1_000), trade.on("9").document(1_000)
        refusal = refused(trade.change, payment, allocations=(item(id_, 1_000, "8"),))
        assert refusal.detail["earliest"] == day("9").isoformat()

    def test_another_amount_is_not_dated_before_the_old_one_began(self, trade: Trade) -> None:
        id_, payment = trade.document(1_000), trade.pay(1_000)
        trade.on("12").change(payment, allocations=(item(id_, 1_000),))
        refusal = refused(trade.change, payment, allocations=(item(id_, 400, "11"),))
        assert refusal.detail["earliest"] == day("12").isoformat()


@BOTH_SIDES
class TestStatusDate:
    def test_a_payment_that_comes_back_is_posted_back_on_its_day(self, trade: Trade) -> None:
        id_, payment = trade.paid_document(1_000)
        trade.on("20").change(payment, status="failed", status_date=day("8"))
        assert trade.booked(payment)[1:] == [("8", {"bank": -1_000, "control": 1_000})]
        assert trade.documents[id_].paid_on is None

    def test_an_application_after_the_return_never_was(self, trade: Trade) -> None:
        id_, payment = trade.document(1_000), trade.pay(1_000)
        trade.on("12").change(payment, allocations=(item(id_, 1_000),))
        trade.on("20").change(payment, status="failed", status_date=day("8"))
        totals: dict[str, int] = {}
        for _, entry in trade.booked(payment):
            for account, amount in entry.items():
                totals[account] = totals.get(account, 0) + amount
        assert not any(totals.values())
        assert ("8", {"bank": -1_000, "prepayments": 1_000}) in trade.booked(payment)

    def test_money_that_comes_again_is_posted_on_its_day(self, trade: Trade) -> None:
        payment = trade.pay(1_000)
        trade.on("20").change(payment, status="failed", status_date=day("8"))
        trade.on("25").change(payment, status="completed", status_date=day("15"))
        assert trade.booked(payment)[1:] == [
            ("8", {"bank": -1_000, "prepayments": 1_000}),
            ("15", {"bank": 1_000, "prepayments": -1_000}),
        ]

    def test_a_first_completion_is_posted_on_its_day(self, trade: Trade) -> None:
        payment = trade.pay(1_000, status="pending")
        trade.on("20").change(payment, status="completed", status_date=day("8"))
        assert trade.booked(payment) == [("8", {"bank": 1_000, "prepayments": -1_000})]

    def test_a_repeat_changes_nothing(self, trade: Trade) -> None:
        payment = trade.pay(1_000)
        trade.on("20").change(payment, status="failed", status_date=day("8"))
        before = trade.payments[payment]
        same = trade.on("21").change(payment, status="failed", status_date=day("8"))
        assert same.payment is before

    @pytest.mark.parametrize(
        ("facts", "code"),
        [
            ({"status_date": day("8")}, "date_out_of_order"),
            ({"status": "completed", "status_date": day("8")}, "date_out_of_order"),
            ({"status": "failed", "status_date": day("4")}, "date_out_of_order"),
            ({"status": "failed", "status_date": day("21")}, "date_out_of_order"),
            ({"status": "failed", "status_date": day("7")}, "period_locked"),
        ],
        ids=["no status", "the same status", "before it came", "tomorrow", "locked"],
    )
    def test_a_day_that_cannot_be_is_refused(
        self, trade: Trade, facts: dict[str, Any], code: str
    ) -> None:
        payment = trade.pay(1_000)
        trade.on("20", lock="7")
        assert refused(trade.change, payment, **facts).code == code

    def test_it_does_not_come_again_before_it_went(self, trade: Trade) -> None:
        payment = trade.pay(1_000)
        trade.on("20").change(payment, status="failed", status_date=day("8"))
        facts = {"status": "completed", "status_date": day("7")}
        assert refused(trade.change, payment, **facts).detail["earliest"] == day("8").isoformat()


class TestStatusDateOfRefundPayment:
    def test_a_refund_that_comes_back_is_posted_back_on_its_day(self, trade: Trade) -> None:
        refund = trade.refund(trade.paid(1_000), 1_000)
        payment = trade.on("6").pay_refund(refund)
        trade.on("20").cancel_refund_payment(payment, on="8")
        assert trade.book(payment) == [
            ("6", {"2300": 1_000, "1100": -1_000}),
            ("8", {"2300": -1_000, "1100": 1_000}),
        ]

    def test_it_does_not_come_back_before_it_was_paid(self, trade: Trade) -> None:
        payment = trade.on("6").pay_refund(trade.refund(trade.paid(1_000), 1_000))
        refusal = refused(trade.on("20").cancel_refund_payment, payment, on="5")
        assert (refusal.code, refusal.detail["field"]) == ("date_out_of_order", "status_date")
