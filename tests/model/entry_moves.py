"""The moves of manual entries in the model, and their effects."""

from datetime import date, timedelta

from tests.model.bank_moves import faults_of_account
from tests.model.books import Body, Books
from tests.model.records import Entry
from tests.model.refusals import Faults, find, refused


def write(books: Books, body: Body) -> Entry:
    """Create an entry: a draft, or posted immediately where a person wrote it."""
    faults = Faults()
    author = body.get("created_by", "manual")
    entry = Entry(date.fromisoformat(body["entry_date"]), read(books, faults, body), author)
    if body.get("post") and author == "manual":
        books.locked(faults, entry.day)
        entry.status = "approved"
    faults.refuse()
    return entry


def rewrite(books: Books, id: str, body: Body) -> Entry:
    """Replace the fields of a draft."""
    entry, faults = entry_at(books, id), Faults()
    faults.add(409, "invalid_state_transition", entry.status != "draft")
    lines = read(books, faults, body)
    faults.refuse()
    entry.day, entry.lines = date.fromisoformat(body["entry_date"]), lines
    return entry


def approve(books: Books, id: str) -> Entry:
    """Post a draft on its day."""
    entry, faults = entry_at(books, id), Faults()
    faults.add(409, "invalid_state_transition", entry.status != "draft")
    books.locked(faults, entry.day)
    faults.refuse()
    entry.status = "approved"
    return entry


def reject(books: Books, id: str) -> Entry:
    """Reject a draft."""
    entry = entry_at(books, id)
    if entry.status != "draft":
        raise refused(409, "invalid_state_transition")
    entry.status = "rejected"
    return entry


def reverse(books: Books, id: str, body: Body) -> Entry:
    """Reverse an entry on a day that is not locked and not before its own; return the mirror."""
    entry, faults = entry_at(books, id), Faults()
    faults.add(409, "invalid_state_transition", entry.status != "approved")
    faults.add(409, "already_reversed", entry.taken_back_by)
    given = body.get("entry_date")
    day = books.today if given is None else date.fromisoformat(given)
    if given is not None:
        books.locked(faults, day)
    faults.refuse()
    after_lock = date.min if books.lock_date is None else books.lock_date + timedelta(days=1)
    lines = [(code, -amount) for code, amount in entry.lines]
    day = max(day, entry.day, after_lock)
    mirror = Entry(day, lines, "manual", "approved", takes_back=entry)
    entry.taken_back_by = mirror
    return mirror


def read(books: Books, faults: Faults, body: Body) -> list[tuple[str, int]]:
    """Read the lines of a body, which must balance."""
    lines = [
        (each["account"], each.get("debit_amount", 0) - each.get("credit_amount", 0))
        for each in body["lines"]
    ]
    for code, _ in lines:
        faults.add_all(422, faults_of_account(books, code))
    faults.add(422, "entry_not_balanced", sum(amount for _, amount in lines))
    return lines


def entry_at(books: Books, id: str) -> Entry:
    """Find an entry by its id in a path."""
    return find(books.entries, id, "journal_entry_not_found")
