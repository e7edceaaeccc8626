"""Lines of documents and credits that get other accounts in the model, with their splits.

All lines of an account move together once a record is settled, so no amount is split again.
"""

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from tests.model.arithmetic import Part, faults_of
from tests.model.books import Body, Books
from tests.model.pricing import Line
from tests.model.records import Credit, Document, Party
from tests.model.refusals import Faults, find
from tests.model.settlement import parts_of_agreed

K = TypeVar("K", bound=Hashable)
Names = Mapping[Part, Part]


def document(books: Books, id: str, body: Body) -> list[Any]:
    """Recode lines of an invoice or a bill."""
    found = books.document(id)
    lines = found.priced.lines
    moved = check(books, found, lines, body, "account_identifier")
    names = move(moved)
    found.body = recoded(found.body, lines, moved, "account_identifier")
    rename_settlements(books, found, names)
    for write_off in books.write_offs.values():
        if write_off.document is found:
            write_off.split = renamed(write_off.split, names)
    if books.side.returns is None:
        rename_lines(books, moved, names)
    for refund in books.vendor_refunds.values():
        for share in refund.shares:
            before = share.before.get(id)
            if before is not None:
                share.before[id] = replace(before, split=renamed(before.split, names))
    rename_targets(books, found, names)
    return [found, *of_party(books, found.party)]


def credit(books: Books, id: str, body: Body) -> list[Any]:
    """Recode lines of a credit."""
    found = find(books.credits, id, f"{books.side.party}_credit_not_found")
    moved = check(books, found, found.lines, body, books.side.account_field)
    names = move(moved)
    found.body = recoded(found.body, found.lines, moved, books.side.account_field)
    rename_settlements(books, found, names)
    for refund in books.refunds.values():
        if refund.credit is found:
            rename_settlements(books, refund, names)
    rename_targets(books, found, names)
    return [found, *of_party(books, found.party)]


def check(
    books: Books, record: Document | Credit, lines: Sequence[Line], body: Body, field: str
) -> dict[Line, str]:
    """Check a change of accounts; return the new account of each line."""
    faults = Faults()
    faults.add(409, "invalid_state_transition", record.state == "void")
    by_id = {each.id: each for each in lines}
    given = {each["id"]: each[field]["code"] for each in body["line_items"]}
    faults.add(422, "reference_not_found", given.keys() - by_id.keys())
    for code in given.values():
        faults.found |= {(422, fault) for fault in faults_of(code)}
    moved = {by_id[id]: code for id, code in given.items() if id in by_id}
    others = any(line.account != code for line, code in moved.items())
    faults.add(409, "in_opening_balance", record.opening and others)
    faults.refuse()
    return moved


def move(moved: Mapping[Line, str]) -> dict[Part, Part]:
    """Put lines on their accounts; return the new names of their parts."""
    names: dict[Part, Part] = {}
    for line, code in moved.items():
        marks = [line.net_mark]
        marks += [each.taxed.mark("blocked") for each in line.taxes if each.taxed]
        marks += [mark for account, mark in line.assessed if mark and mark.part == "blocked"]
        own = {(line.account, mark): (code, mark) for mark in marks}
        line.account, line.assessed = code, renamed(line.assessed, own)
        names |= own
    return names


def renamed(amounts: Counter[K], names: Mapping[K, K]) -> Counter[K]:
    """Return amounts by the new names of their keys."""
    found: Counter[K] = Counter()
    for key, amount in amounts.items():
        found[names.get(key, key)] += amount
    return found


def rename_settlements(books: Books, subject: Any, names: Mapping[Any, Any]) -> None:
    held = books.settlements.get(subject, {})
    for source, each in held.items():
        held[source] = replace(each, split=renamed(each.split, names))


def rename_lines(books: Books, moved: Iterable[Line], names: Names) -> None:
    """Rename the parts of lines in what credits, refunds and relief took of them."""
    own = {(line, old): (line, new) for line in moved for old, new in names.items()}
    for agreed in books.vendor_refunds.values():
        for share in agreed.shares:
            share.split = renamed(share.split, own)
    for credit in books.credits.values():
        credit.takes = renamed(credit.takes, own)
    for write_off in books.write_offs.values():
        write_off.relieved = renamed(write_off.relieved, own)


def rename_targets(books: Books, target: Document | Credit, names: Names) -> None:
    """Rename the parts of a target in the payments of vendors' refunds of it."""
    own = {(target, old): (target, new) for old, new in names.items()}
    for agreed in books.vendor_refunds.values():
        if any(share.target is target and not share.is_kept for share in agreed.shares):
            rename_settlements(books, agreed, own)
            books.settled_of[agreed] = parts_of_agreed(books, agreed)


def recoded(body: Body, lines: Sequence[Line], moved: Mapping[Line, str], field: str) -> Body:
    """Return the body of a draft, which is priced again when it opens, with its new accounts."""
    if not body:
        return body
    items = [
        {**item, field: {"type": "AccountCode", "code": moved[line]}}
        if line in moved and "source_line_id" not in item
        else item
        for item, line in zip(body["line_items"], lines, strict=True)
    ]
    return {**body, "line_items": items}


def of_party(books: Books, party: Party) -> list[Any]:
    """Return the other records of a party, whose versions may change."""
    kinds = (books.payments, books.credits, books.refunds, books.vendor_refunds)
    own = [each for kind in kinds for each in kind.values() if each.party is party]
    paid = [each for each in books.refund_payments.values() if each.refund.party is party]
    came = [each for each in books.vendor_refund_payments.values() if each.refund.party is party]
    return [*own, *paid, *came]
