"""The moves of refunds to customers and of their payments in the model, and their effects."""

from collections import Counter
from collections.abc import Sequence
from datetime import date

from tests.model.arithmetic import capped
from tests.model.books import Body, Books
from tests.model.records import (
    BankAccount,
    Credit,
    Document,
    Payment,
    Refund,
    RefundPayment,
)
from tests.model.refusals import Faults, find, gone, refused
from tests.model.rests import Split, left_of, over_all, over_lines, with_assessed


def create(books: Books, body: Body) -> Refund:
    """Create a refund; with a `completed_at` it is paid immediately."""
    faults = Faults()
    target = named_target(books, body)
    faults.add(422, "reference_not_found", target is None)
    books.locked(faults, books.day_of(body.get("completed_at")))
    is_open = not isinstance(target, Credit) or target.state == "open"
    faults.add(409, "credit_not_sent", not is_open)
    limit = 0 if target is None else books.refundable(target)
    lines = body.get("lines")
    whole = limit if lines is None else sum(each["amount_cents"] for each in lines)
    amount = body.get("amount_cents", whole)
    faults.add(422, "lines_do_not_add_up", lines is not None and amount != whole)
    faults.add(422, "refund_exceeds_refundable", target and not 1 <= amount <= limit)
    if lines is not None and isinstance(target, Document):
        check_lines(books, faults, target, lines)
    bank = books.bank_named(faults, body)
    faults.refuse()
    assert target is not None
    refund = Refund(
        target.party,
        body.get("external_id"),
        target if isinstance(target, Document) else None,
        target if isinstance(target, Payment) else None,
        target if isinstance(target, Credit) else None,
        amount,
        body.get("method", "BANK_TRANSFER"),
        body.get("processor"),
        body.get("refund_processing_fee_cents", 0),
        split_off(books, target, amount, lines) if isinstance(target, Document) else Counter(),
        max(books.day_of(body.get("completed_at")) or books.today, day_of_target(target)),
        bank=bank,
    )
    if "completed_at" in body:
        paid = {"completed_at": body["completed_at"]}
        refund.payments.append(payment_of(books, refund, paid, None))
    return refund


def named_target(books: Books, body: Body) -> Document | Payment | Credit | None:
    """Find the invoice, the payment or the credit that is to be refunded."""
    if "credit_id" in body:
        return books.credits.get(body["credit_id"])
    if "invoice_id" in body:
        return books.documents.get(body["invoice_id"])
    return books.payments.get(body["payment_id"])


def day_of_target(target: Document | Payment | Credit) -> date:
    """Return the first day on which a target can be refunded."""
    if isinstance(target, Credit):
        assert target.opened_at is not None
        return target.opened_at.date()
    return target.paid_on if isinstance(target, Payment) else target.day


def check_lines(books: Books, faults: Faults, document: Document, given: Sequence[Body]) -> None:
    """Check the lines that a refund names."""
    rests = books.rests(document)
    lines = {line.id: line for line in rests}
    ids = [each["line_id"] for each in given]
    faults.add(400, "validation_error", len(set(ids)) < len(ids))
    faults.add(422, "reference_not_found", set(ids) - set(lines))
    left = left_of(books.side, rests)
    for each in given:
        line = lines.get(each["line_id"])
        if line is None or each["amount_cents"] > sum(rests[line].values()):
            faults.add(422, "refund_exceeds_refundable", line)
            break
        for (_, part), n in over_lines(rests, {line: each["amount_cents"]}).items():
            faults.add(422, "refund_exceeds_refundable", capped(n, left[part]) != n)
            left[part] -= n


def split_off(
    books: Books, document: Document, amount: int, given: Sequence[Body] | None = None
) -> Split:
    """Split a refund over the rest of the given lines, or of the whole document."""
    rests, taken = books.rests(document), books.taken(document)
    if given is None:
        return with_assessed(books.side, rests, taken, over_all(books.side, rests, amount))
    lines = {line.id: line for line in rests}
    amounts = {lines[e["line_id"]]: e["amount_cents"] for e in given if e["line_id"] in lines}
    split = over_lines(rests, amounts)
    return with_assessed(books.side, rests, taken, split)


def cancel(books: Books, id: str) -> Refund:
    """Cancel a refund of which nothing is paid."""
    refund = find(books.refunds, id, "invoice_refund_not_found")
    if refund.cancelled or refund.paid:
        raise refused(409, "invalid_state_transition")
    refund.cancelled = True
    return refund


def pay(books: Books, id: str, body: Body) -> tuple[Refund, RefundPayment]:
    """Pay a refund, in full or in part."""
    refund = find(books.refunds, id, "invoice_refund_not_found")
    faults = Faults()
    names = {each.external_id for each in books.refund_payments.values()}
    taken = body.get("external_id") and body["external_id"] in names
    faults.add(409, "duplicate_external_id", taken)  # Of another refund: a repeat succeeds.
    faults.add(409, "invalid_state_transition", refund.cancelled)
    amount = body.get("amount_cents", refund.rest)
    faults.add(422, "refund_exceeds_refundable", not 1 <= amount <= refund.rest)
    books.locked(faults, books.day_of(body.get("completed_at")))
    bank = books.bank_named(faults, body)
    faults.refuse()
    return refund, payment_of(books, refund, body, bank)


def payment_of(books: Books, refund: Refund, body: Body, bank: BankAccount | None) -> RefundPayment:
    """Create the payment of a refund, at a bank account.

    The refund's processor and bank account apply only with the refund's method, and its fee to the
    first payment.
    """
    method = body.get("method", refund.method)
    own = method == refund.method
    processor = refund.processor if own else None
    return RefundPayment(
        refund,
        body.get("external_id"),
        body.get("amount_cents", refund.rest),
        method,
        body.get("processor", processor),
        body.get("refund_processing_fee_cents", 0 if refund.paid else refund.fee),
        books.moment(body.get("completed_at")),
        books.day_of(body.get("completed_at")) or books.today,
        bank=bank or (refund.bank if own else None),
    )


def cancel_payment(books: Books, id: str, payment_id: str) -> tuple[Refund, RefundPayment]:
    """Cancel the payment of a refund."""
    refund = find(books.refunds, id, "invoice_refund_not_found")
    payment = next((each for each in refund.payments if each.id == payment_id), None)
    if payment is None:
        raise gone("invoice_refund_payment_not_found")
    if payment.cancelled:
        raise refused(409, "invalid_state_transition")
    if books.payout_of(payment) is not None:
        raise refused(409, "in_payout")
    payment.cancelled = True
    return refund, payment
