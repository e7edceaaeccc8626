"""Invoices to customers, from draft to settled, written off or void."""

from uuid import UUID

from access.links import Links
from handlers.bodies import (
    InvoiceCreate,
    InvoiceReplace,
    InvoiceSend,
    InvoiceUpdate,
    Voiding,
    WriteOffCreate,
)
from handlers.results import Pdf, Reply
from handlers.shared import file_commands
from handlers.trade import document_commands, invoice_printables, trade_documents
from persistence.books import Books
from persistence.engine.pages import Page, PageRequest


async def create_invoice(books: Books, body: InvoiceCreate, links: Links) -> Reply:
    """Create an invoice as a draft or sent, with its initial payments and attached document.

    If the external id is in use, the existing invoice is returned unchanged.
    """
    file, command = file_commands.attached(body), document_commands.create_invoice(body)
    return await trade_documents.create(books.sales, command, file, links)


async def list_invoices(books: Books, page: PageRequest) -> Page[Reply]:
    """List invoices without their lines."""
    return await trade_documents.listed(books.sales, page)


async def get_invoice(books: Books, invoice_id: UUID, links: Links) -> Reply:
    """Return one invoice with its lines and settlements."""
    return await trade_documents.read(books.sales, invoice_id, links)


async def get_invoice_pdf(books: Books, invoice_id: UUID) -> Pdf:
    """Return an invoice as a PDF for its customer."""
    return await invoice_printables.read(books, invoice_id)


async def replace_invoice(
    books: Books, invoice_id: UUID, body: InvoiceReplace, links: Links
) -> Reply:
    """Replace the contents of an invoice to which nothing is allocated."""
    file, command = file_commands.attached(body), document_commands.replace_invoice(body)
    return await trade_documents.replace_one(books.sales, invoice_id, command, file, links)


async def update_invoice(
    books: Books, invoice_id: UUID, body: InvoiceUpdate, links: Links
) -> Reply:
    """Change what an invoice states beside its amounts, and the accounts of its lines."""
    file, command = file_commands.attached(body), document_commands.change_document(body)
    return await trade_documents.change(books.sales, invoice_id, command, file, links)


async def send_invoice(
    books: Books, invoice_id: UUID, body: InvoiceSend | None, links: Links
) -> Reply:
    """Send a draft: assign its number and post it to the ledger."""
    command = document_commands.send_invoice(body)
    return await trade_documents.open_draft(books.sales, invoice_id, command, links)


async def void_invoice(books: Books, invoice_id: UUID, body: Voiding | None, links: Links) -> Reply:
    """Void a sent invoice to which nothing is allocated."""
    return await trade_documents.void(
        books.sales, invoice_id, document_commands.voided_at(body), links
    )


async def delete_invoice(books: Books, invoice_id: UUID) -> Reply:
    """Delete a draft permanently."""
    return await trade_documents.delete(books.sales, invoice_id)


async def write_off_invoice(
    books: Books, invoice_id: UUID, body: WriteOffCreate | None, links: Links
) -> Reply:
    """Write off the outstanding amount of an invoice, or part of it.

    If the external id is in use, the invoice is returned without another write-off.
    """
    command = document_commands.write_off(body)
    return await trade_documents.write_off(books.sales, invoice_id, command, links)


async def reverse_write_off(
    books: Books, invoice_id: UUID, write_off_id: UUID, links: Links
) -> Reply:
    """Reverse a write-off, which raises the outstanding amount of the invoice again."""
    return await trade_documents.reverse(books.sales, invoice_id, write_off_id, links)
