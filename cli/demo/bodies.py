"""What the demo sends: the bodies of invoices and bills, and of entries by hand."""

from base64 import b64encode
from typing import Any

from accounting.trade.sides import Side
from cli.demo import paper
from cli.demo.roaster import BUSINESS, SERVICES
from cli.demo.steps import Invoicing, Writing
from handlers.shared.answer_names import names_of

Answer = dict[str, Any]

BY_HAND = frozenset(each["description"] for each in SERVICES)


def invoice_of(side: Side, step: Invoicing, name: str) -> Answer:
    """Write down an invoice of the business, or a vendor's bill, under a name."""
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


def order_for(step: Invoicing) -> Answer:
    """Draw up the order behind an invoice, as its customer would have sent it."""
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


def entry_of(step: Writing) -> Answer:
    """Write down an entry of one debit and one credit; what a machine wrote waits."""
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
