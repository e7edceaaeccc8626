"""Credits that are paid out: to customers by refunds, and by vendors in cash."""

from typing import Any

import pytest

from accounting.absent import ABSENT
from accounting.errors import Conflict
from accounting.trade import credits, refunds
from accounting.trade.invoice_refund_changes import refundable
from tests.accounting.samples import by_code, day, moment, refusal_of, refused
from tests.accounting.trade.business import Trade, credit_line
from tests.accounting.trade.purchases import CREDIT, REFUNDED_CREDIT, Purchases, returned

TAXED = credit_line(8_333, 1_667)


class TestRefundOfACredit:
    def test_all_that_is_not_used_unless_it_says_less(self, trade: Trade) -> None:
        id_ = trade.credit(1_000, to=[(trade.document(300), 300)])
        first = trade.refund(id_, 100)
        assert refundable(trade.credits[id_]) == 600
        assert trade.status(id_) == "partially_applied"
        rest = trade.refund(id_)
        assert [trade.refunds[each].amount for each in (first, rest)] == [100, 600]
        credit = trade.credits[id_]
        assert (credits.applied(credit), credit.refunded) == (300, 700)
        assert (credits.used(credit), credits.unapplied(credit)) == (1_000, 0)
        assert trade.status(id_) == "applied"

    def test_a_refund_uses_the_credit_and_owes_the_money(self, trade: Trade) -> None:
        id_ = trade.credit(TAXED, number="2026/7")
        refund = trade.refund(id_, 3_333)
        [entry] = trade.posted(refund)
        assert trade.book(refund) == [("5", {"2250": 3_333, "2300": -3_333})]
        [used] = [each for each in entry.lines if each.settles == id_]
        assert by_code(used.split) == {"4100": 2_777, "2200": 556}
        [allocation] = trade.refunds[refund].allocations
        assert (allocation.kind, allocation.target_number) == ("refunded_credit", "2026/7")

    def test_payments_of_a_refund_pay_the_parts_of_the_credit(self, trade: Trade) -> None:
        id_ = trade.credit(TAXED)
        refund = trade.refund(id_)
        assert by_code(tuple(refunds.parts(trade.refunds[refund]).items())) == {
            "4100": 8_333,
            "2200": 1_667,
        }
        first, last = trade.pay_refund(refund, 3_333), trade.pay_refund(refund)
        splits = [by_code(trade.refund_payments[each].splits[-1]) for each in (first, last)]
        assert splits == [{"4100": 2_777, "2200": 556}, {"4100": 5_556, "2200": 1_111}]
        assert trade.balances() == {"1100": -10_000, "2200": 1_667, "4100": 8_333}

    def test_steps_and_applications_take_what_the_others_have_left(self, trade: Trade) -> None:
        id_ = trade.credit(TAXED)
        trade.refund(id_, 3_333)
        trade.apply(id_, (trade.document(6_667), 6_667))
        assert by_code(trade.credits[id_].settled) == {"4100": 8_333, "2200": 1_667}
        [allocation] = credits.live_allocations(trade.credits[id_])
        assert by_code(allocation.own_split) == {"4100": 5_556, "2200": 1_111}

    def test_cancelled_it_gives_its_own_parts_back(self, trade: Trade) -> None:
        id_ = trade.credit(TAXED)
        first, second = trade.refund(id_, 3_333), trade.refund(id_, 1_000)
        trade.on("9").cancel_refund(first)
        [allocation] = trade.refunds[second].allocations
        assert trade.credits[id_].settled == allocation.split
        assert trade.book(first)[1:] == [("9", {"2250": -3_333, "2300": 3_333})]
        assert trade.posted(first)[1].reversal_of_id == trade.posted(first)[0].id
        trade.cancel_refund(second)
        assert (trade.credits[id_].refunded, trade.status(id_)) == (0, "sent")
        trade.void_credit(id_)
        assert trade.balances() == {}

    def test_a_refund_is_not_owed_before_its_credit(self, trade: Trade) -> None:
        id_ = trade.credit(1_000, opened_at=moment("9"))
        refund = trade.refund(id_, completed_at=moment("7"))
        assert trade.book(refund) == [("9", {"2250": 1_000, "2300": -1_000})]
        assert trade.refunds[refund].agreed_on == day("9")

    @pytest.mark.parametrize(("amount", "counted", "used"), [(701, 701, 300), (ABSENT, 0, 1_000)])
    def test_a_refund_over_the_rest_is_refused(
        self, trade: Trade, amount: Any, counted: int, used: int
    ) -> None:
        id_ = trade.credit(1_000, to=[(trade.document(1_000), used)])
        rest = {"refundable": 1_000 - used, "amount": counted, "credit_id": str(id_)}
        assert refusal_of(trade.refund, id_, amount) == (
            "refund_exceeds_refundable",
            {**rest, "applied": used, "refunded": 0},
        )

    @pytest.mark.parametrize("state", ["draft", "void"])
    def test_only_a_sent_credit_is_refunded(self, trade: Trade, state: str) -> None:
        id_ = trade.credit(1_000, opened_at=None if state == "draft" else moment("5"))
        if state == "void":
            trade.void_credit(id_)
        refusal = refused(trade.refund, id_)
        assert isinstance(refusal, Conflict)
        assert (refusal.code, refusal.detail) == ("credit_not_sent", {"current_state": state})

    def test_a_refunded_credit_is_not_voided_nor_applied_twice(self, trade: Trade) -> None:
        invoice, id_ = trade.document(1_000), trade.credit(1_000)
        trade.refund(id_, 400)
        used = {"applied_amount": 0, "refunded_amount": 400, "invoice_ids": []}
        assert refusal_of(trade.void_credit, id_) == ("credit_applied", used)
        refusal = refused(trade.apply, id_, (invoice, 601))
        assert (refusal.code, refusal.detail["refunded"]) == ("allocation_exceeds_total", 400)


