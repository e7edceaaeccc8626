"""Sales: the builders of `trade` named for this side, and the builders that only sales have."""

from typing import Any

from tests.builders.trade import SALES, Record
from tests.partner import Business

INVOICES = SALES.path
PAYMENTS = SALES.payments
CREDITS = SALES.credits
REFUNDS = "invoices/refunds/"

invoice_body = SALES.body
payment_body = SALES.payment_body
credit_body = SALES.credit_body
part = SALES.part
share = SALES.share
sent = SALES.open
paid = SALES.pay
settled = SALES.settle
credited = SALES.credit
written_off = SALES.write_off


def refunded(shop: Business, target: Record, **facts: Any) -> Record:
    """Create a refund of an invoice, or of the remaining amount of a payment or a credit."""
    return shop.made(REFUNDS, {target_field(target): target["id"], **facts})


def target_field(target: Record) -> str:
    """Return the field by which a refund names its invoice, payment or credit."""
    if "credit_note_number" in target:
        return "credit_id"
    return "invoice_id" if target.get("type") == "Invoice" else "payment_id"


def refund_paid(shop: Business, refund: Record, **facts: Any) -> Record:
    """Pay a refund, or part of it; return the refund payment."""
    return shop.made(f"{REFUNDS}{refund['id']}/payments/", facts)
