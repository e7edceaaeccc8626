"""Refunds in the responses of invoice payments: single reads, lists and changes."""

from tests.builders.sales import PAYMENTS, REFUNDS, paid, part, refunded, sent
from tests.builders.trade import SALES, Record
from tests.partner import Business

Share = tuple[str, str | None, int]


def shares(payment: Record) -> list[Share]:
    """Return the refunds in a payment's response: refund, invoice and amount."""
    return [
        (each["refund_id"], each["invoice_id"], each["amount_cents"])
        for each in payment["refund_allocations"]
    ]


def read(shop: Business, payment: Record) -> list[Share]:
    """Return the refunds of a single read; check that a list shows the same."""
    shown = shop.api.get(SALES.of_payment(payment)).json()
    listed = shop.api.get(PAYMENTS, params={"page_size": 100}).json()["results"]
    assert [each for each in listed if each["id"] == payment["id"]] == [shown]
    return shares(shown)


class TestGetInvoicePayment:
    def test_refunds_of_an_invoice_lie_over_its_payments_the_oldest_first(
        self, shop: Business, buyer: Record
    ) -> None:
        invoice, other = sent(shop, buyer, 1_000), sent(shop, buyer, 50)
        late = paid(shop, buyer, 600, part(invoice, 600), payment_date="2025-03-12")
        early = paid(shop, buyer, 450, part(invoice, 400), part(other, 50))
        first = refunded(shop, invoice, amount_cents=300, reference_number="RF-1")
        second = refunded(shop, invoice, amount_cents=500)
        assert read(shop, early) == [
            (first["id"], invoice["id"], 300),
            (second["id"], invoice["id"], 100),
        ]
        assert read(shop, late) == [(second["id"], invoice["id"], 400)]
        allocation = shop.api.get(SALES.of_payment(early)).json()["refund_allocations"][0]
        assert allocation["reference_number"] == "RF-1"
        assert allocation["allocated_at"] == first["allocations"][0]["allocation_date"]

    def test_a_payment_shows_live_refunds_of_its_unapplied_money_and_of_its_invoices(
        self, shop: Business, buyer: Record
    ) -> None:
        invoice = sent(shop, buyer, 100)
        payment = paid(shop, buyer, 400, part(invoice, 100))
        own = refunded(shop, payment, amount_cents=200)
        of_invoice = refunded(shop, invoice)
        assert read(shop, payment) == [
            (own["id"], None, 200),
            (of_invoice["id"], invoice["id"], 100),
        ]
        for refund in (own, of_invoice):
            assert shop.api.delete(f"{REFUNDS}{refund['id']}/").status_code == 200
        assert read(shop, payment) == []


class TestUpdateInvoicePayment:
    def test_the_answer_shows_what_the_next_read_shows(self, shop: Business, buyer: Record) -> None:
        invoice = sent(shop, buyer, 1_000)
        first = paid(shop, buyer, 600, part(invoice, 600))
        second = paid(shop, buyer, 400, part(invoice, 400), payment_date="2025-03-12")
        refund = refunded(shop, invoice, amount_cents=700)
        assert read(shop, second) == [(refund["id"], invoice["id"], 100)]
        for changes, amount in (
            ({"payment_date": "2025-03-05"}, 400),  # The payment is now the older one.
            ({"payment_date": "2025-03-12"}, 100),
            ({"note": "x"}, 100),
            ({"note": "x"}, 100),  # No refund changes.
            ({"status": "failed"}, 0),
        ):
            changed = SALES.change(shop, second, **changes)
            wanted = [(refund["id"], invoice["id"], amount)] if amount else []
            assert shares(changed) == wanted == read(shop, second)
        assert read(shop, first) == [(refund["id"], invoice["id"], 600)]

    def test_refunds_of_unapplied_money_stay_when_it_bounces(
        self, shop: Business, buyer: Record
    ) -> None:
        payment = paid(shop, buyer, 400)
        refund = refunded(shop, payment, amount_cents=150)
        changed = SALES.change(shop, payment, status="failed")
        assert shares(changed) == [(refund["id"], None, 150)] == read(shop, payment)


class TestCreateInvoicePayment:
    def test_a_payment_after_a_bounce_takes_the_refunds_over(
        self, shop: Business, buyer: Record
    ) -> None:
        invoice = sent(shop, buyer, 100)
        bounced = paid(shop, buyer, 100, part(invoice, 100))
        refund = refunded(shop, invoice, amount_cents=70)
        SALES.change(shop, bounced, status="failed")
        again = paid(shop, buyer, 100, part(invoice, 100))
        assert shares(again) == [(refund["id"], invoice["id"], 70)] == read(shop, again)
        assert read(shop, bounced) == []
