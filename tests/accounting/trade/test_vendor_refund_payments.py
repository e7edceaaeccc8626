"""The status of vendor refunds, and their payments."""

import pytest

from tests.accounting.samples import day, part_on, refused
from tests.accounting.trade.purchases import BILL, CREDIT, PAYMENT, Purchases, announced, returned


@pytest.fixture
def trade() -> Purchases:
    return Purchases("5")


class TestStatus:
    def test_the_first_that_fits(self, trade: Purchases) -> None:
        bill = trade.paid(500)
        refund = trade.agree(500)
        assert trade.status(refund) == "pending"
        trade.allocate(refund, returned(BILL, 400, bill))
        assert trade.status(refund) == "partially_allocated"
        payment = trade.complete(refund)
        assert trade.status(refund) == "partially_allocated"
        trade.allocate(refund, returned(BILL, 500, bill))
        assert trade.status(refund) == "completed"
        trade.move(payment, "failed")
        assert trade.status(refund) == "allocated"
        trade.withdraw(payment)
        assert trade.status(refund) == "cancelled"

    def test_a_cancelled_payment_is_not_waited_for(self, trade: Purchases) -> None:
        refund = trade.agree(500, returned(CREDIT, 100), payments=announced(150, 250))
        bill = trade.paid(500)
        trade.allocate(refund, returned(CREDIT, 100), returned(BILL, 400, bill))
        first, second = (each.id for each in trade.payments_of(refund))
        trade.move(second, "completed")
        assert trade.status(refund) == "allocated"
        trade.withdraw(first)
        assert trade.status(refund) == "completed"
        assert trade.refunds[refund].cancelled_at is None
        assert trade.balances()["1270"] == 150


class TestPayment:
    @pytest.mark.parametrize(
        ("method", "account"), [("cash", "1000"), ("wire", "1100"), ("credit_card", "1100")]
    )
    def test_money_comes_less_its_fee(self, trade: Purchases, method: str, account: str) -> None:
        bill = trade.paid()
        refund = trade.agree(3_333, returned(BILL, 3_333, bill))
        payment = trade.on("9").complete(refund, method=method, fee=33)
        assert trade.book(payment) == [("9", {account: 3_300, "6300": 33, "1270": -3_333})]
        [entry] = trade.posted(payment)
        assert entry.description == "Refund payment from Acme Ltd"
        assert entry.source_type == "vendor_refund_payment"
        [claim] = [each for each in entry.lines if each.settles]
        assert (claim.settles, claim.amount) == (refund, -3_333)
        assert claim.split == ((part_on("6000"), -2_777), (part_on("1300"), -556))
        value = trade.refund_payments[payment]
        assert (value.status, value.payment_date) == ("completed", day("9"))
        assert value.completed_at is not None

    def test_in_part_it_is_of_each_thing_by_itself(self, trade: Purchases) -> None:
        bill, small = trade.paid(500), [trade.pay(1), trade.pay(1)]
        parts = [returned(PAYMENT, 1, each) for each in small]
        refund = trade.agree(502, *parts, returned(BILL, 500, bill), payments=announced(167, 335))
        payment = trade.complete(refund)
        [entry] = trade.posted(payment)
        # Each third of a cent rounds to 0; two thirds together would round to 1.
        claims = {each.about: each.amount for each in entry.lines if each.settles}
        assert claims == {bill: -167}

    def test_dated_by_its_payment_date_also_before_the_refund(self, trade: Purchases) -> None:
        refund = trade.agree(500, payments=announced(200, 300))
        first, second = (each.id for each in trade.payments_of(refund))
        trade.on("14").move(first, "completed", payment_date=day("9"))
        trade.move(second, "completed", payment_date=day("3"))
        assert trade.book(first) == [("9", {"1100": 200, "1270": -200})]
        assert trade.book(second) == [("3", {"1100": 300, "1270": -300})]
        trade.move(first, payment_date=day("12"))
        assert trade.book(first)[1:] == [
            ("9", {"1100": -200, "1270": 200}),
            ("12", {"1100": 200, "1270": -200}),
        ]

    def test_failed_the_claim_stays_and_it_may_come_again(self, trade: Purchases) -> None:
        bill = trade.paid(500)
        refund = trade.agree(500, returned(BILL, 500, bill))
        payment = trade.on("9").complete(refund, fee=5)
        trade.on("14").move(payment, "failed", failure_reason="no cover")
        assert trade.book(payment)[1:] == [("14", {"1100": -495, "6300": -5, "1270": 500})]
        assert trade.balances() == {"1100": -500, "1270": 500}
        value = trade.refund_payments[payment]
        assert (value.completed_at, value.failure_reason) == (None, "no cover")
        assert (trade.refunds[refund].paid, trade.refunds[refund].settled) == (0, ())
        trade.on("20").move(payment, "completed")
        assert trade.book(payment)[2:] == [("20", {"1100": 495, "6300": 5, "1270": -500})]
        trade.on("28").move(payment, "failed")
        assert trade.book(payment)[3:] == [("28", {"1100": -495, "6300": -5, "1270": 500})]

    def test_a_day_inside_the_lock_is_refused_once_money_is_posted(self, trade: Purchases) -> None:
        [payment] = trade.payments_of(trade.agree(500))
        trade.on("9", lock="8").move(payment.id, "processing", payment_date=day("7"))
        assert refused(trade.move, payment.id, "completed").code == "period_locked"
        trade.move(payment.id, "completed", payment_date=day("9"))
        assert refused(trade.move, payment.id, payment_date=day("8")).code == "period_locked"

    def test_later_inside_the_lock_is_the_day_after_it(self, trade: Purchases) -> None:
        payment = trade.complete(trade.agree(500))
        trade.on("9", lock="31").move(payment, "failed")
        assert trade.book(payment)[1:] == [("2-1", {"1100": -500, "1270": 500})]

    def test_the_fee_is_at_most_the_money(self, trade: Purchases) -> None:
        payment = trade.complete(trade.agree(500), fee=500)
        assert trade.book(payment) == [("5", {"6300": 500, "1270": -500})]
        assert refused(trade.move, payment, fee=501).code == "fee_exceeds_amount"

    def test_nothing_changed_is_the_same_object(self, trade: Purchases) -> None:
        bill = trade.paid(500)
        parts = [returned(BILL, 300, bill), returned(CREDIT, 100)]
        refund = trade.agree(500, *parts)
        [payment] = trade.payments_of(refund)
        before = trade.refunds[refund], trade.refund_payments[payment.id]
        after = trade.on("9").move(payment.id, "pending", allocations=[*reversed(parts)])
        assert after.refund is before[0]
        assert after.payment(payment.id) is before[1]
