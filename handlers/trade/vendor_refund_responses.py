"""Serialization of vendor refunds and their payments."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from access.links import Links
from accounting.absent import ABSENT, or_else
from accounting.books.numbers import titled
from accounting.errors import NotFound
from accounting.trade import documents, refunds, vendor_refund_changes, vendor_refund_payments
from accounting.trade.commands import AgreeVendorRefund, ChangeVendorRefundPayment
from accounting.trade.parties import Party
from accounting.trade.refunds import (
    Kind,
    RefundAllocation,
    VendorRefund,
    VendorRefundPayment,
    live_allocations,
)
from accounting.trade.vendor_refund_allocation import AffectedTargets
from accounting.trade.vendor_refund_changes import AmendedRefund, TargetIds
from handlers.shared import attached_files, responses
from handlers.shared.foreign_amounts import serialize_base_of_refund, serialize_money
from handlers.shared.responses import day_start, serialize_lines
from persistence.books import Books, Trade
from persistence.engine.database_errors import StaleRow
from persistence.files.stored_files import StoredFile
from persistence.store import no_such_reference
from persistence.trade.linked_lines import Linked
from persistence.trade.refunds import RefundRecord

# Locks on a vendor refund and its targets, in the common lock order.


Record = RefundRecord[VendorRefund, VendorRefundPayment]


async def lock_for_new(
    trade: Trade, command: AgreeVendorRefund
) -> tuple[Party, AffectedTargets] | Record:
    """Lock the targets of a new refund, or find the refund with its external id.

    Raises RuleViolation `reference_not_found`.
    """
    target_ids = vendor_refund_changes.target_ids(None, command.allocations)
    known = command.external_id
    # The external id is read last, after the locks: a refund just committed with it is found.
    party, locked, credited, existing = await trade.books.fetch(
        trade.parties.party(command.party).later(),
        trade.payments.lock_all(target_ids.payments).later(),
        trade.credits.lock_all(target_ids.credits).later(),
        trade.refunds.known_as(known),
    )
    payments, credits, documents = {}, {}, dict
    if existing is None:
        payments, credits = locked(), credited()
        settled = vendor_refund_changes.documents_of([*payments.values(), *credits.values()])
        documents, existing = await trade.books.fetch(
            trade.documents.lock_all(target_ids.documents | settled).later(),
            trade.refunds.known_as(known),
        )
    if existing is not None:
        found: Record = await trade.refunds.shown(existing)
        return found
    return party(), AffectedTargets(documents(), payments, credits)


async def lock_named_payment(trade: Trade, payment_id: UUID) -> AmendedRefund:
    """Lock the refund of a payment that a body names, and all its payments, but no targets.

    Raises RuleViolation `reference_not_found`.
    """
    noun = trade.refund_payments.noun
    try:
        found = await trade.refunds.with_payment(payment_id, noun)
    except NotFound:
        raise no_such_reference(noun, payment_id) from None
    return await _with_payments(trade, found, AffectedTargets(found.documents, {}, {}))


async def lock_with_payment(
    trade: Trade, payment_id: UUID, command: ChangeVendorRefundPayment
) -> AmendedRefund:
    """Lock the refund of a payment, and its present and new targets if they change.

    Raises NotFound; Stale where If-Match names an older payment; RuleViolation
    `reference_not_found`.
    """
    found = await trade.refunds.with_payment(payment_id, trade.refund_payments.noun)
    payments_now = {each.id: each for each in found.payments}
    trade.books.check_precondition(payments_now[payment_id], again=True)
    # Documents that are only shown, and do not change, need no lock.
    affected = AffectedTargets(found.documents, {}, {})
    if command.allocations is not ABSENT or command.status == "cancelled":
        items = or_else(command.allocations, ())
        affected = await _lock(trade, vendor_refund_changes.target_ids(found.refund, items))
    locked = await _with_payments(trade, found, affected)
    trade.books.check_precondition(locked.payment(payment_id))
    return locked


async def _with_payments(trade: Trade, found: Record, affected: AffectedTargets) -> AmendedRefund:
    ids = [each.id for each in found.payments]
    refund, payments = await trade.books.fetch(
        trade.refunds.lock_named(found.id), trade.refund_payments.lock_all(ids)
    )
    if live_allocations(refund) != live_allocations(found.refund):
        raise StaleRow
    return AmendedRefund(refund, tuple(payments[id_] for id_ in ids), affected)


async def _lock(trade: Trade, target_ids: TargetIds) -> AffectedTargets:
    payments, credits = await trade.books.fetch(
        trade.payments.lock_all(target_ids.payments), trade.credits.lock_all(target_ids.credits)
    )
    holders = [*payments.values(), *credits.values()]
    settled = vendor_refund_changes.documents_of(holders)
    documents = await trade.documents.lock_all(target_ids.documents | settled)
    return AffectedTargets(documents, payments, credits)


SHOWN_AS: Mapping[Kind, tuple[str, str]] = {
    "document": ("bill", "Bill"),
    "payment": ("payment", "Bill payment"),
    "credit": ("credit", "Vendor credit"),
    "refunded_credit": ("vendor_credit", "Vendor credit"),
}
"""The type of each allocation kind in responses, and its target in words."""


def serialize(
    trade: Trade, record: Record, stored: StoredFile | None, links: Links
) -> dict[str, Any]:
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
        **serialize_base_of_refund(refund),
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
            serialize_allocation(each, record) for each in refunds.live_allocations(refund)
        ],
        "warnings": _warnings(trade, refund),
        "vendor_refund_payments": [
            serialize_payment(trade.books, each, record.linked) for each in record.payments
        ],
        "document": attached_files.summary(stored, links),
        "created_at": refund.created_at,
        "updated_at": refund.updated_at,
    }


def _warnings(trade: Trade, refund: VendorRefund) -> responses.Warnings:
    distant = responses.of_distant_days(
        trade.books.context,
        refund_date=refund.agreed_on,
        expected_completion_date=refund.expected_completion_date,
    )
    return (distant + responses.of_credits_without_code(refund))[: responses.MOST_TOLD]


def serialize_allocation(allocation: RefundAllocation, record: Record) -> dict[str, Any]:
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


def serialize_payment(books: Books, payment: VendorRefundPayment, linked: Linked) -> dict[str, Any]:
    """Serialize one payment of a refund."""
    return {
        "id": payment.id,
        "vendor_refund_id": payment.refund_id,
        "status": payment.status,
        "currency": payment.currency,
        **serialize_money(payment, payment.amount, books),
        "refunded_amount": payment.amount,
        "processing_fee": payment.fee,
        "net_amount": vendor_refund_payments.net_amount(payment),
        "payment_method": payment.method,
        "bank_account_id": payment.bank and payment.bank.id,
        "processor": payment.processor,
        "payment_date": payment.payment_date,
        "warnings": [
            *responses.of_distant_days(books.context, payment_date=payment.payment_date),
            *responses.of_unusual_rate(books.context, payment, payment.payment_date),
        ],
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
        "reconciled_bank_transactions": serialize_lines(linked.get(payment.id, ())),
        "created_at": payment.created_at,
        "updated_at": payment.updated_at,
    }
