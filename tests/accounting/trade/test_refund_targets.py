"""Refunded documents and payments: the changes that remain possible, and the refused ones."""

from typing import Any
from uuid import UUID

import pytest

from accounting.trade import payments
from accounting.trade.documents import outstanding
from tests.accounting.samples import refusal_of, refused
from tests.accounting.trade.business import Trade, items


def refunded(trade: Trade, amount: int) -> tuple[UUID, UUID]:
    """Create an invoice of 1000, paid in full and partly refunded; return it and its payment."""
    invoice, payment = trade.paid_document(1_000)
    trade.refund(invoice, amount)
    return invoice, payment


class TestReleaseByHand:
    @pytest.mark.parametrize(("refund", "kept"), [(600, 599), (1, 0)])
    def test_not_below_the_refunds_of_the_invoice(
        self, trade: Trade, refund: int, kept: int
    ) -> None:
        invoice, payment = refunded(trade, refund)
        less = items((invoice, kept)) if kept else ()
        assert refusal_of(trade.change, payment, allocations=less) == (
            "refund_exceeds_refundable",
            {"paid": kept, "reserved": 0, "refunded": refund, "invoice_id": str(invoice)},
        )
        trade.change(payment, allocations=items((invoice, refund)))
        assert outstanding(trade.documents[invoice]) == 1_000 - refund

    def test_other_money_on_the_invoice_covers_its_refunds(self, trade: Trade) -> None:
        invoice, payment = refunded(trade, 600)
        trade.change(payment, allocations=items((invoice, 600)))
        trade.pay(400, (invoice, 400))
        trade.change(payment, allocations=items((invoice, 200)))
        assert trade.documents[invoice].paid == 600
        assert refused(trade.change, payment, allocations=()).code == "refund_exceeds_refundable"

    def test_a_cancelled_refund_holds_nothing(self, trade: Trade) -> None:
        invoice, payment = refunded(trade, 600)
        trade.cancel_refund(next(iter(trade.refunds)))
        trade.change(payment, allocations=())
        assert trade.documents[invoice].paid == 0

    @pytest.mark.parametrize("status", ["pending", "processing"])
    def test_refunded_money_that_is_reserved_stays(self, trade: Trade, status: str) -> None:
        invoice, payment = refunded(trade, 400)
        trade.change(payment, status=status)
        refusal = refused(trade.change, payment, allocations=items((invoice, 399)))
        assert refusal.code == "refund_exceeds_refundable"
        assert (refusal.detail["paid"], refusal.detail["reserved"]) == (0, 399)
        together = refused(trade.change, payment, status="completed", allocations=())
        assert together.code == "refund_exceeds_refundable"
        trade.change(payment, allocations=items((invoice, 400)))

    def test_promised_money_holds_it_up_after_other_money_has_bounced(self, trade: Trade) -> None:
        invoice, payment = refunded(trade, 600)
        trade.change(payment, status="failed")
        pending = trade.pay(1_000, (invoice, 1_000), status="pending")
        assert refused(trade.change, pending, allocations=()).code == "refund_exceeds_refundable"
        trade.change(pending, status="failed")
        assert trade.documents[invoice].reserved == 0

    def test_a_repeated_allocation_is_not_released(self, trade: Trade) -> None:
        invoice, payment = refunded(trade, 600)
        whole = items((invoice, 1_000))
        trade.change(payment, status="processing", allocations=whole, whole=True)
        document = trade.documents[invoice]
        assert (document.paid, document.reserved) == (0, 1_000)
        less = items((invoice, 599))
        trade.change(payment, status="completed")
        refusal = refused(trade.change, payment, status="processing", allocations=less)
        assert refusal.code == "refund_exceeds_refundable"

    def test_an_invoice_with_a_failed_payment_is_not_released_further(self, trade: Trade) -> None:
        invoice = trade.document(1_000)
        first, second = trade.pay(500, (invoice, 500)), trade.pay(500, (invoice, 500))
        trade.refund(invoice, 900)
        trade.change(first, status="failed")
        refusal = refused(trade.change, second, allocations=items((invoice, 499)))
        assert refusal.detail["paid"] == 499
        third = trade.pay(100, (invoice, 100))
        trade.change(third, allocations=items((invoice, 100)), note="n")
        assert trade.documents[invoice].paid == 600


