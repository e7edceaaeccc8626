"""The moves of write-offs in the model, and their effects."""

from collections import Counter

from tests.model.arithmetic import Part, capped, faults_of, named, shares
from tests.model.books import Body, Books
from tests.model.codes import Mark
from tests.model.pricing import Line
from tests.model.records import Document, WriteOff
from tests.model.refusals import Faults, gone, refused
from tests.model.rests import Rests, Split, net_part
from tests.model.settlement import share_out

CHARGED = ("output", "input")


def write_off(books: Books, id: str, body: Body) -> WriteOff:
    """Write off an amount of an open document."""
    document = books.document(id)
    faults = Faults()
    external_id = body.get("external_id")
    taken = external_id and external_id in {each.external_id for each in books.write_offs.values()}
    faults.add(409, "duplicate_external_id", taken)  # Of another document: a repeat succeeds.
    faults.add(409, books.side.not_open, document.state != "open")
    amount = body.get("amount_cents", books.left(document))
    faults.add(422, "allocation_exceeds_outstanding", not 1 <= amount <= books.left(document))
    account = named(body.get("destination_account"), books.side.given_up)
    faults.add_all(422, faults_of(account))
    books.locked(faults, books.day_of(body.get("write_off_at")))
    faults.refuse()
    split = share_out(books, document, amount)
    relieved = relief(books, document, split, taxes=body.get("tax_relief", False))
    made = WriteOff(document, external_id, amount, account, split, Counter(), relieved)
    for (line, part), n in relieved.items():
        if part != net_part(books.side, line):
            made.back[part[0]] += n
    return made


def relief(books: Books, document: Document, split: Counter[Part], *, taxes: bool) -> Split:
    """Return the amounts taken back of lines: withheld tax; with relief also tax and its net."""
    rests = books.rests(document)
    charged = {
        part[1].code
        for part, n in split.items()
        if n
        and part[1]
        and part[1].part in CHARGED
        and sum(lefts(books, rests, part).values()) >= 0
    }
    back: Split = Counter()
    for part, share in split.items():
        mark = part[1]
        relieved = taxes and mark and (mark.part in CHARGED or is_net_of(mark, charged))
        if not share or mark is None or not (relieved or mark.part == "withheld"):
            continue
        left = lefts(books, rests, part)
        n = capped(share, sum(left.values()))
        for key, amount in zip(left, shares(n, list(left.values())), strict=True):
            back[key] += amount
    return back


def lefts(books: Books, rests: Rests, part: Part) -> Split:
    """Return what is left of the lines that have a part of their document."""
    named = {line: as_taken(books, line, part) for line in rests}
    found = {line: own for line, own in named.items() if own is not None}
    return Counter({(line, own): rests[line][own] for line, own in found.items()})


def is_net_of(mark: Mark, charged: set[str]) -> bool:
    return mark.part == "net" and mark.code in charged


def as_taken(books: Books, line: Line, part: Part) -> Part | None:
    """Return the part of a line for a part of its document, if the line has it."""
    own = line.posted(books.side)
    net, *_ = own
    if part == net:
        return net_part(books.side, line)
    if part not in own:
        return None
    # For a line of an opening, tax is taken back on the account of its code.
    return (
        next(each for each in line.parts(books.side) if each[1] == part[1]) if line.opened else part
    )


def reverse(books: Books, id: str, write_off_id: str) -> Document:
    """Reverse a write-off."""
    document = books.document(id)
    found = books.write_offs.get(write_off_id)
    if found is None or found.document is not document:
        raise gone("write_off_not_found")
    if found.reversed:
        raise refused(409, "invalid_state_transition")
    found.reversed = True
    return document
