"""Invoice payments and bill payments: operations that both sides share.

Each side passes the `serialize` function that serializes its payments.
"""

from collections.abc import Callable
from typing import Any
from uuid import UUID

from access.links import Links
from accounting.files.uploads import AcceptedFile
from accounting.trade import payment_changes
from accounting.trade.allocation import documents_affected
from accounting.trade.commands import ChangePayment, RecordPayment
from accounting.trade.documents import Document
from accounting.trade.payment_changes import AmendedPayment
from accounting.trade.payments import Payment
from handlers.results import Created, ExistingRecord, Reply
from handlers.shared import attached_files, responses
from handlers.shared.posting import save_and_post, update_bank_records
from handlers.shared.responses import Warnings
from persistence.books import Books, Trade
from persistence.engine.pages import Page, PageRequest
from persistence.files.stored_files import StoredFile
from persistence.trade.payments import PaymentRecord
from persistence.trade.refunds import RefundRecord

SerializePayment = Callable[[Trade, PaymentRecord, StoredFile | None, Links], dict[str, Any]]


async def create(
    trade: Trade,
    command: RecordPayment,
    file: AcceptedFile | None,
    links: Links,
    serialize: SerializePayment,
) -> Reply:
    """Record a payment with its allocations; a known external id returns that payment."""
    books, affected = trade.books, documents_affected((), command.allocations)
    # The external id is read last, after the locks: a payment just committed with it is found.
    party, documents, banks, existing = await books.fetch(
        trade.parties.party(command.party).later(),
        trade.documents.lock_all(affected).later(),
        trade.books.banks_named([command.bank_account_id]).later(),
        trade.payments.known_as(command.external_id),
    )
    if existing is not None:
        return ExistingRecord({"payment": await read(trade, existing, links, serialize)})
    payer, named, settled = party(), banks(), documents()
    made = await books.with_rates(
        lambda context: payment_changes.record(trade.side, command, payer, settled, context, named)
    )
    attached_files.attach(books, file, f"{trade.side.words.document}_payment", made.payment.id)
    return Created(await _put(trade, made, links, serialize))


def warnings(books: Books, payment: Payment) -> Warnings:
    """Warn of a payment on a distant day, and at an unusual exchange rate."""
    context, on = books.context, payment.payment_date
    return [
        *responses.of_distant_days(context, payment_date=on),
        *responses.of_unusual_rate(context, payment, on),
    ]


async def read(trade: Trade, id: UUID, links: Links, serialize: SerializePayment) -> Reply:
    """Read a payment with its allocations and its latest document."""
    record, stored = await trade.books.fetch(
        trade.payments.shown(id), trade.books.files.latest([id])
    )
    return serialize(trade, record, stored.get(id), links)


async def list_payments(
    trade: Trade, page: PageRequest, links: Links, serialize: SerializePayment
) -> Page[Reply]:
    """List payments, each with its latest document."""
    found = await trade.payments.records(page)
    stored = await trade.books.files.latest([record.id for record in found.rows])
    return found.of(lambda record: serialize(trade, record, stored.get(record.id), links))


async def amend(
    trade: Trade, id: UUID, command: ChangePayment, links: Links, serialize: SerializePayment
) -> Reply:
    """Change a payment; a supplied list replaces its allocations."""
    payment, documents = await _lock(trade, id, command)
    banks = await trade.books.banks_named([command.bank_account_id])
    amended = await trade.books.with_rates(
        lambda context: payment_changes.amend(
            trade.side, payment, documents, command, context, banks
        )
    )
    if amended.payment is payment:
        return await _answer(trade, amended, links, serialize)
    await update_bank_records(trade, payment, amended.payment)
    return await _put(trade, amended, links, serialize)


async def cancel(trade: Trade, id: UUID, links: Links, serialize: SerializePayment) -> Reply:
    """Cancel a pending or failed payment, and release the amounts that it reserves."""
    payment, documents = await _lock(trade, id, ChangePayment())
    cancelled = payment_changes.cancel(trade.side, payment, documents, trade.books.context)
    await update_bank_records(trade, payment, cancelled.payment)
    return await _put(trade, cancelled, links, serialize)


async def _lock(
    trade: Trade, id: UUID, command: ChangePayment
) -> tuple[Payment, dict[UUID, Document]]:
    """Lock a payment, then every document to which it or the command allocates."""
    payment = await trade.payments.lock(id)
    affected = documents_affected(payment.allocations, command.allocations)
    return payment, await trade.documents.lock_all(affected)


async def _put(
    trade: Trade, amended: AmendedPayment, links: Links, serialize: SerializePayment
) -> Reply:
    """Save a payment and its changed documents, and post the payment."""
    await save_and_post(trade, amended.payment, affected=amended.changed)
    return await _answer(trade, amended, links, serialize)


async def _answer(
    trade: Trade, amended: AmendedPayment, links: Links, serialize: SerializePayment
) -> Reply:
    """Serialize a saved payment, with its refunds, bank transactions, payout and document."""
    payment, documents = amended.payment, dict(amended.documents)
    refunds, linked, payout, stored = await trade.books.fetch(
        trade.payments.refunds_of(payment, documents),
        trade.books.bank_links.of([payment]),
        trade.payments.payout_of(payment),
        trade.books.files.latest([payment.id]),
    )
    record = PaymentRecord(payment, documents, refunds, linked.get(payment.id, ()), payout)
    return {"payment": serialize(trade, record, stored.get(payment.id), links)}


# Invoice refunds and vendor refunds: operations that both sides share.


SerializeRefund = Callable[[Trade, Any, StoredFile | None, Links], dict[str, Any]]


async def list_refunds(
    trade: Trade, page: PageRequest, links: Links, serialize: SerializeRefund
) -> Page[Reply]:
    """List refunds, each with its latest document."""
    found = await trade.refunds.records(page)
    stored = await trade.books.files.latest([record.id for record in found.rows])
    return found.of(lambda record: serialize(trade, record, stored.get(record.id), links))


async def show(
    trade: Trade, record: RefundRecord[Any, Any], links: Links, serialize: SerializeRefund
) -> Reply:
    """Serialize a refund with its latest document."""
    stored = await trade.books.files.latest([record.id])
    return serialize(trade, record, stored.get(record.id), links)
