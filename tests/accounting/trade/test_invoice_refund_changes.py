"""Refunds to customers as they are agreed, paid and cancelled, and the records they refund."""

from dataclasses import replace
from typing import Any

import pytest

from accounting.absent import ABSENT
from accounting.books.chart import Role
from accounting.errors import RuleViolation
from accounting.trade import payments, refunds
from accounting.trade.commands import TaxGiven
from accounting.trade.documents import outstanding
from accounting.trade.invoice_refund_changes import refundable, refuse_elsewhere
from accounting.trade.remaining_by_line import parts_left
from tests.accounting.samples import (
    ARCHIVED,
    ROLES,
    by_code,
    day,
    moment,
    named,
    no_move,
    refusal_of,
    refused,
)
from tests.accounting.trade.business import Trade, line


class TestRefundable:
    def test_completed_money_less_live_refunds(self, trade: Trade) -> None:
        invoice = trade.document(1_000)
        trade.pay(400, (invoice, 400))
        trade.pay(300, (invoice, 300), status="pending")
        trade.credit(200, to=[(invoice, 200)])
        assert refundable(trade.documents[invoice]) == 400
        trade.refund(invoice, 150)
        assert refundable(trade.documents[invoice]) == 250

    def test_never_below_zero_where_the_money_bounced(self, trade: Trade) -> None:
        invoice, payment = trade.paid_document(1_000)
        trade.refund(invoice, 600)
        trade.change(payment, status="failed")
        assert refundable(trade.documents[invoice]) == 0
        trade.pay(1_000, (invoice, 1_000))
        assert refundable(trade.documents[invoice]) == 400

    def test_the_unallocated_rest_of_a_completed_payment_is_refundable(self, trade: Trade) -> None:
        payment = trade.pay(1_000, (trade.document(300), 300))
        assert refundable(trade.payments[payment]) == 700
        trade.refund(payment, 200)
        assert refundable(trade.payments[payment]) == 500
        trade.change(payment, status="pending")
        assert refundable(trade.payments[payment]) == 0


