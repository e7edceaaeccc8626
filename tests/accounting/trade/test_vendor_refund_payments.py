"""Refunds from vendors as they are agreed, their status, and the money that comes."""

from dataclasses import replace
from typing import Any

import pytest

from accounting.errors import Malformed
from accounting.trade import refunds
from tests.accounting.purchases import BILL, CREDIT, PAYMENT, TAXED, Purchases, returned, word
from tests.accounting.trade import (
    ACME,
    OTHER,
    account_id,
    day,
    refused,
)


class TestAgreed:
    def test_what_a_body_says_is_kept(self) -> None:
        trade = Purchases("5")
        words: dict[str, Any] = {
            "description": "d",
            "memo": "m",
            "reason": "r",
            "metadata": {"a": 1},
        }
        refund = trade.agree(500, refund_type="goods_return", **words)
        value = trade.refund_of(refund)
        assert (value.refund_type, value.agreed_on) == ("goods_return", day("5"))
        assert (value.description, value.memo, value.reason) == ("d", "m", "r")
        assert trade.refund_of(trade.agree(500)).refund_type == "overpayment"

    def test_an_allocation_keeps_its_words(self) -> None:
        trade = Purchases("5")
        bill, payment = trade.paid_bill(500)
        words = {"description": "d", "metadata": 1}
        parts = [(BILL, bill), (PAYMENT, payment), (CREDIT, None)]
        refund = trade.agree(3, *(returned(kind, 1, id_, **words) for kind, id_ in parts))
        live = refunds.live_allocations(trade.refunds[refund])
        assert {(each.description, each.metadata) for each in live} == {("d", 1)}
        assert [each.kind for each in live] == ["document", "payment", "credit"]

    def test_a_vendor_who_is_not_active_gives_back_all_the_same(self) -> None:
        trade = Purchases("5")
        bill, _ = trade.paid_bill(500)
        party = replace(ACME, status="BLOCKED")
        trade.agree(400, returned(BILL, 300, bill), returned(CREDIT, 100), party=party)

    def test_given_payments_come_to_the_money(self) -> None:
        trade = Purchases("5")
        given = [{"amount_cents": 300, "payment_method": "cash"}, {"amount_cents": 500}]
        refund = trade.agree(1_000, returned(CREDIT, 200), payments=given)
        made = trade.payments_of(refund)
        assert [(each.amount, each.method) for each in made] == [
            (300, "cash"),
            (500, "bank_transfer"),
        ]
        assert {each.status for each in made} == {"pending"}
        refusal = refused(trade.agree, 1_000, payments=given)
        assert refusal.code == "allocation_exceeds_total"
        assert refusal.detail == {"cash_amount_cents": 1_000, "payments_amount_cents": 800}

    @pytest.mark.parametrize(
        ("kind", "amount", "body", "code"),
        [
            (BILL, 501, {"amount": 500}, "allocation_exceeds_total"),
            (BILL, 501, {}, "refund_exceeds_refundable"),
            (PAYMENT, 501, {}, "refund_exceeds_refundable"),
            (BILL, 5, {"party": OTHER}, "bill_vendor_mismatch"),
            (PAYMENT, 5, {"party": OTHER}, "bill_vendor_mismatch"),
            (BILL, 5, {"refund_date": "3"}, "period_locked"),
            (BILL, 5, {"currency": "EUR"}, "currency_mismatch"),
            (BILL, 5, {"vendor_external_id": "other"}, "reference_mismatch"),
            (BILL, 5, {"payments": [{"processing_fee_cents": 601}]}, "fee_exceeds_amount"),
        ],
    )
    def test_refusals(self, kind: str, amount: int, body: dict[str, Any], code: str) -> None:
        trade = Purchases("5", lock="4")
        bill, payment = trade.paid_bill(500)
        id_ = bill if kind == BILL else payment
        facts = {"amount": 600, **body}
        assert (
            refused(trade.agree, facts.pop("amount"), returned(kind, amount, id_), **facts).code
            == code
        )
        assert (trade.refunds, trade.payments[payment].refunded) == ({}, 0)

    @pytest.mark.parametrize("state", ["draft", "voided"])
    def test_only_a_received_bill(self, state: str) -> None:
        trade = Purchases("5")
        bill = trade.bill(500, **({"received_at": None} if state == "draft" else {}))
        if state == "voided":
            trade.void(bill)
        refusal = refused(trade.agree, 500, returned(BILL, 5, bill))
        assert refusal.code == "bill_not_open"
        assert refusal.detail == {"current_state": state, "bill_id": str(bill)}

    @pytest.mark.parametrize("state", ["pending", "processing", "failed", "cancelled"])
    def test_only_a_completed_payment(self, state: str) -> None:
        trade = Purchases("5")
        payment = trade.pay(500, status=state)
        refusal = refused(trade.agree, 500, returned(PAYMENT, 5, payment))
        assert refusal.code == "payment_not_completed"
        assert refusal.detail["current_state"] == state

    def test_what_nobody_knows_and_what_stands_twice(self) -> None:
        trade = Purchases("5")
        bill, payment = trade.paid_bill(500)
        for kind in (BILL, PAYMENT):
            refusal = refused(trade.agree, 500, returned(kind, 5, ACME.id))
            assert refusal.code == "reference_not_found"
        parts = [returned(BILL, 5, bill), returned(PAYMENT, 5, payment), returned(CREDIT, 5)]
        refusal = refused(trade.agree, 500, *parts, *parts)
        assert isinstance(refusal, Malformed)
        assert set(refusal.detail["field_errors"]) == {
            "allocations.3.bill_id",
            "allocations.4.bill_payment_id",
        }


