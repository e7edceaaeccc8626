"""Tax returns: drafts, whose figures are computed when they are read, and filed returns."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from accounting.tax import returns
from accounting.tax.returns import ReturnStatus
from handlers.bodies import TaxReturnCreate, TaxReturnFile, TaxReturnSupersede
from handlers.results import Created, Reply
from handlers.shared.links import lines_of_return
from handlers.tax import tax_commands
from handlers.tax.return_settlements import settle
from handlers.tax.tax_return_responses import (
    drawn_up,
    members_of,
    read,
    selected,
    serialize_line,
    serialize_tax_return,
    summarize,
    worked_out,
)
from persistence.books import Books
from persistence.engine.pages import Page, PageRequest
from persistence.tax.tax_returns import TaxReturnRecord


async def list_tax_returns(books: Books, page: PageRequest) -> Page[Reply]:
    """List tax returns without their figures."""
    return (await books.tax_returns.page(page)).of(summarize)


async def create_tax_return(books: Books, body: TaxReturnCreate) -> Reply:
    """Create a draft of a tax return."""
    await books.fetch()
    draft = returns.created(tax_commands.create_tax_return(body), books.context)
    books.save(draft)
    return Created(await show(books, TaxReturnRecord(draft, None)))


async def get_tax_return(books: Books, tax_return_id: UUID) -> Reply:
    """Return one tax return; the figures of a draft are computed from the books now."""
    books.pin_snapshot()
    return await show(books, await books.tax_returns.get(tax_return_id))


async def list_tax_return_entries(
    books: Books, tax_return_id: UUID, page: PageRequest, query: Mapping[str, Any]
) -> Page[Reply]:
    """List the posted lines behind the figures of a tax return."""
    books.pin_snapshot()
    found = await books.tax_returns.get(tax_return_id)
    has = await members_of(books, found.tax_return)
    wanted = await selected(books, found.tax_return, has, query)
    lines = await books.tax_returns.lines(page, wanted, await books.roles())
    country, box = books.business.country, query.get("box")
    return lines.of(lambda line: serialize_line(line, country, has.codes, box))


async def file_tax_return(books: Books, tax_return_id: UUID, body: TaxReturnFile | None) -> Reply:
    """Mark a draft as filed; its figures and entries are fixed, and no other return counts them.

    Its settlement is posted before the lock moves, and is in no return.
    """
    command = tax_commands.file_tax_return(body)
    # Meanwhile no request posts an entry or files another return.
    books.run_alone()
    draft = (await books.tax_returns.lock(tax_return_id)).tax_return
    filed = await books.tax_returns.filed()
    returns.refuse_filing(draft, filed, books.context)
    has = await members_of(books, draft)
    figures = await worked_out(books, draft, has)
    reached = await books.tax_returns.reached()
    done = returns.filed(draft, command, (has.slices, figures), reached, books.context)
    if command.settle:
        done = await settle(books, done, has)
    if draft.supersedes_id is not None:
        old = await books.tax_returns.get(draft.supersedes_id)
        books.save(returns.superseded(old.tax_return, books.context))
    books.save(done)
    if command.lock:
        books.tax_returns.lock_up_to(returns.locked_to(draft, books.context))
    return await show(books, TaxReturnRecord(done, None))


async def supersede_tax_return(
    books: Books, tax_return_id: UUID, body: TaxReturnSupersede
) -> Reply:
    """Create a draft that is to replace a filed tax return."""
    reason = tax_commands.reason_to_supersede(body)
    old = (await books.tax_returns.lock(tax_return_id)).tax_return
    draft = returns.superseding(old, reason, books.context)
    books.save(draft)
    return Created(await show(books, TaxReturnRecord(draft, None)))


async def delete_tax_return(books: Books, tax_return_id: UUID) -> Reply:
    """Delete a draft."""
    found = await books.tax_returns.lock(tax_return_id)
    returns.refuse_deleting(found.tax_return)
    books.tax_returns.delete(found.tax_return)
    return {"deleted": True}


async def show(books: Books, record: TaxReturnRecord) -> Reply:
    """Serialize a tax return; a filed return has the figures of its filing."""
    if record.tax_return.status is ReturnStatus.DRAFT:
        _, figures = await drawn_up(books, record.tax_return)
    else:
        figures = read(record.tax_return)
    return serialize_tax_return(record, figures, lines_of_return(books.business.id, record.id))
