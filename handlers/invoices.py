"""Invoices: what customers are asked to pay, from draft to settled, written off or void."""

from uuid import UUID

from access.links import Links
from accounting.books.accounts import BookAccounts
from accounting.trade import write_offs
from accounting.trade.sides import RECEIVABLE
from handlers.bodies import (
    InvoiceCreate,
    InvoiceReplace,
    InvoiceSend,
    Voiding,
    WriteOffCreate,
)
from handlers.commands import document_commands, file_commands
from handlers.results import Created, Reply
from handlers.shared import trade_documents
from handlers.shared.posting import keep
from persistence.books import Books
from persistence.engine.pages import Page, PageRequest


async def create_invoice(books: Books, body: InvoiceCreate, links: Links) -> Reply:
    """Create an invoice, draft or sent, with the payments and the document that came with it."""
    file, command = file_commands.attached(body), document_commands.create_invoice(body)
    return await trade_documents.create(books.sales, command, file, links)


async def list_invoices(books: Books, page: PageRequest) -> Page[Reply]:
    """List invoices without their lines."""
    return await trade_documents.listed(books.sales, page)


async def get_invoice(books: Books, invoice_id: UUID, links: Links) -> Reply:
    """Read one invoice with its lines, and with what settles it."""
    return await trade_documents.read(books.sales, invoice_id, links)


async def replace_invoice(
    books: Books, invoice_id: UUID, body: InvoiceReplace, links: Links
) -> Reply:
    """Replace what an invoice says, as long as nothing is allocated to it."""
    file, command = file_commands.attached(body), document_commands.replace_invoice(body)
    return await trade_documents.replace_one(books.sales, invoice_id, command, file, links)


async def send_invoice(
    books: Books, invoice_id: UUID, body: InvoiceSend | None, links: Links
) -> Reply:
    """Send a draft: it takes a number and goes into the ledger."""
    command = document_commands.send_invoice(body)
    return await trade_documents.open_draft(books.sales, invoice_id, command, links)


async def void_invoice(books: Books, invoice_id: UUID, body: Voiding | None, links: Links) -> Reply:
    """Take a sent invoice back, as long as nothing is allocated to it."""
    return await trade_documents.void(
        books.sales, invoice_id, document_commands.voided_at(body), links
    )


async def delete_invoice(books: Books, invoice_id: UUID) -> Reply:
    """Delete a draft for good."""
    return await trade_documents.delete(books.sales, invoice_id)


async def write_off_invoice(
    books: Books, invoice_id: UUID, body: WriteOffCreate | None, links: Links
) -> Reply:
    """Write off what is left of an invoice, or a part; a known external id writes nothing off."""
    command = document_commands.write_off(body)
    invoice, settlements, existing, accounts = await books.fetch(
        books.invoices.lock(invoice_id),
        books.invoices.settlements(invoice_id),
        books.write_offs.with_external_id(command.external_id),
        books.accounts.named(write_offs.account_references(command)),
    )
    if existing is not None:
        write_offs.refuse_elsewhere(RECEIVABLE, invoice, existing)
        return await trade_documents.show(books.sales, invoice, settlements, links)
    known = BookAccounts(await books.roles(), accounts)
    lesser, made = write_offs.write_off(RECEIVABLE, invoice, command, known, books.context)
    await keep(books.sales, made, moved=[lesser])
    settlements = settlements.with_write_off(made)
    return Created(await trade_documents.show(books.sales, lesser, settlements, links))


async def reverse_write_off(
    books: Books, invoice_id: UUID, write_off_id: UUID, links: Links
) -> Reply:
    """Take a write-off back: the invoice is owed again by as much."""
    invoice, settlements, written_off = await books.fetch(
        books.invoices.lock_named(invoice_id),
        books.invoices.settlements(invoice_id),
        books.write_offs.get_within(invoice_id, write_off_id),
    )
    books.check_precondition(invoice)  # If-Match is the invoice's; what is not there is told first.
    owed, reversed_ = write_offs.reverse(invoice, written_off, books.context)
    await keep(books.sales, reversed_, moved=[owed])
    settlements = settlements.with_write_off(reversed_)
    return await trade_documents.show(books.sales, owed, settlements, links)
