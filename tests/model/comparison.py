"""Answers in the form of views, and the fields in which the two differ."""

from collections.abc import Callable
from datetime import datetime
from operator import itemgetter
from typing import Any

from tests.model.books import Body
from tests.model.records import TRANSFER, VendorRefundPayment
from tests.model.views import Record, View

TARGETS = (
    *("invoice_id", "payment_id", "credit_id"),
    *("bill_id", "bill_payment_id", "vendor_credit_id"),
)
OWED = ("invoice_outstanding_balance_cents", "bill_outstanding_balance_cents")
REFUNDED = ("refunded_amount", "refunded_amount_cents")
HAPPENED = ("paid_at", "voided_at", "cancelled_at", "completed_at", "sequence_number")


def inner(body: Body) -> Body:
    """Return the payment inside an envelope, or the body without one."""
    wrapped: Body = body.get("payment", body)
    return wrapped


def records_in(record: Record, body: Body) -> list[tuple[Record, Body]]:
    """Return the records in an answer; one about a vendor's refund payment includes the refund."""
    if isinstance(record, VendorRefundPayment) and "refund" in body:
        return [(record, inner(body)), (record.refund, body["refund"])]
    if "message" in body or "imported" in body:
        return []
    return [(record, inner(body))]


def first(each: Any, names: tuple[str, ...]) -> Any:
    """Return the first of several fields that has a value."""
    return next((each[name] for name in names if each.get(name) is not None), None)


def read_allocation(each: Any) -> tuple[Any, ...]:
    """Read an item of `allocations`, whose form differs for payments, credits and refunds."""
    target, owed = first(each, TARGETS), first(each, OWED)
    if "allocation_type" in each:
        return each["allocation_type"], target, each["amount"], owed
    if "bill_status" in each:
        return target, each["amount_cents"], each["bill_status"], owed
    return (target, each["amount_cents"], *([] if owed is None else [owed]))


def read_refund(each: Any) -> tuple[Any, ...]:
    """Read an item of `refund_allocations`; for an invoice payment it names the invoice, too."""
    if "invoice_id" in each:
        return each["refund_id"], each["invoice_id"], each["amount_cents"]
    return each["refund_id"], each["amount_cents"]


read_money = itemgetter("amount_cents", "tax_code_id", "tax_cents")
"""Reads the amount of a part of money, and the tax in it."""


def read_line(each: Any) -> tuple[Any, ...]:
    """Read a line of a document, or of a credit."""
    taxed = each["tax_code_id"], each["tax_rate"]
    if "amount" in each:
        return *taxed, each["amount"], each["tax_amount_cents"], each["withholding_cents"]
    return (
        *taxed,
        each["subtotal"],
        each["sales_taxes_total"],
        sum(tax["blocked_amount"] for tax in each["sales_taxes"]),
        each["withholding_total"],
        each["self_assessed_total"],
    )


def read_link(each: Any) -> tuple[Any, ...]:
    """Read a link of a line; all links of transfers have one name in the model."""
    is_transfer = each["target_type"] == TRANSFER
    name = TRANSFER if is_transfer else each["reconciliation_link_id"]
    target = each["target_type"], each["target_id"]
    return name, *target, each["amount_cents"], each["rounding_difference_cents"], each["of"]


READ: dict[str, Callable[[Any], Any]] = {
    "payment_allocations": itemgetter("payment_id", "amount_cents"),
    "credit_allocations": itemgetter("credit_note_id", "amount_cents"),
    "bill_payment_allocations": itemgetter("bill_payment_id", "amount_cents"),
    "vendor_credit_allocations": itemgetter("vendor_credit_id", "amount_cents"),
    "vendor_refund_allocations": read_refund,
    "refund_allocations": read_refund,
    "write_offs": itemgetter("id", "amount_cents", "tax_relieved_cents"),
    "applied_invoices": itemgetter(
        "id", "applied_amount_cents", "status", "outstanding_amount_cents"
    ),
    "refund_payments": lambda each: (each["id"], first(each, REFUNDED), each["status"]),
    "payments": itemgetter("id", "total_amount_cents", "status"),
    "payouts": itemgetter("id"),
    "vendor_refund_payments": itemgetter("id", "refunded_amount", "processing_fee", "status"),
    "allocations": read_allocation,
    "reconciled_bank_transactions": itemgetter(
        "reconciliation_link_id", "bank_transaction_id", "reconciled_amount_cents", "of"
    ),
    "links": read_link,
    "line_items": read_line,
    "other_items": read_money,
    "lines": lambda each: (
        each["line_number"],
        each["account_code"],
        each["debit_amount"] - each["credit_amount"],
    ),
}


def differences(expected: View, answer: Any) -> dict[str, tuple[Any, Any]]:
    """Return each field in which an answer differs, with its expected and its actual value."""
    found = {}
    for name, value in expected.items():
        shown = answer[name]
        if name == "splits":
            shown = {
                (place, each["account"]["code"], *read_money(each))
                for place, each in enumerate(shown)
            }
        elif isinstance(value, list):
            shown = [READ[name](each) for each in shown]
        elif isinstance(value, set):
            items = [READ[name](each) for each in shown]
            shown = set(items) if len(set(items)) == len(items) else items
        elif name in HAPPENED:
            shown = shown is not None
        elif name == "account":
            shown = shown["code"]
        elif name == "category":
            shown = shown and (shown["account"]["code"], shown["amount_cents"])
        elif shown is not None and name in ("due_at", "sent_at", "received_at"):
            at = datetime.fromisoformat(shown)
            shown = at.date() if name == "due_at" else at
        if shown != value:
            found[name] = (value, shown)
    return found
