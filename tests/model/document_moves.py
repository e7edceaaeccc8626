"""The moves of invoices, bills and their parties in the model, and their effects."""

from datetime import date, datetime, timedelta

from tests import clock
from tests.model.books import Body, Books
from tests.model.payment_moves import receive
from tests.model.pricing import price
from tests.model.records import Document, Party, Payment
from tests.model.refusals import Faults, find, refused


def create(books: Books, body: Body) -> tuple[Document, list[Payment]]:
    """Create a document, with the payments in its body."""
    side, faults = books.side, Faults()
    priced = price(side, books.codes, body, day_in(books, body))
    faults.found |= priced.wrong
    party = books.party_named(faults, body)
    refuse_taken(books, faults, body, party, None)
    books.inactive(faults, party)
    if side.moment in body:
        books.locked(faults, dated(books, body) or books.day_of(body[side.moment]))
    check_payments(books, faults, body, priced.total)
    faults.refuse()
    assert party is not None
    books.document_numbers.see(body.get(side.number))
    document = Document(party, body.get("external_id"), body.get(side.number), priced, "draft")
    document.due_at, document.dated = books.moment(body.get("due_at")), dated(books, body)
    document.delivered = delivered(body)
    document.party_number, document.body = body.get("vendor_bill_number"), body
    if side.moment in body:
        opened(books, document, books.moment(body[side.moment]))
    return document, [paid_with(books, document, each) for each in body.get("payments", ())]


def check_payments(books: Books, faults: Faults, body: Body, total: int) -> None:
    """Check the payments in the body of a new invoice."""
    given, opened_at = body.get("payments", ()), body.get(books.side.moment)
    faults.add(409, books.side.not_open, given and opened_at is None)
    amounts = [each.get("total_amount_cents", total) for each in given]
    too_much = sum(amounts) > total or 0 in amounts
    faults.add(422, "allocation_exceeds_outstanding", too_much)
    names = [each["external_id"] for each in given if "external_id" in each]
    taken = {each.external_id for each in books.payments.values()}
    twice = len(set(names)) < len(names) or taken & set(names)
    faults.add(409, "duplicate_external_id", twice)
    for each in given:
        books.locked(faults, books.day_of(each.get("payment_date", opened_at)))
        books.bank_named(faults, each)


def paid_with(books: Books, document: Document, body: Body) -> Payment:
    """Create a payment of a new invoice, still without parts: the invoice has no id yet."""
    amount = body.get("total_amount_cents", document.priced.total)
    assert document.opened_at is not None
    on = document.opened_at.date().isoformat()
    whole = {"payment_date": on, **body, "total_amount_cents": amount}
    return receive(books, document.party, whole)


def replace(books: Books, id: str, body: Body) -> Document:
    """Replace the fields of a document."""
    side, document = books.side, books.document(id)
    faults = Faults()
    faults.add(409, "invalid_state_transition", document.state == "void")
    faults.add(409, "in_opening_balance", document.opening)
    faults.add(409, side.has_allocations, books.is_touched(document))
    opened_at = moment_of(books, body, document)
    on = dated(books, body) or document.dated
    day = on or (opened_at.date() if opened_at else books.today)
    supplied = delivered(body) or document.delivered
    priced = price(side, books.codes, body, supplied or day)
    faults.found |= priced.wrong
    party = books.party_named(faults, body, document.party)
    refuse_taken(books, faults, body, party, document)
    check_party(books, faults, body, party, document)
    if opened_at is not None and (document.opened_at is None or day != document.day):
        books.locked(faults, day)
    faults.refuse()
    assert party is not None
    books.document_numbers.see(body.get(side.number))
    document.party, document.priced, document.dated = party, priced, on
    document.body, document.delivered = body, supplied
    document.number = body.get(side.number, document.number)
    document.party_number = body.get("vendor_bill_number", document.party_number)
    document.external_id = body.get("external_id", document.external_id)
    document.due_at = books.moment(body.get("due_at"))
    if opened_at is not None:
        opened(books, document, opened_at)
    return document


def moment_of(books: Books, body: Body, document: Document) -> datetime | None:
    """Return when a document opens; the same moment keeps its day in another time zone."""
    given = books.moment(body.get(books.side.moment))
    return document.opened_at if given is None or given == document.opened_at else given


def check_party(
    books: Books, faults: Faults, body: Body, party: Party | None, document: Document
) -> None:
    """Check that only a draft changes its party; a draft that opens needs an active party."""
    moves = party is not document.party
    faults.add(422, "immutable_field", moves and document.state == "open")
    if moves or (document.state == "draft" and books.side.moment in body):
        books.inactive(faults, party)


