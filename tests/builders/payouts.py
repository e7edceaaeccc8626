"""Payouts, and the payments and refunds that they pay out."""

from typing import Any

from tests.builders.sales import paid, refunded
from tests.builders.trade import Record
from tests.partner import Business

PAYOUTS = "payouts/"
PAYMENTS = "invoices/payments/"
ON = "2025-03-31"
AT = f"{ON}T06:00:00Z"


def by_card(shop: Business, buyer: Record, total: int = 100, fee: int = 0, **facts: Any) -> Record:
    """Record a card payment of 10 March through Stripe."""
    means = {"payment_method": "credit_card", "payment_processor": "stripe"}
    return paid(shop, buyer, total, **{**means, "processing_fee_cents": fee, **facts})


def given_back(shop: Business, buyer: Record, amount: int = 20, fee: int = 0) -> Record:
    """Refund by card, on 20 March, a payment that came to the bank; return the refund payment."""
    means = {"method": "CREDIT_CARD", "processor": "Stripe", "refund_processing_fee_cents": fee}
    at = {"completed_at": "2025-03-20T10:00:00Z"}
    refund = refunded(shop, paid(shop, buyer, amount), amount_cents=amount, **means, **at)
    payment: Record = refund["refund_payments"][0]
    return payment


def payout_body(paid_out: int, *items: Record, **facts: Any) -> Record:
    """Return the body of a payout of 31 March."""
    return {
        "processor": "stripe",
        "paid_out_amount_cents": paid_out,
        "completed_at": AT,
        "payment_ids": [each["id"] for each in items if "payment_method" in each],
        "refund_payment_ids": [each["id"] for each in items if "refunded_amount" in each],
        **facts,
    }


def paid_out(shop: Business, amount: int, *items: Record, **facts: Any) -> Record:
    return shop.made(PAYOUTS, payout_body(amount, *items, **facts))


def worked_example(shop: Business, buyer: Record, **facts: Any) -> Record:
    """Pay out payments of 1,000,000 less refunds of 50,000 and a fee of 30,000: 920,000."""
    items = by_card(shop, buyer, 1_000_000), given_back(shop, buyer, 50_000)
    return paid_out(shop, 920_000, *items, fee_cents=30_000, **facts)


def read(shop: Business, payout: Record) -> Record:
    found: Record = shop.api.get(f"{PAYOUTS}{payout['id']}/").json()
    return found


def payment(shop: Business, payment: Record) -> Record:
    found: Record = shop.api.get(f"{PAYMENTS}{payment['id']}/").json()
    return found


def upserted(shop: Business, body: Record) -> Record:
    """Send a payout whose external ID exists; it updates that payout."""
    answer = shop.api.post(PAYOUTS, json=body)
    assert answer.status_code == 200, answer.text
    found: Record = answer.json()
    return found


def moved(shop: Business, payment: Record, status: str) -> Record:
    """Change the status of a payment."""
    answer = shop.api.patch(f"{PAYMENTS}{payment['id']}/", json={"status": status})
    assert answer.status_code == 200, answer.text
    found: Record = answer.json()["payment"]
    return found
