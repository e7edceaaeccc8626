"""What the desks of invoices and bills do alike: what is owed, from draft to settled or void."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any
from uuid import UUID

from access.links import Links
from accounting.books.accounts import BookAccounts
from accounting.trade import document_moves, drawing_up, payment_changes
from accounting.trade.documents import Document
from accounting.trade.parties import Party
from handlers.results import Created, Reply
from handlers.shared import attached_files
from handlers.shared.document_shapes import shape, summarize
from handlers.shared.posting import keep
from persistence.books import Trade
from persistence.engine.pages import Page, PageRequest
from persistence.trade.document_settlements import AppliedPayment, Settlements

Body = Mapping[str, Any]


async def create(trade: Trade, body: Body, links: Links) -> Reply:
    """Create one, draft or open, with the payments and the document that came with it."""
    books, file = trade.books, attached_files.received(body)
    existing, party, accounts = await books.fetch(
        trade.documents.with_external_id(body.get("external_id")),
        trade.named(body).later(),
        books.accounts.named(drawing_up.account_references(body)),
    )
    if existing is not None:
        return await show(trade, existing.document, existing.shares, links)
    known = BookAccounts(await books.roles(), accounts)
    drawn = drawing_up.draw_up(trade.side, body, party(), known, books.context)
    drawn, payments = payment_changes.record_with(
        trade.side, drawn, body.get("payments", ()), books.context
    )
    await keep(trade, drawn, *payments)
    stored = attached_files.attach(books, file, trade.side.document_source, drawn.id)
    paid = (AppliedPayment(p.id, p.payment_date, p.method, p.total) for p in payments)
    return Created(shape(trade, drawn, Settlements(payments=tuple(paid)), stored, links))


async def listed(trade: Trade, page: PageRequest) -> Page[Reply]:
    """List them without their lines."""
    return (await trade.documents.page(page)).of(lambda document: summarize(trade, document))


async def read(trade: Trade, id: UUID, links: Links) -> Reply:
    """Read one with its lines, and with what settles it."""
    found, stored = await trade.books.fetch(
        trade.documents.shown(id), trade.books.files.latest([id])
    )
    return shape(trade, found.document, found.shares, stored.get(id), links)


async def redraw(trade: Trade, id: UUID, body: Body, links: Links) -> Reply:
    """Replace what one says, as long as nothing is allocated to it."""
    books, file = trade.books, attached_files.received(body)
    document, accounts = await books.fetch(
        trade.documents.lock(id), books.accounts.named(drawing_up.account_references(body))
    )
    party = await _named(trade, body, document.party)
    known = BookAccounts(await books.roles(), accounts)
    redrawn = drawing_up.redraw(trade.side, document, body, party, known, books.context)
    if attached_files.attach(books, file, trade.side.document_source, id):
        redrawn = replace(redrawn, updated_at=books.now)
    return await _put(trade, document, redrawn, links)


async def open_draft(trade: Trade, id: UUID, body: Body | None, links: Links) -> Reply:
    """Open a draft: it takes a number and goes into the ledger."""
    document, given = await trade.documents.lock(id), body or {}
    at, due_at = given.get(trade.side.opened_field), given.get("due_at")
    opened = document_moves.open_document(
        trade.side, document, at, trade.books.context, due_at=due_at
    )
    return await _put(trade, document, opened, links)


async def void(trade: Trade, id: UUID, body: Body | None, links: Links) -> Reply:
    """Take an open one back, as long as nothing is allocated to it."""
    document = await trade.documents.lock(id)
    at: datetime | None = (body or {}).get("voided_at")
    voided = document_moves.void(trade.side, document, at, trade.books.context)
    return await _put(trade, document, voided, links)


async def delete(trade: Trade, id: UUID) -> Reply:
    """Delete a draft for good."""
    document = await trade.documents.lock(id)
    document_moves.refuse_deleting(trade.side, document, trade.books.context)
    trade.documents.delete(document)
    return {"deleted": True}


async def show(trade: Trade, document: Document, shares: Settlements, links: Links) -> Reply:
    """Show one with its latest stored document."""
    stored = await trade.books.files.latest([document.id])
    return shape(trade, document, shares, stored.get(document.id), links)


async def _named(trade: Trade, body: Body, unless: Party) -> Party:
    """Find the party a replacement names; without one the document keeps its own."""
    names = trade.side.party_id_field, trade.side.party_external_id_field
    return unless if all(body.get(name) is None for name in names) else await trade.named(body)


async def _put(trade: Trade, before: Document, after: Document, links: Links) -> Reply:
    """Save one that nothing is allocated to, and post what its change asks for."""
    if after is not before:
        await keep(trade, after)
    return await show(trade, after, Settlements(), links)
