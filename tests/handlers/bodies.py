"""Bodies of requests, as short as they can be, on days that are over whenever the tests run."""

from typing import Any

from tests.partnership import Business

Record = dict[str, Any]
SENT = "2025-03-01T09:00:00Z"
PAID = "2025-03-10"
CREDITED = "2025-03-05"
NOBODY = "0197f0c6-0000-7000-8000-000000000000"


def line(unit_price: int = 1_000, quantity: Any = 1, **facts: Any) -> Record:
    return {"quantity": quantity, "unit_price": unit_price, **facts}


def invoice_body(buyer: Record, *lines: Record, **facts: Any) -> Record:
    return {"customer_id": buyer["id"], "line_items": list(lines or (line(),)), **facts}


def payment_body(buyer: Record, total: int = 1_000, **facts: Any) -> Record:
    return {
        "customer_id": buyer["id"],
        "total_amount_cents": total,
        "payment_date": PAID,
        "currency": "GBP",
        "payment_method": "bank_transfer",
        **facts,
    }


def part(invoice: Record, amount: int) -> Record:
    return {"invoice_id": invoice["id"], "amount_cents": amount}


def credit_body(buyer: Record, *lines: Record, **facts: Any) -> Record:
    return {
        "customer_id": buyer["id"],
        "line_items": list(lines or ({"amount": 1_000},)),
        **facts,
    }


def share(invoice: Record, amount: int) -> Record:
    """What a credit is to settle of an invoice."""
    return {"invoice_id": invoice["id"], "amount": amount}


def sent(shop: Business, buyer: Record, total: int = 1_000, **facts: Any) -> Record:
    """Send an invoice of one line on the first of March."""
    return shop.made("invoices/", invoice_body(buyer, line(total), **{"sent_at": SENT, **facts}))


def paid(shop: Business, buyer: Record, total: int, *parts: Record, **facts: Any) -> Record:
    """Record a payment of the tenth of March."""
    given = payment_body(buyer, total, allocations=list(parts), **facts)
    payment: Record = shop.made("invoices/payments/", given)["payment"]
    return payment


def settled(shop: Business, buyer: Record, total: int = 1_000, **facts: Any) -> Record:
    """Send an invoice on the first of March and have it paid on the tenth."""
    invoice = sent(shop, buyer, total, **facts)
    paid(shop, buyer, total, part(invoice, total))
    return invoice


def credited(shop: Business, buyer: Record, total: int, *shares: Record, **facts: Any) -> Record:
    """Send a credit note of one line on the fifth of March."""
    given = {"sent_at": f"{CREDITED}T09:00:00Z", "allocations": list(shares), **facts}
    return shop.credit(buyer, total, **given)
