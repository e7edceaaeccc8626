"""get_invoice_refund, list_invoice_refunds and cancel_invoice_refund."""

from datetime import timedelta
from typing import Any

import pytest

from tests.bookkeeping import Ledger
from tests.builders.sales import (
    INVOICES,
    REFUNDS,
    invoice_body,
    paid,
    part,
    refund_paid,
    refunded,
    sent,
    settled,
)
from tests.builders.trade import SALES, SENT, Record, line
from tests.clock import today
from tests.partner import Business

ENTRIES = "general-ledger/journal-entries/"
AT = "2025-03-20T10:00:00Z"
TODAY = str(today())
STATUSES = ("pending", "processing", "paid", "cancelled")


def cancel(shop: Business, refund: Record) -> Record:
    answer = shop.api.delete(f"{REFUNDS}{refund['id']}/")
    assert answer.status_code == 200, answer.text
    cancelled: Record = answer.json()
    return cancelled


class TestGetInvoiceRefund:
    def test_a_refund_shows_its_current_state(self, shop: Business, buyer: Record) -> None:
        refund = refunded(shop, settled(shop, buyer))
        path = f"{REFUNDS}{refund['id']}/"
        assert shop.api.get(path).json() == refund
        first = refund_paid(shop, refund, amount_cents=400, completed_at=AT)
        seen = shop.api.get(path)
        assert (seen.json()["status"], seen.json()["paid_amount"]) == ("processing", 400)
        assert seen.json()["refund_payments"] == [first]
        assert seen.headers["etag"] == '"2"'

    def test_a_refund_shows_the_current_balance_of_its_invoice(
        self, shop: Business, buyer: Record
    ) -> None:
        invoice = sent(shop, buyer, 1_000)
        payment = paid(shop, buyer, 600, part(invoice, 600))
        path = f"{REFUNDS}{refunded(shop, invoice)['id']}/"
        for status in ("failed", "completed"):
            SALES.change(shop, payment, status=status)
            [allocation] = shop.api.get(path).json()["allocations"]
            assert allocation["invoice_outstanding_balance_cents"] == 1_000
        assert allocation["amount"] == 600


class TestListInvoiceRefunds:
    @pytest.fixture(scope="class")
    @classmethod
    def every_status(cls, own_shop: Business) -> dict[str, Record]:
        """A refund in every status: two of one invoice, one of another, one of unapplied money."""
        buyer = own_shop.customer(company_name="Tall Ship")
        other = own_shop.customer(individual_name="Ann Small")
        invoice = settled(own_shop, buyer, 900)
        second = settled(own_shop, other, 500, invoice_number="R/7%")
        ahead = paid(own_shop, other, 400)
        made = {
            "pending": refunded(own_shop, invoice, amount_cents=100, external_id="fifty_%"),
            "processing": refunded(own_shop, invoice, amount_cents=300, memo="Torn sail"),
            "paid": refunded(own_shop, ahead, completed_at="2025-04-02T10:00:00Z"),
            "cancelled": refunded(own_shop, second, reference_number="RF-17"),
        }
        refund_paid(own_shop, made["processing"], amount_cents=120)
        cancel(own_shop, made["cancelled"])
        return made

    def listed(self, shop: Business, every: dict[str, Record], **query: Any) -> list[str]:
        """Return the names of the listed refunds in their order."""
        names = {record["id"]: name for name, record in every.items()}
        answer = shop.api.get(REFUNDS, params=query)
        assert answer.status_code == 200, answer.text
        return [names[each["id"]] for each in answer.json()["results"]]

    def test_the_status_shown_is_the_status_filtered_by(
        self, own_shop: Business, every_status: dict[str, Record]
    ) -> None:
        shown = own_shop.api.get(REFUNDS).json()["results"]
        assert [each["status"] for each in shown] == [*reversed(STATUSES)]
        for name in STATUSES:
            assert self.listed(own_shop, every_status, status=name) == [name]
        both = self.listed(own_shop, every_status, status="paid,pending")
        assert both == ["paid", "pending"]

    def test_a_list_shows_what_a_single_read_shows(
        self, own_shop: Business, every_status: dict[str, Record]
    ) -> None:
        for shown in own_shop.api.get(REFUNDS).json()["results"]:
            assert own_shop.api.get(f"{REFUNDS}{shown['id']}/").json() == shown

    @pytest.mark.parametrize(
        ("query", "names"),
        [
            ({"min_amount": 300}, ["cancelled", "paid", "processing"]),
            ({"max_amount": 300}, ["processing", "pending"]),
            ({"min_amount": 101, "max_amount": 400}, ["paid", "processing"]),
            ({"external_id": "fifty_%"}, ["pending"]),
            ({"external_id": "fifty"}, []),
            ({"search": "FTY_%"}, ["pending"]),
            ({"search": "rf-1"}, ["cancelled"]),
            ({"search": "torn"}, ["processing"]),
            ({"search": "tall"}, ["processing", "pending"]),
            ({"search": "ann"}, ["cancelled", "paid"]),
            ({"search": "r/7%"}, ["cancelled"]),
            ({"search": "no such text"}, []),
            ({"sort": "amount"}, ["pending", "processing", "paid", "cancelled"]),
            ({"sort": "-amount"}, ["cancelled", "paid", "processing", "pending"]),
            ({"sort": "created_at", "page_size": 2}, ["pending", "processing"]),
        ],
    )
    def test_filters_and_orders_select_refunds(
        self,
        own_shop: Business,
        every_status: dict[str, Record],
        query: Record,
        names: list[str],
    ) -> None:
        assert self.listed(own_shop, every_status, **query) == names

    def test_filters_by_customer_invoice_and_payment_select_refunds(
        self, own_shop: Business, every_status: dict[str, Record]
    ) -> None:
        own = every_status["pending"]["customer_id"]
        other = every_status["paid"]["customer_id"]
        invoice = every_status["pending"]["allocations"][0]["invoice_id"]
        second = every_status["cancelled"]["allocations"][0]["invoice_id"]
        payment = every_status["paid"]["allocations"][0]["payment_id"]
        for query, names in (
            ({"customer_id": own}, ["processing", "pending"]),
            ({"customer_id": f"{own},{other}"}, [*reversed(STATUSES)]),
            ({"invoice_id": invoice}, ["processing", "pending"]),
            ({"invoice_id": second}, ["cancelled"]),
            ({"payment_id": payment}, ["paid"]),
            ({"invoice_id": payment}, []),
        ):
            assert self.listed(own_shop, every_status, **query) == names


