"""create_invoice_refund of a customer credit: its unapplied amount is refunded in cash."""

from tests.bookkeeping import Ledger
from tests.builders.sales import (
    CREDITS,
    REFUNDS,
    credited,
    refund_paid,
    refunded,
    sent,
    share,
)
from tests.builders.trade import SALES, Record, read
from tests.clock import today
from tests.partner import Business

TODAY = str(today())
AT = "2025-03-20T10:00:00Z"
TAXED = [{"amount": 8_333, "tax_amount_cents": 1_667}]


class TestCreateInvoiceRefund:
    def test_the_unused_rest_of_a_credit_is_refunded(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        credit = credited(shop, buyer, 1_000, share(sent(shop, buyer, 300), 300))
        refund = refunded(shop, credit)
        assert (refund["refunded_amount"], refund["status"]) == (700, "pending")
        [allocation] = refund["allocations"]
        number = credit["credit_note_number"]
        facts = {
            "allocation_type": "credit",
            "amount": 700,
            "invoice_id": None,
            "invoice_number": None,
            "invoice_outstanding_balance_cents": None,
            "payment_id": None,
            "credit_id": credit["id"],
            "credit_note_number": number,
            "target_description": f"Credit note {number}",
            "description": f"Refund of credit note {number}",
        }
        assert {name: allocation[name] for name in facts} == facts
        assert read(shop, REFUNDS, refund) == refund
        assert ledger.postings(refund) == [(TODAY, {"2250": 700, "2300": -700})]
        assert SALES.credit_amounts(shop, credit) == ("applied", 300, 700, 0)

    def test_a_payment_of_the_refund_pays_the_parts_of_the_credit(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        credit = credited(shop, buyer, 0, line_items=TAXED)
        refund = refunded(shop, credit, amount_cents=3_333, completed_at=AT)
        [payment] = refund["refund_payments"]
        assert ledger.postings(refund) == [(AT[:10], {"2250": 3_333, "2300": -3_333})]
        assert ledger.postings(payment) == [(AT[:10], {"2300": 3_333, "1100": -3_333})]
        splits = ledger.ask(
            "SELECT l.split FROM journal_line l WHERE l.business_id = %(business)s"
            " AND l.settles_id IN (%(credit)s, %(refund)s)",
            credit=credit["id"],
            refund=refund["id"],
        )
        # The parts of the credit, in the refund and in its payment.
        assert [sorted(part for _, part in split) for (split,) in splits] == [[556, 2_777]] * 2
        assert SALES.credit_amounts(shop, credit) == ("partially_applied", 0, 3_333, 6_667)


class TestCancelInvoiceRefund:
    def test_a_cancelled_refund_restores_its_credit(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        credit = credited(shop, buyer, 0, line_items=TAXED)
        kept, gone = (refunded(shop, credit, amount_cents=each) for each in (1_000, 3_333))
        answer = shop.api.delete(f"{REFUNDS}{gone['id']}/")
        assert (answer.status_code, answer.json()["status"]) == (200, "cancelled")
        first, mirror = ledger.entries(gone)
        assert (mirror.reversal_of, mirror.amounts) == (first.id, {"2250": -3_333, "2300": 3_333})
        assert SALES.credit_amounts(shop, credit) == ("partially_applied", 0, 1_000, 9_000)
        shop.api.delete(f"{REFUNDS}{kept['id']}/")
        assert SALES.credit_amounts(shop, credit) == ("sent", 0, 0, 10_000)


class TestVoidCustomerCredit:
    def test_a_refunded_credit_can_be_voided_once_the_refund_is_cancelled(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        credit = credited(shop, buyer, 100)
        refund = refunded(shop, credit, amount_cents=40)
        path = f"{CREDITS}{credit['id']}/void/"
        assert ledger.refused("POST", path) == (409, "credit_applied")
        shop.api.delete(f"{REFUNDS}{refund['id']}/")
        assert shop.api.post(path).json()["status"] == "void"


class TestReplaceCustomerCredit:
    def test_a_refunded_amount_of_a_credit_cannot_be_applied(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        credit, invoice = credited(shop, buyer, 100), sent(shop, buyer, 100)
        refund = refunded(shop, credit, amount_cents=40)
        path = f"{CREDITS}{credit['id']}/"
        fault = ledger.refused("PUT", path, json={"allocations": [share(invoice, 61)]})
        assert fault == (422, "allocation_exceeds_total")
        answer = shop.api.put(path, json={"allocations": [share(invoice, 60)]})
        assert answer.json()["status"] == "applied"
        refund_paid(shop, refund)
        assert SALES.credit_amounts(shop, credit) == ("applied", 60, 40, 0)


class TestListInvoiceRefunds:
    def test_a_filter_by_credit_selects_its_refunds_cancelled_or_not(
        self, shop: Business, buyer: Record
    ) -> None:
        credit = credited(shop, buyer, 100)
        refunds = [refunded(shop, credit, amount_cents=each) for each in (10, 20)]
        shop.api.delete(f"{REFUNDS}{refunds[0]['id']}/")
        listed = shop.api.get(REFUNDS, params={"credit_id": credit["id"]}).json()["results"]
        assert {each["id"] for each in listed} == {each["id"] for each in refunds}


class TestArchiveCustomer:
    def test_a_refunded_credit_is_no_unapplied_amount(self, shop: Business) -> None:
        customer = shop.customer()
        refund = refunded(shop, credited(shop, customer, 100))
        path = f"customers/{customer['id']}/archive/"
        balances = {"outstanding_balance": 0, "unapplied_payments": 0, "unapplied_credits": 0}
        assert shop.api.post(path).json()["detail"] == {**balances, "unpaid_refunds": 100}
        refund_paid(shop, refund)
        assert shop.api.post(path).status_code == 200
