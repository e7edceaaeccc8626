"""Locks on a payout and its items, in the common lock order.

Payments and refund payments are locked before payouts, but only the payout names its items. So the
payout is first read without a lock. After its items are locked it is locked and read again; if its
items have changed, the request is retried.
"""

from uuid import UUID

from accounting.bank import payout_changes
from accounting.bank.commands import SavePayout
from accounting.bank.payouts import Money, Payout
from persistence.books import Books
from persistence.engine.faults import StaleRow

Held = dict[UUID, Money]


async def lock_for_upsert(books: Books, command: SavePayout) -> tuple[Payout | None, Held]:
    """Lock the payout with an external id, if it exists, and its present and new items.

    Raises RuleBroken `reference_not_found`.
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
