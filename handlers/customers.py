"""Customers: who is invoiced."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

from accounting import parties
from accounting.parties import Customer
from accounting.uploads import Received
from handlers import _documents, warnings
from handlers._documents import Links
from handlers.bodies import CustomerCreate, CustomerUpdate
from handlers.replies import Created, Reply
from persistence.books import Books
from persistence.customers import CustomerAccount
from persistence.identifiers import new_id
from persistence.pages import Page, PageRequest
from persistence.stored_documents import StoredDocument


async def create_customer(books: Books, body: CustomerCreate, links: Links) -> Reply:
    """Create a customer; one whose external id is known is answered as it is."""
    file = _documents.received(body)
    existing = await books.customers.with_external_id(body.get("external_id"))
    if existing is not None:
        return show(existing, await books.stored_documents.all_of(existing.id), links)
    customer = Customer(
        id=new_id(), version=1, created_at=books.now, updated_at=books.now, **facts(body)
    )
    books.save(customer)
    added = attach(books, file, customer.id)
    return Created(show(CustomerAccount(customer, outstanding_balance=0), added, links))


async def list_customers(books: Books, page: PageRequest) -> Page[Reply]:
    """List customers."""
    return (await books.customers.page(page)).of(shape)


async def get_customer(books: Books, customer_id: UUID, links: Links) -> Reply:
    """Read one customer."""
    found, documents = await books.ask(
        books.customers.get(customer_id), books.stored_documents.all_of(customer_id)
    )
    return show(found, documents, links)


async def update_customer(
    books: Books, customer_id: UUID, body: CustomerUpdate, links: Links
) -> Reply:
    """Change the supplied fields of a customer; a document that comes along is added."""
    file = _documents.received(body)
    found, documents = await lock(books, customer_id)
    added = attach(books, file, customer_id)
    changed = replace(found.customer, **facts(body))
    if changed == found.customer and not added:
        return show(found, documents, links)
    parties.refuse_nameless(changed.individual_name, changed.company_name)
    changed = replace(changed, updated_at=books.now)
    books.save(changed)
    return show(replace(found, customer=changed), [*added, *documents], links)


async def archive_customer(books: Books, customer_id: UUID, links: Links) -> Reply:
    """Archive a customer who owes nothing; an archived one stays as it is."""
    found, documents = await lock(books, customer_id)
    if found.customer.archived_at is not None:
        return show(found, documents, links)
    parties.refuse_archiving_customer(found.outstanding_balance)
    archived = replace(found.customer, archived_at=books.now, updated_at=books.now)
    books.save(archived)
    return show(replace(found, customer=archived), documents, links)


async def unarchive_customer(books: Books, customer_id: UUID, links: Links) -> Reply:
    """Bring an archived customer back; an active one stays as it is."""
    found, documents = await lock(books, customer_id)
    if found.customer.archived_at is None:
        return show(found, documents, links)
    active = replace(found.customer, archived_at=None, updated_at=books.now)
    books.save(active)
    return show(replace(found, customer=active), documents, links)


async def lock(books: Books, customer_id: UUID) -> tuple[CustomerAccount, list[StoredDocument]]:
    """Lock a customer, and read the documents that are linked to it."""
    found, documents = await books.ask(
        books.customers.lock(customer_id), books.stored_documents.all_of(customer_id)
    )
    return found, documents


def attach(books: Books, file: Received | None, customer_id: UUID) -> list[StoredDocument]:
    """Store the document that a body brought; none, or one."""
    added = _documents.attach(books, file, "customer", customer_id)
    return [added] if added else []


def facts(body: Any) -> dict[str, Any]:
    """Turn a body into fields of the value; both names of the credit limit mean one amount."""
    given = {name: value for name, value in body.items() if name != "document"}
    if "credit_limit" in given:
        limit = given.pop("credit_limit")
        given.setdefault("credit_limit_cents", limit)
    if given.get("country"):
        given["country"] = given["country"].upper()
    if "transaction_tags" in given:
        given["transaction_tags"] = tuple(given["transaction_tags"])
    return given


def show(found: CustomerAccount, documents: Sequence[StoredDocument], links: Links) -> Reply:
    """Show a single customer: with its documents, the newest first."""
    shown = [_documents.summary(document, links) for document in documents]
    return {**shape(found), "documents": shown}


def shape(found: CustomerAccount) -> Reply:
    """Show a customer as lists do."""
    customer = found.customer
    archived = customer.archived_at is not None
    return {
        "type": "CustomerData",
        "id": customer.id,
        "external_id": customer.external_id,
        "reference_number": customer.reference_number,
        "individual_name": customer.individual_name,
        "company_name": customer.company_name,
        "display_name": parties.display_name(customer),
        "email": customer.email,
        "mobile_phone": customer.mobile_phone,
        "office_phone": customer.office_phone,
        "address_line1": customer.address_line1,
        "address_line2": customer.address_line2,
        "city": customer.city,
        "state_county": customer.state_county,
        "postal_code": customer.postal_code,
        "country": customer.country,
        "full_address": parties.full_address(customer) or None,
        "address_string": customer.address_string,
        "vat_number": customer.vat_number,
        "tax_exempt": customer.tax_exempt,
        "status": "ARCHIVED" if archived else "ACTIVE",
        "is_active": not archived,
        "is_archived": archived,
        "transaction_tags": customer.transaction_tags,
        "notes": customer.notes,
        "metadata": customer.metadata,
        "payment_terms_days": customer.payment_terms_days,
        "credit_limit": customer.credit_limit_cents,
        "credit_limit_cents": customer.credit_limit_cents,
        "outstanding_balance": found.outstanding_balance,
        "created_at": customer.created_at,
        "updated_at": customer.updated_at,
        "archived_at": customer.archived_at,
        "warnings": [
            *warnings.of_phones(
                mobile_phone=customer.mobile_phone, office_phone=customer.office_phone
            ),
            *warnings.of_vat_number(customer.vat_number, customer.country),
        ],
    }
