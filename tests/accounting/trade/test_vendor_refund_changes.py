"""Refunds from vendors as they are cancelled, and what money does then."""

from dataclasses import replace

import pytest

from accounting.trade import payments, refunds
from accounting.trade.documents import outstanding
from tests.accounting.purchases import (
    BILL,
    CREDIT,
    PAYMENT,
    TAXED,
    Purchases,
    held,
    parted,
    returned,
    to_bills,
    word,
)
from tests.accounting.trade import (
    OTHER,
    account_named,
    by_code,
    day,
    line,
    refused,
)


class TestCancel:
    def test_the_last_payment_takes_all_effects_back_today(self) -> None:
        trade = Purchases("5")
        bill, payment = trade.paid_bill(TAXED)
        parts = [returned(BILL, 3_333, bill), returned(PAYMENT, 2_000, payment)]
        refund = trade.agree(6_000, *parts, returned(CREDIT, 500))
        before = trade.book(refund)
        credit = trade.credit_of(refund)
        trade.today = "9"
        [money] = trade.payments_of(refund)
        trade.withdraw(money.id)
        [(_, first)] = before
        assert trade.book(refund)[1:] == [("9", {code: -part for code, part in first.items()})]
        assert trade.posted(refund)[0].reversed
        assert trade.book(credit)[1:] == [("9", {"1260": -500, "5100": 500})]
        assert trade.book(payment)[2:] == [("9", {"2000": 2_000, "1250": -2_000})]
        assert refunds.live_allocations(trade.refunds[refund]) == ()
        assert (word(trade, refund), word(trade, bill)) == ("cancelled", "paid")
        assert trade.documents[bill].returned == ()
        assert trade.balances() == {"1100": -10_000, "6000": 8_333, "1300": 1_667}
        assert trade.refund_payments[money.id].cancelled_at is not None

    def test_not_before_the_last_one(self) -> None:
        trade = Purchases("5")
        bill, _ = trade.paid_bill(500)
        given = [{"amount_cents": 200}, {"amount_cents": 300}]
        refund = trade.agree(500, returned(BILL, 500, bill), payments=given)
        first, second = (each.id for each in trade.payments_of(refund))
        trade.withdraw(first)
        assert (word(trade, refund), trade.documents[bill].refunded) == ("allocated", 500)
        trade.move(second, "failed")
        trade.withdraw(second)
        assert (word(trade, refund), trade.documents[bill].refunded) == ("cancelled", 0)

    def test_a_status_says_the_same(self) -> None:
        trade = Purchases("5")
        bill, _ = trade.paid_bill(500)
        refund = trade.agree(500, returned(BILL, 500, bill))
        [payment] = trade.payments_of(refund)
        trade.move(payment.id, "cancelled")
        assert (word(trade, refund), trade.documents[bill].refunded) == ("cancelled", 0)

    @pytest.mark.parametrize("state", ["processing", "completed", "cancelled"])
    def test_only_pending_or_failed(self, state: str) -> None:
        trade = Purchases("5")
        refund = trade.agree(500)
        [payment] = trade.payments_of(refund)
        trade.move(payment.id, state)
        refusal = refused(trade.withdraw, payment.id)
        assert refusal.code == "invalid_state_transition"
        assert refusal.detail["current_state"] == state

    def test_a_future_refund_comes_and_goes_on_its_day(self) -> None:
        trade = Purchases("5")
        refund = trade.agree(500, returned(CREDIT, 200), refund_date="14")
        trade.withdraw(trade.payments_of(refund)[0].id)
        assert [on for on, _ in trade.book(refund)] == ["14", "14"]
        assert [on for on, _ in trade.book(trade.credit_of(refund))] == ["14", "14"]


