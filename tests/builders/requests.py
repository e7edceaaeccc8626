"""Requests that change existing records, to be sent later."""

from typing import Any

from tests.builders.sales import CREDITS, INVOICES, PAYMENTS, REFUNDS, part
from tests.builders.trade import CREDITED_AT, Record, line

Request = tuple[str, str, Any]
"""A method, a path and a body."""


def editing(invoice: Record, **facts: Any) -> Request:
    return "PUT", f"{INVOICES}{invoice['id']}/", {"line_items": [line(700)], **facts}


def sending(invoice: Record, **facts: Any) -> Request:
    return "POST", f"{INVOICES}{invoice['id']}/send/", facts


def voiding(invoice: Record, **facts: Any) -> Request:
    return "POST", f"{INVOICES}{invoice['id']}/void/", facts


def deleting(invoice: Record) -> Request:
    return "DELETE", f"{INVOICES}{invoice['id']}/", None


def writing_off(invoice: Record, **facts: Any) -> Request:
    return "POST", f"{INVOICES}{invoice['id']}/write-offs/", facts


def reversing(invoice: Record) -> Request:
    write_off = invoice["write_offs"][-1]["id"]
    return "DELETE", f"{INVOICES}{invoice['id']}/write-offs/{write_off}/", None


def changing(payment: Record, **changes: Any) -> Request:
    return "PATCH", f"{PAYMENTS}{payment['id']}/", changes


def lowering(payment: Record, amount: int) -> Request:
    """Build the request that makes a payment settle less of its only invoice."""
    return changing(payment, allocations=[part(payment["applied_invoices"][0], amount)])


def replacing(payment: Record, **changes: Any) -> Request:
    return "PUT", f"{PAYMENTS}{payment['id']}/", changes


def cancelling(payment: Record) -> Request:
    return "POST", f"{PAYMENTS}{payment['id']}/delete/", None


def refunding(target: Record, **facts: Any) -> Request:
    name = "invoice_id" if target.get("type") == "Invoice" else "payment_id"
    return "POST", REFUNDS, {name: target["id"], **facts}


def paying_back(refund: Record, **facts: Any) -> Request:
    return "POST", f"{REFUNDS}{refund['id']}/payments/", facts


def cancelling_refund(refund: Record) -> Request:
    return "DELETE", f"{REFUNDS}{refund['id']}/", None


def cancelling_refund_payment(refund: Record) -> Request:
    payment = refund["refund_payments"][0]["id"]
    return "POST", f"{REFUNDS}{refund['id']}/payments/{payment}/delete/", None


def applying(credit: Record, *shares: Record, **facts: Any) -> Request:
    return "PUT", f"{CREDITS}{credit['id']}/", {"allocations": list(shares), **facts}


def sending_credit(credit: Record, at: str = CREDITED_AT) -> Request:
    return "PUT", f"{CREDITS}{credit['id']}/", {"sent_at": at}


def voiding_credit(credit: Record, **facts: Any) -> Request:
    return "POST", f"{CREDITS}{credit['id']}/void/", facts
