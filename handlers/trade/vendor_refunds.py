"""Vendor refunds: money that vendors refund, first agreed and then paid."""

from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from typing import Any
from uuid import UUID

from access.links import Links
from access.principal import Caller, CallerKind
from accounting.absent import or_else
from accounting.books.accounts import BookAccounts
from accounting.errors import NotAllowed
from accounting.tax.day_codes import TaxReferences
from accounting.trade import vendor_refund_changes
from accounting.trade.commands import AgreeVendorRefund, ChangeVendorRefundPayment, RefundItem
from accounting.trade.refunds import VendorRefundPayment
from accounting.trade.vendor_refund_allocation import AffectedTargets
from accounting.trade.vendor_refund_changes import AmendedRefund
from handlers.bodies import (
    VendorRefundCreate,
    VendorRefundForm,
    VendorRefundPaymentCreate,
    VendorRefundPaymentUpdate,
    VendorRefundUpdate,
)
from handlers.results import Created, ExistingRecord, Reply
from handlers.shared import attached_files, file_commands
from handlers.shared.posting import save_and_post, update_bank_records
from handlers.trade import payment_commands, trade_payments
from handlers.trade.vendor_refund_responses import (
    Record,
    lock_for_new,
    lock_with_payment,
    serialize,
    serialize_payment,
)
from persistence.books import Books, Trade
from persistence.engine.pages import Page, PageRequest
from persistence.trade.linked_lines import NOTHING, Linked
from persistence.trade.refunds import RefundRecord


async def create_vendor_refund_payment(
    books: Books, body: VendorRefundPaymentCreate, links: Links
) -> Reply:
    """Create a refund with its allocations and a single payment.

    If the external id is in use, the existing refund is returned unchanged.
    """
    found = await agree(books, payment_commands.agree_vendor_refund_payment(body))
    record = found if isinstance(found, RefundRecord) else record_of(found)
    shown = await show_payment(books, record, record.payments[0], links)
    return ExistingRecord(shown) if record is found else Created(shown)


async def list_vendor_refund_payments(books: Books, page: PageRequest) -> Page[Reply]:
    """List the payments of all refunds."""
    books.pin_snapshot()
    found = await books.vendor_refund_payments.page_of_all(page)
    linked = await books.bank_links.of(found.rows)
    return found.of(lambda payment: serialize_payment(books, payment, linked))


async def get_vendor_refund_payment(
    books: Books, vendor_refund_payment_id: UUID, links: Links
) -> Reply:
    """Return one payment with its refund."""
    noun = books.vendor_refund_payments.noun
    record = await books.vendor_refunds.with_payment(vendor_refund_payment_id, noun)
    [payment] = [each for each in record.payments if each.id == vendor_refund_payment_id]
    return await show_payment(books, record, payment, links)


async def update_vendor_refund_payment(
    books: Books,
    caller: Caller,
    vendor_refund_payment_id: UUID,
    body: VendorRefundPaymentUpdate,
    links: Links,
) -> Reply:
    """Change the supplied fields of a payment; a list replaces the refund's allocations."""
    command = payment_commands.change_vendor_refund_payment(body)
    refuse_cancelling(caller, command)
    trade, id_ = books.purchases, vendor_refund_payment_id
    before = await lock_with_payment(trade, id_, command)
    referenced = await referenced_by(books, or_else(command.allocations, ()))
    banks = await books.banks_named([command.bank_account_id])
    after = await books.with_rates(
        lambda context: vendor_refund_changes.amend(
            before, id_, command, referenced, context, banks
        )
    )
    await put(trade, before, before.affected, after)
    linked = await books.bank_links.of(after.payments)
    return await show_payment(books, record_of(after, linked), after.payment(id_), links)


async def cancel_vendor_refund_payment(books: Books, vendor_refund_payment_id: UUID) -> Reply:
    """Cancel a payment; cancelling the last payment also undoes its refund."""
    trade, id_ = books.purchases, vendor_refund_payment_id
    cancelling = ChangeVendorRefundPayment(status="cancelled")
    before = await lock_with_payment(trade, id_, cancelling)
    referenced = await referenced_by(books, ())
    after = await books.with_rates(partial(vendor_refund_changes.cancel, before, id_, referenced))
    await put(trade, before, before.affected, after)
    payment = after.payment(id_)
    return {
        "message": "The vendor refund payment is cancelled.",
        "payment_id": payment.id,
        "refund_id": payment.refund_id,
        "status": payment.status,
        "updated_at": payment.updated_at,
    }


