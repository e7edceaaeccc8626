"""Posting rules: a name for each event that posts an entry."""

_EVENTS = {
    "invoice": "invoice_sent",
    "write_off": "invoice_written_off",
    "payment": "invoice_payment",
    "refund": "invoice_refund_agreed",
    "refund_payment": "invoice_refund_paid",
    "customer_credit": "customer_credit_sent",
    "bill": "bill_received",
    "bill_write_off": "bill_written_off",
    "bill_payment": "bill_payment",
    "vendor_credit": "vendor_credit_received",
    "vendor_refund": "vendor_refund_agreed",
    "vendor_refund_payment": "vendor_refund_payment",
    "payout": "payout_paid",
    "bank_transaction": "bank_line_categorized",
    "bank_transfer": "bank_transfer",
    "opening_balance": "opening_balance",
    "manual": "manual_entry",
}
_STEPS = {
    ("payment", "fee"): "invoice_payment_fee",
    ("refund_payment", "fee"): "invoice_refund_fee",
    ("customer_credit", "applied"): "customer_credit_applied",
    ("bill_payment", "fee"): "bill_payment_fee",
    ("vendor_credit", "applied"): "vendor_credit_applied",
}
_ALIKE = {"self_assessed": "self_assessed_tax", "rounding": "bank_rounding"}
_TAKEN_BACK = {
    "invoice_written_off": "invoice_write_off_reversed",
    "bill_written_off": "bill_write_off_reversed",
}

POSTING_RULES = frozenset(
    {*_EVENTS.values(), *_STEPS.values(), *_ALIKE.values(), *_TAKEN_BACK.values()}
)
"""The names of all posting rules."""


def posting_rule(source_type: str, stream: str, *, reverses: bool = False) -> str:
    """Return the name of the rule that posted an entry of a source, in one of its streams.

    Applying a credit is `customer_credit_applied`; what a payment settles later is posted by the
    rule of the payment. A reversal has the name of the reversed entry's rule; only the reversal of
    a write-off is an event of its own.
    """
    found = _ALIKE.get(stream) or _STEPS.get((source_type, stream)) or _EVENTS[source_type]
    return _TAKEN_BACK.get(found, found) if reverses else found
