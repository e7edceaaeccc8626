"""Customer credits: what customers may set against their invoices."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from uuid import UUID

from accounting import crediting, credits, documents, postings
from accounting.accounts import BookAccounts
from accounting.allocation import Allocation
from accounting.crediting import Credited
from accounting.credits import Credit, CreditLine
from accounting.documents import Document
from accounting.sides import RECEIVABLE
from handlers import _documents
from handlers._documents import Links
from handlers._shapes import customer_of, day_start
from handlers.bodies import CustomerCreditCreate, CustomerCreditReplace, CustomerCreditVoid
from handlers.replies import Created, Reply
from persistence.books import Books
from persistence.pages import Page, PageRequest
from persistence.stored_documents import StoredDocument


async def create_customer_credit(books: Books, body: CustomerCreditCreate, links: Links) -> Reply:
    """Create a credit, draft or sent, and apply it; a known external id answers it."""
    file = _documents.received(body)
    # The external id comes last: whoever said the same one a moment ago is seen after the locks.
    party, accounts, invoices, source, existing = await books.ask(
        books.customers.party(body.get("customer_id"), body.get("customer_external_id")).later(),
        books.accounts.named(crediting.account_references(RECEIVABLE, body)),
        books.invoices.lock_all(crediting.documents_touched(RECEIVABLE, None, body)).later(),
        books.invoices.hold(body.get("source_invoice_id")).later(),
        books.customer_credits.with_external_id(body.get("external_id")),
    )
    if existing is not None:
        return await show(books, existing.credit, existing.documents, links)
    source()
    known = BookAccounts(await books.roles(), accounts)
    made = crediting.draw_up(RECEIVABLE, body, party(), known, invoices(), books.occasion)
    await keep(books, made)
    stored = _documents.attach(books, file, "customer_credit", made.credit.id)
    return Created(shape(books, made.credit, made.documents, stored, links))


async def list_customer_credits(books: Books, page: PageRequest, links: Links) -> Page[Reply]:
    """List credits with their lines and allocations."""
    found = await books.customer_credits.records(page)
    stored = await books.stored_documents.latest([record.id for record in found.rows])
    return found.of(
        lambda record: shape(books, record.credit, record.documents, stored.get(record.id), links)
    )


async def get_customer_credit(books: Books, credit_id: UUID, links: Links) -> Reply:
    """Read one credit with its lines and allocations."""
    found = await books.customer_credits.shown(credit_id)
    return await show(books, found.credit, found.documents, links)


async def replace_customer_credit(
    books: Books, credit_id: UUID, body: CustomerCreditReplace, links: Links
) -> Reply:
    """Replace what a credit says, and which invoices it settles where a list is given."""
    file = _documents.received(body)
    credit = await books.customer_credits.lock(credit_id)
    touched = crediting.documents_touched(RECEIVABLE, credit, body)
    invoices = await books.invoices.lock_all(touched)
    changed = crediting.replaced(RECEIVABLE, credit, body, invoices, books.occasion)
    if _documents.attach(books, file, "customer_credit", credit_id):
        changed = replace(changed, credit=replace(changed.credit, updated_at=books.now))
    if changed.credit is not credit:
        await keep(books, changed)
    return await show(books, changed.credit, changed.documents, links)


async def void_customer_credit(
    books: Books, credit_id: UUID, body: CustomerCreditVoid | None, links: Links
) -> Reply:
    """Take a sent credit back, as long as nothing is applied of it."""
    credit = await books.customer_credits.lock(credit_id)
    voided_at = (body or {}).get("voided_at")
    voided = crediting.void(RECEIVABLE, credit, voided_at, books.occasion)
    await keep(books, Credited(voided, {}, ()))
    return await show(books, voided, {}, links)


async def keep(books: Books, changed: Credited) -> None:
    """Save a credit and the invoices that moved with it, and post what that asks for."""
    books.save(changed.credit, *changed.changed)
    roles = await books.roles()
    books.post(postings.entries_for(RECEIVABLE, changed.credit, roles, books.lock_date))


async def show(
    books: Books, credit: Credit, invoices: Mapping[UUID, Document], links: Links
) -> Reply:
    """Show a credit with its latest document."""
    stored = await books.stored_documents.latest([credit.id])
    return shape(books, credit, invoices, stored.get(credit.id), links)


def shape(
    books: Books,
    credit: Credit,
    invoices: Mapping[UUID, Document],
    stored: StoredDocument | None,
    links: Links,
) -> dict[str, Any]:
    """Show a credit with its lines and the invoices it settles."""
    return {
        "id": credit.id,
        "business_id": books.business_id,
        "external_id": credit.external_id,
        "credit_note_number": credit.number,
        "status": credits.status(RECEIVABLE.opened_word, credit),
        "currency": credit.currency,
        "customer_id": credit.party.id,
        "customer": customer_of(credit.party),
        "source_invoice_id": credit.source_document_id,
        "line_items": [shape_line(line) for line in credit.lines],
        "allocations": [
            shape_allocation(credit, each, invoices[each.document_id])
            for each in credits.live_allocations(credit)
        ],
        "tax_total": credit.tax_total,
        "total_amount": credit.total_amount,
        "applied_amount": credits.applied(credit),
        "unapplied_amount": credits.unapplied(credit),
        "memo": credit.memo,
        "tags": credit.transaction_tags,
        "metadata": credit.metadata,
        "document": _documents.summary(stored, links),
        "sent_at": credit.opened_at,
        "voided_at": credit.voided_at,
        "created_at": credit.created_at,
        "updated_at": credit.updated_at,
    }


def shape_line(line: CreditLine) -> dict[str, Any]:
    """Show one line."""
    return {
        "id": line.id,
        "amount": line.amount,
        "tax_amount_cents": line.tax_amount,
        "revenue_account_identifier": {"type": "AccountId", "id": line.account_id},
        "memo": line.memo,
        "tags": line.tags,
        "metadata": line.metadata,
    }


def shape_allocation(credit: Credit, allocation: Allocation, invoice: Document) -> dict[str, Any]:
    """Show what the credit settles of one invoice."""
    begun, _ = credits.applied_days(credit, allocation)
    return {
        "invoice_id": invoice.id,
        "invoice_number": invoice.number,
        "amount_cents": allocation.amount,
        "invoice_outstanding_balance_cents": documents.outstanding(invoice),
        "applied_at": day_start(begun),
    }
