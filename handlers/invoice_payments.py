"""Invoice payments: money from customers, and which invoices it settles."""

from collections.abc import Iterable, Mapping
from typing import Any
from uuid import UUID

from accounting import documents, payments, postings, settling
from accounting.documents import Document
from accounting.payments import Amended, Payment
from accounting.refund_shares import GivenBack
from accounting.sides import RECEIVABLE
from handlers._shapes import customer_of, day_start
from handlers.bodies import InvoicePaymentChanges, InvoicePaymentCreate
from handlers.replies import Created, Reply
from persistence.books import Books
from persistence.pages import Page, PageRequest
from persistence.payments import PaymentRecord


async def create_invoice_payment(books: Books, body: InvoicePaymentCreate) -> Reply:
    """Record a payment and what it settles; one with this external id is answered as it is."""
    # The external id comes last: whoever said the same one a moment ago is seen after the locks.
    party, invoices, existing = await books.ask(
        books.customers.party(body.get("customer_id"), body.get("customer_external_id")).later(),
        books.invoices.lock_all(settling.documents_touched(RECEIVABLE, None, body)).later(),
        books.invoice_payments.with_external_id(body.get("external_id")),
    )
    if existing is not None:
        return {"payment": show(books, await books.invoice_payments.shown(existing))}
    given = {**body, "idempotency_key": books.idempotency_key}
    made = settling.receive(RECEIVABLE, given, party(), invoices(), books.occasion)
    return Created(await keep(books, made))


async def list_invoice_payments(books: Books, page: PageRequest) -> Page[Reply]:
    """List payments."""
    return (await books.invoice_payments.records(page)).of(lambda found: show(books, found))


async def get_invoice_payment(books: Books, payment_id: UUID) -> Reply:
    """Read one payment with the invoices it settles."""
    return show(books, await books.invoice_payments.shown(payment_id))


async def update_invoice_payment(
    books: Books, payment_id: UUID, body: InvoicePaymentChanges
) -> Reply:
    """Change the supplied fields of a payment; a supplied list of allocations replaces the old."""
    return await amend(books, payment_id, body, whole=False)


async def replace_invoice_payment(
    books: Books, payment_id: UUID, body: InvoicePaymentChanges
) -> Reply:
    """Change a payment as an update does, and clear the descriptions that are absent."""
    return await amend(books, payment_id, body, whole=True)


async def cancel_invoice_payment(books: Books, payment_id: UUID) -> Reply:
    """Cancel a payment that is pending or failed; what it reserves is released."""
    payment, invoices = await lock(books, payment_id, {})
    return await keep(books, settling.cancel(RECEIVABLE, payment, invoices, books.occasion))


async def amend(
    books: Books, payment_id: UUID, body: InvoicePaymentChanges, *, whole: bool
) -> Reply:
    """Load a payment with everything it touches, and let the rules change it."""
    payment, invoices = await lock(books, payment_id, body)
    amended = settling.amend(RECEIVABLE, payment, invoices, body, books.occasion, whole=whole)
    if amended.payment is payment:
        return await answer(books, amended)
    return await keep(books, amended)


async def lock(
    books: Books, payment_id: UUID, body: Mapping[str, Any]
) -> tuple[Payment, dict[UUID, Document]]:
    """Lock a payment, then every invoice that it or the body allocates to."""
    payment = await books.invoice_payments.lock(payment_id)
    touched = settling.documents_touched(RECEIVABLE, payment, body)
    return payment, await books.invoices.lock_all(touched)


async def keep(books: Books, amended: Amended) -> Reply:
    """Save a payment and the invoices that moved with it, and post what that asks for."""
    books.save(amended.payment, *amended.changed)
    roles = await books.roles()
    books.post(postings.entries_for(RECEIVABLE, amended.payment, roles, books.lock_date))
    return await answer(books, amended)


async def answer(books: Books, amended: Amended) -> Reply:
    """Show a payment as it is kept, with what refunds give back of it."""
    payment, invoices = amended.payment, amended.documents
    refunds = await books.invoice_payments.refunds_of(payment, invoices)
    return {"payment": shape(books, payment, invoices, refunds)}


def show(books: Books, found: PaymentRecord) -> dict[str, Any]:
    """Show a payment as it was read."""
    return shape(books, found.payment, found.documents, found.refunds)


def shape(
    books: Books,
    payment: Payment,
    invoices: Mapping[UUID, Document],
    refunds: Iterable[GivenBack],
) -> dict[str, Any]:
    """Show a payment with the invoices it settles or reserves, and its refunds."""
    return {
        "id": payment.id,
        "business_id": books.business_id,
        "customer_id": payment.party.id,
        "customer": customer_of(payment.party),
        "total_amount_cents": payment.total,
        "applied_amount_cents": payments.applied(payment),
        "allocated_amount_cents": payments.allocated(payment),
        "unapplied_amount_cents": payments.unapplied(payment),
        "remaining_amount_cents": payments.remaining(payment),
        "processing_fee_cents": payment.fee,
        "net_amount": payments.net_amount(payment),
        "is_fully_allocated": payments.is_fully_allocated(payment),
        "currency": payment.currency,
        "status": payment.status,
        "payment_method": payment.method,
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
        "created_at": payment.created_at,
        "updated_at": payment.updated_at,
        **allocations(books, payment, invoices),
        "refund_allocations": [shape_refund(each) for each in refunds],
        "reconciled_bank_transactions": [],
        "payouts": [],
    }


def shape_refund(refund: GivenBack) -> dict[str, Any]:
    """Show what a refund gives back of a payment."""
    return {
        "refund_id": refund.refund_id,
        "invoice_id": refund.document_id,
        "amount_cents": refund.amount,
        "allocated_at": day_start(refund.agreed_on),
        "reference_number": refund.reference_number,
    }


def allocations(
    books: Books, payment: Payment, invoices: Mapping[UUID, Document]
) -> dict[str, Any]:
    """Show the live allocations twice: by invoice as it is now, and as parts of the payment."""
    completed = payment.status == "completed"
    applied, parts = [], []
    for each in payments.live_allocations(payment):
        invoice = invoices[each.document_id]
        applied.append(
            {
                "id": invoice.id,
                "invoice_number": invoice.number,
                "applied_amount_cents": each.amount if completed else 0,
                "status": documents.status(RECEIVABLE, invoice, books.occasion.today),
                "outstanding_amount_cents": documents.outstanding(invoice),
            }
        )
        day = payments.applied_on(payment, each, None) if completed else None
        parts.append(
            {
                "invoice_id": invoice.id,
                "invoice_number": invoice.number,
                "amount_cents": each.amount,
                "allocation_date": day,
            }
        )
    return {"applied_invoices": applied, "allocations": parts}
