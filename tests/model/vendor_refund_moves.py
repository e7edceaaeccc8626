"""The moves of vendors' refunds and of their payments in the model, and their effects."""

import copy
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import date
from typing import Any

from tests.model import holds
from tests.model.books import Body, Books
from tests.model.pricing import compute, gross, read_code
from tests.model.records import (
    LIVE,
    Credit,
    Document,
    Payment,
    Share,
    VendorRefund,
    VendorRefundPayment,
)
from tests.model.refund_moves import check_lines, split_off
from tests.model.refusals import Faults, Refusal, find, refused
from tests.model.settlement import settle_agreed, settle_credit, settle_document
from tests.model.sides import may_become

Records = list[Any]


@contextmanager
def all_or_nothing(books: Books) -> Iterator[None]:
    """Restore the records if the move is refused in the end."""
    kinds = (books.documents, books.payments, books.credits, books.vendor_refunds)
    records = [each for kind in (*kinds, books.vendor_refund_payments) for each in kind.values()]
    held = [(each, {n: kept(v) for n, v in vars(each).items()}) for each in records]
    settled = {subject: dict(each) for subject, each in books.settlements.items()}
    settled_of = dict(books.settled_of)
    last = books.credit_numbers.last
    try:
        yield
    except Refusal:
        for record, before in held:
            vars(record).update(before)
        books.vendor_refunds.pop("", None)
        books.settlements, books.settled_of = settled, settled_of
        books.again.clear()
        books.credit_numbers.last = last
        raise


def kept(value: Any) -> Any:
    """Return a copy of a list or mapping, and any other value itself."""
    return copy.copy(value) if isinstance(value, dict | list) else value


def agree(books: Books, body: Body) -> Records:
    """Create a refund with its allocations and payments; return it and all records it touches."""
    faults = Faults()
    party = books.party_named(faults, body)
    given = body.get("refund_date")
    agreed_on = books.today if given is None else date.fromisoformat(given)
    books.locked(faults, agreed_on)
    total = body.get("total_amount_cents", body.get("total_refunded_amount_cents"))
    refuse_unknown(books, faults, body.get("allocations", ()))
    if party is None:
        faults.refuse()
    assert party is not None
    assert total is not None
    refund = VendorRefund(party, body.get("external_id"), total, agreed_on)
    with all_or_nothing(books):
        books.vendor_refunds[""] = refund  # It has no id yet.
        affected = allocate(books, faults, refund, body.get("allocations", ()), agreed_on)
        if "total_amount_cents" in body:
            one = {**body, "amount_cents": refund.cash}
            refund.payments = [announced(books, faults, refund, one)]
        else:
            whole = [{"amount_cents": refund.cash}]
            given = body.get("payments", whole)
            refund.payments = [announced(books, faults, refund, each) for each in given]
        meant = sum(each.amount for each in refund.payments)
        faults.add(422, "allocation_exceeds_total", meant != refund.cash)
        faults.refuse()
    del books.vendor_refunds[""]
    return [refund, refund.payments[0], *affected, *refund.payments[1:]]


def announced(
    books: Books, faults: Faults, refund: VendorRefund, body: Body
) -> VendorRefundPayment:
    """Create a payment; its date is that of the money."""
    given = body.get("payment_date")
    payment = VendorRefundPayment(
        refund,
        body["amount_cents"],
        body.get("payment_method", "bank_transfer"),
        body.get("processing_fee_cents", 0),
        None if given is None else date.fromisoformat(given),
        bank=books.bank_named(faults, body),
    )
    faults.add(422, "fee_exceeds_amount", payment.fee > payment.amount)
    return payment


def change(books: Books, id: str, body: Body) -> Records:
    """Change a payment, and the allocations of its refund; return it and all records it touches."""
    payment = find(books.vendor_refund_payments, id, "vendor_refund_payment_not_found")
    refund, faults = payment.refund, Faults()
    status = body.get("status", payment.status)
    affected: Records = []
    with all_or_nothing(books):
        faults.add(
            409, "invalid_state_transition", not may_become(books.side, payment.status, status)
        )
        before = payment.was_completed, payment.paid_on
        moved = holds.moves(books.side, payment)
        never_moved = not payment.times_returned and payment.status != "completed"
        lost = never_moved and status not in LIVE
        change_means(books, faults, payment, body, lost=lost)
        if "allocations" in body:
            faults.add(409, "invalid_state_transition", status == "cancelled")
            refuse_unknown(books, faults, body["allocations"])
            affected += reallocate(books, faults, payment, body["allocations"])
            for share in refund.shares:
                if isinstance(share.target, Credit) and not share.is_kept:
                    settle_credit(books, share.target)
            settle_agreed(books, refund)  # Before the payment moves.
        faults.add(422, "fee_exceeds_amount", payment.fee > payment.amount)
        affected += move(books, faults, payment, status)
        if payment.was_completed and (payment.was_completed, payment.paid_on) != before:
            books.locked(faults, payment.paid_on)
        holds.check(books, faults, payment, moved, payment)
        faults.refuse()
    lines = holds.lines_of(books, payment)
    holds.let_go(books, payment)
    return list(dict.fromkeys([payment, refund, *lines, *affected, *refund.payments]))


