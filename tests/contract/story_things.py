"""How each thing of a story is made, by the name that paths have for it.

Names that no path has are things in a state that some operation needs to find.
"""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.contract.valid_requests import Story

PDF = b"%PDF-1.7\n1 0 obj << /Type /Catalog >> endobj\n%%EOF\n"


def customer_of(story: "Story") -> dict[str, Any]:
    """The customer whom the story is about."""
    return {"id": story.thing("customer_id")}


def make_customer(story: "Story") -> str:
    """A customer; the second one owes nothing and is owed nothing."""
    return str(story.business.customer()["id"])


def make_invoice(story: "Story") -> str:
    """One of 500.00, of which 200.00 are paid and can be refunded."""
    invoice = story.business.invoice(customer_of(story), 50_000)
    share = {"invoice_id": invoice["id"], "amount_cents": 20_000}
    story.business.payment(customer_of(story), 20_000, allocations=[share])
    return str(invoice["id"])


def make_unpaid_invoice(story: "Story") -> str:
    """One that can be voided or written off."""
    return str(story.business.invoice(customer_of(story))["id"])


def make_draft(story: "Story") -> str:
    """An invoice that can be replaced, sent and deleted."""
    line = {"quantity": 1, "unit_price": 9_000}
    body = {"customer_id": story.thing("customer_id"), "line_items": [line]}
    return str(story.business.made("invoices/", body)["id"])


def make_written_off(story: "Story") -> str:
    """An invoice of which a part is written off."""
    invoice = story.business.invoice(customer_of(story))
    after = story.business.write_off(invoice, amount_cents=2_000)
    story.ids["write_off_id"] = after["write_offs"][0]["id"]
    return str(invoice["id"])


def make_write_off(story: "Story") -> str:
    """The write-off of that invoice."""
    story.thing("written_off_id")
    return story.ids["write_off_id"]


def make_payment(story: "Story") -> str:
    """One that is still pending, so that it can be changed and cancelled."""
    share = {"invoice_id": story.thing("invoice_id"), "amount_cents": 1_000}
    customer = customer_of(story)
    return str(
        story.business.payment(customer, 20_000, status="pending", allocations=[share])["id"]
    )


def make_unapplied_payment(story: "Story") -> str:
    """A completed one that settles nothing, so that it can be refunded."""
    return str(story.business.payment(customer_of(story), 5_000)["id"])


def make_refund(story: "Story") -> str:
    """One of which a part is paid."""
    invoice = {"type": "Invoice", "id": story.thing("invoice_id")}
    refund = story.business.refund(invoice, amount_cents=8_000)
    paid = story.business.refund_payment(refund, amount_cents=1_000)
    story.ids["refund_payment_id"] = paid["id"]
    return str(refund["id"])


def make_refund_payment(story: "Story") -> str:
    """The payment of that refund."""
    story.thing("refund_id")
    return story.ids["refund_payment_id"]


def make_unpaid_refund(story: "Story") -> str:
    """One that can be cancelled."""
    invoice = {"type": "Invoice", "id": story.thing("invoice_id")}
    return str(story.business.refund(invoice, amount_cents=1_000)["id"])


def make_credit(story: "Story") -> str:
    """One that is sent and applied to nothing yet."""
    return str(story.business.credit(customer_of(story), 4_000)["id"])


def make_document(story: "Story") -> str:
    """A file that is linked to nothing."""
    answer = story.business.api.post("documents/", files={"file": ("paper.pdf", PDF)})
    assert answer.status_code == 201, answer.text
    return str(answer.json()["id"])


def find_journal_entry(story: "Story") -> str:
    """An entry that the invoice has posted."""
    story.thing("unpaid_id")
    entries = story.business.api.get("general-ledger/journal-entries/").json()
    return str(entries["results"][0]["id"])


MAKERS: Mapping[str, Callable[["Story"], str]] = {
    "customer_id": make_customer,
    "quiet_id": make_customer,
    "invoice_id": make_invoice,
    "unpaid_id": make_unpaid_invoice,
    "draft_id": make_draft,
    "written_off_id": make_written_off,
    "write_off_id": make_write_off,
    "payment_id": make_payment,
    "unapplied_id": make_unapplied_payment,
    "refund_id": make_refund,
    "refund_payment_id": make_refund_payment,
    "unpaid_refund_id": make_unpaid_refund,
    "credit_id": make_credit,
    "document_id": make_document,
    "journal_entry_id": find_journal_entry,
    "account_id": lambda story: story.accounts["6000"],
}