def open_draft(books: Books, id: str, body: Body) -> Document:
    """Send or receive a draft."""
    side, document = books.side, books.document(id)
    faults = Faults()
    faults.add(409, "invalid_state_transition", document.state != "draft")
    books.inactive(faults, document.party)
    books.locked(faults, document.dated or books.day_of(body.get(side.moment)))
    priced = document.priced
    if document.state == "draft":
        day = document.dated or books.day_of(body.get(side.moment)) or books.today
        priced = price(side, books.codes, document.body, document.delivered or day)
        faults.found |= priced.wrong
    faults.refuse()
    document.priced = priced
    document.due_at = books.moment(body.get("due_at")) or document.due_at
    opened(books, document, books.moment(body.get(side.moment, clock.now().isoformat())))
    return document


def void(books: Books, id: str, body: Body) -> Document:
    """Void an open document."""
    document = books.document(id)
    faults = Faults()
    faults.add(409, "invalid_state_transition", document.state != "open")
    faults.add(409, "in_opening_balance", document.opening)
    faults.add(409, books.side.has_allocations, books.is_touched(document))
    books.locked(faults, books.day_of(body.get("voided_at")))
    faults.refuse()
    document.state = "void"
    return document


def delete(books: Books, id: str) -> Document:
    """Delete a draft."""
    document = books.document(id)
    faults = Faults()
    faults.add(409, "invalid_state_transition", document.state != "draft")
    source = id in {each.source for each in books.credits.values()}
    faults.add(409, books.side.has_allocations, source)
    faults.refuse()
    return books.documents.pop(id)


def archive(books: Books, id: str) -> Party:
    """Archive a party."""
    party = find_party(books, id)
    if not party.archived and books.is_open_with(party):
        raise refused(409, f"{books.side.party}_has_balance")
    party.status = "ARCHIVED"
    return party


def unarchive(books: Books, id: str) -> Party:
    """Unarchive a party."""
    party = find_party(books, id)
    party.status = "ACTIVE" if party.archived else party.status
    return party


def set_status(books: Books, id: str, status: str) -> Party:
    """Set the status of a vendor that is not archived."""
    party = find_party(books, id)
    if party.archived:
        raise refused(409, "invalid_state_transition")
    party.status = status
    return party


def find_party(books: Books, id: str) -> Party:
    """Find a party by its id in a path."""
    return find(books.parties, id, f"{books.side.party}_not_found")


def dated(books: Books, body: Body) -> date | None:
    """Return the date on a document that decides its day in the books."""
    given = body.get(books.side.dated)
    return None if given is None else date.fromisoformat(given)


def delivered(body: Body) -> date | None:
    """Return the day of supply that a body gives."""
    given = body.get("delivery_date")
    return None if given is None else date.fromisoformat(given)


def day_in(books: Books, body: Body) -> date:
    """Return the day whose rates a new document takes.

    It is the day of supply, else the day in the books, for a draft today.
    """
    own = delivered(body) or dated(books, body)
    return own or books.day_of(body.get(books.side.moment)) or books.today


def opened(books: Books, document: Document, opened_at: datetime | None) -> None:
    """Set the fields that follow from sending or receiving."""
    document.state = "open"
    document.opened_at = opened_at
    terms = document.party.terms
    if document.due_at is None and terms is not None and document.opened_at is not None:
        at = document.opened_at.astimezone(books.zone)
        document.due_at = at + (document.day - at.date()) + timedelta(days=terms)
    if document.number is None:
        document.number = books.document_numbers.take()


def refuse_taken(
    books: Books, faults: Faults, body: Body, party: Party | None, own: Document | None
) -> None:
    """Check that no other document has the number or the external id.

    A vendor's own number is free again when its bill is void, and another vendor may have it too.
    """
    side = books.side
    others = [each for each in books.documents.values() if each is not own]
    number, external_id = body.get(side.number), body.get("external_id")
    taken = {each.number for each in others}
    faults.add(409, f"duplicate_{side.number}", number is not None and number in taken)
    names = {each.external_id for each in others}
    faults.add(409, "duplicate_external_id", external_id is not None and external_id in names)
    kept = None if own is None else own.party_number
    theirs = body.get("vendor_bill_number", kept)
    known = {e.party_number for e in others if e.party is party and e.state != "void"}
    faults.add(409, "duplicate_bill_number", theirs is not None and theirs in known)
