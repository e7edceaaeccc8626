"""Effects of refunds on invoices and payments: statuses, amounts, bounces and refused releases."""

import pytest

from tests.bookkeeping import Ledger
from tests.builders.sales import (
    INVOICES,
    PAYMENTS,
    REFUNDS,
    invoice_body,
    paid,
    part,
    payment_body,
    refunded,
    sent,
    settled,
)
from tests.builders.trade import PAID, SALES, Record, line
from tests.clock import today
from tests.partner import Business

TODAY = str(today())


def cancel(shop: Business, refund: Record) -> None:
    assert shop.api.delete(f"{REFUNDS}{refund['id']}/").status_code == 200


def ids(shop: Business, **query: str) -> set[str]:
    results = shop.api.get(INVOICES, params={"page_size": 100, **query}).json()["results"]
    return {each["id"] for each in results}


def paid_in_full(shop: Business, buyer: Record) -> tuple[Record, Record]:
    """Send an invoice of 1,000, paid in full; return it and its payment."""
    invoice = sent(shop, buyer, 1_000)
    return invoice, paid(shop, buyer, 1_000, part(invoice, 1_000))


class TestGetInvoice:
    def test_an_invoice_shows_its_live_refunds_oldest_first(
        self, shop: Business, buyer: Record
    ) -> None:
        invoice = settled(shop, buyer)
        late = refunded(shop, invoice, amount_cents=100, reference_number="RF-9")
        early = refunded(shop, invoice, amount_cents=50, completed_at="2025-03-20T10:00:00Z")
        cancel(shop, refunded(shop, invoice, amount_cents=20))
        shown = SALES.read(shop, invoice)
        assert shown["refund_allocations"] == [
            {
                "refund_id": early["id"],
                "allocated_at": "2025-03-20T00:00:00Z",
                "reference_number": None,
                "amount_cents": 50,
            },
            {
                "refund_id": late["id"],
                "allocated_at": f"{TODAY}T00:00:00Z",
                "reference_number": "RF-9",
                "amount_cents": 100,
            },
        ]
        assert (shown["status"], shown["outstanding_balance"]) == ("paid", 0)
        assert shown["paid_at"] == f"{PAID}T00:00:00Z"
        assert [each["amount_cents"] for each in shown["payment_allocations"]] == [1_000]

    def test_an_invoice_is_refunded_once_its_whole_payment_is_refunded(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        invoice = settled(shop, buyer)
        refunded(shop, invoice, amount_cents=400)
        assert SALES.status_of(shop, invoice) == ("paid", 0)
        rest = refunded(shop, invoice)
        assert SALES.status_of(shop, invoice) == ("refunded", 0)
        assert len(ledger.entries(invoice)) == 1
        query = {"status": "refunded", "customer_id": buyer["id"]}
        assert invoice["id"] in ids(shop, **query)
        cancel(shop, rest)
        assert SALES.status_of(shop, invoice) == ("paid", 0)
        assert invoice["id"] not in ids(shop, **query)

    def test_each_refund_is_a_new_version_of_its_invoice(
        self, shop: Business, buyer: Record
    ) -> None:
        invoice = settled(shop, buyer)
        before = shop.api.get(SALES.of(invoice))
        refund = refunded(shop, invoice)
        cancel(shop, refund)
        after = shop.api.get(SALES.of(invoice))
        assert (before.headers["etag"], after.headers["etag"]) == ('"2"', '"4"')
        assert after.json()["updated_at"] > refund["updated_at"]


class TestVoidInvoice:
    def test_an_invoice_with_a_live_refund_cannot_be_voided_or_changed(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        invoice, payment = paid_in_full(shop, buyer)
        refund = refunded(shop, invoice, amount_cents=300)
        SALES.change(shop, payment, status="failed")
        path, body = SALES.of(invoice), invoice_body(buyer, line(5))
        with ledger.untouched():
            answers = (shop.api.post(f"{path}void/"), shop.api.put(path, json=body))
        for answer in answers:
            assert answer.status_code == 409
            assert answer.json()["error_code"] == "invoice_has_allocations"
            amounts = {"allocated": 0, "credited": 0, "refunded": 300, "written_off": 0}
            assert answer.json()["detail"].items() >= amounts.items()
            assert answer.json()["detail"]["refund_ids"] == [refund["id"]]
        cancel(shop, refund)
        assert shop.api.post(f"{path}void/").status_code == 200


class TestReplaceInvoice:
    def test_an_invoice_with_a_cancelled_refund_can_be_replaced(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        invoice, payment = paid_in_full(shop, buyer)
        cancel(shop, refunded(shop, invoice))
        SALES.change(shop, payment, allocations=[])
        answer = shop.api.put(SALES.of(invoice), json=invoice_body(buyer, line(300)))
        assert answer.json()["total_amount"] == 300


class TestGetInvoicePayment:
    def test_a_refund_of_an_invoice_leaves_its_payment_alone(
        self, shop: Business, buyer: Record
    ) -> None:
        invoice = sent(shop, buyer, 1_000)
        payment = paid(shop, buyer, 1_200, part(invoice, 1_000))
        refund = refunded(shop, invoice, amount_cents=700)
        answer = shop.api.get(SALES.of_payment(payment))
        [share] = answer.json()["refund_allocations"]
        assert answer.json() == {**payment, "refund_allocations": [share]}
        assert answer.headers["etag"] == '"1"'
        assert (share["refund_id"], share["amount_cents"]) == (refund["id"], 700)

    def test_refunds_of_unapplied_money_are_a_use_of_it(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        payment = paid(shop, buyer, 700, part(sent(shop, buyer, 100), 100))
        names = ("total", "applied", "unapplied", "allocated", "remaining")
        for amount, amounts, whole in (
            (200, (700, 100, 600, 300, 400), False),
            (400, (700, 100, 600, 700, 0), True),
        ):
            refunded(shop, payment, amount_cents=amount)
            shown = shop.api.get(SALES.of_payment(payment)).json()
            assert tuple(shown[f"{name}_amount_cents"] for name in names) == amounts
            assert (shown["is_fully_allocated"], shown["status"]) == (whole, "completed")
            query = {"is_fully_allocated": True, "page_size": 100}
            listed = shop.api.get(PAYMENTS, params=query).json()["results"]
            assert (shown in listed) is whole
        assert len(ledger.entries(payment)) == 1


class TestUpdateInvoicePayment:
    @pytest.mark.parametrize("status", ["failed", "pending"])
    def test_a_payment_can_fail_although_its_invoice_was_refunded(
        self, shop: Business, ledger: Ledger, buyer: Record, status: str
    ) -> None:
        invoice, payment = paid_in_full(shop, buyer)
        refund = refunded(shop, invoice)
        SALES.change(shop, payment, status=status)
        assert ledger.postings(payment)[1:] == [(TODAY, {"1100": -1_000, "1200": 1_000})]
        assert len(ledger.entries(refund)) == 1
        shown = SALES.read(shop, invoice)
        assert (shown["status"], shown["outstanding_balance"]) == ("sent", 1_000)
        assert [each["amount_cents"] for each in shown["refund_allocations"]] == [1_000]
        refusal = ledger.refused("POST", REFUNDS, json={"invoice_id": invoice["id"]})
        assert refusal == (422, "refund_exceeds_refundable")

    def test_a_release_by_hand_leaves_no_less_than_is_refunded(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        (invoice, payment), other = paid_in_full(shop, buyer), sent(shop, buyer, 1_000)
        refunded(shop, invoice, amount_cents=300)
        path = SALES.of_payment(payment)
        for parts, left in (
            ([], 0),
            ([part(other, 1_000)], 0),
            ([part(invoice, 299), part(other, 500)], 299),
        ):
            with ledger.untouched():
                answer = shop.api.patch(path, json={"allocations": parts})
            refusal = answer.json()
            assert (answer.status_code, refusal["error_code"]) == (422, "refund_exceeds_refundable")
            amounts = {"paid": left, "reserved": 0, "refunded": 300}
            assert refusal["detail"] == {**amounts, "invoice_id": invoice["id"]}
        SALES.change(shop, payment, allocations=[part(invoice, 300), part(other, 700)])
        assert SALES.status_of(shop, invoice) == ("partially_paid", 700)

    def test_a_pending_payment_beside_the_refunded_one_can_be_released(
        self, shop: Business, buyer: Record
    ) -> None:
        invoice = sent(shop, buyer, 1_000)
        paid(shop, buyer, 600, part(invoice, 600))
        waiting = paid(shop, buyer, 400, part(invoice, 400), status="pending")
        refunded(shop, invoice)
        assert SALES.change(shop, waiting, allocations=[])["allocations"] == []


class TestReplaceInvoicePayment:
    def test_a_whole_replacement_releases_no_less_than_is_refunded(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        invoice, payment = paid_in_full(shop, buyer)
        refunded(shop, invoice, amount_cents=300)
        body = payment_body(buyer, 1_000, allocations=[part(invoice, 299)])
        refusal = ledger.refused("PUT", SALES.of_payment(payment), json=body)
        assert refusal == (422, "refund_exceeds_refundable")


class TestCancelInvoicePayment:
    def test_a_bounced_payment_is_cancelled_although_its_refund_lives(
        self, shop: Business, buyer: Record
    ) -> None:
        payment = paid(shop, buyer, 500)
        refund = refunded(shop, payment, amount_cents=200, completed_at="2025-03-20T10:00:00Z")
        SALES.change(shop, payment, status="failed")
        answer = shop.api.post(SALES.of_payment(payment, "delete"))
        assert (answer.status_code, answer.json()["payment"]["status"]) == (200, "cancelled")
        assert answer.json()["payment"]["allocated_amount_cents"] == 200
        shown = shop.api.get(f"{REFUNDS}{refund['id']}/").json()
        assert (shown["status"], shown["paid_amount"]) == ("paid", 200)
