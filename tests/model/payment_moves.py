"""The moves of payments in the model, and their effects."""

from collections.abc import Mapping, Sequence
from copy import copy
from datetime import date

from tests.model import holds
from tests.model.books import Body, Books
from tests.model.records import LIVE, Party, Payment
from tests.model.refusals import Faults, find, refused
from tests.model.sides import Side, may_become


def create(books: Books, body: Body) -> Payment:
    """Create a payment, and its allocations."""
    side, faults = books.side, Faults()
    party = books.party_named(faults, body)
    books.inactive(faults, party)
    given = body.get("allocations", ())
    wanted = wanted_parts(side, faults, given, "amount_cents")
    status = body.get("status", "completed")
    faults.add(409, "payment_not_live", wanted and status not in LIVE)
    if status == "completed":
        books.locked(faults, date.fromisoformat(body["payment_date"]))
    check_parts(books, faults, wanted, {}, party)
    check_days(books, faults, given, date.fromisoformat(body["payment_date"]))
    too_much = sum(wanted.values()) > body[side.total]
    faults.add(422, "allocation_exceeds_total", too_much)
    books.bank_named(faults, body)
    faults.refuse()
    assert party is not None
    payment = receive(books, party, body)
    payment.parts = wanted
    return payment


def receive(books: Books, party: Party, body: Body) -> Payment:
    """Create a payment without allocations."""
    return Payment(
        party,
        body.get("external_id"),
        body[books.side.total],
        body.get("status", "completed"),
        body["payment_method"],
        body.get("payment_processor"),
        body.get("processing_fee_cents", 0),
        date.fromisoformat(body["payment_date"]),
        was_completed=body.get("status", "completed") == "completed",
        bank=books.bank_named(Faults(), body),
    )


def change(books: Books, id: str, body: Body) -> Payment:
    """Change the fields in a body; PUT and PATCH differ in descriptions only."""
    payment = find(books.payments, id, books.side.payment_not_found)
    side, faults = books.side, Faults()
    status = body.get("status", payment.status)
    total = body.get(side.total, payment.total)
    unmoved = not may_become(side, payment.status, status)
    faults.add(409, "invalid_state_transition", unmoved)
    listed = "allocations" in body
    wanted = dict(payment.parts)
    if listed:
        wanted = wanted_parts(side, faults, body["allocations"], "amount_cents")
        faults.add(409, "payment_not_live", wanted and status not in LIVE)
    elif status not in LIVE:
        wanted = {}
    check_parts(books, faults, wanted, payment.parts, payment.party)
    day, on = check_given_days(books, faults, payment, body)
    check_total(books, faults, payment, body, wanted)
    check_identity(books, faults, payment, body)
    check_refunds(books, faults, payment, body, wanted)
    check_holds(books, faults, payment, body)
    check_lines(books, faults, payment, body, on)
    faults.refuse()
    payment.parts, payment.total = wanted, total
    payment.become(status, on, books.today)
    holds.let_go(books, payment)
    payment.method = body.get("payment_method", payment.method)
    payment.fee = body.get("processing_fee_cents", payment.fee)
    payment.processor = body.get("payment_processor", payment.processor)
    payment.external_id = body.get("external_id", payment.external_id)
    payment.paid_on, payment.bank = day, books.bank_named(faults, body, payment.bank)
    return payment


def cancel(books: Books, id: str) -> Payment:
    """Cancel a payment that is pending or failed."""
    payment = find(books.payments, id, books.side.payment_not_found)
    if payment.status not in ("pending", "failed"):
        raise refused(409, "invalid_state_transition")
    faults = Faults()
    check_lines(books, faults, payment, {"status": "cancelled"}, None)
    faults.refuse()
    payment.status, payment.parts = "cancelled", {}
    holds.let_go(books, payment)
    return payment


def wanted_parts(side: Side, faults: Faults, given: Sequence[Body], amount: str) -> dict[str, int]:
    """Read a list of allocations, which must not name a document twice."""
    parts = {each[side.document_id]: each[amount] for each in given}
    faults.add(400, "validation_error", len(parts) < len(given))
    return parts


def check_parts(
    books: Books,
    faults: Faults,
    wanted: Mapping[str, int],
    held: Mapping[str, int],
    party: Party | None,
) -> None:
    """Check the allocations that are new or have a new amount."""
    for id, amount in wanted.items():
        document = books.documents.get(id)
        if document is None:
            faults.add(422, "reference_not_found")
        elif held.get(id) != amount:
            faults.add(409, books.side.not_open, document.state != "open")
            faults.add(422, books.side.of_another, document.party is not party)
            left = books.left(document) + held.get(id, 0)
            faults.add(422, "allocation_exceeds_outstanding", amount > left)


def check_given_days(
    books: Books, faults: Faults, payment: Payment, body: Body
) -> tuple[date, date | None]:
    """Check the given days; return the day of the payment, and that of a change of its status."""
    day = date.fromisoformat(body.get("payment_date", payment.paid_on.isoformat()))
    check_days(books, faults, body.get("allocations", ()), day)
    return day, check_status_day(books, faults, payment, body, day)


