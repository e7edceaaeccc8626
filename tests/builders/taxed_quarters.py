"""Quarters of trade with every kind of tax. The tests state the expected returns."""

from typing import Any

from tests.builders.journal_entries import credit, marked, taxed
from tests.builders.sales import INVOICES, refunded
from tests.builders.trade import PURCHASES, SALES, Record, line
from tests.partner import Business


def sold(shop: Business, on: str, *lines: Record) -> Record:
    body = SALES.body(shop.customer(), *lines, sent_at=f"{on}T09:00:00Z")
    return shop.made(INVOICES, body)


def bought(shop: Business, on: str, *lines: Record) -> Record:
    body = PURCHASES.body(shop.vendor(), *lines, bill_date=on, received_at=f"{on}T09:00:00Z")
    return shop.made(PURCHASES.path, body)


def paid(shop: Business, document: Record, amount: int, on: str) -> Record:
    """Record a payment of an invoice or a bill."""
    side = SALES if document.get("type") == "Invoice" else PURCHASES
    party = document[side.party]
    facts = {"payment_date": on, "currency": document["currency"]}
    return side.pay(shop, party, amount, side.part(document, amount), **facts)


def of(code: str, net: int) -> Record:
    """Return a line taxed by a code."""
    return line(net, tax_code=code)


def british_quarter(shop: Business) -> None:
    """Post the first quarter of 2025 of a business in Great Britain."""
    coffee = sold(shop, "2025-01-10", of("S20", 100_000), of("S5", 20_000), of("S0", 5_000))
    sold(shop, "2025-02-05", of("SX", 30_000))
    paid(shop, coffee, 146_000, "2025-02-01")
    credited(shop, coffee, 10_000, "2025-02-20")
    given_back(shop, coffee, 10_500, "2025-03-05")
    beans = bought(shop, "2025-01-20", of("P20", 40_000), of("P5", 6_000), of("P0", 1_000))
    paid(shop, beans, 27_650, "2025-02-15")
    bought(shop, "2025-03-10", of("PA20", 50_000))
    taken_back = {"line_items": [{"amount": 2_000, "tax_code": "P20"}]}
    vendor = {"vendor_id": beans["vendor"]["id"], "received_at": "2025-03-12T09:00:00Z"}
    shop.made("vendor-credits/", {**vendor, **taken_back})
    net = credit("4000", 2_500, tax_code="S20")
    taxed(shop, "2025-03-31", marked("2200", -500, "S20", "output"), net)


def credited(shop: Business, invoice: Record, net: int, on: str, **facts: Any) -> Record:
    """Credit part of the first line of an invoice."""
    source = invoice["line_items"][0]["id"]
    body = {
        "customer_id": invoice["customer"]["id"],
        "source_invoice_id": invoice["id"],
        "line_items": [{"amount": net, "source_line_id": source}],
        "sent_at": f"{on}T09:00:00Z",
        **facts,
    }
    return shop.made("customer-credits/", body)


def given_back(shop: Business, invoice: Record, gross: int, on: str) -> Record:
    """Refund part of the second line of an invoice, and pay the refund."""
    lines = [{"line_id": invoice["line_items"][1]["id"], "amount_cents": gross}]
    return refunded(shop, invoice, amount_cents=gross, lines=lines, completed_at=f"{on}T09:00:00Z")


def german_quarter(shop: Business) -> None:
    """Post the first quarter of 2025 of a business in Germany."""
    goods = sold(shop, "2025-01-10", of("S19", 100_050), of("S7", 20_000), of("SG", 30_000))
    sold(shop, "2025-02-05", of("SU", 12_000))
    paid(shop, goods, 85_230, "2025-02-01")
    credited(shop, goods, 10_000, "2025-02-20")
    given_back(shop, goods, 1_070, "2025-03-05")
    supplies = bought(shop, "2025-01-20", of("P19", 40_000), of("P7", 10_000))
    paid(shop, supplies, 29_150, "2025-02-15")
    bought(shop, "2025-02-10", of("PG19", 20_000), of("PU19", 10_000), of("PR19", 5_000))
