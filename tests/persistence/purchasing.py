"""What a business does with its vendors, once: it buys, pays, and gets something back."""

from typing import Any

from tests.partnership import Business

Record = dict[str, Any]
TAXED = {"quantity": "1.5", "unit_price": 3_333, "tax_rate": 20, "discount_amount": 10}
RECEIVED = "2026-07-03T09:00:00Z"
LATER = "2026-07-20T09:00:00Z"
REFUNDED = "2026-07-22"
REFUNDS = "vendor-refunds/"
REFUND_PAYMENTS = "vendor-refunds/payments/"


def bought(shop: Business) -> None:
    """Buy, pay, use credits and be given back; each in more than one way."""
    miller = shop.vendor(external_id="miller")
    shop.vendor(external_id="brewer")
    received(shop, miller)
    paid(shop, miller)
    credited(shop, miller)
    given_back(shop, miller)
    kept_and_released(shop, miller)
    bounced(shop, miller)


def received(shop: Business, miller: Record) -> None:
    voided = bill(shop, miller, 9_999, additional_discount=99, external_id="voided")
    bill(shop, miller, line_items=[TAXED, {"quantity": 3, "unit_price": 101}])
    shop.made("bills/", {"vendor_id": miller["id"], "line_items": [TAXED]})
    bill(shop, miller, bill_number="BILL-000050", bill_date=None)
    did(shop, "POST", f"bills/{voided['id']}/void/", {})


def paid(shop: Business, miller: Record) -> None:
    settled, partly, waiting = (
        bill(shop, miller, 9_999, additional_discount=99, external_id=name)
        for name in ("paid", "partly", "waiting")
    )
    shares = [part(settled, 9_900), part(partly, 100)]
    paid_out(shop, miller, 10_500, *shares, external_id="main", processing_fee_cents=290)
    failed = paid_out(shop, miller, 500, part(partly, 500))
    did(shop, "PATCH", f"bills/payments/{failed['id']}/", {"status": "failed"})
    paid_out(shop, miller, 1_000, part(waiting, 1_000), status="pending")


def credited(shop: Business, miller: Record) -> None:
    line = {"amount": 3_000, "tax_amount_cents": 600}
    draft = {"vendor_id": miller["id"], "line_items": [line]}
    first, second = (
        bill(shop, miller, line_items=[TAXED], external_id=name) for name in ("credited", "spared")
    )
    shares = [{"bill_id": each["id"], "amount": 900} for each in (first, second)]
    path = "vendor-credits/"
    body = {**draft, "received_at": LATER}
    credit = shop.made(path, {**body, "allocations": shares, "external_id": "returned"})
    did(shop, "PUT", f"{path}{credit['id']}/", {"allocations": shares[:1]})
    mistaken = shop.made(path, {**body, "vendor_credit_number": "VC-000007"})
    did(shop, "POST", f"{path}{mistaken['id']}/void/")
    shop.made(path, draft)


def given_back(shop: Business, miller: Record) -> None:
    """Get a bill's money back in steps: one has come, one went back, one is announced."""
    owed = bill(shop, miller, line_items=[TAXED], external_id="given back")
    total = owed["total_amount"]
    paid_out(shop, miller, total + 400, part(owed, total), external_id="too much")
    steps = [{"amount_cents": amount} for amount in (1_111, 1_000, 2_889)]
    refund = refunded(shop, miller, 5_000, of_bill(owed, 3_333), external_id="in steps", pay=steps)
    came, went, _ = refund["vendor_refund_payments"]
    moved(shop, came, "completed", processing_fee_cents=30, payment_date=REFUNDED)
    moved(shop, went, "completed", payment_date=REFUNDED)
    moved(shop, went, "failed")
    unwanted = refunded(shop, miller, 500, of_bill(owed, 500), external_id="unwanted")
    [payment] = unwanted["vendor_refund_payments"]
    did(shop, "POST", f"{REFUND_PAYMENTS}{payment['id']}/delete/")
    late = refunded(shop, miller, 600, external_id="late")
    [payment] = late["vendor_refund_payments"]
    moved(shop, payment, "completed", payment_date=REFUNDED)
    change = {"allocations": [of_bill(owed, 250)]}
    did(shop, "PATCH", f"{REFUND_PAYMENTS}{payment['id']}/", change)


