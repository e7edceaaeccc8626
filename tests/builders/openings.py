"""Opening balances at the end of 2024."""

from itertools import count
from typing import Any

from tests.builders.trade import Record
from tests.partner import Business

OPENINGS = "opening-balances/"
DAY = "2024-12-31"
BEFORE = "2024-11-03"
_numbers = count(1)


def moment(day: str) -> str:
    return f"{day}T00:00:00Z"


def open_invoice(customer: Record, amount: int, **facts: Any) -> Record:
    """Return an invoice with an outstanding amount."""
    return {
        "customer_id": customer["id"],
        "invoice_number": f"old-{next(_numbers)}",
        "issue_date": BEFORE,
        "outstanding_amount_cents": amount,
        **facts,
    }


def open_bill(vendor: Record, amount: int, **facts: Any) -> Record:
    """Return a bill with an outstanding amount."""
    given = {"vendor_id": vendor["id"], "bill_date": BEFORE}
    return {**given, "outstanding_amount_cents": amount, **facts}


def open_customer_credit(customer: Record, amount: int, **facts: Any) -> Record:
    """Return a credit note with an unapplied amount."""
    return {
        "customer_id": customer["id"],
        "credit_note_number": f"old-{next(_numbers)}",
        "sent_at": moment(BEFORE),
        "unapplied_amount_cents": amount,
        **facts,
    }


def open_vendor_credit(vendor: Record, amount: int, **facts: Any) -> Record:
    """Return a vendor credit with an unapplied amount."""
    given = {"vendor_id": vendor["id"], "received_at": moment(BEFORE)}
    return {**given, "unapplied_amount_cents": amount, **facts}


def prepaid(party: Record, amount: int, of: str = "customer", **facts: Any) -> Record:
    """Return a payment in advance from a customer or to a vendor."""
    given = {f"{of}_id": party["id"], "payment_date": BEFORE}
    return {**given, "unapplied_amount_cents": amount, **facts}


def by_code(tax_code: str, net: int, tax: int = 0) -> Record:
    """Return the net and the tax of a tax code, for an open document."""
    return {"tax_code": tax_code, "net_cents": net, "tax_cents": tax}


def opened(shop: Business, **facts: Any) -> Record:
    return shop.made(OPENINGS, {"date": DAY, **facts})


def all_open(customer: Record, vendor: Record) -> Record:
    """Return an opening with every kind of document and the balances of their accounts.

    1,200 and 300 are owed on invoices, 500 on a bill; 100 and 40 are credited; 70 and 30 were paid
    in advance. With a bank account of 5,000 and capital of 1,000 that leaves 4,900.
    """
    return {
        "accounts": [
            {"account": "1100", "debit_amount": 5_000},
            {"account": "1200", "debit_amount": 1_500},
            {"account": "1250", "debit_amount": 30},
            {"account": "1260", "debit_amount": 40},
            {"account": "2000", "credit_amount": 500},
            {"account": "2100", "credit_amount": 70},
            {"account": "2250", "credit_amount": 100},
            {"account": "3000", "credit_amount": 1_000},
        ],
        "invoices": [open_invoice(customer, 1_200), open_invoice(customer, 300)],
        "bills": [open_bill(vendor, 500)],
        "customer_credits": [open_customer_credit(customer, 100)],
        "vendor_credits": [open_vendor_credit(vendor, 40)],
        "prepayments": [prepaid(customer, 70), prepaid(vendor, 30, "vendor")],
    }


def reversed_(shop: Business, opening: Record, on: str | None = None) -> Record:
    """Reverse an opening, on the given day or today."""
    body = {} if on is None else {"entry_date": on}
    answer = shop.api.post(f"{OPENINGS}{opening['id']}/reverse/", json=body)
    assert answer.status_code == 200, answer.text
    shown: Record = answer.json()
    return shown
