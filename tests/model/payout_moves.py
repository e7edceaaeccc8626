"""What may be done with payouts, and what that changes."""

from collections.abc import Sequence
from copy import copy
from typing import TypeVar

from tests.model.books import Body, Books, day_of
from tests.model.records import Payment, Payout, RefundPayment
from tests.model.refusals import Faults, gone

T = TypeVar("T", Payment, RefundPayment)
CLEARING = "1150"


def bring(books: Books, body: Body) -> tuple[Payout, list[Payment | RefundPayment]]:
    """Make a payout, or bring the one with this external id in line; and name what it touches."""
    known = named(books, body.get("external_id"))
    faults = Faults()
    before = Payout(None) if known is None else copy(known)
    payments = chosen(faults, body.get("payment_ids"), books.payments, before.payments)
    back = chosen(
        faults, body.get("refund_payment_ids"), books.refund_payments, before.refund_payments
    )
    items: list[Payment | RefundPayment] = [*payments, *back]
    status = body.get("status", before.status)
    for each in items if status in Payout.LIVE else ():
        check_item(books, faults, known, each)
    day = day_of(body.get("completed_at")) or before.paid_on
    if status == "paid":
        day = day or books.today
    is_new_day = not before.was_paid or day != before.paid_on
    if is_new_day and (before.was_paid or status == "paid"):
        books.locked(faults, day)
    faults.refuse()
    payout = known or Payout(body.get("external_id"))
    payout.payments, payout.refund_payments = payments, back
    payout.paid_out = body["paid_out_amount_cents"]
    payout.fee = body.get("fee_cents", payout.fees if known is None else payout.fee)
    payout.additional = body.get("additional_refunds_amount_cents", payout.additional)
    payout.status, payout.paid_on = status, day
    payout.was_paid = before.was_paid or status == "paid"
    left: list[Payment | RefundPayment] = [*before.payments, *before.refund_payments]
    return payout, list(dict.fromkeys([*items, *left]))


def named(books: Books, external_id: str | None) -> Payout | None:
    """Find a payout by its external id."""
    found = (each for each in books.payouts.values() if external_id == each.external_id)
    return next(found, None) if external_id else None


def chosen(
    faults: Faults, ids: Sequence[str] | None, records: dict[str, T], without: list[T]
) -> list[T]:
    """Read a list of items; left out, they stay."""
    if ids is None:
        return without
    faults.add(422, "reference_not_found", any(id not in records for id in ids))
    return [records[id] for id in dict.fromkeys(ids) if id in records]


def check_item(
    books: Books, faults: Faults, payout: Payout | None, item: Payment | RefundPayment
) -> None:
    """Look whether money can be in a payout; what it holds already may have bounced."""
    held_by = books.payout_of(item)
    if held_by is not None and held_by is payout:
        return
    faults.add(409, "already_in_payout", held_by is not None)
    faults.add(409, "item_not_completed", not item.is_completed)
    account = books.side.money(item.method, item.processor)
    faults.add(422, "item_not_in_clearing", account != CLEARING)


def delete(books: Books, id: str) -> Payout:
    """Delete a payout: nothing is held any more, and its name is free."""
    if id not in books.payouts:
        raise gone("payout_not_found")
    return books.payouts.pop(id)
