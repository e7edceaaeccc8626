"""What may be done with write-offs, and what that changes."""

from tests.model.arithmetic import faults_of, named
from tests.model.books import Body, Books, day_of
from tests.model.records import Document, WriteOff
from tests.model.refusals import Faults, gone, refused


def write_off(books: Books, id: str, body: Body) -> WriteOff:
    """Give up an amount of an open document."""
    document = books.document(id)
    faults = Faults()
    external_id = body.get("external_id")
    taken = external_id and external_id in {each.external_id for each in books.write_offs.values()}
    faults.add(409, "duplicate_external_id", taken)  # Of another one, or it were answered.
    faults.add(409, books.side.not_open, document.state != "open")
    amount = body.get("amount_cents", books.left(document))
    faults.add(422, "allocation_exceeds_outstanding", not 1 <= amount <= books.left(document))
    account = named(body.get("destination_account"), books.side.given_up)
    faults.add_all(422, faults_of(account))
    books.locked(faults, day_of(body.get("write_off_at")))
    faults.refuse()
    return WriteOff(document, external_id, amount, account)


def reverse(books: Books, id: str, write_off_id: str) -> Document:
    """Take a write-off back."""
    document = books.document(id)
    found = books.write_offs.get(write_off_id)
    if found is None or found.document is not document:
        raise gone("write_off_not_found")
    if found.reversed:
        raise refused(409, "invalid_state_transition")
    found.reversed = True
    return document
