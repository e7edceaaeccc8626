"""Bill payments: money paid to vendors, and its allocation to bills."""

from typing import Any
from uuid import UUID

from access.links import Links
from accounting.trade import documents, payments
from accounting.trade.allocation import Allocation
from accounting.trade.refunds_by_payment import RefundShare
from handlers.bodies import BillPaymentCreate, BillPaymentUpdate
from handlers.results import Reply
from handlers.shared import attached_files, file_commands
from handlers.shared.foreign_amounts import serialize_money, serialize_settling
from handlers.shared.responses import day_start, serialize_lines, serialize_party
from handlers.trade import payment_commands, trade_payments
from persistence.books import Books, Trade
from persistence.engine.pages import Page, PageRequest
from persistence.files.stored_files import StoredFile
from persistence.trade.payments import PaymentRecord


async def create_bill_payment(books: Books, body: BillPaymentCreate, links: Links) -> Reply:
    """Record a payment with its allocations.

    If the external id is in use, the existing payment is returned unchanged.
    """
    file = file_commands.attached(body)
    command = payment_commands.create_bill_payment(body, books.idempotency_key)
    return await trade_payments.create(books.purchases, command, file, links, serialize)


async def list_bill_payments(books: Books, page: PageRequest, links: Links) -> Page[Reply]:
    """List bill payments."""
    return await trade_payments.list_payments(books.purchases, page, links, serialize)


async def get_bill_payment(books: Books, bill_payment_id: UUID, links: Links) -> Reply:
    """Return one bill payment with its allocations."""
    return await trade_payments.read(books.purchases, bill_payment_id, links, serialize)


async def update_bill_payment(
    books: Books, bill_payment_id: UUID, body: BillPaymentUpdate, links: Links
) -> Reply:
    """Change the supplied fields of a payment; a supplied list replaces its allocations."""
    command = payment_commands.change_bill_payment(body)
    return await trade_payments.amend(books.purchases, bill_payment_id, command, links, serialize)


async def cancel_bill_payment(books: Books, bill_payment_id: UUID, links: Links) -> Reply:
    """Cancel a pending or failed payment, and release the amounts that it reserves on bills."""
    return await trade_payments.cancel(books.purchases, bill_payment_id, links, serialize)


def serialize(
    trade: Trade, found: PaymentRecord, stored: StoredFile | None, links: Links
) -> dict[str, Any]:
    """Serialize a payment with its allocations, and its refunds."""
    payment = found.payment
    parts = payments.live_allocations(payment)
    # A refund of a bill reduces its cost; it belongs to no single payment.
    own = (each for each in found.refunds if each.document_id is None)
    return {
        "id": payment.id,
        "business_id": trade.books.business_id,
        "vendor_id": payment.party.id,
        "vendor": serialize_party(payment.party),
        "amount_cents": payment.total,
        "allocated_amount_cents": payments.allocated_to_documents(payment),
        "refunded_amount_cents": payment.refunded,
        "unallocated_amount_cents": payments.remaining(payment),
        "processing_fee_cents": payment.fee,
        "is_fully_allocated": payments.is_fully_allocated(payment),
        "currency": payment.currency,
        **serialize_money(payment, payment.total, trade.books),
        "status": payment.status,
        "payment_method": payment.method,
        "bank_account_id": payment.bank and payment.bank.id,
        "payment_date": payment.payment_date,
        "payment_reference": payment.payment_reference,
        "check_number": payment.check_number,
        "external_id": payment.external_id,
        "memo": payment.note,
        "transaction_tags": payment.transaction_tags,
        "metadata": payment.metadata or {},
        "idempotency_key": payment.idempotency_key,
        "opening_balance_id": payment.opening_id,
        "created_at": payment.created_at,
        "updated_at": payment.updated_at,
        "allocations": [serialize_allocation(trade, found, each) for each in parts],
        "refund_allocations": [serialize_refund(each) for each in own],
        "reconciled_bank_transactions": serialize_lines(found.lines),
        "document": attached_files.summary(stored, links),
        "warnings": trade_payments.warnings(trade.books, payment),
    }


def serialize_allocation(trade: Trade, found: PaymentRecord, part: Allocation) -> dict[str, Any]:
    """Serialize one allocation with the current state of its bill."""
    payment, bill = found.payment, found.documents[part.document_id]
    completed = payment.status == "completed"
    return {
        "bill_id": bill.id,
        "bill_number": bill.number,
        "amount_cents": int(part.amount),
        **serialize_settling(trade.side, part),
        "bill_status": documents.status(trade.side, bill, trade.books.context),
        "bill_outstanding_balance_cents": documents.outstanding(bill),
        "description": part.description,
        "allocation_date": payments.applied_on(payment, part, None) if completed else None,
    }


def serialize_refund(refund: RefundShare) -> dict[str, Any]:
    """Serialize the part of a refund that belongs to this payment."""
    return {
        "refund_id": refund.refund_id,
        "amount_cents": refund.amount,
        "allocated_at": day_start(refund.agreed_on),
        "reference_number": refund.reference_number,
    }
