"""Vendors: the parties from which a business buys."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from uuid import UUID

from access.links import Links
from accounting.absent import or_else, or_none
from accounting.trade import parties
from accounting.trade.parties import Vendor
from accounting.trade.sides import PAYABLE
from handlers.bodies import VendorCreate, VendorUpdate
from handlers.results import AnswerFormat, Created, Csv, ExistingRecord, Reply
from handlers.shared import file_commands
from handlers.trade import document_commands, open_balances, trade_parties
from handlers.trade.trade_parties import PartyRecord
from persistence.books import Books
from persistence.engine.pages import Page, PageRequest


async def create_vendor(books: Books, body: VendorCreate, links: Links) -> Reply:
    """Create a vendor.

    If the external id is in use, the existing vendor is returned unchanged.
    """
    file, details = file_commands.attached(body), document_commands.create_vendor(body)
    existing = await trade_parties.known(books, books.vendors, details.external_id)
    if existing is not None:
        return ExistingRecord(show(books, existing, links))
    return Created(show(books, trade_parties.add(books, books.vendors, details, file), links))


async def list_vendors(books: Books, page: PageRequest, links: Links) -> Page[Reply]:
    """List vendors with their documents."""
    found = await books.vendors.page(page)
    documents = await books.files.all_of_each([vendor.id for vendor in found.rows])
    return found.of(lambda vendor: show(books, PartyRecord(vendor, documents[vendor.id]), links))


async def get_vendor(books: Books, vendor_id: UUID, links: Links) -> Reply:
    """Return one vendor."""
    return show(books, await trade_parties.read(books, books.vendors, vendor_id), links)


async def update_vendor(books: Books, vendor_id: UUID, body: VendorUpdate, links: Links) -> Reply:
    """Change the supplied fields of a vendor; the status of an archived vendor cannot change."""
    details = document_commands.change_vendor(body)
    closing = or_else(details.standing, "ACTIVE") != "ACTIVE"
    found = await trade_parties.lock(books, books.vendors, vendor_id, closing=closing)
    parties.refuse_status_change(found.trader, or_none(details.standing))
    changed = replace(found.trader, **parties.facts(details))
    return show(books, trade_parties.put(books, found, changed), links)


async def archive_vendor(books: Books, vendor_id: UUID, links: Links) -> Reply:
    """Archive a vendor without open items; an archived vendor is returned unchanged."""
    archived = await trade_parties.archive(books, PAYABLE, books.vendors, vendor_id)
    return show(books, archived, links)


async def unarchive_vendor(books: Books, vendor_id: UUID, links: Links) -> Reply:
    """Unarchive a vendor and set its status to ACTIVE; others are returned unchanged."""
    found = await trade_parties.lock(books, books.vendors, vendor_id)
    return show(books, trade_parties.put(books, found, parties.unarchive(found.trader)), links)


async def get_vendor_statement(
    books: Books, vendor_id: UUID, query: Mapping[str, Any], answer_format: AnswerFormat
) -> Reply | Csv:
    """Return the statement of a vendor: balances and entries of a period."""
    return await open_balances.state(books.purchases, vendor_id, query, answer_format)


def show(books: Books, found: PartyRecord[Vendor], links: Links) -> Reply:
    """Serialize a vendor with its documents."""
    return {
        "type": "VendorData",
        **trade_parties.serialize(books, found.account),
        "memo": found.trader.memo,
        **trade_parties.serialize_documents(found, links),
    }
