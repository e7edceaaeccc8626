"""Invoice refunds: money refunded to customers, first owed and then paid."""

from dataclasses import replace
from typing import Any
from uuid import UUID

from access.links import Links
from accounting.trade import documents, invoice_refund_changes, refunds
from accounting.trade.commands import AgreeRefund
from accounting.trade.credits import Credit
from accounting.trade.documents import Document
from accounting.trade.payments import Payment
from accounting.trade.refunds import InvoiceRefund, RefundAllocation, RefundPayment
from handlers.bodies import (
    InvoiceRefundCreate,
    InvoiceRefundForm,
    InvoiceRefundPaymentCancel,
    InvoiceRefundPaymentCreate,
)
from handlers.results import Created, ExistingRecord, Reply
from handlers.shared import attached_files, file_commands, responses
from handlers.shared.foreign_amounts import serialize_base_of_refund, serialize_money
from handlers.shared.posting import save_and_post, update_bank_records
from handlers.shared.responses import day_start, serialize_lines
from handlers.trade import payment_commands, trade_payments
from persistence.books import Books, Trade
from persistence.engine.pages import Page, PageRequest
from persistence.engine.sql import Fetch
from persistence.files.stored_files import StoredFile
from persistence.trade.linked_lines import NOTHING, Linked
from persistence.trade.refunds import RefundRecord, RefundTarget

Target = Document | Payment | Credit
Record = RefundRecord[InvoiceRefund, RefundPayment]

SHOWN_AS = {
    "document": ("invoice", "invoice {}"),
    "payment": ("payment", "money not applied"),
    "refunded_credit": ("credit", "credit note {}"),
}
"""The type of each allocation kind in responses, and its target in words."""


async def create_invoice_refund(
    books: Books, body: InvoiceRefundCreate | InvoiceRefundForm, links: Links
) -> Reply:
    """Create a refund, and pay it if the body has `completed_at`.

    If the external id is in use, the existing refund is returned unchanged.
    """
    file, command = file_commands.attached_in_form(body), payment_commands.agree_refund(body)
    # Read after the lock, so that a refund just committed with the same external id is found.
    targets, banks, existing = await books.fetch(
        lock_target(books, target_named(command)).later(),
        books.banks_named([command.bank_account_id]).later(),
        books.invoice_refunds.known_as(command.external_id),
    )
    if existing is not None:
        return ExistingRecord(await show(books, await books.invoice_refunds.shown(existing), links))
    [target] = targets().values()
    roles = await books.roles()
    named = banks()
    agreed = await books.with_rates(
        lambda context: invoice_refund_changes.agree(command, target, roles, context, named)
    )
    await save_and_post(
        books.sales, agreed.refund, *filter(None, [agreed.payment]), affected=[agreed.target]
    )
    stored = attached_files.attach(books, file, "invoice_refund", agreed.refund.id)
    paid = () if agreed.payment is None else (agreed.payment,)
    record = RefundRecord(agreed.refund, paid, invoices_of(agreed.target))
    return Created(serialize(books.sales, record, stored, links))


async def list_invoice_refunds(books: Books, page: PageRequest, links: Links) -> Page[Reply]:
    """List refunds."""
    return await trade_payments.list_refunds(books.sales, page, links, serialize)


async def get_invoice_refund(books: Books, refund_id: UUID, links: Links) -> Reply:
    """Return one refund with its payments."""
    return await show(books, await books.invoice_refunds.shown(refund_id), links)


async def cancel_invoice_refund(books: Books, refund_id: UUID, links: Links) -> Reply:
    """Cancel a refund of which nothing is paid."""
    named = await books.invoice_refunds.target_of(refund_id)
    targets, refund, record = await books.fetch(
        lock_target(books, named),
        books.invoice_refunds.lock(refund_id),
        books.invoice_refunds.shown(refund_id),
    )
    [target] = targets.values()
    cancelled, after = invoice_refund_changes.cancel(refund, target, books.context)
    await save_and_post(books.sales, cancelled, affected=[after])
    return await show(books, replace(record, refund=cancelled, documents=invoices_of(after)), links)


async def create_invoice_refund_payment(
    books: Books, refund_id: UUID, body: InvoiceRefundPaymentCreate | None
) -> Reply:
    """Pay a refund, or part of it.

    If the external id is in use, the existing payment is returned unchanged.
    """
    command = payment_commands.pay_refund(body)
    refund, banks, existing = await books.fetch(
        books.invoice_refunds.lock(refund_id),
        books.banks_named([command.bank_account_id]).later(),
        books.invoice_refund_payments.with_external_id(command.external_id),
    )
    if existing is not None:
        invoice_refund_changes.refuse_elsewhere(refund, existing)
        linked = await books.bank_links.of([existing])
        return ExistingRecord(serialize_payment(books, existing, linked))
    named = banks()
    after, payment = await books.with_rates(
        lambda context: invoice_refund_changes.pay(refund, command, context, named)
    )
    await save_and_post(books.sales, after, payment)
    return Created(serialize_payment(books, payment))


async def list_invoice_refund_payments(
    books: Books, refund_id: UUID, page: PageRequest
) -> Page[Reply]:
    """List the payments of a refund, newest first."""
    books.pin_snapshot()
    found = await books.invoice_refund_payments.page(refund_id, page)
    linked = await books.bank_links.of(found.rows)
    return found.of(lambda payment: serialize_payment(books, payment, linked))


