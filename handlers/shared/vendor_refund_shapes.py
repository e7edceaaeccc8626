"""Serialization of vendor refunds and their payments."""

from collections.abc import Mapping
from typing import Any

from access.links import Links
from accounting.books.numbers import titled
from accounting.trade import documents, refunds, vendor_refund_payments
from accounting.trade.refunds import Kind, RefundAllocation, VendorRefundPayment
from handlers.shared import attached_files, warnings
from handlers.shared.shapes import day_start, shape_lines
from handlers.shared.vendor_refund_locks import Record
from persistence.books import Trade
from persistence.files.stored_files import StoredFile
from persistence.trade.linked_lines import Linked

SHOWN_AS: Mapping[Kind, tuple[str, str]] = {
    "document": ("bill", "Bill"),
    "payment": ("payment", "Bill payment"),
    "credit": ("credit", "Vendor credit"),
    "refunded_credit": ("vendor_credit", "Vendor credit"),
}
"""The type of each allocation kind in responses, and its target in words."""


def shape(trade: Trade, record: Record, stored: StoredFile | None, links: Links) -> dict[str, Any]:
    """Serialize a refund with its allocations and payments."""
    refund = record.refund
    return {
        "id": refund.id,
        "business_id": trade.books.business_id,
        "vendor_id": refund.party.id,
        "vendor_name": refund.party.name,
        "external_id": refund.external_id,
        "reference_number": refund.reference_number,
        "refund_type": refund.refund_type,
        "status": refunds.vendor_refund_status(refund, record.payments),
        "currency": refund.currency,
        "total_refunded_amount": refund.amount,
        "allocated_amount": refunds.allocated(refund),
        "unallocated_amount": refunds.unallocated(refund),
        "is_fully_allocated": refunds.unallocated(refund) == 0,
        "refund_date": refund.agreed_on,
        "expected_completion_date": refund.expected_completion_date,
        "description": refund.description,
        "memo": refund.memo,
        "reason": refund.reason,
        "metadata": refund.metadata,
        "allocations": [
            shape_allocation(each, record) for each in refunds.live_allocations(refund)
        ],
        "warnings": warnings.of_credits_without_code(refund),
        "vendor_refund_payments": [shape_payment(each, record.linked) for each in record.payments],
        "document": attached_files.summary(stored, links),
        "created_at": refund.created_at,
        "updated_at": refund.updated_at,
    }


def shape_allocation(allocation: RefundAllocation, record: Record) -> dict[str, Any]:
    """Serialize the allocation of a refund to its target."""
    kind, target_id = allocation.kind, allocation.target_id
    bill = record.documents[target_id] if kind == "document" else None
    begun, _ = refunds.agreed_days(record.refund, allocation)
    shown_as, words = SHOWN_AS[kind]
    return {
        "id": allocation.id,
        "allocation_type": shown_as,
        "amount": allocation.amount,
        "bill_id": bill.id if bill else None,
        "bill_number": bill.number if bill else None,
        "bill_outstanding_balance_cents": documents.outstanding(bill) if bill else None,
        "bill_payment_id": target_id if kind == "payment" else None,
        "vendor_credit_id": target_id if kind in ("credit", "refunded_credit") else None,
        "tax_code_id": allocation.tax_code_id,
        "target_description": titled(words, allocation.target_number),
        "description": allocation.description,
        "allocation_date": day_start(begun),
        "metadata": allocation.metadata,
        # Only its texts can change; a different amount is a new allocation.
        "created_at": allocation.created_at,
        "updated_at": allocation.created_at,
    }


def shape_payment(payment: VendorRefundPayment, linked: Linked) -> dict[str, Any]:
    """Serialize one payment of a refund."""
    return {
        "id": payment.id,
        "vendor_refund_id": payment.refund_id,
        "status": payment.status,
        "currency": payment.currency,
        "refunded_amount": payment.amount,
        "processing_fee": payment.fee,
        "net_amount": vendor_refund_payments.net_amount(payment),
        "payment_method": payment.method,
        "processor": payment.processor,
        "payment_date": payment.payment_date,
        "payment_reference": payment.payment_reference,
        "processor_payment_id": payment.processor_payment_id,
        "submitted_at": payment.submitted_at,
        "completed_at": payment.completed_at,
        "failed_at": payment.failed_at,
        "cancelled_at": payment.cancelled_at,
        "failure_reason": payment.failure_reason,
        "description": payment.description,
        "memo": payment.memo,
        "transaction_tags": payment.transaction_tags or (),
        "metadata": payment.metadata,
        "reconciled_bank_transactions": shape_lines(linked.get(payment.id, ())),
        "created_at": payment.created_at,
        "updated_at": payment.updated_at,
    }
