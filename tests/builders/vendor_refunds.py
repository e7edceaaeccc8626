"""Refunds of vendors, and requests about them."""

from typing import Any

from tests.builders.purchases import BILLS, CREDITS, PAYMENTS, bill_body, bill_paid, part
from tests.builders.trade import Record, line, read
from tests.partner import Business

REFUNDS = "vendor-refunds/"
REFUND_PAYMENTS = "vendor-refunds/payments/"
AGREED = "2025-03-20"
CHART = "general-ledger/chart-of-accounts/"


def of_bill(bill: Record, amount: int, **words: Any) -> Record:
    return {"allocation_type": "bill", "bill_id": bill["id"], "amount_cents": amount, **words}


def of_payment(payment: Record, amount: int, **words: Any) -> Record:
    named = {"allocation_type": "payment", "bill_payment_id": payment["id"]}
    return {**named, "amount_cents": amount, **words}


def as_credit(amount: int, **words: Any) -> Record:
    return {"allocation_type": "credit", "amount_cents": amount, **words}


def of_credit(credit: Record, amount: int, **words: Any) -> Record:
    named = {"allocation_type": "vendor_credit", "vendor_credit_id": credit["id"]}
    return {**named, "amount_cents": amount, **words}


def refund_body(vendor: Record, total: int, *items: Record, **facts: Any) -> Record:
    return {
        "vendor_id": vendor["id"],
        "total_amount_cents": total,
        "currency": "GBP",
        "refund_date": AGREED,
        "allocations": list(items),
        **facts,
    }


def whole_refund_body(vendor: Record, total: int, *items: Record, **facts: Any) -> Record:
    """Return the body of a refund that is created without its payment."""
    body = refund_body(vendor, total, *items, **facts)
    body["total_refunded_amount"] = body.pop("total_amount_cents")
    return body


def agreed_refund(shop: Business, vendor: Record, total: int, **facts: Any) -> Record:
    """Create a refund with one pending payment; return the refund."""
    return shop.made(REFUNDS, whole_refund_body(vendor, total, **facts))


def agreed(shop: Business, vendor: Record, total: int, *items: Record, **facts: Any) -> Record:
    """Create a refund and its payment of 20 March; return both with the allocations."""
    return shop.made(REFUND_PAYMENTS, refund_body(vendor, total, *items, **facts))


def agreed_in_parts(
    shop: Business, vendor: Record, total: int, *amounts: int, **facts: Any
) -> Record:
    """Create a refund paid in several payments; return the refund."""
    body = whole_refund_body(vendor, total, **facts)
    body["payments"] = [{"amount_cents": amount} for amount in amounts]
    return shop.made(REFUNDS, body)


def changed(shop: Business, payment: Record, **changes: Any) -> Record:
    answer = shop.api.patch(f"{REFUND_PAYMENTS}{payment['id']}/", json=changes)
    assert answer.status_code == 200, answer.text
    found: Record = answer.json()
    return found


def cancelled(shop: Business, payment: Record) -> Record:
    answer = shop.api.post(f"{REFUND_PAYMENTS}{payment['id']}/delete/")
    assert answer.status_code == 200, answer.text
    found: Record = answer.json()
    return found


def refund_of(shop: Business, made: Record) -> Record:
    """Return the refund of an answer of `agreed`."""
    return read(shop, REFUNDS, made["refund"])


def snapshot(shop: Business, *records: tuple[str, Record]) -> list[Record]:
    """Return records without their times, which each change updates."""
    moved = ("updated_at", "paid_at")
    shown = [read(shop, path, record) for path, record in records]
    return [{name: value for name, value in each.items() if name not in moved} for each in shown]


def bills(*found: Record) -> list[tuple[str, Record]]:
    return [(BILLS, each) for each in found]


def payments(*found: Record) -> list[tuple[str, Record]]:
    return [(PAYMENTS, each) for each in found]


def credits(*found: Record) -> list[tuple[str, Record]]:
    return [(CREDITS, each) for each in found]


def refused(shop: Business, method: str, path: str, body: Any = None) -> tuple[int, str]:
    answer = shop.api.request(method, path, json=body)
    return answer.status_code, answer.json()["error_code"]


def taxed(shop: Business, vendor: Record, **facts: Any) -> Record:
    """Create a paid bill of 8,333 net, on an account of its own, and 1,667 tax."""
    own = {"account_identifier": {"type": "AccountCode", "code": "5000"}}
    item = line(8_333, sales_taxes=[{"amount": 1_667}], **own)
    given = {"bill_date": "2025-03-01", "received_at": "2025-03-03T09:00:00Z", **facts}
    bill = shop.made(BILLS, bill_body(vendor, item, **given))
    bill_paid(shop, vendor, 10_000, part(bill, 10_000))
    return bill
