"""Customers: the parties that a business invoices."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any
from uuid import UUID

from access.links import Links
from accounting.trade import parties
from accounting.trade.parties import Customer
from accounting.trade.sides import RECEIVABLE
from handlers.bodies import CustomerCreate, CustomerUpdate
from handlers.results import AnswerFormat, Created, Csv, ExistingRecord, Pdf, Reply
from handlers.shared import file_commands
from handlers.trade import document_commands, open_balances, trade_parties
from handlers.trade.trade_parties import PartyRecord
from persistence.books import Books
from persistence.engine.pages import Page, PageRequest
from persistence.trade.parties import PartyAccount


async def create_customer(books: Books, body: CustomerCreate, links: Links) -> Reply:
    """Create a customer.

    If the external id is in use, the existing customer is returned unchanged.
    """
    file, details = file_commands.attached(body), document_commands.customer(body)
    existing = await trade_parties.known(books, books.customers, details.external_id)
    if existing is not None:
        return ExistingRecord(show(books, existing, links))
    return Created(show(books, trade_parties.add(books, books.customers, details, file), links))


async def list_customers(books: Books, page: PageRequest) -> Page[Reply]:
    """List customers."""
    return (await books.customers.page(page)).of(partial(serialize, books))


async def get_customer(books: Books, customer_id: UUID, links: Links) -> Reply:
    """Return one customer."""
    return show(books, await trade_parties.read(books, books.customers, customer_id), links)


async def update_customer(
    books: Books, customer_id: UUID, body: CustomerUpdate, links: Links
) -> Reply:
    """Change the supplied fields of a customer, and add the attached document if there is one."""
    file, details = file_commands.attached(body), document_commands.customer(body)
    found = await trade_parties.lock(books, books.customers, customer_id)
    added = trade_parties.attach(books, books.customers, file, customer_id)
    changed = replace(found.trader, **parties.facts(details))
    return show(books, trade_parties.put(books, found, changed, added), links)


async def archive_customer(books: Books, customer_id: UUID, links: Links) -> Reply:
    """Archive a customer without open items; an archived customer is returned unchanged."""
    archived = await trade_parties.archive(books, RECEIVABLE, books.customers, customer_id)
    return show(books, archived, links)


async def unarchive_customer(books: Books, customer_id: UUID, links: Links) -> Reply:
    """Unarchive a customer; an active customer is returned unchanged."""
    found = await trade_parties.lock(books, books.customers, customer_id)
    return show(books, trade_parties.put(books, found, parties.unarchive(found.trader)), links)


async def get_customer_statement(
    books: Books, customer_id: UUID, query: Mapping[str, Any], answer_format: AnswerFormat
) -> Reply | Csv | Pdf:
    """Return the statement of a customer: balances and entries of a period."""
    return await open_balances.state(books.sales, customer_id, query, answer_format)


def show(books: Books, found: PartyRecord[Customer], links: Links) -> Reply:
    """Serialize a single customer with its documents."""
    return {**serialize(books, found.account), **trade_parties.serialize_documents(found, links)}


def serialize(books: Books, found: PartyAccount[Customer]) -> Reply:
    """Serialize a customer for a list."""
    customer = found.trader
    return {
        "type": "CustomerData",
        **trade_parties.serialize(books, found),
        "reference_number": customer.reference_number,
        "address_line1": customer.address_line1,
        "address_line2": customer.address_line2,
        "city": customer.city,
        "state_county": customer.state_county,
        "postal_code": customer.postal_code,
        "full_address": parties.full_address(customer) or None,
        "tax_exempt": customer.tax_exempt,
        "notes": customer.notes,
        "credit_limit": customer.credit_limit_cents,
        "credit_limit_cents": customer.credit_limit_cents,
    }
