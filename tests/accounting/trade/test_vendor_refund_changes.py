"""Vendor refunds that are agreed and cancelled, and their money."""

from dataclasses import replace
from typing import Any

import pytest

from accounting.errors import ValidationError
from accounting.trade import payments, refunds
from accounting.trade.allocation import AllocationItem
from accounting.trade.commands import AnnouncePayment, TaxGiven
from accounting.trade.documents import outstanding
from accounting.trade.parties import PartyNamed
from accounting.trade.refunds import Kind
from tests.accounting.samples import ACME, OTHER, by_code, day, named, refusal_of, refused
from tests.accounting.trade.business import TAXED, items, line
from tests.accounting.trade.purchases import BILL, CREDIT, PAYMENT, Purchases, announced, returned


@pytest.fixture
def trade() -> Purchases:
    return Purchases("5")


class TestAgree:
    def test_a_vendor_refund_keeps_the_given_facts(self, trade: Purchases) -> None:
        said: dict[str, Any] = {
            **{"description": "d", "memo": "m", "reason": "r", "metadata": {"a": 1}},
            **{"refund_type": "goods_return", "expected_completion_date": day("9")},
        }
        value = trade.refund_of(trade.agree(500, **said))
        assert {name: getattr(value, name) for name in said} == said
        assert value.agreed_on == day("5")
        assert trade.refund_of(trade.agree(500)).refund_type == "overpayment"

    def test_an_allocation_keeps_its_words(self, trade: Purchases) -> None:
        bill, payment = trade.paid_document(500)
        words = {"description": "d", "metadata": 1}
        parts = [(BILL, bill), (PAYMENT, payment), (CREDIT, None)]
        refund = trade.agree(3, *(returned(kind, 1, id_, **words) for kind, id_ in parts))
        live = refunds.live_allocations(trade.refunds[refund])
        assert {(each.description, each.metadata) for each in live} == {("d", 1)}
        assert [each.kind for each in live] == ["document", "payment", "credit"]

    def test_a_vendor_who_is_not_active_gives_back_all_the_same(self, trade: Purchases) -> None:
        bill = trade.paid(500)
        blocked = replace(ACME, status="BLOCKED")
        trade.agree(400, returned(BILL, 300, bill), returned(CREDIT, 100), loaded=blocked)

    def test_given_payments_come_to_the_money(self, trade: Purchases) -> None:
        given = (*announced(300, method="cash"), *announced(500))
        made = trade.payments_of(trade.agree(1_000, returned(CREDIT, 200), payments=given))
        assert [(e.amount, e.method) for e in made] == [(300, "cash"), (500, "bank_transfer")]
        assert {each.status for each in made} == {"pending"}
        sums = {"cash_amount_cents": 1_000, "payments_amount_cents": 800}
        refusal = refusal_of(trade.agree, 1_000, payments=given)
        assert refusal == ("allocation_exceeds_total", sums)

    @pytest.mark.parametrize(
        ("kind", "part", "amount", "facts", "code"),
        [
            (BILL, 501, 500, {}, "allocation_exceeds_total"),
            (BILL, 501, 600, {}, "refund_exceeds_refundable"),
            (PAYMENT, 501, 600, {}, "refund_exceeds_refundable"),
            (BILL, 5, 600, {"loaded": OTHER}, "bill_vendor_mismatch"),
            (PAYMENT, 5, 600, {"loaded": OTHER}, "bill_vendor_mismatch"),
            (BILL, 5, 600, {"refund_date": day("3")}, "period_locked"),
            (BILL, 5, 600, {"currency": "EUR"}, "currency_mismatch"),
            (BILL, 5, 600, {"party": PartyNamed(external_id="other")}, "reference_mismatch"),
            (BILL, 5, 600, {"payments": (AnnouncePayment(fee=601),)}, "fee_exceeds_amount"),
        ],
    )
    def test_an_invalid_vendor_refund_is_refused(
        self, kind: Kind, part: int, amount: int, facts: dict[str, Any], code: str
    ) -> None:
        trade = Purchases("5", lock="4")
        bill, payment = trade.paid_document(500)
        returning = returned(kind, part, bill if kind == BILL else payment)
        assert refused(trade.agree, amount, returning, **facts).code == code
        assert (trade.refunds, trade.payments[payment].refunded) == ({}, 0)

    @pytest.mark.parametrize("state", ["draft", "voided"])
    def test_only_a_received_bill(self, trade: Purchases, state: str) -> None:
        bill = trade.document(500, opened_at=None)
        if state == "voided":
            trade.void(trade.open(bill))
        named = {"current_state": state, "bill_id": str(bill)}
        refusal = refusal_of(trade.agree, 500, returned(BILL, 5, bill))
        assert refusal == ("bill_not_open", named)

    @pytest.mark.parametrize("state", ["pending", "processing", "failed", "cancelled"])
    def test_only_a_completed_payment(self, trade: Purchases, state: str) -> None:
        payment = trade.pay(500, status=state)
        refusal = refused(trade.agree, 500, returned(PAYMENT, 5, payment))
        assert refusal.code == "payment_not_completed"
        assert refusal.detail["current_state"] == state

    def test_unknown_and_repeated_targets_are_refused(self, trade: Purchases) -> None:
        bill, payment = trade.paid_document(500)
        for kind, resource in ((BILL, "bill"), (PAYMENT, "bill_payment")):
            refusal = refused(trade.agree, 500, returned(kind, 5, ACME.id))
            assert refusal.code == "reference_not_found"
            assert refusal.detail == {"resource": resource, "reference": str(ACME.id)}
        parts = [returned(BILL, 5, bill), returned(PAYMENT, 5, payment), returned(CREDIT, 5)]
        again = [replace(each, place=f"second {each.kind}") for each in parts]
        refusal = refused(trade.agree, 500, *parts, *again)
        assert isinstance(refusal, ValidationError)
        assert set(refusal.detail["field_errors"]) == {"second document", "second payment"}


