"""Invoices and bills: operations that both sides share, from draft to settled or void."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import datetime
from functools import partial
from uuid import UUID

from access.links import Links
from accounting.books.accounts import BookAccounts
from accounting.books.foreign import in_base
from accounting.errors import Conflict
from accounting.files.uploads import AcceptedFile
from accounting.tax.day_codes import TaxReferences
from accounting.trade import (
    document_changes,
    documents,
    line_changes,
    line_items,
    payment_changes,
    recoded,
    write_offs,
)
from accounting.trade.allocation import exchanged
from accounting.trade.commands import (
    ChangeDocument,
    OpenDocument,
    WriteDocument,
    WriteOffDocument,
)
from accounting.trade.documents import Document
from accounting.trade.parties import Party, PartyNamed
from accounting.trade.payments import Payment
from handlers.results import Created, ExistingRecord, Reply
from handlers.shared import attached_files
from handlers.shared.posting import save_and_post
from handlers.trade import dependents
from handlers.trade.document_responses import serialize, serialize_write_off, summarize
from persistence.books import Trade
from persistence.engine.pages import Page, PageRequest
from persistence.trade.document_settlements import AppliedPayment, Settlements


async def create(
    trade: Trade, command: WriteDocument, file: AcceptedFile | None, links: Links
) -> Reply:
    """Create a document, draft or open, with the payments and the file of its body.

    A known external id returns that document unchanged.
    """
    books = trade.books
    # The external id is read last, after the locks: a document just committed with it is found.
    party, banks, accounts, codes, existing = await books.fetch(
        trade.parties.party(command.party).later(),
        trade.books.banks_named(each.bank_account_id for each in command.payments).later(),
        books.accounts.named(line_items.account_references(command)),
        books.tax_codes.for_use(needed=line_items.names_codes(command)),
        trade.documents.known_as(command.external_id),
    )
    if existing is not None:
        return ExistingRecord(await read(trade, existing, links))
    referenced = TaxReferences(BookAccounts(await books.roles(), accounts), codes)
    made = await books.with_rates(
        partial(document_changes.create, trade.side, command, party(), referenced)
    )
    made, payments = await books.with_rates(
        lambda context: payment_changes.record_with(
            trade.side, made, command.payments, context, banks()
        )
    )
    await save_and_post(trade, made, *payments)
    stored = attached_files.attach(books, file, trade.side.document_source, made.id)
    settlements = Settlements(payments=tuple(map(_applied, payments)))
    return Created(serialize(trade, made, settlements, stored, links))


async def listed(trade: Trade, page: PageRequest) -> Page[Reply]:
    """List documents without their lines."""
    return (await trade.documents.page(page)).of(lambda document: summarize(trade, document))


async def read(trade: Trade, id: UUID, links: Links) -> Reply:
    """Read a document with its lines and settlements."""
    found, stored = await trade.documents.read(id, trade.books.files.latest([id]))
    return serialize(trade, found.document, found.settlements, stored.get(id), links)


async def replace_one(
    trade: Trade, id: UUID, command: WriteDocument, file: AcceptedFile | None, links: Links
) -> Reply:
    """Replace the contents of a document to which nothing is allocated."""
    books = trade.books
    document, accounts, codes = await books.fetch(
        trade.documents.lock(id),
        books.accounts.named(line_items.account_references(command)),
        books.tax_codes.for_use(needed=line_items.names_codes(command)),
    )
    party = await _named(trade, command.party, document.party)
    referenced = TaxReferences(BookAccounts(await books.roles(), accounts), codes)
    async with _naming_what_stands_on(trade, id):
        written = await books.with_rates(
            partial(document_changes.replaced, trade.side, document, command, party, referenced)
        )
    if attached_files.attach(books, file, trade.side.document_source, id):
        written = replace(written, updated_at=books.now)
    return await _put(trade, document, written, links)


async def change(
    trade: Trade, id: UUID, command: ChangeDocument, file: AcceptedFile | None, links: Links
) -> Reply:
    """Change what a document states beside its amounts; with other accounts, recode its lines."""
    books, side = trade.books, trade.side
    named = line_changes.account_references(command)
    beside = trade.documents.settlements(id), books.accounts.named(named)
    if named:
        books.run_alone()  # No settlement may begin or end while the others are split again.
        before, held, (settlements, accounts) = await dependents.lock_document(trade, id, *beside)
    else:
        held = recoded.Dependents()
        before, settlements, accounts = await books.fetch(trade.documents.lock(id), *beside)
    roles = await books.roles()
    known = BookAccounts(roles, accounts)
    after = document_changes.revised(side, before, command, known, books.context)
    after, others = recoded.recode_document(side, before, after, held, roles, books.context)
    if attached_files.attach(books, file, side.document_source, id):
        after = replace(after, updated_at=books.now)
    if after is not before:
        await save_and_post(trade, after, *others)
    return await show(trade, after, settlements, links)


async def open_draft(trade: Trade, id: UUID, command: OpenDocument, links: Links) -> Reply:
    """Open a draft: assign its number and post it to the ledger."""
    books, document = trade.books, await trade.documents.lock(id)
    codes = await books.tax_codes.for_use(needed=documents.is_coded(document))
    referenced = TaxReferences(BookAccounts(await books.roles(), {}), codes)
    opened = await books.with_rates(
        partial(document_changes.open_document, trade.side, document, command, referenced)
    )
    return await _put(trade, document, opened, links)


async def void(trade: Trade, id: UUID, at: datetime | None, links: Links) -> Reply:
    """Void an open document to which nothing is allocated."""
    document = await trade.documents.lock(id)
    async with _naming_what_stands_on(trade, id):
        voided = document_changes.void(trade.side, document, at, trade.books.context)
    return await _put(trade, document, voided, links)


async def delete(trade: Trade, id: UUID) -> Reply:
    """Delete a draft permanently."""
    document = await trade.documents.lock(id)
    document_changes.refuse_deleting(trade.side, document, trade.books.context)
    trade.documents.delete(document)
    return {"deleted": True}


async def show(trade: Trade, document: Document, settlements: Settlements, links: Links) -> Reply:
    """Serialize a document with its latest stored file."""
    stored = await trade.books.files.latest([document.id])
    return serialize(trade, document, settlements, stored.get(document.id), links)


@asynccontextmanager
async def _naming_what_stands_on(trade: Trade, id: UUID) -> AsyncIterator[None]:
    """Add the ids of payments, credits and other settlements to an error about allocations."""
    try:
        yield
    except Conflict as refusal:
        if "allocated" in refusal.detail:
            found = await trade.documents.shown(id)
            refusal.detail |= found.settlements.ids()
        raise


def _applied(payment: Payment) -> AppliedPayment:
    """Return what a payment that was created with a document settles of it."""
    [part] = payment.allocations
    return AppliedPayment(
        payment.id,
        payment.payment_date,
        payment.method,
        int(part.settles),
        int(part.amount),
        exchanged(in_base(part.amount), part.split),
    )


async def _named(trade: Trade, named: PartyNamed, unless: Party) -> Party:
    """Find the party that a replacement names; by default, keep the document's own."""
    return unless if named == PartyNamed() else await trade.parties.party(named)


