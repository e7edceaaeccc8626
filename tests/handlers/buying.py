"""Bodies of what is bought, as short as they can be, on days that are long over."""

from typing import Any

from tests.handlers.bodies import CREDITED, PAID, Record, line
from tests.partnership import Business

BILLS = "bills/"
PAYMENTS = "bills/payments/"
CREDITS = "vendor-credits/"
BILLED = "2025-03-01"
RECEIVED = "2025-03-03T09:00:00Z"
CREDITED_AT = f"{CREDITED}T09:00:00Z"


def bill_body(vendor: Record, *lines: Record, **facts: Any) -> Record:
    return {"vendor_id": vendor["id"], "line_items": list(lines or (line(),)), **facts}


def outlay_body(vendor: Record, amount: int = 1_000, **facts: Any) -> Record:
    return {
        "vendor_id": vendor["id"],
        "amount_cents": amount,
        "payment_date": PAID,
        "currency": "GBP",
        "payment_method": "bank_transfer",
        **facts,
    }


def part(bill: Record, amount: int, **facts: Any) -> Record:
    """What a payment is to settle of a bill."""
    return {"bill_id": bill["id"], "amount_cents": amount, **facts}


def return_body(vendor: Record, *lines: Record, **facts: Any) -> Record:
    items = list(lines or ({"amount": 1_000},))
    return {"vendor_id": vendor["id"], "line_items": items, **facts}


def share(bill: Record, amount: int) -> Record:
    """What a credit is to settle of a bill."""
    return {"bill_id": bill["id"], "amount": amount}


def received(shop: Business, vendor: Record, total: int = 1_000, **facts: Any) -> Record:
    """Receive a bill of one line on the third of March, dated the first."""
    given = {"bill_date": BILLED, "received_at": RECEIVED, **facts}
    return shop.made(BILLS, bill_body(vendor, line(total), **given))


def paid_out(shop: Business, vendor: Record, amount: int, *parts: Record, **facts: Any) -> Record:
    """Record a payment of the tenth of March."""
    given = outlay_body(vendor, amount, allocations=list(parts), **facts)
    payment: Record = shop.made(PAYMENTS, given)["payment"]
    return payment


def settled(shop: Business, vendor: Record, total: int = 1_000, **facts: Any) -> Record:
    """Receive a bill on the third of March and pay it on the tenth."""
    bill = received(shop, vendor, total, **facts)
    paid_out(shop, vendor, total, part(bill, total))
    return bill


def returned(shop: Business, vendor: Record, total: int, *shares: Record, **facts: Any) -> Record:
    """Receive a vendor credit of one line on the fifth of March."""
    given = {"received_at": CREDITED_AT, "allocations": list(shares), **facts}
    return shop.made(CREDITS, return_body(vendor, {"amount": total}, **given))


def read(shop: Business, path: str, record: Record) -> Record:
    answer = shop.api.get(f"{path}{record['id']}/")
    assert answer.status_code == 200, answer.text
    shown: Record = answer.json()
    return shown


def status_of(shop: Business, bill: Record) -> tuple[str, int]:
    shown = read(shop, BILLS, bill)
    return shown["status"], shown["outstanding_balance"]
