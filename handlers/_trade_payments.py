"""What the desks of invoice payments and bill payments do alike: money, and what it settles.

Each desk shows a payment in its own words, by the `shape` that it hands over.
"""

from collections.abc import Callable, Mapping
from typing import Any
from uuid import UUID

from accounting import settling
from accounting.allocation import documents_touched
from accounting.documents import Document
from accounting.payments import Payment
from accounting.settling import Amended
from handlers._posting import follow, keep
from handlers.replies import Created, Reply
from persistence.pages import Page, PageRequest
from persistence.payments import PaymentRecord
from persistence.trade import Trade

Body = Mapping[str, Any]
Shape = Callable[[Trade, PaymentRecord], dict[str, Any]]


async def create(trade: Trade, body: Body, shape: Shape) -> Reply:
    """Record a payment and what it settles; one with this external id is answered as it is."""
    books, touched = trade.books, documents_touched(trade.side, (), body)
    # The external id comes last: whoever said the same one a moment ago is seen after the locks.
    party, documents, existing = await books.ask(
        trade.named(body).later(),
        trade.documents.lock_all(touched).later(),
        trade.payments.with_external_id(body.get("external_id")),
    )
    if existing is not None:
        return {"payment": shape(trade, await trade.payments.shown(existing))}
    given = {**body, "idempotency_key": books.idempotency_key}
    made = settling.record(trade.side, given, party(), documents(), books.occasion)
    return Created(await _put(trade, made, shape))


async def listed(trade: Trade, page: PageRequest, shape: Shape) -> Page[Reply]:
    """List payments."""
    return (await trade.payments.records(page)).of(lambda found: shape(trade, found))


async def amend(trade: Trade, id: UUID, body: Body, shape: Shape, *, whole: bool = False) -> Reply:
    """Change a payment; a body that is the `whole` also clears the descriptions it lacks."""
    payment, documents = await _lock(trade, id, body)
    amended = settling.amend(
        trade.side, payment, documents, body, trade.books.occasion, whole=whole
    )
    if amended.payment is payment:
        return await _answer(trade, amended, shape)
    await follow(trade, payment, amended.payment)
    return await _put(trade, amended, shape)


async def cancel(trade: Trade, id: UUID, shape: Shape) -> Reply:
    """Cancel a payment that is pending or failed; what it reserves is released."""
    payment, documents = await _lock(trade, id, {})
    cancelled = settling.cancel(trade.side, payment, documents, trade.books.occasion)
    await follow(trade, payment, cancelled.payment)
    return await _put(trade, cancelled, shape)


async def _lock(trade: Trade, id: UUID, body: Body) -> tuple[Payment, dict[UUID, Document]]:
    """Lock a payment, then every document that it or the body allocates to."""
    payment = await trade.payments.lock(id)
    touched = documents_touched(trade.side, payment.allocations, body)
    return payment, await trade.documents.lock_all(touched)


async def _put(trade: Trade, amended: Amended, shape: Shape) -> Reply:
    """Save a payment and the documents that moved with it, and post what it asks for."""
    await keep(trade, amended.payment, moved=amended.changed)
    return await _answer(trade, amended, shape)


async def _answer(trade: Trade, amended: Amended, shape: Shape) -> Reply:
    """Show a payment as it is kept, with its refunds, its bank lines and its payout."""
    payment, documents = amended.payment, dict(amended.documents)
    refunds, linked, payout = await trade.books.ask(
        trade.payments.refunds_of(payment, documents),
        trade.books.bank_links.of([payment]),
        trade.payments.payout_of(payment),
    )
    record = PaymentRecord(payment, documents, refunds, linked.get(payment.id, ()), payout)
    return {"payment": shape(trade, record)}
