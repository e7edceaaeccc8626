"""Payments and payouts of every kind that a bank line can match."""

from tests.builders.bank import (
    BILL_PAYMENT,
    PAYMENT,
    PAYOUT,
    REFUND_PAYMENT,
    VENDOR_REFUND_PAYMENT,
)
from tests.builders.payouts import by_card, paid_out
from tests.builders.purchases import bill_paid
from tests.builders.sales import paid, refunded, settled
from tests.builders.trade import Record
from tests.builders.vendor_refunds import agreed, changed
from tests.partner import Business

KINDS = (PAYMENT, BILL_PAYMENT, REFUND_PAYMENT, VENDOR_REFUND_PAYMENT, PAYOUT)
PAID_OUT_AT = "2025-03-11T10:00:00Z"


def sign_of(kind: str) -> int:
    """Return the sign of a bank line that a payment or payout of a kind matches."""
    return -1 if kind in (BILL_PAYMENT, REFUND_PAYMENT) else 1


def money_of(kind: str, shop: Business, buyer: Record, vendor: Record, amount: int = 90) -> Record:
    """Create a completed payment or payout of a kind."""
    match kind:
        case "invoice_payment":
            return paid(shop, buyer, amount)
        case "bill_payment":
            return bill_paid(shop, vendor, amount)
        case "invoice_refund_payment":
            return refund_payment(shop, buyer, amount)
        case "vendor_refund_payment":
            payment = agreed(shop, vendor, amount)["payment"]
            made: Record = changed(shop, payment, status="completed")["payment"]
            return made
    return card_payout(shop, buyer, amount)


def refund_payment(shop: Business, buyer: Record, amount: int = 90) -> Record:
    """Refund an invoice with a payment completed on 20 March; return the refund payment."""
    invoice = settled(shop, buyer, amount)
    refund = refunded(shop, invoice, completed_at="2025-03-20T10:00:00Z")
    payment: Record = refund["refund_payments"][0]
    return payment


def card_payout(shop: Business, buyer: Record, amount: int = 90) -> Record:
    """Pay out a card payment on 11 March."""
    return paid_out(shop, amount, by_card(shop, buyer, amount), completed_at=PAID_OUT_AT)