def kept_and_released(shop: Business, miller: Record) -> None:
    """Keep a refund as a credit, and get money back that had settled bills."""
    shares = [part(bill(shop, miller, 1_000), 1_000) for _ in range(2)]
    source = paid_out(shop, miller, 2_000, *shares, external_id="released")
    credit = {"allocation_type": "credit", "amount_cents": 800}
    undone = refunded(shop, miller, 2_300, of_payment(source, 1_500), credit)
    [payment] = undone["vendor_refund_payments"]
    did(shop, "POST", f"{REFUND_PAYMENTS}{payment['id']}/delete/")
    refunded(shop, miller, 2_000, of_payment(source, 1_200), credit, external_id="kept")


def bounced(shop: Business, miller: Record) -> None:
    payment = paid_out(shop, miller, 700, external_id="bounced")
    body = {"external_id": "at once", "vendor_id": miller["id"], "total_amount_cents": 300}
    parts = {"allocations": [of_payment(payment, 300)], "refund_date": REFUNDED}
    coming = shop.made(REFUND_PAYMENTS, {**body, **parts, "currency": "GBP"})["payment"]
    moved(shop, coming, "completed", payment_date=REFUNDED)
    did(shop, "PATCH", f"bills/payments/{payment['id']}/", {"status": "failed"})


def bill(shop: Business, miller: Record, total: int = 10_000, **facts: Any) -> Record:
    """Receive a bill of one line, without tax."""
    body = {
        "vendor_id": miller["id"],
        "line_items": [{"quantity": 1, "unit_price": total}],
        "bill_date": "2026-07-01",
        "received_at": RECEIVED,
        **facts,
    }
    return shop.made("bills/", body)


def paid_out(shop: Business, miller: Record, total: int, *parts: Record, **facts: Any) -> Record:
    """Record a completed payment."""
    body = {
        "vendor_id": miller["id"],
        "amount_cents": total,
        "payment_date": "2026-07-10",
        "currency": "GBP",
        "payment_method": "bank_transfer",
        "allocations": list(parts),
        **facts,
    }
    payment: Record = shop.made("bills/payments/", body)["payment"]
    return payment


def refunded(
    shop: Business, miller: Record, total: int, *parts: Record, pay: Any = None, **facts: Any
) -> Record:
    """Agree a refund, as one pending payment or in several."""
    body = {
        "vendor_id": miller["id"],
        "total_refunded_amount_cents": total,
        "currency": "GBP",
        "refund_date": REFUNDED,
        "allocations": list(parts),
        **({"payments": pay} if pay else {}),
        **facts,
    }
    return shop.made(REFUNDS, body)


def moved(shop: Business, payment: Record, status: str, **facts: Any) -> None:
    """Move a payment of a refund to a status."""
    did(shop, "PATCH", f"{REFUND_PAYMENTS}{payment['id']}/", {"status": status, **facts})


def part(record: Record, amount: int) -> Record:
    return {"bill_id": record["id"], "amount_cents": amount}


def of_bill(record: Record, amount: int) -> Record:
    return {"allocation_type": "bill", **part(record, amount)}


def of_payment(record: Record, amount: int) -> Record:
    return {
        "allocation_type": "payment",
        "bill_payment_id": record["id"],
        "amount_cents": amount,
    }


def did(shop: Business, method: str, path: str, body: Record | None = None) -> None:
    answer = shop.api.request(method, path, json=body)
    assert answer.status_code == 200, answer.text
