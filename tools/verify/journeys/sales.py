"""Sales: an invoice with its payment, credit and refund."""

from functools import partial
from typing import Final

from tools.verify.contract import Node
from tools.verify.journeys.facts import DAY, LATER_MOMENT, MOMENT, payment
from tools.verify.story import Story, same

LINES: Final = [
    {"description": "Logo", "quantity": 1, "unit_price": 120_000, "tax_rate": 20},
    {"description": "Printed menus", "quantity": 250, "unit_price": 85},
]
TOTAL: Final = 165_250  # 1,200.00 plus 20 % tax, and 212.50.


def sell(story: Story) -> None:
    """Invoice a customer who pays a part, gets a credit and gets a refund."""
    check, books = partial(story.check, "sales"), story.books
    with check("a customer is made, and found again by its external id"):
        wanted = {"external_id": "blue-door", "company_name": "Blue Door Bakery"}
        customer = books.post("customers/", wanted)
        same("id", books.post("customers/", wanted, expected=200)["id"], customer["id"])
    order = {"customer_id": customer["id"], "sent_at": MOMENT, "line_items": LINES}
    with check("an invoice is previewed, and nothing of it is kept"):
        preview = books.post("invoices/", order, expected=200, params={"preview": "true"})
        same("total_amount", preview["total_amount"], TOTAL)
        for entry in preview["journal_entries"]:
            _balanced(entry)
        same("count", books.get("invoices/")["count"], 0)
    with check("an invoice is sent, and its total is exact"):
        invoice = books.post("invoices/", order)
        same("total_amount", invoice["total_amount"], TOTAL)
        same("tax_total", invoice["tax_total"], 24_000)
        _owed(story, invoice, TOTAL)
    _pay(story, customer["id"], invoice["id"])
    _take_back(story, customer["id"], invoice["id"])


def _pay(story: Story, customer_id: str, invoice_id: str) -> None:
    check, books = partial(story.check, "sales"), story.books
    with check("a payment by card settles a part by its allocation"):
        part = {"invoice_id": invoice_id, "amount_cents": 100_000}
        facts = {"payment_method": "stripe", "processing_fee_cents": 1_420, "allocations": [part]}
        paid = books.post("invoices/payments/", payment(customer_id, 110_000, **facts))["payment"]
        same("applied_amount_cents", paid["applied_amount_cents"], 100_000)
        same("remaining_amount_cents", paid["remaining_amount_cents"], 10_000)
        invoice = _owed(story, {"id": invoice_id}, 65_250)
        same("status", invoice["status"], "partially_paid")
    with check("more than is owed cannot be allocated"):
        part = {"invoice_id": invoice_id, "amount_cents": 65_251}
        body = payment(customer_id, 70_000, allocations=[part])
        code = "allocation_exceeds_outstanding"
        refusal = books.refused("POST", "invoices/payments/", 422, code, json=body)
        same("detail.left", refusal["detail"].get("left"), 65_250)
        _owed(story, {"id": invoice_id}, 65_250)


def _take_back(story: Story, customer_id: str, invoice_id: str) -> None:
    check, books = partial(story.check, "sales"), story.books
    with check("a credit lowers what is owed"):
        share = {"invoice_id": invoice_id, "amount": 5_000}
        body = {"customer_id": customer_id, "sent_at": MOMENT, "allocations": [share]}
        credit = books.post("customer-credits/", {**body, "line_items": [{"amount": 7_500}]})
        same("unapplied_amount", credit["unapplied_amount"], 2_500)
        _owed(story, {"id": invoice_id}, 60_250)
    with check("a refund pays back, and does not reopen the invoice"):
        money = {"amount_cents": 3_000, "method": "BANK_TRANSFER", "completed_at": LATER_MOMENT}
        refund = books.post("invoices/refunds/", {"invoice_id": invoice_id, **money})
        same("status", refund["status"], "paid")
        same("paid_amount", refund["paid_amount"], 3_000)
        _owed(story, {"id": invoice_id}, 60_250)
    with check("the ledger has followed by itself"):
        codes = {"1200": 60_250, "2100": 10_000, "2250": 2_500, "2300": 0}
        for code, cents in codes.items():
            account = books.get(f"general-ledger/chart-of-accounts/{code}/")
            same(f"current_balance of {code}", account["current_balance"], cents)
        dated = books.walk("general-ledger/journal-entries/", date_from=DAY, date_to=DAY)
        same("entry_date", {entry["entry_date"] for entry in dated}, {DAY})


def _owed(story: Story, invoice: Node, cents: int) -> Node:
    """Read an invoice, and check its outstanding balance."""
    found = story.books.get(f"invoices/{invoice['id']}/")
    same("outstanding_balance", found["outstanding_balance"], cents)
    return found


def _balanced(entry: Node) -> None:
    debits = sum(line["debit_amount"] for line in entry["lines"])
    same("debits of a journal entry", debits, sum(line["credit_amount"] for line in entry["lines"]))
