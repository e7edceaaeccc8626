"""Invoices: what customers are asked to pay, from draft to settled, written off or void."""

from dataclasses import replace
from uuid import UUID

from accounting import drawing, moves, postings, settling, writing_off
from accounting.accounts import BookAccounts
from accounting.documents import Document
from accounting.parties import Party
from accounting.postings import Subject
from accounting.sides import RECEIVABLE
from handlers import _documents
from handlers._documents import Links
from handlers._invoices import shape, summarize
from handlers.bodies import (
    InvoiceCreate,
    InvoiceReplace,
    InvoiceSend,
    InvoiceVoid,
    WriteOffCreate,
)
from handlers.replies import Created, Reply
from persistence.books import Books
from persistence.document_shares import PaymentShare, Shares
from persistence.pages import Page, PageRequest


async def create_invoice(books: Books, body: InvoiceCreate, links: Links) -> Reply:
    """Create an invoice, draft or sent, with the payments and the document that came with it."""
    file = _documents.received(body)
    existing, party, accounts = await books.ask(
        books.invoices.with_external_id(body.get("external_id")),
        books.customers.party(body.get("customer_id"), body.get("customer_external_id")).later(),
        books.accounts.named(drawing.account_references(body)),
    )
    if existing is not None:
        return await show(books, existing.document, existing.shares, links)
    known = BookAccounts(await books.roles(), accounts)
    invoice = drawing.draw_up(RECEIVABLE, body, party(), known, books.occasion)
    invoice, payments = settling.receive_with(
        RECEIVABLE, invoice, body.get("payments", ()), books.occasion
    )
    await save_and_post(books, invoice, *payments)
    stored = _documents.attach(books, file, "invoice", invoice.id)
    paid = (PaymentShare(p.id, p.payment_date, p.method, p.total) for p in payments)
    return Created(shape(books, invoice, Shares(payments=tuple(paid)), stored, links))


async def list_invoices(books: Books, page: PageRequest) -> Page[Reply]:
    """List invoices without their lines."""
    return (await books.invoices.page(page)).of(lambda invoice: summarize(books, invoice))


async def get_invoice(books: Books, invoice_id: UUID, links: Links) -> Reply:
    """Read one invoice with its lines, and with what settles it."""
    found, stored = await books.ask(
        books.invoices.shown(invoice_id), books.stored_documents.latest([invoice_id])
    )
    return shape(books, found.document, found.shares, stored.get(invoice_id), links)


async def replace_invoice(
    books: Books, invoice_id: UUID, body: InvoiceReplace, links: Links
) -> Reply:
    """Replace what an invoice says, as long as nothing is allocated to it."""
    file = _documents.received(body)
    invoice, accounts = await books.ask(
        books.invoices.lock(invoice_id), books.accounts.named(drawing.account_references(body))
    )
    party = await named_customer(books, body, invoice.party)
    known = BookAccounts(await books.roles(), accounts)
    redrawn = drawing.redraw(RECEIVABLE, invoice, body, party, known, books.occasion)
    if _documents.attach(books, file, "invoice", invoice_id):
        redrawn = replace(redrawn, updated_at=books.now)
    return await keep(books, invoice, redrawn, links)


async def send_invoice(
    books: Books, invoice_id: UUID, body: InvoiceSend | None, links: Links
) -> Reply:
    """Send a draft: it takes a number and goes into the ledger."""
    invoice = await books.invoices.lock(invoice_id)
    given = body or {}
    sent = moves.open_document(
        RECEIVABLE, invoice, given.get("sent_at"), books.occasion, due_at=given.get("due_at")
    )
    return await keep(books, invoice, sent, links)


async def void_invoice(
    books: Books, invoice_id: UUID, body: InvoiceVoid | None, links: Links
) -> Reply:
    """Take a sent invoice back, as long as nothing is allocated to it."""
    invoice = await books.invoices.lock(invoice_id)
    voided_at = (body or {}).get("voided_at")
    voided = moves.void(RECEIVABLE, invoice, voided_at, books.occasion)
    return await keep(books, invoice, voided, links)


async def delete_invoice(books: Books, invoice_id: UUID) -> Reply:
    """Delete a draft for good."""
    invoice = await books.invoices.lock(invoice_id)
    moves.refuse_deleting(RECEIVABLE, invoice, books.occasion)
    books.invoices.delete(invoice)
    return {"deleted": True}


async def write_off_invoice(
    books: Books, invoice_id: UUID, body: WriteOffCreate | None, links: Links
) -> Reply:
    """Write off what is left of an invoice, or a part; a known external id writes nothing off."""
    given = body or {}
    invoice, shares, existing, accounts = await books.ask(
        books.invoices.lock(invoice_id),
        books.invoices.shares(invoice_id),
        books.write_offs.with_external_id(given.get("external_id")),
        books.accounts.named(writing_off.account_references(given)),
    )
    if existing is not None:
        writing_off.refuse_elsewhere(invoice, existing)
        return await show(books, invoice, shares, links)
    known = BookAccounts(await books.roles(), accounts)
    lesser, given_up = writing_off.write_off(RECEIVABLE, invoice, given, known, books.occasion)
    await save_and_post(books, lesser, given_up)
    return Created(await show(books, lesser, shares.with_write_off(given_up), links))


async def reverse_write_off(
    books: Books, invoice_id: UUID, write_off_id: UUID, links: Links
) -> Reply:
    """Take a write-off back: the invoice is owed again by as much."""
    invoice, shares, given_up = await books.ask(
        books.invoices.lock_named(invoice_id),
        books.invoices.shares(invoice_id),
        books.write_offs.get_within(invoice_id, write_off_id),
    )
    books.check_precondition(invoice)  # If-Match is the invoice's; what is not there is told first.
    owed, reversed_ = writing_off.reverse(invoice, given_up, books.occasion)
    await save_and_post(books, owed, reversed_)
    return await show(books, owed, shares.with_write_off(reversed_), links)


async def named_customer(books: Books, body: InvoiceReplace, unless: Party) -> Party:
    """Find the customer a replacement names; without one the invoice keeps its own."""
    named, external_id = body.get("customer_id"), body.get("customer_external_id")
    if named is None and external_id is None:
        return unless
    return await books.customers.party(named, external_id)


async def keep(books: Books, before: Document, after: Document, links: Links) -> Reply:
    """Save a changed invoice that nothing is allocated to, and post what its change asks for."""
    if after is not before:
        await save_and_post(books, after)
    return await show(books, after, Shares(), links)


async def save_and_post(books: Books, *subjects: Subject) -> None:
    """Save what changed, and post what each of them asks for."""
    books.save(*subjects)
    roles = await books.roles()
    for subject in subjects:
        books.post(postings.entries_for(RECEIVABLE, subject, roles, books.lock_date))


async def show(books: Books, invoice: Document, shares: Shares, links: Links) -> Reply:
    """Show an invoice with its latest document."""
    stored = await books.stored_documents.latest([invoice.id])
    return shape(books, invoice, shares, stored.get(invoice.id), links)
