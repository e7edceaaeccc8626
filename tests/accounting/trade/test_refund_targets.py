"""Money that refunds rest on: what still may happen to it, and what not."""

from uuid import UUID

import pytest

from accounting.trade import payments
from accounting.trade.documents import outstanding
from tests.accounting.samples import refused
from tests.accounting.trade.business import Trade, items


def refunded(trade: Trade, amount: int) -> tuple[UUID, UUID]:
    """An invoice of 1000, paid in full and partly refunded, and its payment."""
    invoice = trade.document(1_000)
    payment = trade.pay(1_000, (invoice, 1_000))
    trade.refund(invoice, amount)
    return invoice, payment


class TestReleaseByHand:
    def test_not_below_the_live_refunds_of_the_invoice(self) -> None:
        trade = Trade("5")
        invoice, payment = refunded(trade, 600)
        refusal = refused(trade.change, payment, allocations=items((invoice, 599)))
        assert refusal.code == "refund_exceeds_refundable"
        assert refusal.detail == {
            "paid": 599,
            "reserved": 0,
            "refunded": 600,
            "invoice_id": str(invoice),
        }
        trade.change(payment, allocations=items((invoice, 600)))
        assert outstanding(trade.documents[invoice]) == 400

    def test_not_even_the_last_cent_of_them(self) -> None:
        trade = Trade("5")
        invoice = trade.document(1)
        payment = trade.pay(1, (invoice, 1))
        trade.refund(invoice)
        assert refused(trade.change, payment, allocations=()).code == "refund_exceeds_refundable"

    def test_other_money_on_the_invoice_covers_its_refunds(self) -> None:
        trade = Trade("5")
        invoice, payment = refunded(trade, 600)
        trade.change(payment, allocations=items((invoice, 600)))
        trade.pay(400, (invoice, 400))
        trade.change(payment, allocations=items((invoice, 200)))
        assert trade.documents[invoice].paid == 600
        assert refused(trade.change, payment, allocations=()).code == "refund_exceeds_refundable"

    def test_a_cancelled_refund_holds_nothing(self) -> None:
        trade = Trade("5")
        invoice, payment = refunded(trade, 600)
        trade.cancel_refund(next(iter(trade.refunds)))
        trade.change(payment, allocations=())
        assert trade.documents[invoice].paid == 0

    @pytest.mark.parametrize("status", ["pending", "processing"])
    def test_refunded_money_is_not_released_after_a_status_that_only_reserves(
        self, status: str
    ) -> None:
        trade = Trade("5")
        invoice, payment = refunded(trade, 400)
        trade.change(payment, status=status)
        refusal = refused(trade.change, payment, allocations=items((invoice, 399)))
        assert refusal.code == "refund_exceeds_refundable"
        assert (refusal.detail["paid"], refusal.detail["reserved"]) == (0, 399)
        together = refused(trade.change, payment, status="completed", allocations=())
        assert together.code == "refund_exceeds_refundable"
        trade.change(payment, allocations=items((invoice, 400)))

    def test_promised_money_holds_it_up_after_other_money_has_bounced(self) -> None:
        trade = Trade("5")
        invoice, payment = refunded(trade, 600)
        trade.change(payment, status="failed")
        pending = trade.pay(1_000, (invoice, 1_000), status="pending")
        assert refused(trade.change, pending, allocations=()).code == "refund_exceeds_refundable"
        trade.change(pending, status="failed")
        assert trade.documents[invoice].reserved == 0

    def test_a_repeated_allocation_is_not_released(self) -> None:
        trade = Trade("5")
        invoice, payment = refunded(trade, 600)
        whole = items((invoice, 1_000))
        trade.change(payment, status="processing", allocations=whole, whole=True)
        document = trade.documents[invoice]
        assert (document.paid, document.reserved) == (0, 1_000)
        less = items((invoice, 599))
        trade.change(payment, status="completed")
        refusal = refused(trade.change, payment, status="processing", allocations=less)
        assert refusal.code == "refund_exceeds_refundable"

    def test_an_invoice_with_a_failed_payment_is_not_released_further(self) -> None:
        trade = Trade("5")
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
    def test_the_customer_owes_it_again(self, status: str) -> None:
        trade = Trade("5")
        invoice, payment = refunded(trade, 1_000)
        trade.pay_refund(next(iter(trade.refunds)))
        trade.change(payment, status=status)
        document = trade.documents[invoice]
        assert (outstanding(document), document.refunded) == (1_000, 1_000)
        assert trade.status(invoice) == "sent"
        assert refused(trade.void, invoice).code == "invoice_has_allocations"
        assert trade.balances() == {"1100": -1_000, "1200": 1_000, "4000": -1_000, "4100": 1_000}

    def test_a_list_that_is_empty_anyway_changes_nothing_in_that(self) -> None:
        trade = Trade("5")
        invoice, payment = refunded(trade, 1_000)
        trade.change(payment, status="failed", allocations=(), whole=True)
        assert outstanding(trade.documents[invoice]) == 1_000

    def test_a_payment_of_refunded_advance_money_may_bounce_too(self) -> None:
        trade = Trade("5")
        payment = trade.pay(1_000)
        trade.refund(payment, 400)
        trade.change(payment, status="failed")
        assert trade.balances() == {"2100": 400, "2300": -400}
        assert payments.allocated(trade.payments[payment]) == 400
        trade.change(payment, status="completed")
        assert payments.remaining(trade.payments[payment]) == 600


