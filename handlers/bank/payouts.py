"""Payouts: money that payment processors transfer to the business."""

from typing import Any
from uuid import UUID

from accounting.bank import payout_changes, payouts
from accounting.bank.commands import SavePayout
from accounting.bank.payout_changes import PaidOut
from accounting.bank.payouts import Money, OtherItem, Payout
from accounting.books.accounts import BookAccounts
from accounting.books.businesses import Context
from accounting.tax.day_codes import TaxReferences
from accounting.trade.payments import Payment
from accounting.trade.refunds import RefundPayment
from handlers.bank import bank_commands
from handlers.bodies import PayoutCreate
from handlers.results import Created, Reply
from handlers.shared import responses
from handlers.shared.foreign_amounts import serialize_money
from handlers.shared.posting import save_and_post_banked
from handlers.shared.responses import serialize_lines
from persistence.bank.payouts import PayoutRecord, PayoutSummary
from persistence.books import Books
from persistence.engine.database_errors import StaleRow
from persistence.engine.pages import Page, PageRequest
from persistence.trade.linked_lines import Linked

# Locks on a payout and its items, in the common lock order.


Held = dict[UUID, Money]


async def lock_for_upsert(books: Books, command: SavePayout) -> tuple[Payout | None, Held]:
    """Lock the payout with an external id, if it exists, and its present and new items.

    Raises RuleViolation `reference_not_found`.
    """
    found = await books.payouts.with_external_id(command.external_id)
    if found is None:
        return None, await _lock_money(books, None, command)
    return await _lock(books, found, command)


async def lock_for_deletion(books: Books, id_: UUID) -> tuple[Payout, Held]:
    """Lock a payout and its items.

    Raises NotFound, and Stale where If-Match names an older payout.
    """
    found = (await books.payouts.shown(id_)).payout
    books.check_precondition(found, again=True)
    payout, held = await _lock(books, found, None)
    books.check_precondition(payout)
    return payout, held


async def _lock(books: Books, found: Payout, command: SavePayout | None) -> tuple[Payout, Held]:
    held = await _lock_money(books, found, command)
    payout = await books.payouts.lock_known(found.id)
    if payout is None or payout.items != found.items:
        raise StaleRow
    return payout, held


async def _lock_money(books: Books, found: Payout | None, command: SavePayout | None) -> Held:
    payments, refunds = payout_changes.money_affected(found, command)
    paid, given_back = await books.fetch(
        books.invoice_payments.lock_all(payments), books.invoice_refund_payments.lock_all(refunds)
    )
    held: Held = {**paid, **given_back}
    return held


async def create_payout(books: Books, body: PayoutCreate) -> Reply:
    """Record a payout, or update the one with the same external id."""
    command = bank_commands.save_payout(body)
    named, banks, codes = await books.fetch(
        books.accounts.named(payouts.account_references(command)),
        books.banks_named([command.bank_account_id]),
        books.tax_codes.for_use(needed=payouts.names_codes(command)),
    )
    known, money = await lock_for_upsert(books, command)
    referenced = TaxReferences(BookAccounts(await books.roles(), named), codes)

    def saved(context: Context) -> PaidOut:
        if known is None:
            return payout_changes.announce(command, money, referenced, context, banks)
        return payout_changes.update(known, command, money, referenced, context, banks)

    made = await books.with_rates(saved)
    if made.payout is not known:
        await put(books, made)
    linked = await books.bank_links.of([made.payout])
    shown = serialize(books, PayoutRecord(made.payout, money), linked)
    return Created(shown) if known is None else shown


async def list_payouts(books: Books, page: PageRequest) -> Page[Reply]:
    """List payouts without their items."""
    found = await books.payouts.summaries(page)
    return found.of(lambda each: serialize_summary(books, each))


async def get_payout(books: Books, payout_id: UUID) -> Reply:
    """Return one payout with its items."""
    found, linked = await books.fetch(
        books.payouts.shown(payout_id), books.bank_links.at(payout_id)
    )
    return serialize(books, found, linked)


async def delete_payout(books: Books, payout_id: UUID) -> Reply:
    """Delete a payout, and release its items."""
    payout, money = await lock_for_deletion(books, payout_id)
    await put(books, payout_changes.delete(payout, money, books.context))
    return {"deleted": True}