class TestStatus:
    def test_the_first_that_fits(self) -> None:
        trade = Purchases("5")
        bill, _ = trade.paid_bill(500)
        refund = trade.agree(500)
        assert word(trade, refund) == "pending"
        trade.allocate(refund, returned(BILL, 400, bill))
        assert word(trade, refund) == "partially_allocated"
        payment = trade.complete(refund)
        assert word(trade, refund) == "partially_allocated"
        trade.allocate(refund, returned(BILL, 500, bill))
        assert word(trade, refund) == "completed"
        trade.move(payment, "failed")
        assert word(trade, refund) == "allocated"
        trade.withdraw(payment)
        assert word(trade, refund) == "cancelled"

    def test_a_cancelled_payment_is_not_waited_for(self) -> None:
        trade = Purchases("5")
        refund = trade.agree(
            500, returned(CREDIT, 100), payments=[{"amount_cents": 150}, {"amount_cents": 250}]
        )
        bill, _ = trade.paid_bill(500)
        trade.allocate(refund, returned(CREDIT, 100), returned(BILL, 400, bill))
        first, second = (each.id for each in trade.payments_of(refund))
        trade.move(second, "completed")
        assert word(trade, refund) == "allocated"
        trade.withdraw(first)
        assert word(trade, refund) == "completed"
        assert trade.refunds[refund].cancelled_at is None
        assert trade.balances()["1270"] == 150