class TestBounce:
    @pytest.mark.parametrize("status", ["failed", "cancelled"])
    @pytest.mark.parametrize("facts", [{}, {"allocations": (), "whole": True}])
    def test_the_customer_owes_it_again(self, trade: Trade, status: str, facts: Any) -> None:
        invoice, payment = refunded(trade, 1_000)
        trade.pay_refund(next(iter(trade.refunds)))
        trade.change(payment, status=status, **facts)
        document = trade.documents[invoice]
        assert (outstanding(document), document.refunded) == (1_000, 1_000)
        assert trade.status(invoice) == "sent"
        assert refused(trade.void, invoice).code == "invoice_has_allocations"
        assert trade.balances() == {"1100": -1_000, "1200": 1_000, "4000": -1_000, "4100": 1_000}

    def test_a_payment_of_refunded_advance_money_may_bounce_too(self, trade: Trade) -> None:
        payment = trade.pay(1_000)
        trade.refund(payment, 400)
        trade.change(payment, status="failed")
        assert trade.balances() == {"2100": 400, "2300": -400}
        assert payments.allocated(trade.payments[payment]) == 400
        trade.change(payment, status="completed")
        assert payments.remaining(trade.payments[payment]) == 600


class TestGoneBackWhole:
    @pytest.mark.parametrize("before", ["completed", "pending"])
    def test_not_while_refunds_of_its_invoices_live(self, trade: Trade, before: str) -> None:
        invoice, payment = refunded(trade, 1)
        trade.change(payment, status=before)
        assert refusal_of(trade.change, payment, status="refunded") == (
            "refund_exceeds_refundable",
            {"paid": 0, "reserved": 0, "refunded": 1, "invoice_id": str(invoice)},
        )
        trade.cancel_refund(next(iter(trade.refunds)))
        trade.change(payment, status="refunded")
        assert outstanding(trade.documents[invoice]) == 1_000

    def test_a_payment_can_be_refunded_if_other_money_covers_it(self, trade: Trade) -> None:
        invoice = trade.document(1_000)
        first, _ = trade.pay(500, (invoice, 500)), trade.pay(500, (invoice, 500))
        trade.refund(invoice, 500)
        trade.change(first, status="refunded")
        assert trade.documents[invoice].paid == 500

    def test_not_while_part_of_it_is_refunded(self, trade: Trade) -> None:
        payment = trade.pay(1_000)
        refund = trade.refund(payment, 400)
        refusal = refusal_of(trade.change, payment, status="refunded")
        assert refusal == ("refund_exceeds_refundable", {"refunded": 400})
        trade.cancel_refund(refund)
        trade.change(payment, status="refunded")
        assert trade.balances() == {}


class TestRefundedAdvanceMoney:
    def test_refunded_advance_money_is_not_allocated(self, trade: Trade) -> None:
        invoice, payment = trade.document(1_000), trade.pay(1_000)
        trade.refund(payment, 400)
        assert refusal_of(trade.change, payment, allocations=items((invoice, 601))) == (
            "allocation_exceeds_total",
            {"total_amount_cents": 1_000, "allocated_amount_cents": 1_001, "refunded": 400},
        )
        trade.change(payment, allocations=items((invoice, 600)))
        assert payments.remaining(trade.payments[payment]) == 0

    @pytest.mark.parametrize("changes", [{}, {"allocations": ()}, {"status": "failed"}])
    def test_the_total_stays_above_it(self, trade: Trade, changes: dict[str, object]) -> None:
        payment = trade.pay(1_000)
        trade.refund(payment, 400)
        sums = {"total_amount_cents": 399, "allocated_amount_cents": 400}
        refusal = refusal_of(trade.change, payment, total=399, **changes)
        assert refusal == ("total_below_allocated", sums)
        trade.change(payment, total=400, **changes)
        assert payments.remaining(trade.payments[payment]) == 0
