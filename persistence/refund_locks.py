"""What a refund touches, locked in the order that every transaction keeps.

Payments and credits come before documents, and these before refunds; yet what a refund gives back
of is known only by the refund, and which documents a payment settles only by the payment. So the
refund is read first without a lock. When its turn has come it is read again, and if it gives back
of other things by then, the request starts over.
"""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from accounting import vendor_refunding
from accounting.errors import NotFound
from accounting.parties import Party
from accounting.refunds import VendorRefund, VendorRefundPayment, live_allocations
from accounting.vendor_refund_allocation import Touched
from accounting.vendor_refunding import Reach, Refunded
from persistence.faults import StaleRow
from persistence.refunds import RefundRecord
from persistence.store import no_such_reference
from persistence.trade import Trade

Body = Mapping[str, Any]
Record = RefundRecord[VendorRefund, VendorRefundPayment]


async def lock_for_new(trade: Trade, body: Body) -> tuple[Party, Touched] | Record:
    """Lock what a new refund is to give back of; or find the one with its external id.

    Raises RuleBroken `reference_not_found`.
    """
    reach = vendor_refunding.reach(None, body.get("allocations") or ())
    known = body.get("external_id")
    # The external id comes last: whoever said the same one a moment ago is seen after the locks.
    party, locked, existing = await trade.books.ask(
        trade.named(body).later(),
        trade.payments.lock_all(reach.payments).later(),
        trade.refunds.with_external_id(known),
    )
    payments, documents = {}, dict
    if existing is None:
        payments = locked()
        settled = vendor_refunding.documents_of(payments.values())
        documents, existing = await trade.books.ask(
            trade.documents.lock_all(reach.documents | settled).later(),
            trade.refunds.with_external_id(known),
        )
    if existing is not None:
        found: Record = existing
        return found
    return party(), Touched(documents(), payments, {})


async def lock_named_payment(trade: Trade, payment_id: UUID) -> Refunded:
    """Lock the refund of a payment that a body names, and all its payments; nothing is allocated.

    Raises RuleBroken `reference_not_found`.
    """
    noun = trade.refund_payments.noun
    try:
        found = await trade.refunds.with_payment(payment_id, noun)
    except NotFound:
        raise no_such_reference(noun, payment_id) from None
    return await _with_payments(trade, found, Touched(found.documents, {}, {}))


async def lock_with_payment(trade: Trade, payment_id: UUID, body: Body) -> Refunded:
    """Lock the refund of a payment, and what it or a body's list of allocations touches.

    Raises NotFound; Stale where If-Match names an older payment; RuleBroken `reference_not_found`.
    """
    found = await trade.refunds.with_payment(payment_id, trade.refund_payments.noun)
    payments_now = {each.id: each for each in found.payments}
    trade.books.check_precondition(payments_now[payment_id], again=True)
    # What is only shown beside its payments, and not moved, needs no lock.
    touched = Touched(found.documents, {}, {})
    if body.get("allocations") is not None or body.get("status") == "cancelled":
        items = body.get("allocations") or ()
        touched = await _lock(trade, vendor_refunding.reach(found.refund, items))
    locked = await _with_payments(trade, found, touched)
    trade.books.check_precondition(locked.payment(payment_id))
    return locked


async def _with_payments(trade: Trade, found: Record, touched: Touched) -> Refunded:
    ids = [each.id for each in found.payments]
    refund, payments = await trade.books.ask(
        trade.refunds.lock_named(found.id), trade.refund_payments.lock_all(ids)
    )
    if live_allocations(refund) != live_allocations(found.refund):
        raise StaleRow
    return Refunded(refund, tuple(payments[id_] for id_ in ids), touched)


async def _lock(trade: Trade, reach: Reach) -> Touched:
    payments, credits = await trade.books.ask(
        trade.payments.lock_all(reach.payments), trade.credits.lock_all(reach.credits)
    )
    holders = [*payments.values(), *credits.values()]
    settled = vendor_refunding.documents_of(holders)
    documents = await trade.documents.lock_all(reach.documents | settled)
    return Touched(documents, payments, credits)