async def create_vendor_refund(books: Books, body: VendorRefundCreate, links: Links) -> Reply:
    """Create a refund with its allocations and payments.

    If the external id is in use, the existing refund is returned unchanged.
    """
    file = file_commands.attached(body)
    found = await agree(books, payment_commands.agree_vendor_refund(body))
    if isinstance(found, RefundRecord):
        return ExistingRecord(await trade_payments.show(books.purchases, found, links, serialize))
    attached_files.attach(books, file, "vendor_refund", found.refund.id)
    return Created(await trade_payments.show(books.purchases, record_of(found), links, serialize))


async def list_vendor_refunds(books: Books, page: PageRequest, links: Links) -> Page[Reply]:
    """List refunds."""
    return await trade_payments.list_refunds(books.purchases, page, links, serialize)


async def get_vendor_refund(books: Books, refund_id: UUID, links: Links) -> Reply:
    """Return one refund with its allocations and payments."""
    record = await books.vendor_refunds.shown(refund_id)
    return await trade_payments.show(books.purchases, record, links, serialize)


async def update_vendor_refund(
    books: Books, refund_id: UUID, body: VendorRefundUpdate | VendorRefundForm, links: Links
) -> Reply:
    """Change the descriptive fields of a refund, and add the attached document if there is one."""
    file = file_commands.attached_in_form(body)
    details = payment_commands.describe_vendor_refund(body)
    refund, record = await books.fetch(
        books.vendor_refunds.lock(refund_id), books.vendor_refunds.shown(refund_id)
    )
    added = attached_files.attach(books, file, "vendor_refund", refund_id)
    described = vendor_refund_changes.describe(
        refund, details, books.context, affected=added is not None
    )
    if described is not refund:
        await save_and_post(books.purchases, described)
    whole = replace(record, refund=described)
    return await trade_payments.show(books.purchases, whole, links, serialize)


async def agree(books: Books, command: AgreeVendorRefund) -> AmendedRefund | Record:
    """Create and save a refund, or return the existing one with its external id."""
    trade = books.purchases
    found = await lock_for_new(trade, command)
    if isinstance(found, RefundRecord):
        return found
    party, affected = found
    referenced = await referenced_by(books, command.allocations)
    banks = await books.banks_named(each.bank_account_id for each in command.payments)
    agreed = await books.with_rates(
        lambda context: vendor_refund_changes.agree(
            command, party, affected, referenced, context, banks
        )
    )
    await put(trade, None, affected, agreed)
    return agreed


def refuse_cancelling(caller: Caller, command: ChangeVendorRefundPayment) -> None:
    """Raise NotAllowed if the change cancels a payment and the caller has no business token."""
    if command.status == "cancelled" and caller.kind is not CallerKind.BUSINESS_TOKEN:
        raise NotAllowed(
            "permission_denied", "Only a business token can cancel a vendor refund payment."
        )


async def put(
    trade: Trade, before: AmendedRefund | None, loaded: AffectedTargets, after: AmendedRefund
) -> None:
    """Save the changes of a refund, its payments and its targets, and post them."""
    subjects, moved = vendor_refund_changes.changed(before, loaded, after)
    await save_and_post(trade, *subjects, affected=moved)
    for was in () if before is None else before.payments:
        await update_bank_records(trade, was, after.payment(was.id))


def record_of(refunded: AmendedRefund, linked: Linked = NOTHING) -> Record:
    """Build the record that is serialized; a new refund has no linked bank transactions."""
    documents = dict(refunded.affected.documents)
    return RefundRecord(refunded.refund, refunded.payments, documents, linked)


async def show_payment(
    books: Books, record: Record, payment: VendorRefundPayment, links: Links
) -> dict[str, Any]:
    """Serialize a payment, then its refund and allocations."""
    refund = await trade_payments.show(books.purchases, record, links, serialize)
    return {
        "payment": serialize_payment(books, payment, record.linked),
        "refund": refund,
        "allocations": refund["allocations"],
    }


async def referenced_by(books: Books, items: Iterable[RefundItem]) -> TaxReferences:
    """Load the accounts with roles, and the tax codes where an item names one."""
    named = any(item.tax_code is not None for item in items)
    codes = await books.tax_codes.for_use(needed=named)
    return TaxReferences(BookAccounts(await books.roles(), {}), codes)