class TestGoneBackWhole:
    def test_not_while_refunds_of_its_invoices_live(self) -> None:
        trade = Trade("5")
        invoice, payment = refunded(trade, 1)
        refusal = refused(trade.change, payment, status="refunded")
        assert refusal.code == "refund_exceeds_refundable"
        assert refusal.detail == {
            "paid": 0,
            "reserved": 0,
            "refunded": 1,
            "invoice_id": str(invoice),
        }
        trade.cancel_refund(next(iter(trade.refunds)))
        trade.change(payment, status="refunded")
        assert outstanding(trade.documents[invoice]) == 1_000

    def test_a_payment_can_be_refunded_if_other_money_covers_the_refunds(self) -> None:
        trade = Trade("5")
        invoice = trade.document(1_000)
        first, _ = trade.pay(500, (invoice, 500)), trade.pay(500, (invoice, 500))
        trade.refund(invoice, 500)
        trade.change(first, status="refunded")
        assert trade.documents[invoice].paid == 500

    def test_not_while_part_of_it_is_refunded(self) -> None:
        trade = Trade("5")
        payment = trade.pay(1_000)
        refund = trade.refund(payment, 400)
        refusal = refused(trade.change, payment, status="refunded")
        assert (refusal.code, refusal.detail) == ("refund_exceeds_refundable", {"refunded": 400})
        trade.cancel_refund(refund)
        trade.change(payment, status="refunded")
        assert trade.balances() == {}

    def test_a_payment_is_not_refunded_after_a_status_that_only_reserves(self) -> None:
        trade = Trade("5")
        _, payment = refunded(trade, 600)
        trade.change(payment, status="pending")
        refusal = refused(trade.change, payment, status="refunded")
        assert refusal.code == "refund_exceeds_refundable"


class TestRefundedAdvanceMoney:
    def test_refunded_advance_money_is_not_allocated(self) -> None:
        trade = Trade("5")
        invoice = trade.document(1_000)
        payment = trade.pay(1_000)
        trade.refund(payment, 400)
        refusal = refused(trade.change, payment, allocations=items((invoice, 601)))
        assert refusal.code == "allocation_exceeds_total"
        assert refusal.detail == {
            "total_amount_cents": 1_000,
            "allocated_amount_cents": 1_001,
            "refunded": 400,
        }
        trade.change(payment, allocations=items((invoice, 600)))
        assert payments.remaining(trade.payments[payment]) == 0

    @pytest.mark.parametrize("changes", [{}, {"allocations": ()}, {"status": "failed"}])
    def test_the_total_stays_above_it(self, changes: dict[str, object]) -> None:
        trade = Trade("5")
        payment = trade.pay(1_000)
        trade.refund(payment, 400)
        refusal = refused(trade.change, payment, total=399, **changes)
        assert refusal.code == "total_below_allocated"
        assert refusal.detail == {"total_amount_cents": 399, "allocated_amount_cents": 400}
        trade.change(payment, total=400, **changes)
        assert payments.remaining(trade.payments[payment]) == 0