class TestAgree:
    def test_all_that_can_be_given_back_unless_it_says_less(self, trade: Trade) -> None:
        invoice = trade.paid()
        trade.today = "9"
        said = {"external_id": "r", "memo": "m", "reference_number": "n", "metadata": {"a": 1}}
        part = trade.refunds[trade.refund(invoice, 1, **said)]
        rest = trade.refunds[trade.refund(invoice)]
        assert (part.amount, rest.amount, trade.status(rest.id)) == (1, 9_999, "pending")
        assert {name: getattr(part, name) for name in said} == said
        assert (part.agreed_on, part.completed_at) == (day("9"), None)
        assert trade.documents[invoice].updated_at == moment("9")

    def test_a_refund_of_an_invoice_names_it_and_reopens_nothing(self, trade: Trade) -> None:
        invoice = trade.paid()
        refund = trade.refunds[trade.refund(invoice)]
        [allocation] = refunds.live_allocations(refund)
        document = trade.documents[invoice]
        assert (allocation.kind, allocation.target_id) == ("document", invoice)
        assert allocation.target_number == document.number
        assert refunds.is_dedicated(refund)
        assert (outstanding(document), document.paid_on) == (0, day("5"))
        assert trade.status(invoice) == "refunded"

    def test_a_refund_of_a_payment_uses_its_unallocated_money(self, trade: Trade) -> None:
        id_ = trade.pay(1_000, (trade.document(300), 300))
        [allocation] = trade.refunds[trade.refund(id_)].allocations
        assert (allocation.kind, allocation.target_number) == ("payment", None)
        assert by_code(allocation.split) == {"2100": 700}
        payment = trade.payments[id_]
        assert (payments.allocated(payment), payments.remaining(payment)) == (1_000, 0)
        assert (payments.applied(payment), payments.unapplied(payment)) == (300, 700)
        assert payments.is_fully_allocated(payment)
        assert payment.status == "completed"

    def test_33_33_and_66_67_of_83_33_and_16_67(self, trade: Trade) -> None:
        invoice = trade.paid()
        refunds_ = [trade.refunds[trade.refund(invoice, amount)] for amount in (3_333, 6_667)]
        splits = [by_code(each.allocations[0].split) for each in refunds_]
        assert splits == [{"4100": 2_777, "2200": 556}, {"4100": 5_556, "2200": 1_111}]

    def test_many_parts_close_exactly_and_a_cancelled_part_returns(self, trade: Trade) -> None:
        taxes = TaxGiven(61), TaxGiven(17, named("2400"))
        invoice = trade.paid(333, line(500, taxes=taxes), 89)
        made = [trade.refund(invoice, amount) for amount in (7, 333, 1, 419)]
        trade.cancel_refund(made.pop(1))
        made += [trade.refund(invoice, 111), trade.refund(invoice)]
        document = trade.documents[invoice]
        given = parts_left(replace(document, reduced=()), ROLES[Role.SALES_RETURNS])
        returned = by_code(document.returned)
        assert returned == by_code(tuple(given.items())) == {"4100": 922, "2200": 61, "2400": 17}
        assert document.refunded == sum(trade.refunds[each].amount for each in made) == 1_000

    def test_a_step_takes_what_earlier_steps_have_left(self, trade: Trade) -> None:
        taxes = TaxGiven(1), TaxGiven(1, named("2400"))
        invoice = trade.paid(line(1, taxes=taxes))
        steps = [trade.refunds[trade.refund(invoice, 1)].allocations[0].split for _ in range(3)]
        assert [by_code(each) for each in steps] == [{"4100": 1}, {"2200": 1}, {"2400": 1}]

    @pytest.mark.parametrize(("amount", "counted", "rest"), [(601, 601, 600), (ABSENT, 0, 0)])
    def test_an_amount_over_the_rest_is_refused(
        self, trade: Trade, amount: Any, counted: int, rest: int
    ) -> None:
        invoice = trade.document(1_000)
        if rest:
            trade.pay(rest, (invoice, rest))
        refusal = refused(trade.refund, invoice, amount)
        assert (type(refusal), refusal.code) == (RuleViolation, "refund_exceeds_refundable")
        paid = {"invoice_id": str(invoice), "paid": rest, "refunded": 0}
        assert refusal.detail == {"refundable": rest, "amount": counted, **paid}

    def test_a_draft_and_money_on_its_way_give_nothing_back(self, trade: Trade) -> None:
        draft = trade.document(1_000, opened_at=None)
        pending = trade.pay(500, status="pending")
        assert refused(trade.refund, draft, 1).code == "refund_exceeds_refundable"
        assert refused(trade.refund, pending).code == "refund_exceeds_refundable"

    def test_a_given_day_inside_the_lock_is_refused(self, trade: Trade) -> None:
        invoice = trade.paid()
        refusal = refused(trade.on("9", lock="9").refund, invoice, completed_at=moment("9"))
        assert (refusal.code, refusal.detail["date"]) == ("period_locked", "2026-01-09")

    def test_without_a_day_it_is_posted_after_the_lock(self, trade: Trade) -> None:
        invoice = trade.paid(1_000)
        refund = trade.on("9", lock="9").refund(invoice)
        assert [on for on, _ in trade.book(refund)] == ["10"]

    def test_a_refund_with_a_moment_is_paid_then(self, trade: Trade) -> None:
        invoice = trade.paid()
        how = {"method": "credit_card", "processor": "adyen", "fee": 7}
        id_ = trade.on("9").refund(invoice, completed_at=moment("7"), **how)
        refund, [payment] = trade.refunds[id_], trade.refund_payments.values()
        assert (trade.status(id_), refund.completed_at) == ("paid", moment("7"))
        assert (payment.amount, payment.status) == (10_000, "completed")
        assert {name: getattr(payment, name) for name in how} == how
        assert (payment.refund_id, payment.completed_at) == (id_, moment("7"))
        assert refund.agreed_on == day("7")

    def test_a_refund_is_agreed_no_earlier_than_its_target(self, trade: Trade) -> None:
        for target in (trade.on("8").paid(), trade.pay(500)):
            refund = trade.refunds[trade.refund(target, completed_at=moment("2"))]
            assert refund.agreed_on == day("8")

    def test_an_archived_customer_may_be_refunded(self, trade: Trade) -> None:
        invoice = trade.paid()
        trade.documents[invoice] = replace(trade.documents[invoice], party=ARCHIVED)
        assert trade.refunds[trade.refund(invoice)].party == ARCHIVED


