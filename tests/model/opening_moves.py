"""The opening of books in the model, and its reversal, with all its items."""

from collections import Counter
from collections.abc import Iterator
from datetime import date
from typing import Any

from tests.model import document_moves
from tests.model.arithmetic import shares
from tests.model.books import Body, Books
from tests.model.codes import CHARGED
from tests.model.pricing import Line, Pricing, assess, given_tax, plain, read_code
from tests.model.records import Credit, Document, Opening, Party, Payment
from tests.model.refusals import Faults, find

EQUITY = "3290"
Said = tuple[Body, Party]


def open_books(books: Books, body: Body) -> Opening:
    """Open the books on a day."""
    faults, day = Faults(), date.fromisoformat(body["date"])
    books.locked(faults, day)
    taken = {each.day for each in books.openings.values() if not each.reversed}
    faults.add(409, "duplicate_opening_balance", day in taken)
    named = [(each, books.party_named(faults, each)) for each in items_in(body)]
    for item, party in named:
        books.inactive(faults, party)
        faults.add(422, "dated_after_opening", dated(books, item) > day)
        check_taxes(books, faults, item)
    faults.refuse()
    made = Opening(day, body["accounts"][0]["debit_amount"])
    said = [(item, party) for item, party in named if party is not None]
    for item, _ in said:
        books.document_numbers.see(item.get(books.side.number))
        books.credit_numbers.see(item.get(books.side.credit_number))
    for item, party in said:
        keep(books, made, item, party)
    return made


def items_in(body: Body) -> Iterator[Body]:
    """Yield all open items: documents, then credits, then prepayments."""
    for name in ("invoices", "bills", "customer_credits", "vendor_credits", "prepayments"):
        yield from body.get(name, ())


def dated(books: Books, item: Body) -> date:
    """Return the day of an open item, by any of its field names."""
    names = ("issue_date", "bill_date", "payment_date", "sent_at", "received_at")
    on = books.day_of(next(item[name] for name in names if name in item))
    assert on is not None
    return on


def check_taxes(books: Books, faults: Faults, item: Body) -> None:
    """Check that the taxes of an open item add up to it, at the rates of its day."""
    given = item.get("tax")
    if "accounts" in item:
        net = sum(each["net_cents"] for each in item["accounts"])
        faults.add(422, "lines_do_not_add_up", net != sum(nets_of(item)))
    if given is None:
        return
    total = sum(each["net_cents"] + each["tax_cents"] for each in given)
    faults.add(422, "lines_do_not_add_up", total != amount_of(item))
    for each in given:
        taxed = read_code(
            books.side, books.codes, faults.found, each["tax_code"], dated(books, item)
        )
        free = taxed is not None and taxed.kind != CHARGED
        faults.add(422, "tax_code_mismatch", free and each["tax_cents"])


def amount_of(item: Body) -> int:
    """Return the open amount of an item."""
    names = ("outstanding_amount_cents", "unapplied_amount_cents")
    return next(int(item[name]) for name in names if name in item)


def lines_of(books: Books, item: Body) -> list[Line]:
    """Return the lines of an open item, by tax code and by account, else on opening equity."""
    lines = []
    for place, cells in enumerate(cells_of(item)):
        given = item["tax"][place] if "tax" in item else None
        taxes = shares(given["tax_cents"] if given else 0, [net for _, net in cells])
        for (account, net), tax in zip(cells, taxes, strict=True):
            line = plain(account, net)
            line.against = "" if account == EQUITY else EQUITY
            lines.append(line if given is None else by_code(books, line, item, given, tax))
    assess(lines)
    return lines


def by_code(books: Books, line: Line, item: Body, given: Body, tax: int) -> Line:
    """Tax a line by the code of an open amount."""
    taxed = read_code(books.side, books.codes, set(), given["tax_code"], dated(books, item))
    assert taxed is not None
    assert taxed.code is not None
    line.taxed, line.opened = taxed, True
    if taxed.kind == CHARGED:
        line.taxes.append(given_tax(tax, taxed.code.account, taxed))
    return line


def nets_of(item: Body) -> list[int]:
    """Return the nets of an open item by tax code, else its whole amount."""
    return [each["net_cents"] for each in item.get("tax", ())] or [amount_of(item)]


def cells_of(item: Body) -> list[list[tuple[str, int]]]:
    """Split each net of an open item over what earlier ones left of the accounts that it names."""
    left: Counter[str] = Counter()
    for each in item.get("accounts", ()):
        left[each["account"]] += each["net_cents"]
    if not left:
        return [[(EQUITY, net)] for net in nets_of(item)]
    first, found = next(iter(left)), []
    for net in nets_of(item):
        taken = dict(zip(left, shares(net, list(left.values())), strict=True)) if net else {}
        left.subtract(taken)
        found.append([(code, n) for code, n in taken.items() if n] or [(first, 0)])
    return found


def keep(books: Books, made: Opening, item: Body, party: Party) -> None:
    """Add an open item to the opening."""
    if "outstanding_amount_cents" in item:
        made.documents.append(document(books, made, item, party))
    elif "payment_date" in item:
        made.payments.append(payment(made, item, party))
    else:
        made.credits.append(credit(books, made, item, party))


def document(books: Books, made: Opening, item: Body, party: Party) -> Document:
    """Create a document on opening balance equity."""
    priced = Pricing(books.side, lines_of(books, item), 0, 0, frozenset())
    kept = Document(party, None, item.get(books.side.number), priced, "draft")
    kept.due_at = books.moment(item.get("due_at"))
    kept.dated = dated(books, item)
    document_moves.opened(books, kept, books.start_of(dated(books, item)))
    kept.opening = made
    return kept


def credit(books: Books, made: Opening, item: Body, party: Party) -> Credit:
    """Create a credit on opening balance equity."""
    lines = lines_of(books, item)
    number = item.get(books.side.credit_number) or books.credit_numbers.take()
    kept = Credit(party, None, number, lines, "open", books.moment(item[books.side.moment]))
    kept.opening = made
    return kept


def payment(made: Opening, item: Body, party: Party) -> Payment:
    """Create a payment of the earlier books on opening balance equity."""
    total = item["unapplied_amount_cents"]
    on = date.fromisoformat(item["payment_date"])
    kept = Payment(party, None, total, "completed", "bank_transfer", None, 0, on, True)
    kept.opening = made
    return kept


def reverse(books: Books, id: str, body: Body) -> Opening:
    """Reverse an opening with all its items."""
    made, faults = find(books.openings, id, "opening_balance_not_found"), Faults()
    faults.add(409, "invalid_state_transition", made.reversed)
    used: list[Any] = [each for each in made.documents if books.is_touched(each)]
    used += [each for each in made.credits if each.used or books.paid_out(each)]
    used += [each for each in made.payments if books.allocated(each)]
    faults.add(409, "opening_balance_settled", used)
    given = body.get("entry_date")
    books.locked(faults, given and date.fromisoformat(given))
    faults.refuse()
    made.reversed = True
    opened: list[Document | Credit] = [*made.documents, *made.credits]
    for each in opened:
        each.state, each.external_id = "void", None
    for money in made.payments:
        money.status, money.external_id = "cancelled", None
    return made
