"""What the answers of invoice payments tell of refunds, in reads, lists and after a change."""

from typing import Any

import pytest

from tests.builders.sales import paid, part, sent
from tests.builders.trade import Record
from tests.partner import Business, Partner

PAYMENTS = "invoices/payments/"
REFUNDS = "invoices/refunds/"


@pytest.fixture
def shop(acme: Partner) -> Business:
    return acme.business()


def refunded(shop: Business, **facts: Any) -> Record:
    return shop.made(REFUNDS, facts)


def shown(payment: Record) -> list[tuple[str, str | None, int]]:
    return [
        (each["refund_id"], each["invoice_id"], each["amount_cents"])
        for each in payment["refund_allocations"]
    ]


def read(shop: Business, payment: Record) -> list[tuple[str, str | None, int]]:
    """What a single read shows, which a list must show too."""
    found = shop.api.get(f"{PAYMENTS}{payment['id']}/").json()
    listed = shop.api.get(PAYMENTS).json()["results"]
    assert [each for each in listed if each["id"] == payment["id"]] == [found]
    return shown(found)


class TestGetInvoicePayment:
    def test_refunds_of_an_invoice_lie_over_its_payments_the_oldest_first(
        self, shop: Business
    ) -> None:
        buyer = shop.customer()
        invoice, other = sent(shop, buyer, 1_000), sent(shop, buyer, 50)
        late = paid(shop, buyer, 600, part(invoice, 600), payment_date="2025-03-12")
        early = paid(shop, buyer, 450, part(invoice, 400), part(other, 50))
        first = refunded(shop, invoice_id=invoice["id"], amount_cents=300, reference_number="RF-1")
        second = refunded(shop, invoice_id=invoice["id"], amount_cents=500)
        assert read(shop, early) == [
            (first["id"], invoice["id"], 300),
            (second["id"], invoice["id"], 100),
        ]
        assert read(shop, late) == [(second["id"], invoice["id"], 400)]
        allocation = shop.api.get(f"{PAYMENTS}{early['id']}/").json()["refund_allocations"][0]
        assert allocation["reference_number"] == "RF-1"
        assert allocation["allocated_at"] == first["allocations"][0]["allocation_date"]

    def test_refunds_of_its_unapplied_money_stand_beside_them(self, shop: Business) -> None:
        buyer = shop.customer()
        invoice = sent(shop, buyer, 100)
        payment = paid(shop, buyer, 400, part(invoice, 100))
        own = refunded(shop, payment_id=payment["id"], amount_cents=200)
        of_invoice = refunded(shop, invoice_id=invoice["id"])
        assert read(shop, payment) == [
            (own["id"], None, 200),
            (of_invoice["id"], invoice["id"], 100),
        ]

    def test_a_cancelled_refund_is_gone_from_it(self, shop: Business) -> None:
        buyer = shop.customer()
        invoice = sent(shop, buyer, 100)
        payment = paid(shop, buyer, 400, part(invoice, 100))
        for refund in (
            refunded(shop, payment_id=payment["id"]),
            refunded(shop, invoice_id=invoice["id"]),
        ):
            assert shop.api.delete(f"{REFUNDS}{refund['id']}/").status_code == 200
        assert read(shop, payment) == []

    def test_only_completed_payments_carry_refunds_of_invoices(self, shop: Business) -> None:
        buyer = shop.customer()
        invoice = sent(shop, buyer, 100)
        payment = paid(shop, buyer, 60, part(invoice, 60))
        waiting = paid(shop, buyer, 40, part(invoice, 40), status="pending")
        refund = refunded(shop, invoice_id=invoice["id"])
        assert read(shop, payment) == [(refund["id"], invoice["id"], 60)]
        assert read(shop, waiting) == []


class TestUpdateInvoicePayment:
    def test_the_answer_shows_what_the_next_read_shows(self, shop: Business) -> None:
        buyer = shop.customer()
        invoice = sent(shop, buyer, 1_000)
        first = paid(shop, buyer, 600, part(invoice, 600))
        second = paid(shop, buyer, 400, part(invoice, 400), payment_date="2025-03-12")
        refund = refunded(shop, invoice_id=invoice["id"], amount_cents=700)
        assert read(shop, second) == [(refund["id"], invoice["id"], 100)]
        path = f"{PAYMENTS}{second['id']}/"
        for changes, amount in (
            ({"payment_date": "2025-03-05"}, 400),  # It is the older one now.
            ({"payment_date": "2025-03-12"}, 100),
            ({"note": "x"}, 100),
            ({"note": "x"}, 100),  # Nothing changes.
            ({"status": "failed"}, 0),
        ):
            answer = shop.api.patch(path, json=changes)
            assert answer.status_code == 200, answer.text
            wanted = [(refund["id"], invoice["id"], amount)] if amount else []
            assert shown(answer.json()["payment"]) == wanted == read(shop, second)
        assert read(shop, first) == [(refund["id"], invoice["id"], 600)]

    def test_refunds_of_unapplied_money_stay_when_it_bounces(self, shop: Business) -> None:
        payment = paid(shop, shop.customer(), 400)
        refund = refunded(shop, payment_id=payment["id"], amount_cents=150)
        answer = shop.api.patch(f"{PAYMENTS}{payment['id']}/", json={"status": "failed"})
        assert shown(answer.json()["payment"]) == [(refund["id"], None, 150)]
        assert read(shop, payment) == [(refund["id"], None, 150)]


class TestCreateInvoicePayment:
    def test_money_that_comes_after_a_bounce_takes_the_refunds_over(self, shop: Business) -> None:
        buyer = shop.customer()
        invoice = sent(shop, buyer, 100)
        bounced = paid(shop, buyer, 100, part(invoice, 100))
        refund = refunded(shop, invoice_id=invoice["id"], amount_cents=70)
        shop.api.patch(f"{PAYMENTS}{bounced['id']}/", json={"status": "failed"})
        again = paid(shop, buyer, 100, part(invoice, 100))
        assert shown(again) == [(refund["id"], invoice["id"], 70)] == read(shop, again)
        assert read(shop, bounced) == []