class TestPayment:
    @pytest.mark.parametrize(
        ("method", "account"),
        [
            ("cash", "1000"),
            *((each, "1100") for each in ("bank_transfer", "ach", "wire", "check")),
            *((each, "1100") for each in ("credit_card", "other")),
        ],
    )
    def test_money_less_its_fee_comes_for_the_claim(self, method: str, account: str) -> None:
        trade = Purchases("5")
        bill, _ = trade.paid_bill(TAXED)
        refund = trade.agree(3_333, returned(BILL, 3_333, bill))
        trade.today = "9"
        how = {"payment_method": method, "processing_fee_cents": 33}
        payment = trade.complete(refund, **how)
        assert trade.book(payment) == [("9", {account: 3_300, "6300": 33, "1270": -3_333})]
        [entry] = trade.posted(payment)
        assert entry.description == "Refund payment from Acme Ltd"
        assert entry.source_type == "vendor_refund_payment"
        [claim] = [each for each in entry.lines if each.settles]
        assert (claim.settles, claim.amount) == (refund, -3_333)
        assert claim.split == ((account_id("6000"), -2_777), (account_id("1300"), -556))
        value = trade.refund_payments[payment]
        assert (value.status, value.payment_date) == ("completed", day("9"))
        assert value.completed_at is not None

    def test_dated_by_its_payment_date_and_never_before_the_refund(self) -> None:
        trade = Purchases("5")
        refund = trade.agree(500, payments=[{"amount_cents": 200}, {"amount_cents": 300}])
        first, second = (each.id for each in trade.payments_of(refund))
        trade.today = "14"
        trade.move(first, "completed", payment_date=day("9"))
        trade.move(second, "completed", payment_date=day("3"))
        assert trade.book(first) == [("9", {"1100": 200, "1270": -200})]
        assert trade.book(second) == [("5", {"1100": 300, "1270": -300})]
        trade.move(first, payment_date=day("12"))
        assert trade.book(first)[1:] == [
            ("9", {"1100": -200, "1270": 200}),
            ("12", {"1100": 200, "1270": -200}),
        ]

    def test_failed_the_claim_stays_and_it_may_come_again(self) -> None:
        trade = Purchases("5")
        bill, _ = trade.paid_bill(500)
        refund = trade.agree(500, returned(BILL, 500, bill))
        trade.today = "9"
        payment = trade.complete(refund, processing_fee_cents=5)
        trade.today = "14"
        trade.move(payment, "failed", failure_reason="no cover")
        assert trade.book(payment)[1:] == [("14", {"1100": -495, "6300": -5, "1270": 500})]
        assert trade.balances() == {"1100": -500, "1270": 500}
        value = trade.refund_payments[payment]
        assert (value.completed_at, value.failure_reason) == (None, "no cover")
        assert (trade.refunds[refund].paid, trade.refunds[refund].settled) == (0, ())
        trade.today = "20"
        trade.move(payment, "completed")
        assert trade.book(payment)[2:] == [("20", {"1100": 495, "6300": 5, "1270": -500})]
        trade.today = "28"
        trade.move(payment, "failed")
        assert trade.book(payment)[3:] == [("28", {"1100": -495, "6300": -5, "1270": 500})]

    def test_a_day_inside_the_lock_is_refused_once_money_is_posted(self) -> None:
        trade = Purchases("5")
        refund = trade.agree(500)
        trade.today, trade.lock = "9", "8"
        [payment] = trade.payments_of(refund)
        trade.move(payment.id, "processing", payment_date=day("7"))
        assert refused(trade.move, payment.id, "completed").code == "period_locked"
        trade.move(payment.id, "completed", payment_date=day("9"))
        assert refused(trade.move, payment.id, payment_date=day("8")).code == "period_locked"

    def test_later_inside_the_lock_is_the_day_after_it(self) -> None:
        trade = Purchases("5")
        payment = trade.complete(trade.agree(500))
        trade.today, trade.lock = "9", "31"
        trade.move(payment, "failed")
        assert trade.book(payment)[1:] == [("2-1", {"1100": -500, "1270": 500})]

    def test_the_fee_is_at_most_the_money(self) -> None:
        trade = Purchases("5")
        payment = trade.complete(trade.agree(500), processing_fee_cents=500)
        assert trade.book(payment) == [("5", {"6300": 500, "1270": -500})]
        refusal = refused(trade.move, payment, processing_fee_cents=501)
        assert refusal.code == "fee_exceeds_amount"

    def test_nothing_changed_is_the_same_object(self) -> None:
        trade = Purchases("5")
        bill, _ = trade.paid_bill(500)
        refund = trade.agree(500, returned(BILL, 300, bill), returned(CREDIT, 100))
        [payment] = trade.payments_of(refund)
        before = trade.refunds[refund], trade.refund_payments[payment.id]
        trade.today = "9"
        parts = [returned(CREDIT, 100), returned(BILL, 300, bill)]
        after = trade.move(payment.id, "pending", allocations=parts)
        assert after.refund is before[0]
        assert after.payment(payment.id) is before[1]

    @pytest.mark.parametrize(
        ("before", "allowed"),
        [
            (["processing"], ["completed", "failed"]),
            (["completed"], ["failed"]),
            (["failed", "pending"], ["processing", "completed", "failed", "cancelled"]),
            (["failed"], ["pending", "completed", "cancelled"]),
            (["cancelled"], []),
        ],
    )
    def test_moves(self, before: list[str], allowed: list[str]) -> None:
        every = ("pending", "processing", "completed", "failed", "cancelled")
        for after in every:
            trade = Purchases("5")
            [payment] = trade.payments_of(trade.agree(500))
            for state in before:
                trade.move(payment.id, state)
            if after in (before[-1], *allowed):
                trade.move(payment.id, after)
                assert trade.refund_payments[payment.id].status == after
            else:
                refusal = refused(trade.move, payment.id, after)
                assert refusal.code == "invalid_state_transition"
                assert refusal.detail["current_state"] == before[-1]
                assert refusal.detail["allowed_next_states"] == allowed