class TestCancelInvoiceRefund:
    def test_a_cancelled_refund_is_reversed_today_with_a_link(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        taxed = line(1_000, sales_taxes=[{"amount": 200}])
        invoice = shop.made(INVOICES, invoice_body(buyer, taxed, sent_at=SENT))
        paid(shop, buyer, 1_200, part(invoice, 1_200))
        refund = refunded(shop, invoice, amount_cents=600, reference_number="RF-3")
        answer = shop.api.delete(f"{REFUNDS}{refund['id']}/")
        shown = answer.json()
        assert (answer.status_code, answer.headers["etag"]) == (200, '"2"')
        assert (shown["status"], shown["allocations"]) == ("cancelled", [])
        assert (shown["is_dedicated"], shown["completed_at"]) == (False, None)
        assert (shown["refunded_amount"], shown["paid_amount"]) == (600, 0)
        assert shop.api.get(f"{REFUNDS}{refund['id']}/").json() == shown
        first, mirror = ledger.entries(refund)
        assert (mirror.on, mirror.reversal_of) == (TODAY, first.id)
        assert mirror.lines == tuple((code, -amount) for code, amount in first.lines)
        assert (mirror.source_type, mirror.reference) == ("refund", "RF-3")
        assert mirror.description == "Reversal of refund to Blue Door Bakery"
        assert shop.api.get(f"{ENTRIES}{first.id}/").json()["reversed_by_id"] == mirror.id

    def test_unapplied_money_of_a_cancelled_refund_can_be_used_again(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        payment = paid(shop, buyer, 300)
        refund = refunded(shop, payment, amount_cents=120)
        assert cancel(shop, refund)["allocations"] == []
        assert ledger.postings(refund)[1:] == [(TODAY, {"2100": -120, "2300": 120})]
        shown = shop.api.get(SALES.of_payment(payment)).json()
        assert (shown["remaining_amount_cents"], shown["allocated_amount_cents"]) == (300, 0)
        assert shown["refund_allocations"] == []

    def test_a_refund_is_not_reversed_before_the_day_it_was_posted(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        ahead = str(today() + timedelta(days=9))
        refund = refunded(shop, paid(shop, buyer, 80, payment_date=ahead))
        cancel(shop, refund)
        assert ledger.postings(refund) == [
            (ahead, {"2100": 80, "2300": -80}),
            (ahead, {"2100": -80, "2300": 80}),
        ]
