"""Invoice payments: money from customers, and its allocation to invoices."""

from typing import Any
from uuid import UUID

from access.links import Links
from accounting.trade import documents, payments
from accounting.trade.refunds_by_payment import RefundShare
from handlers.bodies import InvoicePaymentChanges, InvoicePaymentCreate
from handlers.results import Reply
from handlers.shared import attached_files, file_commands
from handlers.shared.foreign_amounts import serialize_money, serialize_settling
from handlers.shared.responses import day_start, serialize_lines, serialize_party
from handlers.trade import payment_commands, trade_payments
from persistence.books import Books, Trade
from persistence.engine.pages import Page, PageRequest
from persistence.files.stored_files import StoredFile
from persistence.trade.payments import PaidOutIn, PaymentRecord


async def create_invoice_payment(books: Books, body: InvoicePaymentCreate, links: Links) -> Reply:
    """Record a payment with its allocations.

    If the external id is in use, the existing payment is returned unchanged.
    """
    file = file_commands.attached(body)
    command = payment_commands.create_invoice_payment(body, books.idempotency_key)
    return await trade_payments.create(books.sales, command, file, links, serialize)


async def list_invoice_payments(books: Books, page: PageRequest, links: Links) -> Page[Reply]:
    """List invoice payments."""
    return await trade_payments.list_payments(books.sales, page, links, serialize)


async def get_invoice_payment(books: Books, payment_id: UUID, links: Links) -> Reply:
    """Return one invoice payment with its allocations."""
    return await trade_payments.read(books.sales, payment_id, links, serialize)


async def update_invoice_payment(
    books: Books, payment_id: UUID, body: InvoicePaymentChanges, links: Links
) -> Reply:
    """Change the supplied fields of a payment; a supplied list replaces its allocations."""
    command = payment_commands.change_invoice_payment(body)
    return await trade_payments.amend(books.sales, payment_id, command, links, serialize)


async def replace_invoice_payment(
    books: Books, payment_id: UUID, body: InvoicePaymentChanges, links: Links
) -> Reply:
    """Change a payment as an update does, and clear absent descriptive fields."""
    command = payment_commands.change_invoice_payment(body, whole=True)
    return await trade_payments.amend(books.sales, payment_id, command, links, serialize)


async def cancel_invoice_payment(books: Books, payment_id: UUID, links: Links) -> Reply:
    """Cancel a pending or failed payment, and release the amounts that it reserves on invoices."""
    return await trade_payments.cancel(books.sales, payment_id, links, serialize)


def serialize(
    trade: Trade, found: PaymentRecord, stored: StoredFile | None, links: Links
) -> dict[str, Any]:
    """Serialize a payment with its allocations and refunds."""
    payment = found.payment
    return {
        "id": payment.id,
        "business_id": trade.books.business_id,
        "customer_id": payment.party.id,
        "customer": serialize_party(payment.party),
        "total_amount_cents": payment.total,
        "applied_amount_cents": payments.applied(payment),
        "allocated_amount_cents": payments.allocated(payment),
        "unapplied_amount_cents": payments.unapplied(payment),
        "remaining_amount_cents": payments.remaining(payment),
        "processing_fee_cents": payment.fee,
        "net_amount": payments.net_amount(payment),
        "is_fully_allocated": payments.is_fully_allocated(payment),
        "currency": payment.currency,
        **serialize_money(payment, payment.total, trade.books),
        "status": payment.status,
        "payment_method": payment.method,
        "bank_account_id": payment.bank and payment.bank.id,
        "payment_date": payment.payment_date,
        "payment_processor": payment.processor,
        "payment_reference": payment.payment_reference,
        "processor_reference": payment.processor_reference,
        "bank_reference": payment.bank_reference,
        "references": payment.references,
        "external_id": payment.external_id,
        "note": payment.note,
        "notes": payment.note,
        "transaction_tags": payment.transaction_tags,
        "metadata": payment.metadata or {},
        "idempotency_key": payment.idempotency_key,
        "opening_balance_id": payment.opening_id,
        "created_at": payment.created_at,
        "updated_at": payment.updated_at,
        **serialize_allocations(trade, found),
        "refund_allocations": [serialize_refund(each) for each in found.refunds],
        "reconciled_bank_transactions": serialize_lines(found.lines),
        "document": attached_files.summary(stored, links),
        "warnings": trade_payments.warnings(trade.books, payment),
        "payouts": [] if found.payout is None else [serialize_payout(found.payout)],
    }


def serialize_payout(payout: PaidOutIn) -> dict[str, Any]:
    """Serialize the payout that includes a payment."""
    return {
        "id": payout.id,
        "external_id": payout.external_id,
        "processor": payout.processor,
        "processor_payout_id": payout.processor_payout_id,
        "status": payout.status,
        "completed_at": payout.completed_at,
        "paid_out_amount_cents": payout.paid_out,
    }


def serialize_refund(refund: RefundShare) -> dict[str, Any]:
    """Serialize the part of a refund that belongs to this payment."""
    return {
        "refund_id": refund.refund_id,
        "invoice_id": refund.document_id,
        "amount_cents": refund.amount,
        "allocated_at": day_start(refund.agreed_on),
        "reference_number": refund.reference_number,
    }


def serialize_allocations(trade: Trade, found: PaymentRecord) -> dict[str, Any]:
    """Serialize the live allocations twice: with the state of each invoice, and as amounts."""
    payment, completed = found.payment, found.payment.status == "completed"
    applied, parts = [], []
    for each in payments.live_allocations(payment):
        invoice = found.documents[each.document_id]
        applied.append(
            {
                "id": invoice.id,
                "invoice_number": invoice.number,
                "applied_amount_cents": each.amount if completed else 0,
                "status": documents.status(trade.side, invoice, trade.books.context),
                "outstanding_amount_cents": documents.outstanding(invoice),
            }
        )
        day = payments.applied_on(payment, each, None) if completed else None
        parts.append(
            {
                "invoice_id": invoice.id,
                "invoice_number": invoice.number,
                "amount_cents": int(each.amount),
                **serialize_settling(trade.side, each),
                "allocation_date": day,
            }
        )
    return {"applied_invoices": applied, "allocations": parts}