def check_days(books: Books, faults: Faults, given: Sequence[Body], day: date | None) -> None:
    """Check the days of allocations of a payment or credit; only new ones are given a day."""
    for each in given:
        document = books.documents.get(each[books.side.document_id])
        if "allocation_date" not in each or document is None or document.state != "open":
            continue
        assert day is not None, "a draft of a credit has no allocations"
        on = date.fromisoformat(each["allocation_date"])
        out_of_order = not max(day, document.day) <= on <= books.today
        faults.add(422, "date_out_of_order", out_of_order)
        books.locked(faults, on)


def check_status_day(
    books: Books, faults: Faults, payment: Payment, body: Body, day: date
) -> date | None:
    """Check the day given to a change of status, and return it; `day` is that of the payment."""
    if "status_date" not in body:
        return None
    on, status = date.fromisoformat(body["status_date"]), body.get("status", payment.status)
    first = day if payment.opening is None else payment.opening.day
    last = (payment.changed_on or first) if payment.was_completed else None
    if status == payment.status:
        faults.add(422, "date_out_of_order", on != last)
        return None
    moves = payment.was_completed or status == "completed"
    early = moves and on < max(day, last or day)
    faults.add(422, "date_out_of_order", early or on > books.today)
    books.locked(faults, on)
    return on


def check_total(
    books: Books, faults: Faults, payment: Payment, body: Body, wanted: Mapping[str, int]
) -> None:
    """Check that the total still covers the allocations and refunds."""
    total = body.get(books.side.total, payment.total)
    if sum(wanted.values()) + books.refunded(payment) <= total:
        return
    faults.add(422, "allocation_exceeds_total", body.get("allocations"))
    faults.add(422, "total_below_allocated", total < payment.total)


def check_identity(books: Books, faults: Faults, payment: Payment, body: Body) -> None:
    """Check that immutable fields do not change, and that the external id is not taken."""
    party = body.get(books.side.party_id, payment.party.id)
    name = body.get(books.side.party_external_id, payment.party.external_id)
    moved = (party, name) != (payment.party.id, payment.party.external_id)
    faults.add(422, "immutable_field", moved or body.get("currency", "GBP") != "GBP")
    external_id = body.get("external_id")
    others = {each.external_id for each in books.payments.values() if each is not payment}
    faults.add(409, "duplicate_external_id", external_id is not None and external_id in others)


def check_refunds(
    books: Books, faults: Faults, payment: Payment, body: Body, wanted: Mapping[str, int]
) -> None:
    """Check that a release by hand leaves the amounts that live refunds have returned."""
    status = body.get("status", payment.status)
    by_hand = status == "refunded" or ("allocations" in body and status in LIVE)
    if not by_hand:
        return
    faults.add(422, "refund_exceeds_refundable", status == "refunded" and books.refunded(payment))
    # An allocation that the list repeats is not released by hand, even if the status ends it.
    for id, part in payment.parts.items():
        after = wanted.get(id, 0) if status in LIVE else 0
        document = books.documents[id]
        allocated = books.paid(document) + books.reserved(document)
        short = allocated - part + after < books.refunded(document)
        faults.add(422, "refund_exceeds_refundable", wanted.get(id, 0) < part and short)


def check_holds(books: Books, faults: Faults, payment: Payment, body: Body) -> None:
    """Check what holds a payment: the locked period, its payout and its opening."""
    check_day(books, faults, payment, body)
    books.bank_named(faults, body)
    check_payout(books, faults, payment, body)
    check_opening(books, faults, payment, body)


def check_payout(books: Books, faults: Faults, payment: Payment, body: Body) -> None:
    """Check that the fields of money do not change for a payment in a payout."""
    changed = any(body.get(name, value) != value for name, value in money_fields(books, payment))
    faults.add(409, "in_payout", changed and books.payout_of(payment))


def check_opening(books: Books, faults: Faults, payment: Payment, body: Body) -> None:
    """Check that a payment of an opening does not change."""
    fixed = (
        *money_fields(books, payment),
        ("status", payment.status),
        ("payment_date", payment.paid_on.isoformat()),
    )
    changed = any(body.get(name, value) != value for name, value in fixed)
    faults.add(409, "in_opening_balance", changed and payment.opening)


def money_fields(books: Books, payment: Payment) -> tuple[tuple[str, object], ...]:
    """Return the fields of a payment that decide its money, with their values."""
    return (
        (books.side.total, payment.total),
        ("processing_fee_cents", payment.fee),
        ("payment_method", payment.method),
        ("payment_processor", payment.processor),
        ("bank_account_id", payment.bank and payment.bank.id),
    )


def check_lines(
    books: Books, faults: Faults, payment: Payment, body: Body, on: date | None
) -> None:
    """Check that the lines that show a payment show no more than it moves."""
    after = copy(payment)
    after.total = body.get(books.side.total, payment.total)
    after.fee = body.get("processing_fee_cents", payment.fee)
    after.become(body.get("status", payment.status), on, books.today)
    holds.check(books, faults, payment, holds.moves(books.side, payment), after)
    if holds.times(after):
        holds.check_bank(books, faults, payment, books.bank_named(faults, body, payment.bank))


def check_day(books: Books, faults: Faults, payment: Payment, body: Body) -> None:
    """Check that a new day of the payment does not lie in the locked period."""
    # A payment that was ever completed was posted on its day, whatever its status is now.
    given = "payment_date" in body
    day = date.fromisoformat(body["payment_date"]) if given else payment.paid_on
    first = body.get("status") == "completed" and not payment.was_completed
    if first or (payment.was_completed and day != payment.paid_on):
        books.locked(faults, day)
