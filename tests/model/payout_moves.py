"""The moves of payouts in the model, and their effects."""

from collections.abc import Sequence
from copy import copy
from typing import TypeVar

from tests.model.books import Body, Books
from tests.model.pricing import Line, compute, gross, read_code
from tests.model.records import Payment, Payout, RefundPayment
from tests.model.refusals import Faults, find, refused

T = TypeVar("T", Payment, RefundPayment)
CLEARING = "1150"
OTHERS = {"chargeback": "6150", "dispute": "6100", "reserve": "1160"}


def bring(books: Books, body: Body) -> tuple[Payout, list[Payment | RefundPayment]]:
    """Create a payout, or update the one with this external id; return it and its money."""
    known = named(books, body.get("external_id"))
    faults = Faults()
    before = Payout(body.get("external_id")) if known is None else known
    after = copy(before)
    after.payments = chosen(faults, body.get("payment_ids"), books.payments, before.payments)
    after.refund_payments = chosen(
        faults, body.get("refund_payment_ids"), books.refund_payments, before.refund_payments
    )
    items: list[Payment | RefundPayment] = [*after.payments, *after.refund_payments]
    after.status = body.get("status", before.status)
    for each in items if after.is_live else ():
        check_item(books, faults, known, each)
    after.paid_out = body["paid_out_amount_cents"]
    after.fee = body.get("fee_cents", after.fees if known is None else before.fee)
    after.additional = body.get("additional_refunds_amount_cents", before.additional)
    after.bank = books.bank_named(faults, body, before.bank)
    if "other_items" in body:
        after.others = [other(books, faults, each) for each in body["other_items"]]
    dated(books, after, body)
    is_new_day = not before.was_paid or after.paid_on != before.paid_on
    if is_new_day and after.was_paid:
        books.locked(faults, after.paid_on)
    shown = books.linked(before) and facts(before) != facts(after)
    faults.add(409, "payout_reconciled", shown)
    faults.refuse()
    if "other_items" in body:
        tax_each_way(after.others)
    left: list[Payment | RefundPayment] = [*before.payments, *before.refund_payments]
    vars(before).update(vars(after))
    return before, list(dict.fromkeys([*items, *left]))


def other(books: Books, faults: Faults, body: Body) -> Line:
    """Read another item of a payout; its tax is not computed yet."""
    amount, kind = body["amount_cents"], body["type"]
    account = OTHERS.get(kind.partition("_")[0]) or ("4500" if amount > 0 else "6000")
    taxed = read_code(None, books.codes, faults.found, body.get("tax_code"), books.today)
    return gross(taxed, account, amount)


def tax_each_way(items: Sequence[Line]) -> None:
    """Compute the tax of the incoming items, and of the outgoing ones, once for each code."""
    for comes in (True, False):
        compute([each for each in items if (each.net > 0) is comes], 0, inclusive=True)


def dated(books: Books, payout: Payout, body: Body) -> None:
    """Set when a payout is paid: at the given moment, else now if its status is paid."""
    if body.get("completed_at", payout.told_at) != payout.told_at:
        payout.paid_on = books.day_of(body["completed_at"])
    payout.told_at = body.get("completed_at", payout.told_at)
    if payout.status == "paid":
        payout.was_paid = True
        payout.paid_on, payout.told_at = payout.paid_on or books.today, payout.told_at or "now"


def facts(payout: Payout) -> Body:
    """Return all fields of a payout; the order of its items does not matter."""
    items = {"payments": set(payout.payments), "refund_payments": set(payout.refund_payments)}
    return {**vars(payout), **items}


def named(books: Books, external_id: str | None) -> Payout | None:
    """Find a payout by its external id."""
    found = (each for each in books.payouts.values() if external_id == each.external_id)
    return next(found, None) if external_id else None


def chosen(
    faults: Faults, ids: Sequence[str] | None, records: dict[str, T], without: list[T]
) -> list[T]:
    """Return the listed records, or the earlier ones where there is no list."""
    if ids is None:
        return without
    faults.add(422, "reference_not_found", any(id not in records for id in ids))
    return [records[id] for id in dict.fromkeys(ids) if id in records]


def check_item(
    books: Books, faults: Faults, payout: Payout | None, item: Payment | RefundPayment
) -> None:
    """Check whether money can be in a payout; an item of this payout may have bounced."""
    held_by = books.payout_of(item)
    if held_by is not None and held_by is payout:
        return
    faults.add(409, "already_in_payout", held_by is not None)
    faults.add(409, "item_not_completed", not item.is_completed)
    faults.add(422, "item_not_in_clearing", books.account_of(item) != CLEARING)


def delete(books: Books, id: str) -> Payout:
    """Delete a payout: its items and its external id are free again."""
    if books.linked(find(books.payouts, id, "payout_not_found")):
        raise refused(409, "payout_reconciled")
    return books.payouts.pop(id)
