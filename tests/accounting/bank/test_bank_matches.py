"""Effects of matching a statement line with its money, and of unmatching it."""

import pytest

from accounting.bank import bank_matches
from accounting.bank.bank_matches import MatchTarget
from accounting.bank.payouts import Payout
from accounting.trade.refunds import VendorRefund, VendorRefundPayment
from accounting.trade.sides import PAYABLE
from accounting.trade.vendor_refund_changes import AmendedRefund
from tests.accounting.bank.card_sales import CardSales
from tests.accounting.bank.statements import (
    SAVINGS,
    line,
    match,
    matched,
    payout,
    posted_by,
    target,
)
from tests.accounting.samples import BORN, day, moment, refused
from tests.accounting.trade.purchases import Purchases


class TestMatch:
    def test_a_pending_payment_completes_with_its_last_line(self, trade: CardSales) -> None:
        invoice = trade.on("10").document(100)
        payment = trade.pay(100, (invoice, 100), status="pending")
        assert matched(trade, payment, line(60)).moved == ()
        assert (trade.payments[payment].status, trade.book(payment)) == ("pending", [])
        matched(trade, payment, line(60))
        assert trade.payments[payment].status == "completed"
        assert trade.documents[invoice].paid == 100
        assert trade.balances() == {"1110": 100, "4000": -100}

    def test_a_payout_is_paid_on_the_day_of_the_line(self, trade: CardSales) -> None:
        paid = match(trade, line(90, "12"), MatchTarget(None, payout(90))).target
        assert isinstance(paid, Payout)
        assert (paid.status, paid.completed_at) == ("paid", moment("12").replace(hour=0))
        assert posted_by(paid) == [("12", {"1110": 90, "1150": -90})]

    def test_a_payout_with_a_day_keeps_it(self, trade: CardSales) -> None:
        coming = MatchTarget(None, payout(90, completed_at=BORN))
        paid = match(trade, line(90), coming).target
        assert isinstance(paid, Payout)
        assert paid.completed_at == BORN
        trade.lock = "5"
        assert refused(match, trade, line(90), coming).code == "period_locked"

    @pytest.mark.parametrize(("given_day", "on"), [(None, "12"), ("11", "11")])
    def test_money_of_a_vendor_has_come_on_its_day(self, given_day: str | None, on: str) -> None:
        trade = Purchases("5")
        refund = trade.agree(80)
        [payment] = trade.payments_of(refund)
        if given_day is not None:
            trade.move(payment.id, payment_date=day(given_day))
        before = trade.on("20").refunded(refund)
        coming = MatchTarget(PAYABLE, before.payment(payment.id), refunded=before)
        after, come = match(trade, line(80), coming).subjects
        assert (type(after), type(come)) == (VendorRefund, VendorRefundPayment)
        assert (come.status, come.payment_date) == ("completed", day(on))
        assert come.money_account_id == SAVINGS
        trade.take_refunded(AmendedRefund(after, (come,), before.affected))
        assert trade.balances() == {"1110": 80, "1900": -80}

    def test_with_the_last_link_the_money_is_back_on_its_method(self, trade: CardSales) -> None:
        payment = trade.on("10").pay(100)
        first, second = (matched(trade, payment, line(50)) for _ in range(2))
        for each, expected in ((first, {"1110": 100}), (second, {"1100": 100})):
            done = bank_matches.unmatch(
                target(trade, payment), each.transaction, each.link, trade.context()
            )
            assert (done.transaction.linked, done.link.ended_at) == (0, moment("10"))
            trade.keep(done.target)
            assert trade.balances() == {**expected, "2100": -100}
        assert trade.payments[payment].status == "completed"


