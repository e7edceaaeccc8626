"""Vendors: who is bought from."""

from dataclasses import replace
from typing import Any
from uuid import UUID

from access.links import Links
from accounting.trade import parties
from accounting.trade.parties import Vendor
from accounting.trade.sides import PAYABLE
from handlers.bodies import VendorCreate, VendorUpdate
from handlers.results import Created, Reply
from handlers.shared import attached_files, trade_parties
from handlers.shared.trade_parties import Whole
from persistence.books import Books
from persistence.engine.pages import Page, PageRequest


async def create_vendor(books: Books, body: VendorCreate, links: Links) -> Reply:
    """Create a vendor; one whose external id is known is answered as it is."""
    file = attached_files.received(body)
    existing = await trade_parties.known(books, books.vendors, body.get("external_id"))
    if existing is not None:
        return show(existing, links)
    return Created(show(trade_parties.add(books, books.vendors, facts(body), file), links))


async def list_vendors(books: Books, page: PageRequest, links: Links) -> Page[Reply]:
    """List vendors with their documents."""
    found = await books.vendors.page(page)
    documents = await books.files.all_of_each([vendor.id for vendor in found.rows])
    return found.of(lambda vendor: show(Whole(vendor, documents[vendor.id]), links))


async def get_vendor(books: Books, vendor_id: UUID, links: Links) -> Reply:
    """Read one vendor."""
    return show(await trade_parties.read(books, books.vendors, vendor_id), links)


async def update_vendor(books: Books, vendor_id: UUID, body: VendorUpdate, links: Links) -> Reply:
    """Change the supplied fields of a vendor; its status too, unless it is archived."""
    closing = body.get("status", "ACTIVE") != "ACTIVE"
    found = await trade_parties.lock(books, books.vendors, vendor_id, closing=closing)
    parties.refuse_status_change(found.trader, body.get("status"))
    changed = replace(found.trader, **facts(body))
    return show(trade_parties.put(books, found, changed), links)


async def archive_vendor(books: Books, vendor_id: UUID, links: Links) -> Reply:
    """Archive a vendor that is owed nothing; an archived one stays as it is."""
    found = await trade_parties.lock(books, books.vendors, vendor_id, closing=True)
    owed = found.account.outstanding_balance
    archived = parties.archive(PAYABLE, found.trader, owed, books.now)
    return show(trade_parties.put(books, found, archived), links)


async def unarchive_vendor(books: Books, vendor_id: UUID, links: Links) -> Reply:
    """Bring an archived vendor back, ACTIVE; one that is not archived stays as it is."""
    found = await trade_parties.lock(books, books.vendors, vendor_id)
    return show(trade_parties.put(books, found, parties.unarchive(found.trader)), links)


def facts(body: Any) -> dict[str, Any]:
    """Turn a body into fields of the value; the status of a request is the vendor's standing."""
    given = trade_parties.facts(body)
    if "status" in given:
        given["standing"] = given.pop("status")
    return given


def show(found: Whole[Vendor], links: Links) -> Reply:
    """Show a vendor."""
    return {
        "type": "VendorData",
        **trade_parties.shape(found.account),
        "memo": found.trader.memo,
        **trade_parties.shape_documents(found, links),
    }