class TestVendorCreditInCash:
    def test_a_refunded_vendor_credit_is_reduced_and_claimed(self) -> None:
        trade = Purchases("5")
        id_ = trade.credit(TAXED)
        refund = trade.agree(5_000, returned(REFUNDED_CREDIT, 3_333, id_))
        # The unallocated amount waits on its own account.
        assert trade.book(refund) == [("5", {"1270": 5_000, "1260": -3_333, "1900": -1_667})]
        [entry] = trade.posted(refund)
        [used] = [each for each in entry.lines if each.settles == id_]
        assert by_code(used.split) == {"5100": -2_777, "1300": -556}
        paid = by_code(trade.refund_payments[trade.complete(refund)].splits[-1])
        assert paid == {"5100": 2_777, "1300": 556, "1900": 1_667}
        credit = trade.credits[id_]
        assert (credit.refunded, credits.unapplied(credit)) == (3_333, 6_667)

    def test_allocated_anew_and_cancelled_it_gives_the_credit_back(self) -> None:
        trade = Purchases("5")
        id_ = trade.credit(TAXED)
        refund = trade.agree(3_333, returned(REFUNDED_CREDIT, 3_333, id_))
        trade.on("9").allocate(refund, returned(REFUNDED_CREDIT, 1_000, id_))
        assert trade.credits[id_].refunded == 1_000
        assert trade.book(refund)[1:] == [("9", {"1260": 2_333, "1900": -2_333, "1270": 0})]
        [payment] = trade.payments_of(refund)
        trade.withdraw(payment.id)
        assert (trade.credits[id_].refunded, trade.credits[id_].settled) == (0, ())
        trade.void_credit(id_)
        assert trade.balances() == {}

    def test_a_refund_is_dated_no_earlier_than_the_vendor_credit(self) -> None:
        trade = Purchases("5")
        id_ = trade.credit(1_000, opened_at=moment("9"))
        refund = trade.agree(1_000, returned(REFUNDED_CREDIT, 1_000, id_), refund_date=day("7"))
        assert trade.book(refund) == [
            ("7", {"1270": 1_000, "1900": -1_000}),
            ("9", {"1900": 1_000, "1260": -1_000, "1270": 0}),
        ]

    def test_a_refund_over_the_rest_is_refused(self) -> None:
        trade = Purchases("5")
        id_ = trade.credit(1_000, to=[(trade.document(300), 300)])
        rest = {"refundable": 700, "amount": 701, "vendor_credit_id": str(id_)}
        assert refusal_of(trade.agree, 2_000, returned(REFUNDED_CREDIT, 701, id_)) == (
            "refund_exceeds_refundable",
            {**rest, "applied": 300, "refunded": 0},
        )

    def test_a_credit_that_another_refund_made_stays_while_it_is_paid_out(self) -> None:
        trade = Purchases("5")
        made = trade.agree(500, returned(CREDIT, 500))
        id_ = trade.credit_of(made)
        out = trade.agree(200, returned(REFUNDED_CREDIT, 200, id_))
        [payment] = trade.payments_of(made)
        refusal = refused(trade.withdraw, payment.id)
        assert (refusal.code, refusal.detail["refunded_amount"]) == ("credit_applied", 200)
        trade.withdraw(trade.payments_of(out)[0].id)
        trade.withdraw(payment.id)
        assert trade.balances() == {}

    def test_a_refund_that_makes_and_refunds_a_credit_is_undone_as_a_whole(self) -> None:
        trade = Purchases("5")
        refund = trade.agree(500, returned(CREDIT, 300))
        id_ = trade.credit_of(refund)
        trade.allocate(refund, returned(CREDIT, 300), returned(REFUNDED_CREDIT, 200, id_))
        [payment] = trade.payments_of(refund)
        trade.withdraw(payment.id)
        assert (trade.balances(), trade.credits[id_].state) == ({}, "void")
