"""Locks on a vendor refund and its targets, in the common lock order.

Payments and credits are locked before documents, and documents before refunds. But only the refund
names its targets, and only a payment names its documents. So the refund is first read without a
lock. After its targets are locked it is locked and read again; if its targets have changed, the
request is retried.
"""

from uuid import UUID

from accounting.absent import ABSENT, or_else
from accounting.errors import NotFound
from accounting.trade import vendor_refund_changes
from accounting.trade.commands import AgreeVendorRefund, ChangeVendorRefundPayment
from accounting.trade.parties import Party
from accounting.trade.refunds import VendorRefund, VendorRefundPayment, live_allocations
from accounting.trade.vendor_refund_allocation import Affected
from accounting.trade.vendor_refund_changes import Refunded, TargetIds
from persistence.books import Trade
from persistence.engine.faults import StaleRow
from persistence.store import no_such_reference
from persistence.trade.refunds import RefundRecord

Record = RefundRecord[VendorRefund, VendorRefundPayment]


async def lock_for_new(trade: Trade, command: AgreeVendorRefund) -> tuple[Party, Affected] | Record:
    """Lock the targets of a new refund, or find the refund with its external id.

    Raises RuleBroken `reference_not_found`.
    """
    target_ids = vendor_refund_changes.target_ids(None, command.allocations)
    known = command.external_id
    # The external id is read last, after the locks: a refund just committed with it is found.
    party, locked, credited, existing = await trade.books.fetch(
        trade.parties.party(command.party).later(),
        trade.payments.lock_all(target_ids.payments).later(),
        trade.credits.lock_all(target_ids.credits).later(),
        trade.refunds.known_as(known),
    )
    payments, credits, documents = {}, {}, dict
    if existing is None:
        payments, credits = locked(), credited()
        settled = vendor_refund_changes.documents_of([*payments.values(), *credits.values()])
        documents, existing = await trade.books.fetch(
            trade.documents.lock_all(target_ids.documents | settled).later(),
            trade.refunds.known_as(known),
        )
    if existing is not None:
        found: Record = await trade.refunds.shown(existing)
        return found
    return party(), Affected(documents(), payments, credits)


async def lock_named_payment(trade: Trade, payment_id: UUID) -> Refunded:
    """Lock the refund of a payment that a body names, and all its payments, but no targets.

    Raises RuleBroken `reference_not_found`.
    """
    noun = trade.refund_payments.noun
    try:
        found = await trade.refunds.with_payment(payment_id, noun)
    except NotFound:
        raise no_such_reference(noun, payment_id) from None
    return await _with_payments(trade, found, Affected(found.documents, {}, {}))


async def lock_with_payment(
    trade: Trade, payment_id: UUID, command: ChangeVendorRefundPayment
) -> Refunded:
    """Lock the refund of a payment, and its present and new targets if they change.

    Raises NotFound; Stale where If-Match names an older payment; RuleBroken `reference_not_found`.
    """
    found = await trade.refunds.with_payment(payment_id, trade.refund_payments.noun)
    payments_now = {each.id: each for each in found.payments}
    trade.books.check_precondition(payments_now[payment_id], again=True)
    # Documents that are only shown, and do not change, need no lock.
    affected = Affected(found.documents, {}, {})
    if command.allocations is not ABSENT or command.status == "cancelled":
        items = or_else(command.allocations, ())
        affected = await _lock(trade, vendor_refund_changes.target_ids(found.refund, items))
    locked = await _with_payments(trade, found, affected)
    trade.books.check_precondition(locked.payment(payment_id))
    return locked


async def _with_payments(trade: Trade, found: Record, affected: Affected) -> Refunded:
    ids = [each.id for each in found.payments]
    refund, payments = await trade.books.fetch(
        trade.refunds.lock_named(found.id), trade.refund_payments.lock_all(ids)
    )
    if live_allocations(refund) != live_allocations(found.refund):
        raise StaleRow
    return Refunded(refund, tuple(payments[id_] for id_ in ids), affected)


async def _lock(trade: Trade, target_ids: TargetIds) -> Affected:
    payments, credits = await trade.books.fetch(
        trade.payments.lock_all(target_ids.payments), trade.credits.lock_all(target_ids.credits)
    )
    holders = [*payments.values(), *credits.values()]
    settled = vendor_refund_changes.documents_of(holders)
    documents = await trade.documents.lock_all(target_ids.documents | settled)
    return Affected(documents, payments, credits)