def change_means(
    books: Books, faults: Faults, payment: VendorRefundPayment, body: Body, *, lost: bool
) -> None:
    """Change the method, the fee, the bank account and the date of a payment."""
    bank = books.bank_named(faults, body, payment.bank)
    if not lost:
        holds.check_bank(books, faults, payment, bank)
    payment.bank = bank
    payment.method = body.get("payment_method", payment.method)
    payment.fee = body.get("processing_fee_cents", payment.fee)
    if "payment_date" in body:
        payment.paid_on = date.fromisoformat(body["payment_date"])


def move(
    books: Books,
    faults: Faults,
    payment: VendorRefundPayment,
    status: str,
    on: date | None = None,
) -> Records:
    """Set the status of a payment on a day; the refund is cancelled with its last payment."""
    refund, before = payment.refund, payment.status
    payment.status = status
    if before == "completed" != status:
        payment.times_returned, payment.returned_on = payment.times_returned + 1, books.today
    if status == "completed" != before:
        if payment.returned_on == (on or books.today):
            payment.times_returned -= 1  # It stayed.
        payment.was_completed = True
        payment.paid_on = payment.paid_on or books.today
    cancelled = status == "cancelled" != before
    if not cancelled or any(each.status != "cancelled" for each in refund.payments):
        return []
    affected = take_back(books, faults, refund, refund.shares)
    refund.shares, refund.cancelled = [], True
    return affected


def describe(books: Books, id: str) -> VendorRefund:
    """Change the memo of a refund, which has no effect in the model."""
    return find(books.vendor_refunds, id, "vendor_refund_not_found")


def cancel(books: Books, id: str) -> Records:
    """Cancel a payment that is pending or failed."""
    payment = find(books.vendor_refund_payments, id, "vendor_refund_payment_not_found")
    if payment.status not in ("pending", "failed"):
        raise refused(409, "invalid_state_transition")
    return change(books, id, {"status": "cancelled"})


def reallocate(
    books: Books, faults: Faults, payment: VendorRefundPayment, given: Sequence[Body]
) -> Records:
    """Replace the allocations of a refund; a credit kept from it lowers the payment."""
    refund, cash = payment.refund, payment.refund.cash
    affected = allocate(books, faults, refund, given, books.today)
    more = refund.cash - cash
    came = any(each.status == "completed" for each in refund.payments)
    faults.add(409, "vendor_refund_paid", more and came)
    faults.add(422, "allocation_exceeds_total", payment.amount + more < 0)
    payment.amount += more
    return affected


# Allocations.


OF_TYPE = {
    "bill": "bill_id",
    "payment": "bill_payment_id",
    "vendor_credit": "vendor_credit_id",
}


def kinds_of(books: Books) -> dict[str, dict[str, Any]]:
    """Return the records that can be refunded, by allocation type."""
    return {"bill": books.documents, "payment": books.payments, "vendor_credit": books.credits}


def refuse_unknown(books: Books, faults: Faults, given: Sequence[Body]) -> None:
    """Note the references of a list that do not exist or are repeated."""
    known = {kind: set(records) for kind, records in kinds_of(books).items()}
    for kind, field in OF_TYPE.items():
        ids = [each[field] for each in given if each["allocation_type"] == kind]
        faults.add(400, "validation_error", len(set(ids)) < len(ids))
        faults.add(422, "reference_not_found", set(ids) - known[kind])


def allocate(
    books: Books, faults: Faults, refund: VendorRefund, given: Sequence[Body], on: date
) -> Records:
    """Replace the allocations of a refund by a list; equal ones stay as they are."""
    faults.add(
        422, "allocation_exceeds_total", sum(e["amount_cents"] for e in given) > refund.total
    )
    waiting, staying, leaving = list(given), [], []
    for share in refund.shares:
        same = next((each for each in waiting if is_same(each, share)), None)
        if same is None:
            leaving.append(share)
        else:
            waiting.remove(same)
            staying.append(share)
    affected = take_back(books, faults, refund, leaving)
    refund.shares = staying
    for each in waiting:
        made = new_share(books, faults, refund, each, on)
        if made is not None:
            refund.shares.append(made)
            affected += [made.target, *(books.documents[id] for id in made.released)]
    return list(dict.fromkeys(affected))


def is_same(given: Body, share: Share) -> bool:
    """Return whether an item of a list equals a share; one with lines or a tax code is new."""
    names = ("allocation_type", "amount_cents", *OF_TYPE.values())
    same = all(given.get(name) == share.body.get(name) for name in names)
    return same and "lines" not in given and "tax_code" not in given


