"""Invoices: what customers are asked to pay, from draft to settled or void."""

from typing import Any
from uuid import UUID

from accounting import documents, drawing, postings, settling
from accounting.accounts import BookAccounts
from accounting.documents import Document, LineItem
from accounting.parties import Party
from accounting.payments import Payment
from accounting.sides import RECEIVABLE
from handlers._shapes import customer_of, day_start
from handlers.bodies import InvoiceCreate, InvoiceReplace, InvoiceSend, InvoiceVoid
from handlers.replies import Created, Reply
from persistence.books import Books
from persistence.documents import DocumentRecord, PaymentShare
from persistence.pages import Page, PageRequest


async def create_invoice(books: Books, body: InvoiceCreate) -> Reply:
    """Create an invoice, draft or sent, with the payments that came with it."""
    existing, party, accounts = await books.ask(
        books.invoices.with_external_id(body.get("external_id")),
        books.customers.party(body.get("customer_id"), body.get("customer_external_id")).later(),
        books.accounts.named(drawing.account_references(body)),
    )
    if existing is not None:
        return shape(books, existing.document, existing.payments)
    roles = await books.roles()
    invoice = drawing.draw_up(
        RECEIVABLE, body, party(), BookAccounts(roles, accounts), books.occasion
    )
    invoice, payments = settling.receive_with(
        RECEIVABLE, invoice, body.get("payments", ()), books.occasion
    )
    books.save(invoice, *payments)
    subjects: tuple[Document | Payment, ...] = (invoice, *payments)
    for subject in subjects:
        books.post(postings.entries_for(RECEIVABLE, subject, roles, books.lock_date))
    shares = (
        PaymentShare(each.id, each.payment_date, each.method, each.total) for each in payments
    )
    return Created(shape(books, invoice, tuple(shares)))


async def list_invoices(books: Books, page: PageRequest) -> Page[Reply]:
    """List invoices without their lines."""
    return (await books.invoices.page(page)).of(lambda invoice: summarize(books, invoice))


async def get_invoice(books: Books, invoice_id: UUID) -> Reply:
    """Read one invoice with its lines and what settles it."""
    found: DocumentRecord = await books.invoices.shown(invoice_id)
    return shape(books, found.document, found.payments)


async def replace_invoice(books: Books, invoice_id: UUID, body: InvoiceReplace) -> Reply:
    """Replace what an invoice says, as long as nothing is allocated to it."""
    invoice, accounts = await books.ask(
        books.invoices.lock(invoice_id), books.accounts.named(drawing.account_references(body))
    )
    party = await named_customer(books, body, invoice.party)
    known = BookAccounts(await books.roles(), accounts)
    redrawn = drawing.redraw(RECEIVABLE, invoice, body, party, known, books.occasion)
    return await keep(books, invoice, redrawn)


async def send_invoice(books: Books, invoice_id: UUID, body: InvoiceSend | None) -> Reply:
    """Send a draft: it takes a number and goes into the ledger."""
    invoice = await books.invoices.lock(invoice_id)
    given = body or {}
    sent = documents.open_document(
        RECEIVABLE, invoice, given.get("sent_at"), books.occasion, due_at=given.get("due_at")
    )
    return await keep(books, invoice, sent)


async def void_invoice(books: Books, invoice_id: UUID, body: InvoiceVoid | None) -> Reply:
    """Take a sent invoice back, as long as nothing is allocated to it."""
    invoice = await books.invoices.lock(invoice_id)
    voided_at = (body or {}).get("voided_at")
    return await keep(
        books, invoice, documents.void(RECEIVABLE, invoice, voided_at, books.occasion)
    )


async def delete_invoice(books: Books, invoice_id: UUID) -> Reply:
    """Delete a draft for good."""
    invoice = await books.invoices.lock(invoice_id)
    documents.refuse_deleting(RECEIVABLE, invoice, books.occasion)
    books.invoices.delete(invoice)
    return {"deleted": True}


async def named_customer(books: Books, body: InvoiceReplace, unless: Party) -> Party:
    """Find the customer a replacement names; without one the invoice keeps its own."""
    named, external_id = body.get("customer_id"), body.get("customer_external_id")
    if named is None and external_id is None:
        return unless
    return await books.customers.party(named, external_id)


async def keep(books: Books, before: Document, after: Document) -> Reply:
    """Save a changed invoice and post what its change asks for."""
    if after is not before:
        books.save(after)
        roles = await books.roles()
        books.post(postings.entries_for(RECEIVABLE, after, roles, books.lock_date))
    return shape(books, after, ())


def shape(books: Books, invoice: Document, payments: tuple[PaymentShare, ...]) -> dict[str, Any]:
    """Show an invoice with its lines and what settles it."""
    return {
        **summarize(books, invoice),
        "line_items": [shape_line(line) for line in invoice.lines],
        "payment_allocations": [
            {
                "payment_id": share.payment_id,
                "payment_date": share.payment_date,
                "payment_method": share.payment_method,
                "amount_cents": share.amount_cents,
            }
            for share in payments
        ],
        "credit_allocations": [],
        "refund_allocations": [],
        "write_offs": [],
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