class TestCancel:
    def test_the_last_payment_takes_all_effects_back_today(self, trade: Purchases) -> None:
        bill, payment = trade.paid_document(TAXED)
        parts = [returned(BILL, 3_333, bill), returned(PAYMENT, 2_000, payment)]
        refund = trade.agree(6_000, *parts, returned(CREDIT, 500))
        [(_, first)], credit = trade.book(refund), trade.credit_of(refund)
        [money] = trade.payments_of(refund)
        trade.on("9").withdraw(money.id)
        assert trade.book(refund)[1:] == [("9", {code: -part for code, part in first.items()})]
        assert trade.posted(refund)[0].reversed
        assert trade.book(credit)[1:] == [("9", {"1260": -500, "5100": 500})]
        assert trade.book(payment)[2:] == [("9", {"2000": 2_000, "1250": -2_000})]
        assert refunds.live_allocations(trade.refunds[refund]) == ()
        assert (trade.status(refund), trade.status(bill)) == ("cancelled", "paid")
        assert trade.documents[bill].returned == ()
        assert trade.balances() == {"1100": -10_000, "6000": 8_333, "1300": 1_667}
        assert trade.refund_payments[money.id].cancelled_at is not None

    @pytest.mark.parametrize("by_status", [False, True])
    def test_not_before_the_last_one(self, trade: Purchases, by_status: bool) -> None:
        bill = trade.paid(500)
        refund = trade.agree(500, returned(BILL, 500, bill), payments=announced(200, 300))
        first, second = (each.id for each in trade.payments_of(refund))
        trade.withdraw(first)
        assert (trade.status(refund), trade.documents[bill].refunded) == ("allocated", 500)
        trade.move(second, "failed")
        if by_status:
            trade.move(second, "cancelled")
        else:
            trade.withdraw(second)
        assert (trade.status(refund), trade.documents[bill].refunded) == ("cancelled", 0)

    @pytest.mark.parametrize("state", ["processing", "completed", "cancelled"])
    def test_only_pending_or_failed(self, trade: Purchases, state: str) -> None:
        [payment] = trade.payments_of(trade.agree(500))
        trade.move(payment.id, state)
        refusal = refused(trade.withdraw, payment.id)
        assert refusal.code == "invalid_state_transition"
        assert refusal.detail["current_state"] == state

    def test_a_future_refund_comes_and_goes_on_its_day(self, trade: Purchases) -> None:
        refund = trade.agree(500, returned(CREDIT, 200), refund_date=day("14"))
        trade.withdraw_refund(refund)
        assert [on for on, _ in trade.book(refund)] == ["14", "14"]
        assert [on for on, _ in trade.book(trade.credit_of(refund))] == ["14", "14"]