async def get_invoice_refund_payment(
    books: Books, refund_id: UUID, refund_payment_id: UUID
) -> Reply:
    """Return one payment of a refund."""
    payment, linked = await books.fetch(
        books.invoice_refund_payments.of(refund_id, refund_payment_id),
        books.bank_links.at(refund_payment_id),
    )
    return serialize_payment(books, payment, linked)


async def cancel_invoice_refund_payment(
    books: Books, refund_id: UUID, refund_payment_id: UUID, body: InvoiceRefundPaymentCancel | None
) -> Reply:
    """Cancel a payment of a refund."""
    refund, payment = await books.fetch(
        books.invoice_refunds.lock_named(refund_id),
        books.invoice_refund_payments.lock_of(refund_id, refund_payment_id),
    )
    on = payment_commands.cancelled_on(body)
    after, cancelled = invoice_refund_changes.cancel_payment(refund, payment, on, books.context)
    await save_and_post(books.sales, after, cancelled)
    await update_bank_records(books.sales, payment, cancelled)
    return serialize_payment(books, cancelled, await books.bank_links.of([cancelled]))


def target_named(command: AgreeRefund) -> RefundTarget:
    """Return the target of a new refund, as the command names it."""
    return RefundTarget(command.document_id, command.payment_id, command.credit_id)


def lock_target(books: Books, named: RefundTarget) -> Fetch[Any]:
    """Lock the target of a refund: an invoice, a payment with unapplied money, or a credit."""
    if named.payment_id is not None:
        return books.invoice_payments.lock_all([named.payment_id])
    if named.refunded_credit_id is not None:
        return books.sales.credits.lock_all([named.refunded_credit_id])
    assert named.document_id is not None, "the contract asks for one of the three"
    return books.invoices.lock_all([named.document_id])


def invoices_of(target: Target) -> dict[UUID, Document]:
    """Return the target by its id if it is an invoice, else nothing."""
    return {target.id: target} if isinstance(target, Document) else {}


async def show(books: Books, record: Record, links: Links) -> Reply:
    """Serialize a refund with its latest document."""
    return await trade_payments.show(books.sales, record, links, serialize)


def serialize(
    trade: Trade, record: Record, stored: StoredFile | None, links: Links
) -> dict[str, Any]:
    """Serialize a refund with its allocations and payments."""
    refund = record.refund
    return {
        "id": refund.id,
        "business_id": trade.books.business_id,
        "customer_id": refund.party.id,
        "customer_name": refund.party.name,
        "external_id": refund.external_id,
        "reference_number": refund.reference_number,
        "status": refunds.invoice_refund_status(refund),
        "currency": refund.currency,
        "refunded_amount": refund.amount,
        **serialize_base_of_refund(refund),
        "paid_amount": refund.paid,
        "is_dedicated": refunds.is_dedicated(refund),
        "method": refund.method.upper(),
        "bank_account_id": refund.bank and refund.bank.id,
        "processor": refund.processor,
        "memo": refund.memo,
        "metadata": refund.metadata,
        "allocations": [
            serialize_allocation(each, record) for each in refunds.live_allocations(refund)
        ],
        "refund_payments": [
            serialize_payment(trade.books, each, record.linked) for each in record.payments
        ],
        "document": attached_files.summary(stored, links),
        "completed_at": refund.completed_at,
        "warnings": responses.of_distant_days(
            trade.books.context, completed_at=refund.completed_at
        ),
        "created_at": refund.created_at,
        "updated_at": refund.updated_at,
    }


def serialize_allocation(allocation: RefundAllocation, record: Record) -> dict[str, Any]:
    """Serialize the allocation of a refund to its target."""
    id_ = allocation.target_id
    invoice = record.documents.get(id_)
    begun, _ = refunds.agreed_days(record.refund, allocation)
    kind, named = SHOWN_AS[allocation.kind]
    named = named.format(allocation.target_number)
    return {
        "id": allocation.id,
        "allocation_type": kind,
        "amount": allocation.amount,
        "invoice_id": invoice.id if invoice else None,
        "invoice_number": invoice.number if invoice else None,
        "invoice_outstanding_balance_cents": documents.outstanding(invoice) if invoice else None,
        "payment_id": id_ if kind == "payment" else None,
        "credit_id": id_ if kind == "credit" else None,
        "credit_note_number": allocation.target_number if kind == "credit" else None,
        "target_description": named[0].upper() + named[1:],
        "description": f"Refund of {named}",
        "allocation_date": day_start(begun),
    }


def serialize_payment(
    books: Books, payment: RefundPayment, linked: Linked = NOTHING
) -> dict[str, Any]:
    """Serialize one payment of a refund; a new payment has no linked bank transactions."""
    return {
        "id": payment.id,
        "refund_id": payment.refund_id,
        "external_id": payment.external_id,
        "status": payment.status,
        "currency": payment.currency,
        **serialize_money(payment, payment.amount, books),
        "refunded_amount": payment.amount,
        "refund_processing_fee": payment.fee,
        "method": payment.method.upper(),
        "bank_account_id": payment.bank and payment.bank.id,
        "processor": payment.processor,
        "memo": payment.memo,
        "transaction_tags": payment.transaction_tags,
        "metadata": payment.metadata,
        "reconciled_bank_transactions": serialize_lines(linked.get(payment.id, ())),
        "completed_at": payment.completed_at,
        "warnings": [
            *responses.of_distant_days(books.context, completed_at=payment.completed_at),
            *responses.of_unusual_rate(books.context, payment, payment.completed_on),
        ],
        "cancelled_at": payment.cancelled_at,
        "created_at": payment.created_at,
        "updated_at": payment.updated_at,
    }