class TestAppliedAgain:
    @pytest.mark.parametrize(
        ("taken", "split"), [(False, {"1300": 1, "2400": 1}), (True, {"6000": 1, "2400": 1})]
    )
    def test_in_full_with_the_old_split_where_that_is_free(
        self, taken: bool, split: dict[str, int]
    ) -> None:
        trade = Purchases("5")
        taxes = [{"amount": 1}, {"amount": 1, "tax_account": account_named("2400")}]
        bill = trade.bill(line(1, sales_taxes=taxes))
        other, payment = trade.pay(1, (bill, 1)), trade.pay(2, (bill, 2))
        refund = trade.agree(2, returned(PAYMENT, 2, payment))
        if taken:
            third = trade.pay(1, (bill, 1))
            assert by_code(trade.payments[third].allocations[0].split) == {"1300": 1}
        trade.change(other, status="failed")
        trade.withdraw(trade.payments_of(refund)[0].id)
        [again] = payments.live_allocations(trade.payments[payment])
        assert by_code(again.split) == split

    def test_what_it_said_of_itself_comes_back(self) -> None:
        trade = Purchases("5")
        bill = trade.bill(500)
        [part] = to_bills((bill, 500))
        payment = trade.pay(500, allocations=[{**part, "description": "half"}])
        refund = trade.agree(500, returned(PAYMENT, 500, payment))
        trade.withdraw(trade.payments_of(refund)[0].id)
        [again] = payments.live_allocations(trade.payments[payment])
        assert again.description == "half"

    def test_today_the_day_on_which_the_bill_is_paid_again(self) -> None:
        trade = Purchases("5")
        bill, payment = trade.paid_bill(500)
        refund = trade.agree(200, returned(PAYMENT, 200, payment))
        trade.today = "9"
        trade.withdraw(trade.payments_of(refund)[0].id)
        assert trade.book(payment)[2:] == [("9", {"2000": 200, "1250": -200})]
        assert trade.documents[bill].paid_on == day("9")

    def test_as_far_as_each_bill_has_something_left(self) -> None:
        trade = Purchases("5")
        (old, new), payment = parted(trade, 500, 400)
        refund = trade.agree(600, returned(PAYMENT, 600, payment))
        trade.pay(250, (new, 250), status="pending")
        trade.credit(100, to=[(old, 100)])
        trade.withdraw(trade.payments_of(refund)[0].id)
        assert held(trade, payment) == {old: 400, new: 150}
        assert payments.remaining(trade.payments[payment]) == 350

    @pytest.mark.parametrize(
        ("reserved", "split"), [(6_667, {"6000": 2_777, "1300": 556}), (9_999, {"6000": 1})]
    )
    def test_a_part_of_it_is_split_anew(self, reserved: int, split: dict[str, int]) -> None:
        trade = Purchases("5")
        bill, payment = trade.paid_bill(TAXED)
        refund = trade.agree(10_000, returned(PAYMENT, 10_000, payment))
        trade.pay(reserved, (bill, reserved), status="pending")
        trade.withdraw(trade.payments_of(refund)[0].id)
        [again] = payments.live_allocations(trade.payments[payment])
        assert by_code(again.split) == split

    def test_no_more_than_was_taken_off(self) -> None:
        trade = Purchases("5")
        bill, payment = trade.paid_bill(500)
        refund = trade.agree(200, returned(PAYMENT, 200, payment))
        trade.change(payment, allocations=[])
        trade.withdraw(trade.payments_of(refund)[0].id)
        assert held(trade, payment) == {bill: 200}

    def test_beside_what_it_settled_meanwhile(self) -> None:
        trade = Purchases("5")
        bill, payment = trade.paid_bill(500)
        refund = trade.agree(500, returned(PAYMENT, 500, payment))
        other = trade.bill(200)
        trade.change(payment, amount_cents=700, allocations=to_bills((other, 200)))
        trade.withdraw(trade.payments_of(refund)[0].id)
        assert held(trade, payment) == {other: 200, bill: 500}
        assert payments.remaining(trade.payments[payment]) == 0

    def test_not_where_the_payment_was_returned(self) -> None:
        trade = Purchases("5")
        bill, payment = trade.paid_bill(500)
        refund = trade.agree(200, returned(PAYMENT, 200, payment))
        trade.change(payment, status="failed")
        trade.withdraw(trade.payments_of(refund)[0].id)
        assert held(trade, payment) == {}
        assert trade.balances() == {"6000": 500, "2000": -500}
        assert outstanding(trade.documents[bill]) == 500

    @pytest.mark.parametrize("how", ["void", "another vendor", "other accounts"])
    def test_a_bill_that_was_free_meanwhile(self, how: str) -> None:
        trade = Purchases("5")
        bill, payment = trade.paid_bill(500)
        refund = trade.agree(500, returned(PAYMENT, 500, payment))
        if how == "void":
            trade.void(bill)
        elif how == "another vendor":
            trade.documents[bill] = replace(trade.documents[bill], party=OTHER)
        else:
            trade.replace(bill, line(500, account_identifier=account_named("5000")))
        trade.withdraw(trade.payments_of(refund)[0].id)
        assert held(trade, payment) == ({bill: 500} if how == "other accounts" else {})
        settled = {"5000": 500} if how == "other accounts" else {}
        assert by_code(trade.documents[bill].settled) == settled

    def test_a_credit_gives_its_room_back_first(self) -> None:
        trade = Purchases("5")
        bill, payment = trade.paid_bill(500)
        refund = trade.agree(600, returned(CREDIT, 100), returned(PAYMENT, 500, payment))
        credit = trade.credit_of(refund)
        trade.apply(credit, (bill, 100))
        trade.today = "9"
        trade.withdraw(trade.payments_of(refund)[0].id)
        assert held(trade, payment) == {bill: 500}
        assert trade.credits[credit].state == "void"
        assert trade.book(credit)[2:] == [
            ("9", {"1260": -100, "5100": 100}),
            ("9", {"2000": -100, "1260": 100}),
        ]
