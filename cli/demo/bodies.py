"""Request bodies of the demo: invoices, bills and manual journal entries."""

from base64 import b64encode
from typing import Any

from accounting.trade.sides import Side
from cli.demo import paper
from cli.demo.roaster import BUSINESS, SERVICES
from cli.demo.steps import ManualEntry, NewInvoice
from handlers.trade.document_responses import names_of

Answer = dict[str, Any]

BY_HAND = frozenset(each["description"] for each in SERVICES)


def invoice_of(side: Side, step: NewInvoice, name: str) -> Answer:
    """Return the body of an invoice or of a vendor's bill, with `name` as its external id."""
    names = names_of(side)
    body: Answer = {
        "external_id": name,
        side.names.party_external_id: step.party,
        names.issue_date: f"{step.on}",
        "line_items": step.lines,
        "additional_discount": step.additional_discount,
    }
    if names.party_number is not None:
        body[names.party_number] = step.number
    if not step.draft:
        body[side.names.opened_at] = f"{step.on}T09:00:00Z"
    if any(line["description"] in BY_HAND for line in step.lines):
        body["transaction_tags"] = ["services"]
    if step.order is not None:
        body["document"] = order_for(step)
    return body


def order_for(step: NewInvoice) -> Answer:
    """Return the customer's purchase order for an invoice, as a PDF document to attach."""
    wanted = [f"{line['quantity']} x {line['description']}" for line in step.lines]
    order = paper.page(
        f"Order {step.order}", [f"To {BUSINESS['legal_name']}", f"{step.on}", "", *wanted]
    )
    return {
        "file": b64encode(order).decode(),
        "file_name": f"{step.order}.pdf",
        "document_type": "purchase_order",
        "upload_source": "e-mail",
    }


def entry_of(step: ManualEntry) -> Answer:
    """Return a journal entry of one debit and one credit; an entry by an AI is not posted."""
    return {
        "entry_date": f"{step.on}",
        "description": step.description,
        "lines": [
            {"account": step.debit, "debit_amount": step.amount},
            {"account": step.credit, "credit_amount": step.amount},
        ],
        "created_by": step.author,
        "post": step.author == "manual",
    }