async def put(books: Books, made: PaidOut) -> None:
    """Save a payout and the payments that joined or left it, and post the payout."""
    books.sales.save(*made.moved)
    await save_and_post_banked(books, made.payout)


def serialize(books: Books, found: PayoutRecord, linked: Linked) -> dict[str, Any]:
    """Serialize a payout with its items, in the order in which they were listed."""
    items: list[Money] = [found.money[each.money_id] for each in payouts.listed(found.payout)]
    payout = payouts.counted_now(found.payout, items)
    payments = [serialize_payment(each) for each in items if isinstance(each, Payment)]
    refunds = [serialize_refund(each) for each in items if isinstance(each, RefundPayment)]
    return {
        **serialize_summary(books, PayoutSummary(payout, len(payments), len(refunds))),
        "payments": payments,
        "refund_payments": refunds,
        "other_items": [serialize_other_item(each) for each in payout.other_items],
        "reconciled_bank_transactions": serialize_lines(linked.get(payout.id, ())),
        "warnings": [
            *responses.of_payout_day(too_early=payouts.is_before_its_money(payout, items)),
            *responses.of_distant_days(books.context, completed_at=payout.completed_at),
            *responses.of_unusual_rate(books.context, payout, payout.completed_on),
        ],
    }


def serialize_summary(books: Books, found: PayoutSummary) -> dict[str, Any]:
    """Serialize a payout with its totals."""
    payout = found.payout
    return {
        "id": payout.id,
        "business_id": books.business_id,
        "external_id": payout.external_id,
        "processor": payout.processor,
        "bank_account_id": payout.bank and payout.bank.id,
        "processor_payout_id": payout.processor_payout_id,
        "paid_out_amount_cents": payout.paid_out,
        "fee_cents": payout.fee,
        "additional_refunds_amount_cents": payout.additional_refunds,
        "net_amount_cents": payouts.net_amount(payout),
        "currency": payout.currency,
        **serialize_money(payout, payout.paid_out, books),
        "status": payout.status,
        "completed_at": payout.completed_at,
        "imported_at": payout.imported_at,
        "reference_number": payout.reference_number,
        "memo": payout.memo,
        "metadata": payout.metadata or {},
        "payment_count": found.payments,
        "refund_payment_count": found.refund_payments,
        "gross_payments_amount_cents": payout.gross_payments,
        "total_refunds_amount_cents": payout.total_refunds,
        "other_items_amount_cents": payouts.total(payout.other_items),
        "expected_net_amount_cents": payouts.expected_net(payout),
        "amount_variance_cents": payouts.variance(payout),
        "reconciliation_status": payouts.reconciliation_status(payout),
        "settlement_file_id": None,
        "created_at": payout.created_at,
        "updated_at": payout.updated_at,
    }


def serialize_payment(payment: Payment) -> dict[str, Any]:
    """Serialize a payment in a payout."""
    return {
        "id": payment.id,
        "external_id": payment.external_id,
        "payment_reference": payment.payment_reference,
        "customer_name": payment.party.name,
        "payment_date": payment.payment_date,
        "total_amount_cents": payment.total,
        "currency": payment.currency,
        "status": payment.status,
    }


def serialize_other_item(item: OtherItem) -> dict[str, Any]:
    """Serialize an item of a payout that is neither a payment nor a refund."""
    return {
        "type": item.kind,
        "amount_cents": item.amount,
        "account_id": item.account_id,
        "description": item.description,
        "external_id": item.external_id,
        "payment_id": item.payment_id,
        "tax_code_id": None if item.tax is None else item.tax.code_id,
        "tax_cents": 0 if item.tax is None else item.tax.total,
    }


def serialize_refund(payment: RefundPayment) -> dict[str, Any]:
    """Serialize a refund payment that was deducted from a payout."""
    return {
        "id": payment.id,
        "external_id": payment.external_id,
        "refund_id": payment.refund_id,
        "customer_name": payment.party.name,
        "refunded_amount_cents": payment.amount,
        "completed_at": payment.completed_at,
        "status": payment.status,
    }
