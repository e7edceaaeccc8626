"""Refunds from vendors as they are allocated anew, before and after their money came."""

from accounting.trade import refunds
from tests.accounting.samples import by_code, day, refused
from tests.accounting.trade.purchases import (
    BILL,
    CREDIT,
    PAYMENT,
    Purchases,
    announced,
    returned,
)


class TestAllocatedAnew:
    def test_the_difference_is_dated_today(self) -> None:
        trade = Purchases("5")
        first, payment = trade.paid_document(500)
        second = trade.paid()
        refund = trade.agree(1_000, returned(BILL, 500, first))
        trade.today = "9"
        trade.allocate(refund, returned(BILL, 200, second), returned(PAYMENT, 300, payment))
        assert trade.book(refund)[1:] == [
            ("9", {"6000": 500 - 167, "1300": -33, "1250": -300, "1270": 0}),
        ]
        assert [trade.documents[each].refunded for each in (first, second)] == [0, 200]
        assert trade.book(payment)[1:] == [("9", {"1250": 300, "2000": -300})]

    def test_an_unchanged_allocation_keeps_its_day(self) -> None:
        trade = Purchases("5")
        bill, payment = trade.paid_document(500)
        parts = [returned(CREDIT, 100), returned(PAYMENT, 200, payment)]
        refund = trade.agree(600, *parts)
        credit = trade.credit_of(refund)
        trade.apply(credit, (bill, 100))
        before = refunds.live_allocations(trade.refunds[refund])
        trade.today = "9"
        trade.allocate(refund, *reversed(parts), returned(BILL, 300, bill, description="d"))
        live = refunds.live_allocations(trade.refunds[refund])
        assert live[:2] == before
        assert trade.credits[credit].state == "open"
        assert trade.book(refund)[1:] == [("9", {"1900": 300, "6000": -300, "1270": 0})]
        said = [returned(BILL, 300, bill, description="e", metadata=1), *parts]
        trade.allocate(refund, *said)
        last = refunds.live_allocations(trade.refunds[refund])[-1]
        assert (last.id, last.description, last.metadata) == (live[-1].id, "e", 1)
        assert len(trade.book(refund)) == 2

    def test_received_money_pays_the_new_parts(self) -> None:
        trade = Purchases("5")
        bill = trade.paid()
        given = announced(400, 600)
        refund = trade.agree(1_000, payments=given)
        first, second = (each.id for each in trade.payments_of(refund))
        trade.move(first, "completed")
        assert by_code(trade.refund_payments[first].splits[-1]) == {"1900": 400}
        trade.today = "9"
        trade.allocate(refund, returned(BILL, 600, bill))
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

    def test_a_payment_of_nothing_pays_no_part_anew(self) -> None:
        trade = Purchases("5")
        bill = trade.paid(500)
        refund = trade.agree(500, payments=announced(0, 500))
        first, second = (each.id for each in trade.payments_of(refund))
        for id_ in (first, second):
            trade.move(id_, "completed")
        before = trade.refund_payments[first]
        trade.today = "9"
        trade.allocate(refund, returned(BILL, 500, bill))
        assert trade.refund_payments[first] == before
        assert by_code(trade.refund_payments[second].splits[-1]) == {"6000": 500}

    def test_a_credit_of_a_refund_does_not_change_once_money_is_received(self) -> None:
        trade = Purchases("5")
        refund = trade.agree(
            1_000,
            returned(CREDIT, 200),
            payments=announced(300, 500),
        )
        trade.complete(refund)
        for parts in ([], [returned(CREDIT, 199)], [returned(CREDIT, 200), returned(CREDIT, 1)]):
            assert refused(trade.allocate, refund, *parts).code == "vendor_refund_paid"
        old = trade.credit_of(refund)
        trade.allocate(refund, returned(CREDIT, 150), returned(CREDIT, 50))
        assert trade.credits[old].state == "void"
        made = [each.total_amount for each in trade.credits.values() if each.state == "open"]
        assert made == [150, 50]

    def test_before_that_the_payment_comes_to_less_or_more(self) -> None:
        trade = Purchases("5")
        refund = trade.agree(1_000, payments=announced(300, 700))
        trade.today = "9"
        trade.allocate(refund, returned(CREDIT, 300))
        assert [each.amount for each in trade.payments_of(refund)] == [0, 700]
        assert trade.book(refund)[1:] == [("9", {"1270": -300, "1900": 300})]
        credit = trade.credit_of(refund)
        assert trade.book(credit) == [("9", {"1260": 300, "5100": -300})]
        refusal = refused(trade.allocate, refund, returned(CREDIT, 301))
        assert refusal.code == "allocation_exceeds_total"
        trade.allocate(refund)
        assert [each.amount for each in trade.payments_of(refund)] == [300, 700]
        assert trade.credits[credit].state == "void"

    def test_money_that_came_and_went_keeps_what_it_was(self) -> None:
        trade = Purchases("5")
        refund = trade.agree(1_000)
        payment = trade.complete(refund)
        trade.today = "9"
        trade.move(payment, "failed")
        trade.today = "14"
        trade.allocate(refund, returned(CREDIT, 400))
        assert trade.refund_payments[payment].amount == 600
        assert trade.book(payment) == [
            ("5", {"1100": 1_000, "1270": -1_000}),
            ("9", {"1100": -1_000, "1270": 1_000}),
        ]
        trade.move(payment, "completed")
        assert trade.book(payment)[2:] == [("14", {"1100": 600, "1270": -600})]

    def test_a_fee_over_what_is_left_is_refused(self) -> None:
        trade = Purchases("5")
        refund = trade.agree(100, payments=announced(100, fee=50))
        refusal = refused(trade.allocate, refund, returned(CREDIT, 51))
        assert refusal.code == "fee_exceeds_amount"
        trade.allocate(refund, returned(CREDIT, 51), fee=49)

    def test_completed_with_it_at_once(self) -> None:
        trade = Purchases("5")
        bill = trade.paid(500)
        refund = trade.agree(500)
        trade.today = "9"
        [payment] = trade.payments_of(refund)
        trade.move(payment.id, "completed", allocations=(returned(BILL, 500, bill),))
        assert trade.status(refund) == "completed"
        assert by_code(trade.refund_payments[payment.id].splits[-1]) == {"6000": 500}

    def test_refusals_leave_all_as_it_was(self) -> None:
        trade = Purchases("5")
        bill, payment = trade.paid_document(500)
        refund = trade.agree(900, returned(PAYMENT, 400, payment))
        before = dict(trade.refunds), dict(trade.payments), dict(trade.documents)
        for parts, code in [
            ([returned(BILL, 901, bill)], "allocation_exceeds_total"),
            ([returned(BILL, 101, bill), returned(PAYMENT, 400, payment)], None),
            ([returned(BILL, 300, bill), returned(PAYMENT, 201, payment)], None),
        ]:
            refusal = refused(trade.allocate, refund, *parts)
            assert refusal.code == (code or "refund_exceeds_refundable")
        assert (trade.refunds, trade.payments, trade.documents) == before
        trade.allocate(refund, returned(BILL, 300, bill), returned(PAYMENT, 200, payment))
        assert trade.held(payment) == {bill: 300}

    def test_not_by_a_cancelled_payment(self) -> None:
        trade = Purchases("5")
        refund = trade.agree(500)
        trade.withdraw_refund(refund)
        refusal = refused(trade.allocate, refund, returned(CREDIT, 5))
        assert refusal.code == "invalid_state_transition"
        assert refusal.detail["current_state"] == "cancelled"

    def test_a_future_refund_is_not_allocated_before_its_day(self) -> None:
        trade = Purchases("5")
        bill, payment = trade.paid_document(500)
        refund = trade.agree(500, refund_date=day("14"))
        trade.today = "9"
        parts = [returned(BILL, 100, bill), returned(PAYMENT, 200, payment), returned(CREDIT, 50)]
        trade.allocate(refund, *parts)
        assert trade.balances()["1270"] == 450
        books = [
            *trade.book(refund),
            *trade.book(trade.credit_of(refund)),
            *trade.book(payment)[1:],
        ]
        assert {on for on, _ in books} == {"14"}

    def test_today_inside_the_lock_is_the_day_after_it(self) -> None:
        trade = Purchases("5")
        bill = trade.paid(500)
        refund = trade.agree(500)
        trade.today, trade.lock = "9", "31"
        trade.allocate(refund, returned(BILL, 300, bill), returned(CREDIT, 50))
        assert trade.book(refund)[1:] == [("2-1", {"1270": -50, "1900": 350, "6000": -300})]
        assert trade.book(trade.credit_of(refund)) == [("2-1", {"1260": 50, "5100": -50})]
