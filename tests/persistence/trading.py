"""A business that has done everything the books know so far, once."""

from tests.partnership import Business
from tests.persistence.banked import banked
from tests.persistence.cleared import cleared
from tests.persistence.purchasing import LATER, TAXED, Record, bought, did


def traded(shop: Business) -> Business:
    """Sell, take money, write off, credit and give back; each in more than one way. Then buy."""
    baker = shop.customer(external_id="baker")
    shop.customer(external_id="brewer")
    sold(shop, baker)
    paid(shop, baker)
    given_up(shop, baker)
    credited(shop, baker)
    given_back(shop, baker)
    bounced(shop, baker)
    bought(shop)
    written(shop)
    banked(shop, baker)
    cleared(shop, baker)
    closed(shop)
    return shop


def written(shop: Business) -> None:
    """Accrue something at the end of a month, and take it back; another entry waits."""
    lines = [
        {"account": "6000", "debit_amount": 1_500},
        {"account": "2400", "credit_amount": 1_500},
    ]
    path = "general-ledger/journal-entries/"
    entry = shop.made(path, {"entry_date": "2026-06-30", "lines": lines, "post": True})
    shop.made(f"{path}{entry['id']}/reverse/", {"entry_date": "2026-07-01"})
    few = [{"account": "6400", "debit_amount": 300}, {"account": "1150", "credit_amount": 300}]
    shop.made(path, {"entry_date": "2026-06-30", "lines": few, "created_by": "ai"})


def closed(shop: Business) -> None:
    """Close June and open it again."""
    address = f"/v1/platform/businesses/{shop.id}/"
    for day in ("2026-06-30", None):
        answer = shop.partner.api.patch(address, json={"lock_date": day})
        assert answer.status_code == 200, answer.text


def sold(shop: Business, baker: Record) -> None:
    voided = shop.invoice(baker, 9_999, additional_discount=99, external_id="voided")
    shop.invoice(baker, line_items=[TAXED, {"quantity": 3, "unit_price": 101}])
    shop.made("invoices/", {"customer_id": baker["id"], "line_items": [TAXED]})
    shop.invoice(baker, invoice_number="INV-000050")
    did(shop, "POST", f"invoices/{voided['id']}/void/", {})


def paid(shop: Business, baker: Record) -> None:
    settled, partly, waiting = (
        shop.invoice(baker, 9_999, additional_discount=99, external_id=name)
        for name in ("paid", "partly", "waiting")
    )
    shares = [part(settled, 9_900), part(partly, 100)]
    fee = {"processing_fee_cents": 290, "payment_method": "stripe"}
    shop.payment(baker, 10_500, allocations=shares, external_id="main", **fee)
    failed = shop.payment(baker, 500, allocations=[part(partly, 500)])
    did(shop, "PATCH", f"invoices/payments/{failed['id']}/", {"status": "failed"})
    shop.payment(baker, 1_000, allocations=[part(waiting, 1_000)], status="pending")


def given_up(shop: Business, baker: Record) -> None:
    doubtful = shop.invoice(baker, line_items=[TAXED], external_id="doubtful")
    path = f"invoices/{doubtful['id']}/write-offs/"
    shop.made(path, {"amount_cents": 1_000, "write_off_at": LATER, "external_id": "lost"})
    written = shop.made(path, {"amount_cents": 500})["write_offs"]
    [mistaken] = [each for each in written if each["external_id"] is None]
    did(shop, "DELETE", f"{path}{mistaken['id']}/")


def credited(shop: Business, baker: Record) -> None:
    line = {"amount": 3_000, "tax_amount_cents": 600}
    draft = {"customer_id": baker["id"], "line_items": [line]}
    first, second = (
        shop.invoice(baker, line_items=[TAXED], external_id=name) for name in ("credited", "spared")
    )
    shares = [{"invoice_id": each["id"], "amount": 900} for each in (first, second)]
    path = "customer-credits/"
    body = {**draft, "sent_at": LATER}
    credit = shop.made(path, {**body, "allocations": shares, "external_id": "returned"})
    did(shop, "PUT", f"{path}{credit['id']}/", {"allocations": shares[:1]})
    mistaken = shop.made(path, {**body, "credit_note_number": "CN-000007"})
    did(shop, "POST", f"{path}{mistaken['id']}/void/")
    shop.made(path, draft)


def given_back(shop: Business, baker: Record) -> None:
    invoice = shop.invoice(baker, line_items=[TAXED], external_id="given back")
    fee = {"method": "STRIPE", "refund_processing_fee_cents": 30}
    owed = invoice["total_amount"]
    shop.payment(baker, owed + 400, allocations=[part(invoice, owed)], external_id="too much")
    refund = shop.refund(invoice, amount_cents=3_333, external_id="in steps")
    shop.refund_payment(refund, amount_cents=1_111, external_id="step", **fee)
    mistaken = shop.refund_payment(refund, amount_cents=1_000)
    did(shop, "POST", f"invoices/refunds/{refund['id']}/payments/{mistaken['id']}/delete/")
    unwanted = shop.refund(invoice, amount_cents=500, external_id="unwanted")
    did(shop, "DELETE", f"invoices/refunds/{unwanted['id']}/")


def bounced(shop: Business, baker: Record) -> None:
    payment = shop.payment(baker, 700, external_id="bounced")
    refund = {"payment_id": payment["id"], "amount_cents": 300, "external_id": "at once"}
    shop.made("invoices/refunds/", {**refund, "completed_at": LATER})
    did(shop, "PATCH", f"invoices/payments/{payment['id']}/", {"status": "failed"})


def part(invoice: Record, amount: int) -> Record:
    return {"invoice_id": invoice["id"], "amount_cents": amount}
