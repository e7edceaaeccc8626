"""Where records are read, how an answer is brought to the form of views, where the two differ."""

from collections.abc import Callable
from datetime import datetime
from typing import Any

from tests.model.books import Body
from tests.model.records import (
    TRANSFER,
    BankAccount,
    BankLine,
    BankRule,
    Credit,
    Document,
    Entry,
    Opening,
    Party,
    Payment,
    Payout,
    Refund,
    RefundPayment,
    VendorRefund,
    VendorRefundPayment,
)
from tests.model.sides import Side
from tests.model.views import Record, View

TARGETS = (
    *("invoice_id", "payment_id", "credit_id"),
    *("bill_id", "bill_payment_id", "vendor_credit_id"),
)
OWED = ("invoice_outstanding_balance_cents", "bill_outstanding_balance_cents")
REFUNDED = ("refunded_amount", "refunded_amount_cents")
HAPPENED = ("paid_at", "voided_at", "cancelled_at", "completed_at", "sequence_number")


def inner(body: Body) -> Body:
    """A payment is answered inside an envelope."""
    wrapped: Body = body.get("payment", body)
    return wrapped


def told_of(record: Record, body: Body) -> list[tuple[Record, Body]]:
    """What an answer tells: with a vendor's refund payment it tells of its refund, too."""
    if isinstance(record, VendorRefundPayment) and "refund" in body:
        return [(record, inner(body)), (record.refund, body["refund"])]
    if "message" in body or "imported" in body:
        return []
    return [(record, inner(body))]


def path_of(side: Side, record: Record) -> str:
    """Where a record is read."""
    if isinstance(record, RefundPayment):
        return f"invoices/refunds/{record.refund.id}/payments/{record.id}/"
    folders = {
        Document: side.documents,
        Payment: side.payments,
        Credit: side.credits,
        Refund: "invoices/refunds/",
        Payout: "payouts/",
        VendorRefund: "vendor-refunds/",
        VendorRefundPayment: "vendor-refunds/payments/",
        BankAccount: "bank-accounts/",
        BankLine: "bank-transactions/",
        BankRule: "bank-rules/",
        Entry: "general-ledger/journal-entries/",
        Opening: "opening-balances/",
        Party: side.parties,
    }
    return f"{folders[type(record)]}{record.id}/"


def first(each: Any, names: tuple[str, ...]) -> Any:
    """The first of several fields that holds something."""
    return next((each[name] for name in names if each.get(name) is not None), None)


def read_allocation(each: Any) -> tuple[Any, ...]:
    """Read an item of `allocations`, which payments, credits and refunds have each their own of."""
    target, owed = first(each, TARGETS), first(each, OWED)
    if "allocation_type" in each:
        return each["allocation_type"], target, each["amount"], owed
    if "bill_status" in each:
        return target, each["amount_cents"], each["bill_status"], owed
    return (target, each["amount_cents"], *([] if owed is None else [owed]))


def read_refund(each: Any) -> tuple[Any, ...]:
    """Read an item of `refund_allocations`; that of an invoice payment names the invoice, too."""
    if "invoice_id" in each:
        return each["refund_id"], each["invoice_id"], each["amount_cents"]
    return each["refund_id"], each["amount_cents"]


def read_money(each: Any) -> tuple[Any, ...]:
    """Read a part of money, and the tax in it."""
    return each["amount_cents"], each["tax_code_id"], each["tax_cents"]


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


READ: dict[str, Callable[[Any], Any]] = {
    "payment_allocations": lambda each: (each["payment_id"], each["amount_cents"]),
    "credit_allocations": lambda each: (each["credit_note_id"], each["amount_cents"]),
    "bill_payment_allocations": lambda each: (each["bill_payment_id"], each["amount_cents"]),
    "vendor_credit_allocations": lambda each: (each["vendor_credit_id"], each["amount_cents"]),
    "vendor_refund_allocations": read_refund,
    "refund_allocations": read_refund,
    "write_offs": lambda each: (each["id"], each["amount_cents"], each["tax_relieved_cents"]),
    "applied_invoices": lambda each: (
        each["id"],
        each["applied_amount_cents"],
        each["status"],
        each["outstanding_amount_cents"],
    ),
    "refund_payments": lambda each: (each["id"], first(each, REFUNDED), each["status"]),
    "payments": lambda each: (each["id"], each["total_amount_cents"], each["status"]),
    "payouts": lambda each: each["id"],
    "vendor_refund_payments": lambda each: (
        each["id"],
        each["refunded_amount"],
        each["processing_fee"],
        each["status"],
    ),
    "allocations": read_allocation,
    "reconciled_bank_transactions": lambda each: (
        each["reconciliation_link_id"],
        each["bank_transaction_id"],
        each["reconciled_amount_cents"],
    ),
    "links": lambda each: (
        TRANSFER if each["target_type"] == TRANSFER else each["reconciliation_link_id"],
        each["target_type"],
        each["target_id"],
        each["amount_cents"],
        each["rounding_difference_cents"],
    ),
    "line_items": read_line,
    "other_items": read_money,
    "lines": lambda each: (
        each["line_number"],
        each["account_code"],
        each["debit_amount"] - each["credit_amount"],
    ),
}


def differences(expected: View, answer: Any) -> dict[str, tuple[Any, Any]]:
    """Name each field in which an answer differs: what it should be, and what it is."""
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
