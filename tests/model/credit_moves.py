"""The moves of credits in the model, and their effects."""

from collections import Counter
from dataclasses import replace as replaced
from datetime import date

from tests.model.arithmetic import faults_of, named
from tests.model.books import Body, Books
from tests.model.codes import CHARGED
from tests.model.payment_moves import check_days, check_parts, wanted_parts
from tests.model.pricing import Line, compute, given_tax, read_code
from tests.model.records import Credit, Document, Party
from tests.model.refusals import Faults, find
from tests.model.rests import Split, credited_by, net_part, rest_of


def create(books: Books, body: Body) -> Credit:
    """Create a credit, and its allocations."""
    side, faults = books.side, Faults()
    party = books.party_named(faults, body)
    books.inactive(faults, party)
    source = body.get(side.source)
    faults.add(422, "reference_not_found", source and source not in books.documents)
    number = body.get(side.credit_number)
    taken = number is not None and number in {each.number for each in books.credits.values()}
    faults.add(409, f"duplicate_{side.credit_number}", taken)
    books.locked(faults, books.day_of(body.get(side.moment)))
    lines, takes = priced(books, faults, party, body)
    wanted = wanted_parts(side, faults, body.get("allocations", ()), "amount")
    faults.add(409, "credit_not_sent", wanted and side.moment not in body)
    check_parts(books, faults, wanted, {}, party)
    if side.moment in body:
        day = books.day_of(body[side.moment])
        check_days(books, faults, body.get("allocations", ()), day)
    credit = Credit(party, body.get("external_id"), number, lines, "draft")  # type: ignore[arg-type]
    faults.add(422, "allocation_exceeds_total", sum(wanted.values()) > credit.total)
    faults.refuse()
    books.credit_numbers.see(number)
    credit.source, credit.parts, credit.body = source, wanted, body
    if side.moment in body:
        opened(books, credit, body[side.moment], takes)
    return credit


def replace(books: Books, id: str, body: Body) -> Credit:
    """Replace the allocations of a credit, or open a draft."""
    credit = find(books.credits, id, f"{books.side.party}_credit_not_found")
    side, faults = books.side, Faults()
    faults.add(409, "invalid_state_transition", credit.state == "void")
    opens = credit.state == "draft" and side.moment in body
    if opens:
        books.locked(faults, books.day_of(body[side.moment]))
        books.inactive(faults, credit.party)
    elif side.moment in body:
        differs = books.moment(body[side.moment]) != credit.opened_at
        faults.add(422, "immutable_field", differs)
    wanted = dict(credit.parts)
    if "allocations" in body:
        wanted = wanted_parts(side, faults, body["allocations"], "amount")
    faults.add(409, "credit_not_sent", wanted and credit.state == "draft" and not opens)
    check_parts(books, faults, wanted, credit.parts, credit.party)
    if opens or credit.opened_at is not None:
        day = books.day_of(body[side.moment]) if opens else credit.day
        check_days(books, faults, body.get("allocations", ()), day)
    lines, takes = credit.lines, credit.takes
    if opens:
        said = {**credit.body, side.moment: body[side.moment]}
        lines, takes = priced(books, faults, credit.party, said)
    total = replaced(credit, lines=lines).total
    faults.add(
        422,
        "allocation_exceeds_total",
        sum(wanted.values()) > total - books.paid_out(credit),
    )
    faults.refuse()
    credit.parts, credit.lines = wanted, lines
    if opens:
        opened(books, credit, body[side.moment], takes)
    return credit


def void(books: Books, id: str, body: Body) -> Credit:
    """Void an open credit."""
    credit = find(books.credits, id, f"{books.side.party}_credit_not_found")
    faults = Faults()
    faults.add(409, "invalid_state_transition", credit.state != "open")
    faults.add(409, "credit_of_refund", credit.refund)
    faults.add(409, "in_opening_balance", credit.opening)
    faults.add(409, "credit_applied", credit.used + books.paid_out(credit))
    books.locked(faults, books.day_of(body.get("voided_at")))
    faults.refuse()
    credit.state = "void"
    return credit


def opened(books: Books, credit: Credit, opened_at: str, takes: Split) -> None:
    """Open a credit, which takes a number if it has none."""
    credit.state, credit.opened_at, credit.takes = "open", books.moment(opened_at), takes
    if credit.number is None:
        credit.number = books.credit_numbers.take()


def priced(
    books: Books, faults: Faults, party: Party | None, body: Body
) -> tuple[list[Line], Split]:
    """Compute lines by the rates of the opening day; return them and their split of the source."""
    day = books.day_of(body.get(books.side.moment)) or books.today
    source = books.documents.get(body.get(books.side.source, ""))
    taken = [] if source is None else books.taken(source)
    lines: list[Line] = []
    own: list[Line] = []
    takes: Split = Counter()
    for each in body["line_items"]:
        if "source_line_id" not in each:
            own.append(line(books, faults, each, day))
            lines.append(own[-1])
            continue
        of_source = source_line(books, faults, source, each["source_line_id"])
        faults.add(422, books.side.of_another, source and source.party is not party)
        if of_source is None:
            continue
        before, net = [*taken, takes], each["amount"]
        rest = rest_of(books.side, of_source, before)[net_part(books.side, of_source)]
        faults.add(422, "credit_exceeds_source", net > max(0, rest))
        made, split = credited_by(books.side, of_source, before, net)
        lines.append(made)
        takes.update(split)
    compute(own, 0, inclusive=False)
    return lines, takes


def line(books: Books, faults: Faults, body: Body, day: date) -> Line:
    """Create a line with the given tax, or with the tax of its code, not yet computed."""
    side, net = books.side, body["amount"]
    account = named(body.get(side.account_field), side.credit_line)
    faults.add_all(422, faults_of(account))
    taxed = read_code(side, books.codes, faults.found, body.get("tax_code"), day)
    made = Line(account, net, net, taxed, [], None, given="tax_amount_cents" in body)
    if made.given or (taxed is not None and taxed.kind == CHARGED):
        where = taxed.code.account if taxed and taxed.code else side.tax
        made.taxes.append(given_tax(body.get("tax_amount_cents", 0), where, taxed))
    return made


def source_line(books: Books, faults: Faults, source: Document | None, id: str) -> Line | None:
    """Find the line of an open source document that a line of the credit names."""
    if source is None:
        return None
    faults.add(409, books.side.not_open, source.state != "open")
    found = next((each for each in source.priced.lines if each.id == id), None)
    faults.add(422, "reference_not_found", found is None)
    return found
