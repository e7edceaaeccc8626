"""Vendor refunds whose allocations change, before and after their money came."""

import pytest

from accounting.trade import refunds
from tests.accounting.samples import by_code, day, no_move, refusal_of, refused
from tests.accounting.trade.purchases import BILL, CREDIT, PAYMENT, Purchases, announced, returned


@pytest.fixture
def trade() -> Purchases:
    return Purchases("5")


class TestAllocatedAnew:
    def test_the_difference_is_dated_today(self, trade: Purchases) -> None:
        first, payment = trade.paid_document(500)
        second = trade.paid()
        refund = trade.agree(1_000, returned(BILL, 500, first))
        trade.on("9").allocate(refund, returned(BILL, 200, second), returned(PAYMENT, 300, payment))
        assert trade.book(refund)[1:] == [
            ("9", {"6000": 500 - 167, "1300": -33, "1250": -300, "1270": 0})
        ]
        assert [trade.documents[each].refunded for each in (first, second)] == [0, 200]
        assert trade.book(payment)[1:] == [("9", {"1250": 300, "2000": -300})]

    def test_an_unchanged_allocation_keeps_its_day(self, trade: Purchases) -> None:
        bill, payment = trade.paid_document(500)
        parts = [returned(CREDIT, 100), returned(PAYMENT, 200, payment)]
        refund = trade.agree(600, *parts)
        credit = trade.credit_of(refund)
        trade.apply(credit, (bill, 100))
        before = refunds.live_allocations(trade.refunds[refund])
        trade.on("9").allocate(refund, *reversed(parts), returned(BILL, 300, bill, description="d"))
        live = refunds.live_allocations(trade.refunds[refund])
        assert live[:2] == before
        assert trade.credits[credit].state == "open"
        assert trade.book(refund)[1:] == [("9", {"1900": 300, "6000": -300, "1270": 0})]
        said = [returned(BILL, 300, bill, description="e", metadata=1), *parts]
        trade.allocate(refund, *said)
        last = refunds.live_allocations(trade.refunds[refund])[-1]
        assert (last.id, last.description, last.metadata) == (live[-1].id, "e", 1)
        assert len(trade.book(refund)) == 2

    def test_received_money_pays_the_new_parts(self, trade: Purchases) -> None:
        bill = trade.paid()
        given = announced(400, 600)
        refund = trade.agree(1_000, payments=given)
        first, second = (each.id for each in trade.payments_of(refund))
        trade.move(first, "completed")
        assert by_code(trade.refund_payments[first].splits[-1]) == {"1900": 400}
        trade.on("9").allocate(refund, returned(BILL, 600, bill))
        assert trade.book(refund)[1:] == [
            ("9", {"1900": 600, "6000": -500, "1300": -100, "1270": 0})
        ]
        changed = trade.posted(first)[1]
        assert changed.entry_date == day("9")
        assert [(each.amount, by_code(each.split)) for each in changed.lines] == [
            (400 - 160, {"1900": 240}),
            (160 - 400, {"6000": -200, "1300": -40}),
        ]
        assert {each.settles for each in changed.lines} == {refund}
        trade.move(second, "completed")
        settled = by_code(trade.refunds[refund].settled)
        assert settled == {"6000": 500, "1300": 100, "1900": 400}
        assert trade.balances()["1900"] == -400

    def test_a_payment_of_nothing_pays_no_part_anew(self, trade: Purchases) -> None:
        bill = trade.paid(500)
        refund = trade.agree(500, payments=announced(0, 500))
        first, second = (each.id for each in trade.payments_of(refund))
        for id_ in (first, second):
            trade.move(id_, "completed")
        before = trade.refund_payments[first]
        trade.on("9").allocate(refund, returned(BILL, 500, bill))
        assert trade.refund_payments[first] == before
        assert by_code(trade.refund_payments[second].splits[-1]) == {"6000": 500}

    def test_a_credit_of_a_refund_stays_once_money_came(self, trade: Purchases) -> None:
        refund = trade.agree(1_000, returned(CREDIT, 200), payments=announced(300, 500))
        trade.complete(refund)
        for parts in ([], [returned(CREDIT, 199)], [returned(CREDIT, 200), returned(CREDIT, 1)]):
            assert refused(trade.allocate, refund, *parts).code == "vendor_refund_paid"
        old = trade.credit_of(refund)
        trade.allocate(refund, returned(CREDIT, 150), returned(CREDIT, 50))
        assert trade.credits[old].state == "void"
        made = [each.total_amount for each in trade.credits.values() if each.state == "open"]
        assert made == [150, 50]

    def test_before_that_the_payment_comes_to_less_or_more(self, trade: Purchases) -> None:
        refund = trade.agree(1_000, payments=announced(300, 700))
        trade.on("9").allocate(refund, returned(CREDIT, 300))
        assert [each.amount for each in trade.payments_of(refund)] == [0, 700]
        assert trade.book(refund)[1:] == [("9", {"1270": -300, "1900": 300})]
        credit = trade.credit_of(refund)
        assert trade.book(credit) == [("9", {"1260": 300, "5100": -300})]
        more = refused(trade.allocate, refund, returned(CREDIT, 301))
        assert more.code == "allocation_exceeds_total"
        trade.allocate(refund)
        assert [each.amount for each in trade.payments_of(refund)] == [300, 700]
        assert trade.credits[credit].state == "void"

    def test_money_that_came_and_went_keeps_what_it_was(self, trade: Purchases) -> None:
        refund = trade.agree(1_000)
        payment = trade.complete(refund)
        trade.on("9").move(payment, "failed")
        trade.on("14").allocate(refund, returned(CREDIT, 400))
        assert trade.refund_payments[payment].amount == 600
        assert trade.book(payment) == [
            ("5", {"1100": 1_000, "1270": -1_000}),
            ("9", {"1100": -1_000, "1270": 1_000}),
        ]
        trade.move(payment, "completed")
        assert trade.book(payment)[2:] == [("14", {"1100": 600, "1270": -600})]

    def test_a_fee_over_what_is_left_is_refused(self, trade: Purchases) -> None:
        refund = trade.agree(100, payments=announced(100, fee=50))
        assert refused(trade.allocate, refund, returned(CREDIT, 51)).code == "fee_exceeds_amount"
        trade.allocate(refund, returned(CREDIT, 51), fee=49)

    def test_completed_with_it_at_once(self, trade: Purchases) -> None:
        bill, refund = trade.paid(500), trade.agree(500)
        [payment] = trade.payments_of(refund)
        parts = (returned(BILL, 500, bill),)
        trade.on("9").move(payment.id, "completed", allocations=parts)
        assert trade.status(refund) == "completed"
        assert by_code(trade.refund_payments[payment.id].splits[-1]) == {"6000": 500}

    def test_refusals_leave_all_as_it_was(self, trade: Purchases) -> None:
        bill, payment = trade.paid_document(500)
        refund = trade.agree(900, returned(PAYMENT, 400, payment))
        before = dict(trade.refunds), dict(trade.payments), dict(trade.documents)
        for of_bill, of_payment, code in (
            (901, 0, "allocation_exceeds_total"),
            (101, 400, "refund_exceeds_refundable"),
            (300, 201, "refund_exceeds_refundable"),
        ):
            parts = [returned(BILL, of_bill, bill)]
            parts += [returned(PAYMENT, of_payment, payment)] if of_payment else []
            assert refused(trade.allocate, refund, *parts).code == code
        assert (trade.refunds, trade.payments, trade.documents) == before
        trade.allocate(refund, returned(BILL, 300, bill), returned(PAYMENT, 200, payment))
        assert trade.held(payment) == {bill: 300}

    def test_not_by_a_cancelled_payment(self, trade: Purchases) -> None:
        refund = trade.agree(500)
        trade.withdraw_refund(refund)
        assert refusal_of(trade.allocate, refund, returned(CREDIT, 5)) == no_move("cancelled")

    def test_a_future_refund_is_not_allocated_before_its_day(self, trade: Purchases) -> None:
        bill, payment = trade.paid_document(500)
        refund = trade.agree(500, refund_date=day("14"))
        parts = [returned(BILL, 100, bill), returned(PAYMENT, 200, payment), returned(CREDIT, 50)]
        trade.on("9").allocate(refund, *parts)
        assert trade.balances()["1270"] == 450
        books = trade.book(refund) + trade.book(trade.credit_of(refund)) + trade.book(payment)[1:]
        assert {on for on, _ in books} == {"14"}

    def test_today_inside_the_lock_is_the_day_after_it(self, trade: Purchases) -> None:
        bill = trade.paid(500)
        refund = trade.agree(500)
        trade.on("9", lock="31").allocate(refund, returned(BILL, 300, bill), returned(CREDIT, 50))
        assert trade.book(refund)[1:] == [("2-1", {"1270": -50, "1900": 350, "6000": -300})]
        assert trade.book(trade.credit_of(refund)) == [("2-1", {"1260": 50, "5100": -50})]