async def _put(trade: Trade, before: Document, after: Document, links: Links) -> Reply:
    """Save and post a changed document to which nothing is allocated."""
    if after is not before:
        await save_and_post(trade, after)
    return await show(trade, after, Settlements(), links)


# Write-offs of invoices and bills, and their reversal.


async def write_off(trade: Trade, id: UUID, command: WriteOffDocument, links: Links) -> Reply:
    """Write off the outstanding amount of a document, or part of it.

    A known external id returns the document without another write-off.
    """
    side, books = trade.side, trade.books
    document, settlements, existing, accounts = await books.fetch(
        trade.documents.lock(id),
        trade.documents.settlements(id),
        trade.write_offs.with_external_id(command.external_id),
        books.accounts.named(write_offs.account_references(command)),
    )
    if existing is not None:
        write_offs.refuse_elsewhere(side, document, existing)
        [share] = Settlements().with_write_off(replace(existing, reversed_at=None)).write_offs
        shown = await show(trade, document, settlements, links)
        return ExistingRecord(shown, serialize_write_off(share))
    known = BookAccounts(await books.roles(), accounts)
    lesser, made = write_offs.write_off(side, document, command, known, books.context)
    await save_and_post(trade, made, affected=[lesser])
    settlements = settlements.with_write_off(made)
    return Created(await show(trade, lesser, settlements, links))


async def reverse(trade: Trade, id: UUID, write_off_id: UUID, links: Links) -> Reply:
    """Reverse a write-off, which raises the outstanding amount of the document again."""
    books = trade.books
    document, settlements, written_off = await books.fetch(
        trade.documents.lock_named(id),
        trade.documents.settlements(id),
        trade.write_offs.get_within(id, write_off_id),
    )
    books.check_precondition(document)  # If-Match is of the document; 404 precedes 412.
    owed, reversed_ = write_offs.reverse(document, written_off, books.context)
    await save_and_post(trade, reversed_, affected=[owed])
    settlements = settlements.with_write_off(reversed_)
    return await show(trade, owed, settlements, links)
