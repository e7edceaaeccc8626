"""What may be done with credits, and what that changes."""

from collections import Counter

from tests.model.arithmetic import faults_of, named
from tests.model.books import Body, Books, day_of, moment
from tests.model.payment_moves import check_parts, wanted_parts
from tests.model.records import Credit
from tests.model.refusals import Faults, gone
from tests.model.sides import Side


def create(books: Books, body: Body) -> Credit:
    """Draw up a credit, and what it settles."""
    side, faults = books.side, Faults()
    party = books.party_named(faults, body)
    books.inactive(faults, party)
    faults.add(422, "currency_mismatch", body.get("currency", "GBP") != "GBP")
    source = body.get(side.source_id)
    faults.add(422, "reference_not_found", source and source not in books.documents)
    number = body.get(side.credit_number)
    taken = number is not None and number in {each.number for each in books.credits.values()}
    faults.add(409, f"duplicate_{side.credit_number}", taken)
    books.locked(faults, day_of(body.get(side.opened_at)))
    lines, tax = priced(side, faults, body)
    wanted = wanted_parts(side, faults, body.get("allocations", ()), "amount")
    faults.add(409, "credit_not_sent", wanted and side.opened_at not in body)
    check_parts(books, faults, wanted, {}, party)
    too_much = sum(wanted.values()) > sum(lines.values()) + tax
    faults.add(422, "allocation_exceeds_total", too_much)
    faults.refuse()
    assert party is not None
    books.credit_numbers.see(number)
    credit = Credit(party, body.get("external_id"), number, lines, tax, "draft")
    credit.source, credit.parts = source, wanted
    if side.opened_at in body:
        opened(books, credit, body[side.opened_at])
    return credit


def replace(books: Books, id: str, body: Body) -> Credit:
    """Replace what a credit settles, or open a draft."""
    credit = find(books, id)
    side, faults = books.side, Faults()
    faults.add(409, "invalid_state_transition", credit.state == "void")
    opens = credit.state == "draft" and side.opened_at in body
    if opens:
        books.locked(faults, day_of(body[side.opened_at]))
        books.inactive(faults, credit.party)
    elif side.opened_at in body:
        differs = moment(body[side.opened_at]) != credit.opened_at
        faults.add(422, "immutable_field", differs)
    wanted = dict(credit.parts)
    if "allocations" in body:
        wanted = wanted_parts(side, faults, body["allocations"], "amount")
    faults.add(409, "credit_not_sent", wanted and credit.state == "draft" and not opens)
    check_parts(books, faults, wanted, credit.parts, credit.party)
    faults.add(
        422,
        "allocation_exceeds_total",
        sum(wanted.values()) > credit.total - books.paid_out(credit),
    )
    faults.refuse()
    credit.parts = wanted
    if opens:
        opened(books, credit, body[side.opened_at])
    return credit


def void(books: Books, id: str, body: Body) -> Credit:
    """Take an open credit back."""
    credit = find(books, id)
    faults = Faults()
    faults.add(409, "invalid_state_transition", credit.state != "open")
    faults.add(409, "credit_of_refund", credit.refund)
    faults.add(409, "in_opening_balance", credit.opening)
    faults.add(409, "credit_applied", credit.used + books.paid_out(credit))
    books.locked(faults, day_of(body.get("voided_at")))
    faults.refuse()
    credit.state = "void"
    return credit


def find(books: Books, id: str) -> Credit:
    """Find a credit by its id in a path."""
    if id not in books.credits:
        raise gone(f"{books.side.party}_credit_not_found")
    return books.credits[id]


def opened(books: Books, credit: Credit, opened_at: str) -> None:
    """Open a credit; it takes a number where it has none."""
    credit.state, credit.opened_at = "open", moment(opened_at)
    if credit.number is None:
        credit.number = books.credit_numbers.take()


def priced(side: Side, faults: Faults, body: Body) -> tuple[Counter[str], int]:
    """Sum the lines by account, and their tax."""
    lines: Counter[str] = Counter()
    for line in body["line_items"]:
        code = named(line.get(side.credit_account), side.credit_line)
        faults.add_all(422, faults_of(code))
        lines[code] += line["amount"]
    return lines, sum(line.get("tax_amount_cents", 0) for line in body["line_items"])