class TestPay:
    def test_two_payments_one_of_them_cancelled_and_paid_again(self, trade: Trade) -> None:
        refund = trade.refund(trade.paid())

        def state() -> tuple[str, int, Any]:
            value = trade.refunds[refund]
            return trade.status(refund), refunds.rest(value), value.completed_at

        first = trade.pay_refund(refund, 3_333)
        assert state() == ("processing", 6_667, None)
        second = trade.pay_refund(refund)
        assert state() == ("paid", 0, moment("5"))
        trade.on("9").cancel_refund_payment(first)
        assert state() == ("processing", 3_333, None)
        assert by_code(trade.refunds[refund].settled) == {"4100": 5_556, "2200": 1_111}
        again = trade.pay_refund(refund, completed_at=moment("8"))
        assert state() == ("paid", 0, moment("8"))
        paid = [by_code(trade.refund_payments[e].splits[-1]) for e in (first, second, again)]
        part, rest = {"4100": 2_777, "2200": 556}, {"4100": 5_556, "2200": 1_111}
        assert paid == [part, rest, part]
        assert "2300" not in trade.balances()

    def test_each_payment_takes_what_earlier_ones_have_left(self, trade: Trade) -> None:
        refund = trade.refund(trade.paid(line(1, taxes=(TaxGiven(1),))))
        steps = [trade.refund_payments[trade.pay_refund(refund, 1)].splits[-1] for _ in range(2)]
        assert [by_code(each) for each in steps] == [{"4100": 1}, {"2200": 1}]

    def test_the_first_payment_is_made_as_the_refund_says(self, trade: Trade) -> None:
        refund = trade.refund(trade.paid(), method="paypal", fee=7)
        first = trade.refund_payments[trade.pay_refund(refund, 10)]
        second = trade.refund_payments[trade.pay_refund(refund, 10)]
        assert (first.method, first.processor, first.fee) == ("paypal", "paypal", 7)
        assert (second.method, second.processor, second.fee) == ("paypal", "paypal", 0)

    def test_a_payment_may_be_made_in_another_way(self, trade: Trade) -> None:
        refund = trade.refund(trade.paid(), processor="adyen", fee=7)
        said: dict[str, Any] = {
            **{"external_id": "p", "memo": "m", "transaction_tags": {"t": 1}, "metadata": 1},
            **{"method": "cash", "fee": 0},
        }
        first = trade.refund_payments[trade.pay_refund(refund, 10, **said)]
        assert {name: getattr(first, name) for name in said} == said
        assert first.processor is None
        second = trade.refund_payments[trade.pay_refund(refund, 10, processor="mollie")]
        assert (second.method, second.processor) == ("bank_transfer", "mollie")

    @pytest.mark.parametrize(
        ("paid", "amount", "counted", "rest"), [(400, 601, 601, 600), (1_000, ABSENT, 0, 0)]
    )
    def test_an_amount_over_the_rest_is_refused(
        self, trade: Trade, paid: int, amount: Any, counted: int, rest: int
    ) -> None:
        refund = trade.refund(trade.paid(1_000))
        trade.pay_refund(refund, paid)
        assert refusal_of(trade.pay_refund, refund, amount) == (
            "refund_exceeds_refundable",
            {"refundable": rest, "amount": counted, "refund_id": str(refund), "paid": paid},
        )

    def test_a_given_day_inside_the_lock_is_refused(self, trade: Trade) -> None:
        refund = trade.refund(trade.paid())
        trade.today, trade.lock = "9", "9"
        assert refused(trade.pay_refund, refund, completed_at=moment("9")).code == "period_locked"

    def test_without_a_day_it_is_posted_after_the_lock(self, trade: Trade) -> None:
        refund = trade.refund(trade.paid())
        trade.today, trade.lock = "9", "9"
        assert [on for on, _ in trade.book(trade.pay_refund(refund))] == ["10"]


class TestCancel:
    def test_an_amount_of_a_cancelled_refund_can_be_refunded_again(self, trade: Trade) -> None:
        invoice, payment = trade.paid(), trade.pay(500)
        cancelled = [trade.refund(invoice), trade.refund(payment)]
        trade.today = "9"
        for id_ in cancelled:
            trade.cancel_refund(id_)
            refund = trade.refunds[id_]
            assert (trade.status(id_), refunds.live_allocations(refund)) == ("cancelled", ())
            assert refund.cancelled_at == refund.updated_at == moment("9")
            assert not refunds.is_dedicated(refund)
        document = trade.documents[invoice]
        assert (document.refunded, document.returned) == (0, ())
        assert trade.status(invoice) == "paid"
        assert refundable(trade.payments[payment]) == 500

    @pytest.mark.parametrize(
        ("paid", "state", "allowed"), [(400, "processing", ["paid"]), (1_000, "paid", [])]
    )
    def test_a_refund_with_payments_cannot_be_cancelled(
        self, trade: Trade, paid: int, state: str, allowed: list[str]
    ) -> None:
        refund = trade.refund(trade.paid(1_000))
        payment = trade.pay_refund(refund, paid)
        assert refusal_of(trade.cancel_refund, refund) == no_move(state, *allowed)
        message = str(refused(trade.cancel_refund, refund))
        assert message == "Part of the refund is paid. Cancel its payments first."
        trade.cancel_refund_payment(payment)
        trade.cancel_refund(refund)
        assert trade.status(refund) == "cancelled"

    def test_a_cancelled_refund_is_neither_paid_nor_cancelled(self, trade: Trade) -> None:
        refund = trade.cancel_refund(trade.refund(trade.paid()))
        for step in (trade.pay_refund, trade.cancel_refund):
            assert refusal_of(step, refund) == no_move("cancelled")
        assert str(refused(trade.cancel_refund, refund)) == "The refund is already cancelled."

    def test_a_cancelled_payment_stays_cancelled(self, trade: Trade) -> None:
        payment = trade.pay_refund(trade.refund(trade.paid()))
        trade.on("9").cancel_refund_payment(payment)
        value = trade.refund_payments[payment]
        assert (value.status, value.cancelled_at) == ("cancelled", moment("9"))
        assert refusal_of(trade.cancel_refund_payment, payment) == no_move("cancelled")


class TestElsewhere:
    def test_an_external_id_of_another_refunds_payment_is_taken(self, trade: Trade) -> None:
        first, second = (trade.refund(trade.paid()) for _ in range(2))
        known = trade.refund_payments[trade.pay_refund(first, external_id="p")]
        refuse_elsewhere(trade.refunds[first], known)
        holder = {"external_id": "p", "id": str(known.id), "refund_id": str(first)}
        refusal = refusal_of(refuse_elsewhere, trade.refunds[second], known)
        assert refusal == ("duplicate_external_id", holder)
