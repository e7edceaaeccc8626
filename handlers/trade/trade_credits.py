"""Customer credits and vendor credits: operations that both sides share."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Any
from uuid import UUID

from access.links import Links
from accounting.books.accounts import BookAccounts
from accounting.files.uploads import AcceptedFile
from accounting.tax.day_codes import TaxReferences
from accounting.trade import (
    credit_changes,
    credit_lines,
    credits,
    documents,
    line_changes,
    recoded,
)
from accounting.trade.allocation import (
    Allocation,
    documents_affected,
    exchange_difference,
)
from accounting.trade.commands import ChangeDocument, ReplaceCredit, WriteCredit
from accounting.trade.credits import Credit, CreditLine
from accounting.trade.documents import Document
from accounting.trade.sides import Side
from handlers.results import Created, ExistingRecord, Reply
from handlers.shared import attached_files, responses
from handlers.shared.foreign_amounts import serialize_base_of_credit
from handlers.shared.posting import save_and_post
from handlers.shared.responses import Warnings, day_start, serialize_party, serialize_rate
from handlers.trade import dependents
from handlers.trade.document_responses import names_of
from persistence.books import Trade
from persistence.engine.pages import Page, PageRequest
from persistence.files.stored_files import StoredFile


async def create(
    trade: Trade, command: WriteCredit, file: AcceptedFile | None, links: Links
) -> Reply:
    """Create a credit, draft or open, and apply it; a known external id returns that credit."""
    side, books = trade.side, trade.books
    # The external id is read last, after the locks: a credit just committed with it is found.
    affected = documents_affected((), command.allocations) | credit_changes.source_of(command)
    party, accounts, codes, loaded, source, existing = await books.fetch(
        trade.parties.party(command.party).later(),
        books.accounts.named(credit_changes.account_references(command)),
        books.tax_codes.for_use(needed=credit_lines.names_codes(command.lines)),
        trade.documents.lock_all(affected).later(),
        trade.documents.hold(command.source_document_id).later(),
        trade.credits.known_as(command.external_id),
    )
    if existing is not None:
        return ExistingRecord(await read(trade, existing, links))
    source()
    referenced = TaxReferences(BookAccounts(await books.roles(), accounts), codes)
    made = await books.with_rates(
        partial(credit_changes.create, side, command, party(), referenced, loaded())
    )
    await save_and_post(trade, made.credit, affected=made.changed)
    stored = attached_files.attach(books, file, side.credit_source, made.credit.id)
    return Created(serialize(trade, made.credit, made.documents, stored, links))


async def listed(trade: Trade, page: PageRequest, links: Links) -> Page[Reply]:
    """List credits with their lines and allocations."""
    found = await trade.credits.records(page)
    stored = await trade.books.files.latest([record.id for record in found.rows])
    return found.of(
        lambda record: serialize(
            trade, record.credit, record.documents, stored.get(record.id), links
        )
    )


async def read(trade: Trade, id: UUID, links: Links) -> Reply:
    """Read one credit with its lines and allocations."""
    found = await trade.credits.shown(id)
    return await _show(trade, found.credit, found.documents, links)


async def change(
    trade: Trade, id: UUID, command: ReplaceCredit, file: AcceptedFile | None, links: Links
) -> Reply:
    """Replace the contents of a credit; a supplied list replaces its allocations."""
    side, books = trade.side, trade.books
    credit = await trade.credits.lock(id)
    affected = documents_affected(credit.allocations, command.allocations)
    loaded, codes = await books.fetch(
        trade.documents.lock_all(affected | credits.source_ids(credit)),
        books.tax_codes.for_use(needed=credit.state == "draft" and credits.is_coded(credit)),
    )
    referenced = TaxReferences(BookAccounts(await books.roles(), {}), codes)
    changed = await books.with_rates(
        partial(credit_changes.replaced, side, credit, command, referenced, loaded)
    )
    if attached_files.attach(books, file, side.credit_source, id):
        changed = replace(changed, credit=replace(changed.credit, updated_at=books.now))
    if changed.credit is not credit:
        await save_and_post(trade, changed.credit, affected=changed.changed)
    return await _show(trade, changed.credit, changed.documents, links)


async def revise(
    trade: Trade, id: UUID, command: ChangeDocument, file: AcceptedFile | None, links: Links
) -> Reply:
    """Change what a credit states beside its amounts; with other accounts, recode its lines."""
    books, side = trade.books, trade.side
    named = line_changes.account_references(command)
    held = recoded.Dependents()
    if named:
        books.run_alone()  # No use of it may begin or end while the others are split again.
        before, held = await dependents.lock_credit(trade, id)
    else:
        before = await trade.credits.lock(id)
    record, accounts = await books.fetch(trade.credits.shown(id), books.accounts.named(named))
    known = BookAccounts(await books.roles(), accounts)
    after = credit_changes.revised(side, before, command, known, books.context)
    after, others = recoded.recode_credit(before, after, held, books.context)
    if attached_files.attach(books, file, side.credit_source, id):
        after = replace(after, updated_at=books.now)
    if after is not before:
        await save_and_post(trade, after, *others)
    return await _show(trade, after, record.documents, links)


async def void(trade: Trade, id: UUID, at: datetime | None, links: Links) -> Reply:
    """Void an open credit of which nothing is applied."""
    credit = await trade.credits.lock(id)
    loaded = await trade.documents.lock_all(credits.source_ids(credit))
    voided = credit_changes.void(trade.side, credit, at, loaded, trade.books.context)
    await save_and_post(trade, voided.credit, affected=voided.changed)
    return await _show(trade, voided.credit, {}, links)


async def _show(
    trade: Trade, credit: Credit, settled: Mapping[UUID, Document], links: Links
) -> Reply:
    """Serialize a credit with its latest document."""
    stored = await trade.books.files.latest([credit.id])
    return serialize(trade, credit, settled, stored.get(credit.id), links)


def serialize(
    trade: Trade,
    credit: Credit,
    settled: Mapping[UUID, Document],
    stored: StoredFile | None,
    links: Links,
) -> dict[str, Any]:
    """Serialize a credit with its lines and allocations."""
    side, names = trade.side, names_of(trade.side)
    return {
        "id": credit.id,
        "business_id": trade.books.business_id,
        "external_id": credit.external_id,
        side.names.credit_number: credit.number,
        "status": credits.status(side, credit),
        "currency": credit.currency,
        side.names.party_id: credit.party.id,
        names.party: serialize_party(credit.party),
        f"source_{side.names.document_id}": credit.source_document_id,
        **({names.credit_refund: credit.refund_id} if names.credit_refund else {}),
        "line_items": [serialize_line(side, line) for line in credit.lines],
        "allocations": [
            serialize_allocation(side, credit, each, settled[each.document_id])
            for each in credits.live_allocations(credit)
        ],
        "tax_total": credit.tax_total,
        "total_amount": credit.total_amount,
        "applied_amount": credits.applied(credit),
        "refunded_amount": credit.refunded,
        "unapplied_amount": credits.unapplied(credit),
        **serialize_base_of_credit(credit, trade.books),
        "memo": credit.memo,
        "tags": credit.transaction_tags,
        "metadata": credit.metadata,
        "document": attached_files.summary(stored, links),
        side.names.opened_at: credit.opened_at,
        "voided_at": credit.voided_at,
        "warnings": _warnings(trade, credit),
        "opening_balance_id": credit.opening_id,
        "created_at": credit.created_at,
        "updated_at": credit.updated_at,
    }


def _warnings(trade: Trade, credit: Credit) -> Warnings:
    context, opened_at = trade.books.context, credit.opened_at
    days = {trade.side.names.opened_at: opened_at, "voided_at": credit.voided_at}
    return [
        *responses.of_distant_days(context, **days),
        *responses.of_unusual_rate(context, credit, credit.opened_on),
    ]


def serialize_line(side: Side, line: CreditLine) -> dict[str, Any]:
    """Serialize one line."""
    withheld = sum(tax.amount for tax in line.withheld)
    return {
        "id": line.id,
        "amount": line.amount,
        "tax_amount": line.tax_amount,
        "tax_amount_cents": line.tax_amount,
        "tax_code_id": line.tax_code_id,
        "tax_rate": serialize_rate(line.tax_rate),
        "source_line_id": line.source_line_id,
        "withholding_total": withheld,
        "withholding_cents": withheld,
        names_of(side).credit_account: {"type": "AccountId", "id": line.account_id},
        "memo": line.memo,
        "tags": line.tags,
        "metadata": line.metadata,
    }


def serialize_allocation(
    side: Side, credit: Credit, allocation: Allocation, document: Document
) -> dict[str, Any]:
    """Serialize the allocation of a credit to one document."""
    begun, _ = credits.applied_days(credit, allocation)
    return {
        side.names.document_id: document.id,
        side.names.number: document.number,
        "amount_cents": allocation.amount,
        "exchange_difference_cents": exchange_difference(side, allocation),
        f"{side.words.document}_outstanding_balance_cents": documents.outstanding(document),
        "applied_at": day_start(begun),
    }
