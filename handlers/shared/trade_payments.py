"""What invoice payments and bill payments do alike: money, and what it settles.

Each side shows a payment in its own words, by the `shape` that it passes.
"""

from collections.abc import Callable
from typing import Any
from uuid import UUID

from accounting.trade import payment_changes
from accounting.trade.allocation import documents_affected
from accounting.trade.commands import ChangePayment, RecordPayment
from accounting.trade.documents import Document
from accounting.trade.payment_changes import Amended
from accounting.trade.payments import Payment
from handlers.results import Created, Reply
from handlers.shared.posting import follow, keep
from persistence.books import Trade
from persistence.engine.pages import Page, PageRequest
from persistence.trade.payments import PaymentRecord

Shape = Callable[[Trade, PaymentRecord], dict[str, Any]]


async def create(trade: Trade, command: RecordPayment, shape: Shape) -> Reply:
    """Record a payment and what it settles; one with this external id is answered as it is."""
    books, affected = trade.books, documents_affected((), command.allocations)
    # The external id comes last: whoever said the same one a moment ago is seen after the locks.
    party, documents, existing = await books.fetch(
        trade.parties.party(command.party).later(),
        trade.documents.lock_all(affected).later(),
        trade.payments.known_as(command.external_id),
    )
    if existing is not None:
        return {"payment": shape(trade, await trade.payments.shown(existing))}
    made = payment_changes.record(trade.side, command, party(), documents(), books.context)
    return Created(await _put(trade, made, shape))


async def listed(trade: Trade, page: PageRequest, shape: Shape) -> Page[Reply]:
    """List payments."""
    return (await trade.payments.records(page)).of(lambda found: shape(trade, found))


async def amend(trade: Trade, id: UUID, command: ChangePayment, shape: Shape) -> Reply:
    """Change a payment, and which documents it settles where a list is given."""
    payment, documents = await _lock(trade, id, command)
    amended = payment_changes.amend(trade.side, payment, documents, command, trade.books.context)
    if amended.payment is payment:
        return await _answer(trade, amended, shape)
    await follow(trade, payment, amended.payment)
    return await _put(trade, amended, shape)


async def cancel(trade: Trade, id: UUID, shape: Shape) -> Reply:
    """Cancel a payment that is pending or failed; what it reserves is released."""
    payment, documents = await _lock(trade, id, ChangePayment())
    cancelled = payment_changes.cancel(trade.side, payment, documents, trade.books.context)
    await follow(trade, payment, cancelled.payment)
    return await _put(trade, cancelled, shape)


async def _lock(
    trade: Trade, id: UUID, command: ChangePayment
) -> tuple[Payment, dict[UUID, Document]]:
    """Lock a payment, then every document that it or the command allocates to."""
    payment = await trade.payments.lock(id)
    affected = documents_affected(payment.allocations, command.allocations)
    return payment, await trade.documents.lock_all(affected)


async def _put(trade: Trade, amended: Amended, shape: Shape) -> Reply:
    """Save a payment and the documents that moved with it, and post what it asks for."""
    await keep(trade, amended.payment, moved=amended.changed)
    return await _answer(trade, amended, shape)


async def _answer(trade: Trade, amended: Amended, shape: Shape) -> Reply:
    """Show a payment as it is kept, with its refunds, its bank lines and its payout."""
    payment, documents = amended.payment, dict(amended.documents)
    refunds, linked, payout = await trade.books.fetch(
        trade.payments.refunds_of(payment, documents),
        trade.books.bank_links.of([payment]),
        trade.payments.payout_of(payment),
    )
    record = PaymentRecord(payment, documents, refunds, linked.get(payment.id, ()), payout)
    return {"payment": shape(trade, record)}