class TestAppliedAgain:
    @pytest.mark.parametrize(
        ("taken", "split"), [(False, {"1300": 1, "2400": 1}), (True, {"6000": 1, "2400": 1})]
    )
    def test_in_full_with_the_old_split_where_that_is_free(
        self, trade: Purchases, taken: bool, split: dict[str, int]
    ) -> None:
        taxes = TaxGiven(1), TaxGiven(1, named("2400"))
        bill = trade.document(line(1, taxes=taxes))
        other, payment = trade.pay(1, (bill, 1)), trade.pay(2, (bill, 2))
        refund = trade.agree(2, returned(PAYMENT, 2, payment))
        if taken:
            third = trade.pay(1, (bill, 1))
            assert by_code(trade.payments[third].allocations[0].split) == {"1300": 1}
        trade.change(other, status="failed")
        trade.withdraw_refund(refund)
        [again] = payments.live_allocations(trade.payments[payment])
        assert by_code(again.split) == split

    def test_a_restored_allocation_keeps_its_description(self, trade: Purchases) -> None:
        bill = trade.document(500)
        payment = trade.pay(500, allocations=(AllocationItem(bill, 500, "half"),))
        refund = trade.agree(500, returned(PAYMENT, 500, payment))
        trade.withdraw_refund(refund)
        [again] = payments.live_allocations(trade.payments[payment])
        assert again.description == "half"

    @pytest.mark.parametrize("released", [False, True])
    def test_what_was_taken_off_is_paid_again_today(self, trade: Purchases, released: bool) -> None:
        bill, payment = trade.paid_document(500)
        refund = trade.agree(200, returned(PAYMENT, 200, payment))
        if released:
            trade.change(payment, allocations=())
        before = len(trade.book(payment))
        trade.on("9").withdraw_refund(refund)
        assert trade.book(payment)[before:] == [("9", {"2000": 200, "1250": -200})]
        assert trade.held(payment) == {bill: 200 if released else 500}
        assert trade.documents[bill].paid_on == (None if released else day("9"))

    def test_allocations_are_restored_up_to_the_open_amount_of_each_bill(
        self, trade: Purchases
    ) -> None:
        (old, new), payment = trade.paid_in_parts(500, 400)
        refund = trade.agree(600, returned(PAYMENT, 600, payment))
        trade.pay(250, (new, 250), status="pending")
        trade.credit(100, to=[(old, 100)])
        trade.withdraw_refund(refund)
        assert trade.held(payment) == {old: 400, new: 150}
        assert payments.remaining(trade.payments[payment]) == 350

    @pytest.mark.parametrize(
        ("reserved", "split"), [(6_667, {"6000": 2_777, "1300": 556}), (9_999, {"6000": 1})]
    )
    def test_a_part_of_it_is_split_anew(
        self, trade: Purchases, reserved: int, split: dict[str, int]
    ) -> None:
        bill, payment = trade.paid_document(TAXED)
        refund = trade.agree(10_000, returned(PAYMENT, 10_000, payment))
        trade.pay(reserved, (bill, reserved), status="pending")
        trade.withdraw_refund(refund)
        [again] = payments.live_allocations(trade.payments[payment])
        assert by_code(again.split) == split

    def test_beside_what_it_settled_meanwhile(self, trade: Purchases) -> None:
        bill, payment = trade.paid_document(500)
        refund = trade.agree(500, returned(PAYMENT, 500, payment))
        other = trade.document(200)
        trade.change(payment, total=700, allocations=items((other, 200)))
        trade.withdraw_refund(refund)
        assert trade.held(payment) == {other: 200, bill: 500}
        assert payments.remaining(trade.payments[payment]) == 0

    def test_not_where_the_payment_was_returned(self, trade: Purchases) -> None:
        bill, payment = trade.paid_document(500)
        refund = trade.agree(200, returned(PAYMENT, 200, payment))
        trade.change(payment, status="failed")
        trade.withdraw_refund(refund)
        assert (trade.held(payment), outstanding(trade.documents[bill])) == ({}, 500)
        assert trade.balances() == {"6000": 500, "2000": -500}

    @pytest.mark.parametrize("how", ["void", "another vendor", "other accounts"])
    def test_a_bill_that_was_free_meanwhile(self, trade: Purchases, how: str) -> None:
        bill, payment = trade.paid_document(500)
        refund = trade.agree(500, returned(PAYMENT, 500, payment))
        if how == "void":
            trade.void(bill)
        elif how == "another vendor":
            trade.documents[bill] = replace(trade.documents[bill], party=OTHER)
        else:
            trade.replace(bill, line(500, account=named("5000")))
        trade.withdraw_refund(refund)
        taken = how == "other accounts"
        assert trade.held(payment) == ({bill: 500} if taken else {})
        assert by_code(trade.documents[bill].settled) == ({"5000": 500} if taken else {})

    def test_a_credit_gives_its_room_back_first(self, trade: Purchases) -> None:
        bill, payment = trade.paid_document(500)
        refund = trade.agree(600, returned(CREDIT, 100), returned(PAYMENT, 500, payment))
        credit = trade.credit_of(refund)
        trade.apply(credit, (bill, 100))
        trade.on("9").withdraw_refund(refund)
        assert trade.held(payment) == {bill: 500}
        assert trade.credits[credit].state == "void"
        assert trade.book(credit)[2:] == [
            ("9", {"1260": -100, "5100": 100}),
            ("9", {"2000": -100, "1260": 100}),
        ]
