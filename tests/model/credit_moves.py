"""What may be done with customer credits, and what that changes."""

from collections import Counter

from tests.model.arithmetic import faults_of, named
from tests.model.books import Body, Books, day_of, moment
from tests.model.payment_moves import check_parts, wanted_parts
from tests.model.records import Credit
from tests.model.refusals import Faults, gone


def create(books: Books, body: Body) -> Credit:
    """Draw up a credit, and what it settles."""
    faults = Faults()
    customer = books.customer_named(faults, body)
    faults.add(409, "customer_archived", customer and customer.archived)
    faults.add(422, "currency_mismatch", body.get("currency", "GBP") != "GBP")
    source = body.get("source_invoice_id")
    faults.add(422, "reference_not_found", source and source not in books.invoices)
    number = body.get("credit_note_number")
    taken = number is not None and number in {each.number for each in books.credits.values()}
    faults.add(409, "duplicate_credit_note_number", taken)
    books.locked(faults, day_of(body.get("sent_at")))
    lines, tax = priced(faults, body)
    wanted = wanted_parts(faults, body.get("allocations", ()), "amount")
    faults.add(409, "credit_not_sent", wanted and "sent_at" not in body)
    check_parts(books, faults, wanted, {}, customer)
    too_much = sum(wanted.values()) > sum(lines.values()) + tax
    faults.add(422, "allocation_exceeds_total", too_much)
    faults.refuse()
    assert customer is not None
    books.credit_numbers.see(number)
    credit = Credit(customer, body.get("external_id"), number, lines, tax, "draft")
    credit.source, credit.parts = source, wanted
    if "sent_at" in body:
        send(books, credit, body["sent_at"])
    return credit


def replace(books: Books, id: str, body: Body) -> Credit:
    """Replace what a credit settles, or send a draft."""
    credit = find(books, id)
    faults = Faults()
    faults.add(409, "invalid_state_transition", credit.state == "void")
    opens = credit.state == "draft" and "sent_at" in body
    if opens:
        books.locked(faults, day_of(body["sent_at"]))
        faults.add(409, "customer_archived", credit.customer.archived)
    elif "sent_at" in body:
        faults.add(422, "immutable_field", moment(body["sent_at"]) != credit.sent_at)
    wanted = dict(credit.parts)
    if "allocations" in body:
        wanted = wanted_parts(faults, body["allocations"], "amount")
    faults.add(409, "credit_not_sent", wanted and credit.state == "draft" and not opens)
    check_parts(books, faults, wanted, credit.parts, credit.customer)
    faults.add(422, "allocation_exceeds_total", sum(wanted.values()) > credit.total)
    faults.refuse()
    credit.parts = wanted
    if opens:
        send(books, credit, body["sent_at"])
    return credit


def void(books: Books, id: str, body: Body) -> Credit:
    """Take a sent credit back."""
    credit = find(books, id)
    faults = Faults()
    faults.add(409, "invalid_state_transition", credit.state != "sent")
    faults.add(409, "credit_applied", credit.used)
    books.locked(faults, day_of(body.get("voided_at")))
    faults.refuse()
    credit.state = "void"
    return credit


def find(books: Books, id: str) -> Credit:
    """Find a credit by its id in a path."""
    if id not in books.credits:
        raise gone("customer_credit_not_found")
    return books.credits[id]


def send(books: Books, credit: Credit, sent_at: str) -> None:
    """Open a credit; it takes a number where it has none."""
    credit.state, credit.sent_at = "sent", moment(sent_at)
    if credit.number is None:
        credit.number = books.credit_numbers.take()


def priced(faults: Faults, body: Body) -> tuple[Counter[str], int]:
    """Sum the lines by account, and their tax."""
    lines: Counter[str] = Counter()
    for line in body["line_items"]:
        code = named(line.get("revenue_account_identifier"), "4100")
        faults.add_all(422, faults_of(code))
        lines[code] += line["amount"]
    return lines, sum(line.get("tax_amount_cents", 0) for line in body["line_items"])
