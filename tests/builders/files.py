"""Files to upload: one of each accepted kind, and some of no accepted kind."""

import base64
import hashlib
from pathlib import Path
from typing import Any

import httpx

from tests.api_server import ApiServer
from tests.builders.bank import Bank, open_account
from tests.builders.journal_entries import ENTRIES, debit
from tests.builders.journal_entries import credit as credit_line
from tests.builders.purchases import bill_paid, settled, vendor_credited
from tests.builders.sales import invoice_body, paid
from tests.builders.trade import SENT, Record, line
from tests.partner import Business

PDF = b"%PDF-1.7\n1 0 obj << /Type /Catalog >> endobj\n%%EOF\n"
PNG = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + bytes(17)
JPEG = b"\xff\xd8\xff\xe0\x00\x10JFIF\x00\x01" + bytes(40)
CSV = b"date,amount\r\n2025-01-01,12.50\r\n"
XML = b"<?xml version='1.0'?>\n<Invoice><Total>12.50</Total></Invoice>\n"

KINDS = {
    "application/pdf": PDF,
    "image/png": PNG,
    "image/jpeg": JPEG,
    "text/csv": CSV,
    "application/xml": XML,
}


def in_json(content: bytes = PDF, name: str = "paper.pdf", **facts: Any) -> dict[str, Any]:
    """Return the `document` of a JSON body."""
    return {"file": base64.b64encode(content).decode(), "file_name": name, **facts}


def upload(
    shop: Business, content: bytes = PDF, name: str = "paper.pdf", **options: Any
) -> httpx.Response:
    """Upload a file; the options are fields of the form, except `headers`."""
    headers = options.pop("headers", {})
    parts = {"file": (name, content, "application/octet-stream")}
    return shop.api.post("documents/", files=parts, data=options, headers=headers)


def follow(shop: Business, url: str, **options: Any) -> httpx.Response:
    """Follow a link without any credentials."""
    with shop.partner.client(shop.partner.url) as stranger:
        return stranger.get(url, **options)


def kept(api_server: ApiServer, shop: Business) -> set[str]:
    """Return the digest of each file that the storage holds for a business."""
    folder: Path = api_server.folder / shop.id
    return {hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.glob("*")}


def names(api_server: ApiServer, shop: Business) -> list[str]:
    """Return the names of the files of a business in the storage, sorted."""
    return sorted(path.name for path in (api_server.folder / shop.id).glob("*"))


def records(api_server: ApiServer, shop: Business) -> int:
    """Count the document records of a business."""
    asked = "SELECT count(*) FROM stored_document WHERE business_id = %s"
    [(found,)] = api_server.query(asked, shop.id)
    return int(found)


def credit(shop: Business, buyer: Record, **facts: Any) -> Record:
    lines = [{"amount": 100, "revenue_account_identifier": {"type": "AccountCode", "code": "4000"}}]
    return {"customer_id": buyer["id"], "line_items": lines, **facts}


def claimed(shop: Business, bill: Record) -> Record:
    """Create a vendor refund of 100 for a paid bill."""
    back = {"allocation_type": "bill", "bill_id": bill["id"], "amount_cents": 100}
    claim = {"vendor_id": bill["vendor_id"], "total_refunded_amount": 100, "currency": "GBP"}
    return shop.made("vendor-refunds/", {**claim, "allocations": [back]})


MONEY = ("invoice_payment", "bill_payment", "journal_entry", "bank_transaction")


def money(shop: Business, buyer: Record, kind: str) -> Record:
    """Create a payment, a draft of an entry or a bank transaction."""
    if kind == "invoice_payment":
        return paid(shop, buyer, 100)
    if kind == "bill_payment":
        return bill_paid(shop, shop.vendor(), 100)
    if kind == "journal_entry":
        lines = [debit("1100", 5), credit_line("2500", 5)]
        return shop.made(ENTRIES, {"entry_date": "2025-03-01", "lines": lines})
    return Bank(shop, open_account(shop)).line(100)


def target(shop: Business, buyer: Record, kind: str) -> Record:
    """Create a record of a kind that a document can be linked to."""
    if kind == "customer":
        return buyer
    if kind == "vendor":
        return shop.vendor()
    if kind in MONEY:
        return money(shop, buyer, kind)
    if kind == "vendor_credit":
        return vendor_credited(shop, shop.vendor(), 100)
    if kind in ("bill", "vendor_refund"):
        bill = settled(shop, shop.vendor(), 500)
        return bill if kind == "bill" else claimed(shop, bill)
    if kind == "customer_credit":
        return shop.made("customer-credits/", credit(shop, buyer))
    invoice = shop.made("invoices/", invoice_body(buyer, line(500), sent_at=SENT, payments=[{
        "payment_method": "bank_transfer",
    }]))  # fmt: skip
    if kind == "invoice":
        return invoice
    return shop.made("invoices/refunds/", {"invoice_id": invoice["id"], "amount_cents": 100})