def new_share(
    books: Books, faults: Faults, refund: VendorRefund, given: Body, on: date
) -> Share | None:
    """Create a share; if it is refused, note the faults and return none."""
    kind, amount = given["allocation_type"], given["amount_cents"]
    found = Faults()
    if kind == "credit":
        made = credit_of(books, found, refund, given, on)
        faults.found |= found.found
        return None if found.found else Share(made, amount, body=given)
    target = kinds_of(books)[kind].get(given[OF_TYPE[kind]])
    if target is None:
        return None
    found.add(422, "bill_vendor_mismatch", target.party is not refund.party)
    check_target(books, found, target, given)
    faults.found |= found.found
    if found.found:
        return None
    if isinstance(target, Document):
        split = split_off(books, target, amount, given.get("lines"))
        return Share(target, amount, split, body=given)
    if isinstance(target, Credit):
        return Share(target, amount, body=given)
    settled = {id: books.settlements[books.documents[id]] for id in target.parts}
    before = {id: held[target] for id, held in settled.items() if target in held}
    released = free(books, faults, target, amount)
    return Share(target, amount, released=released, before=before, body=given)


def check_target(
    books: Books, faults: Faults, target: Document | Payment | Credit, given: Body
) -> None:
    """Check whether an amount of a target can be refunded."""
    amount, lines = given["amount_cents"], given.get("lines")
    match target:
        case Document():
            faults.add(409, "bill_not_open", target.state != "open")
            if lines is not None:
                total = sum(each["amount_cents"] for each in lines)
                faults.add(422, "lines_do_not_add_up", total != amount)
                check_lines(books, faults, target, lines)
        case Payment():
            faults.add(409, "payment_not_completed", target.status != "completed")
        case Credit():
            faults.add(409, "credit_not_sent", target.state != "open")
    too_much = not 1 <= amount <= books.refundable(target)
    faults.add(422, "refund_exceeds_refundable", too_much)


def credit_of(books: Books, faults: Faults, refund: VendorRefund, given: Body, on: date) -> Credit:
    """Create the credit that keeps a part of a refund, as of a day; the amount includes tax."""
    side, day = books.side, max(on, refund.agreed_on)
    taxed = read_code(side, books.codes, faults.found, given.get("tax_code"), day)
    line = gross(taxed, side.credit_line, given["amount_cents"])
    compute([line], 0, inclusive=True)
    at = books.start_of(day)
    number = "" if faults.found else books.credit_numbers.take()
    return Credit(refund.party, None, number, [line], "open", at, refund=refund)


def free(books: Books, faults: Faults, payment: Payment, amount: int) -> dict[str, int]:
    """Release money of a payment from its bills, the newest first, until an amount is free."""
    short = amount - books.remaining(payment)
    released: dict[str, int] = {}
    held = [books.documents[id] for id in payment.parts]
    for bill in sorted(held, key=lambda each: (each.day, each.id), reverse=True):
        part = min(max(short, 0), payment.parts[bill.id])
        if part:
            short -= part
            released[bill.id] = part
            before = books.paid(bill) + books.reserved(bill)
            give(payment, bill.id, -part)
            settle_document(books, bill)
            # Payments on their way also count toward the amount that refunds require.
            left = books.paid(bill) + books.reserved(bill)
            below = left < min(before, books.refunded(bill))
            faults.add(422, "refund_exceeds_refundable", below)
    return released


def give(payment: Payment, id: str, amount: int) -> None:
    """Change the amount that a payment settles of a bill."""
    payment.parts[id] = payment.parts.get(id, 0) + amount
    if not payment.parts[id]:
        del payment.parts[id]


def take_back(
    books: Books, faults: Faults, refund: VendorRefund, shares: Sequence[Share]
) -> Records:
    """Undo shares: credits first, so that the documents that they settled are owed again."""
    affected: Records = []
    for share in sorted(reversed(shares), key=undo_order):
        target = share.target
        affected.append(target)
        refund.shares = [each for each in refund.shares if each is not share]
        match target:
            case Credit() if share.is_kept:
                affected += [books.documents[id] for id in target.parts]
                faults.add(409, "credit_applied", books.paid_out(target))
                target.state, target.parts = "void", {}
            case Payment():
                affected += apply_again(books, target, share)
    return affected


def undo_order(share: Share) -> int:
    """Return the order of undoing: first refunded credits, then kept credits, then the others."""
    if not isinstance(share.target, Credit):
        return 2
    return 1 if share.is_kept else 0


def apply_again(books: Books, payment: Payment, share: Share) -> Records:
    """Apply released money to its bills again, as far as possible."""
    bills = [books.documents[id] for id in share.released]
    for bill in bills if payment.status == "completed" else ():
        room = books.left(bill) if bill.party is payment.party else 0
        part = min(share.released[bill.id], room)
        if part > 0:
            give(payment, bill.id, part)
            before = share.before.get(bill.id)
            if before is not None and before.amount == payment.parts[bill.id]:
                books.again[bill, payment] = before  # In full: it takes its earlier split.
            settle_document(books, bill)
    return bills