class TestMoneyThatChanges:
    def test_money_that_bounces_keeps_its_links_and_its_bank(self, trade: CardSales) -> None:
        payment = trade.on("10").pay(100)
        matched(trade, payment, line(100))
        trade.on("15").change(payment, status="failed")
        bounced = trade.payments[payment]
        assert (bounced.linked, bounced.money_account_id) == (100, SAVINGS)
        assert trade.book(payment)[-1] == ("15", {"1110": -100, "2100": 100})

    def test_money_that_never_came_loses_its_links(self, trade: CardSales) -> None:
        payment = trade.on("10").pay(100, status="pending")
        matched(trade, payment, line(40))
        trade.on("15").change(payment, status="failed")
        lost = trade.payments[payment]
        assert (lost.linked, lost.money_account_id) == (0, None)

    def test_a_line_of_the_return_makes_it_fail_on_the_day_of_the_line(
        self, trade: CardSales
    ) -> None:
        payment = trade.on("10").pay(100, fee=2)
        matched(trade, payment, line(98))
        trade.on("20")
        back = matched(trade, payment, line(-98, "17"), back=True)
        failed = trade.payments[payment]
        assert (failed.status, failed.linked, failed.linked_back) == ("failed", 98, 98)
        assert back.link.back
        assert ("17", {"1110": -100, "2100": 100}) in trade.book(payment)
        refusal = refused(matched, trade, payment, line(-1, "17"), back=True)
        assert refusal.code == "link_exceeds_remaining"

    def test_money_that_comes_twice_is_linked_twice(self, trade: CardSales) -> None:
        payment = trade.on("10").pay(100)
        matched(trade, payment, line(100))
        matched(trade.on("15"), payment, line(-100, "15"), back=True)
        trade.on("18").change(payment, status="pending")
        matched(trade, payment, line(60, "18"))
        assert trade.payments[payment].status == "pending"
        matched(trade, payment, line(60, "18"))
        twice = trade.payments[payment]
        assert (twice.status, twice.linked, twice.linked_back) == ("completed", 200, 100)
        assert refused(matched, trade, payment, line(1)).code == "link_exceeds_remaining"

    def test_a_line_of_an_earlier_movement_does_not_complete_the_next_one(
        self, trade: CardSales
    ) -> None:
        payment = trade.on("10").pay(100)
        trade.on("15").change(payment, status="failed")
        trade.on("18").change(payment, status="pending")
        matched(trade, payment, line(100, "10"))
        assert trade.payments[payment].status == "pending"
        matched(trade.on("25"), payment, line(100, "20"))
        assert trade.payments[payment].status == "completed"
        assert trade.book(payment)[-1] == ("20", {"1110": 100, "2100": -100})

    def test_a_line_of_an_earlier_return_does_not_return_the_next_movement(
        self, trade: CardSales
    ) -> None:
        payment = trade.on("10").pay(100)
        trade.on("15").change(payment, status="failed")
        trade.on("20").change(payment, status="completed")
        matched(trade, payment, line(-100, "15"), back=True)
        assert trade.payments[payment].status == "completed"
        matched(trade.on("25"), payment, line(-100, "24"), back=True)
        assert trade.payments[payment].status == "failed"

    def test_completed_again_on_the_day_of_its_return_it_moved_once(self, trade: CardSales) -> None:
        payment = trade.on("10").pay(100)
        matched(trade, payment, line(100))
        trade.on("15").change(payment, status="failed")
        trade.change(payment, status="completed")
        assert refused(matched, trade, payment, line(1)).code == "link_exceeds_remaining"

    def test_a_return_has_the_other_direction(self, trade: CardSales) -> None:
        payment = trade.on("10").pay(100)
        for wrong, back in ((line(100), True), (line(-100), False)):
            refusal = refused(matched, trade, payment, wrong, back=back)
            assert refusal.code == "link_direction_mismatch"
        pending = trade.pay(100, status="pending")
        refusal = refused(matched, trade, pending, line(-100), back=True)
        assert refusal.code == "item_not_completed"

    def test_less_than_is_linked_is_never_left(self, trade: CardSales) -> None:
        payment = trade.pay(100, fee=2)
        matched(trade, payment, line(97))
        for changes in ({"fee": 4}, {"total": 98}):
            refusal = refused(trade.change, payment, **changes)
            assert refusal.code == "link_exceeds_remaining"
            assert refusal.detail == {"linked_amount_cents": 97, "amount_cents": 96}
        trade.change(payment, fee=3)
