"""Invoices as they are shown."""

from typing import Any

from accounting import documents
from accounting.documents import Document, LineItem
from accounting.sides import RECEIVABLE
from handlers import _documents
from handlers._documents import Links
from handlers._shapes import customer_of, day_start
from persistence.books import Books
from persistence.document_shares import Shares
from persistence.stored_documents import StoredDocument


def shape(
    books: Books, invoice: Document, shares: Shares, stored: StoredDocument | None, links: Links
) -> dict[str, Any]:
    """Show an invoice with its lines, and with what settles it."""
    return {
        **summarize(books, invoice),
        "line_items": [shape_line(line) for line in invoice.lines],
        **shape_shares(shares),
        "document": _documents.summary(stored, links),
    }


def shape_shares(shares: Shares) -> dict[str, Any]:
    """Show what settles an invoice, and what was given back of it."""
    return {
        "payment_allocations": [
            {
                "payment_id": share.payment_id,
                "payment_date": share.payment_date,
                "payment_method": share.payment_method,
                "amount_cents": share.amount_cents,
            }
            for share in shares.payments
        ],
        "credit_allocations": [
            {
                "credit_note_id": share.credit_id,
                "applied_at": day_start(share.applied_on),
                "amount_cents": share.amount_cents,
            }
            for share in shares.credits
        ],
        "refund_allocations": [
            {
                "refund_id": share.refund_id,
                "allocated_at": day_start(share.allocated_on),
                "reference_number": share.reference_number,
                "amount_cents": share.amount_cents,
            }
            for share in shares.refunds
        ],
        "write_offs": [
            {
                "id": share.id,
                "external_id": share.external_id,
                "amount_cents": share.amount_cents,
                "write_off_at": share.write_off_at,
                "memo": share.memo,
                "destination_account": {"type": "AccountId", "id": share.account_id},
                "tags": [{"key": key, "value": value} for key, value in share.tags],
            }
            for share in shares.write_offs
        ],
    }


def summarize(books: Books, invoice: Document) -> dict[str, Any]:
    """Show an invoice in a list."""
    today = books.occasion.today
    return {
        "type": "Invoice",
        "id": invoice.id,
        "business_id": books.business_id,
        "external_id": invoice.external_id,
        "invoice_number": invoice.number,
        "status": documents.status(RECEIVABLE, invoice, today),
        "is_overdue": documents.is_overdue(invoice, today),
        "currency": invoice.currency,
        "customer_id": invoice.party.id,
        "customer": customer_of(invoice.party),
        "issue_date": invoice.issue_date,
        "sent_at": invoice.opened_at,
        "due_at": invoice.due_at,
        "paid_at": day_start(invoice.paid_on),
        "voided_at": invoice.voided_at,
        "imported_at": invoice.imported_at,
        "subtotal": invoice.subtotal,
        "additional_discount": invoice.additional_discount,
        "discount_total": invoice.discount_total,
        "tax_total": invoice.tax_total,
        "additional_sales_taxes_total": invoice.tax_total,
        "total_amount": invoice.total_amount,
        "outstanding_balance": documents.outstanding(invoice),
        "memo": invoice.memo,
        "tags": invoice.transaction_tags,
        "transaction_tags": invoice.transaction_tags,
        "metadata": invoice.metadata,
        "created_at": invoice.created_at,
        "updated_at": invoice.updated_at,
    }


def shape_line(line: LineItem) -> dict[str, Any]:
    """Show one line; its quantity and rate are numbers of at most 15 digits, exact in JSON."""
    return {
        "id": line.id,
        "external_id": line.external_id,
        "description": line.description,
        "product": line.product,
        "quantity": float(line.quantity),
        "unit_price": line.unit_price,
        "discount_amount": line.discount_amount,
        "account_identifier": {"type": "AccountId", "id": line.account_id},
        "tax_rate": None if line.tax_rate is None else float(line.tax_rate),
        "sales_taxes": [
            {"amount": tax.amount, "tax_account": {"type": "AccountId", "id": tax.account_id}}
            for tax in line.taxes
        ],
        "subtotal": line.subtotal,
        "sales_taxes_total": line.tax_total,
        "total_amount": line.total_amount,
        "memo": line.memo,
        "tags": line.tags,
        "metadata": line.metadata,
    }
