"""Expected tax returns: sums by code, rate and part, computed from the model's records.

They cover all days together, so that only the final state counts.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from fractions import Fraction

from tests.model.arithmetic import Part
from tests.model.books import Books
from tests.model.codes import ASSESSED, Code, Mark
from tests.model.pricing import Line
from tests.model.records import Document, WriteOff
from tests.model.rests import Split, net_part
from tests.model.settlement import in_money

Sums = dict[tuple[str, Fraction], dict[str, int]]
Held = Counter[tuple[str, Mark]]
"""Amounts by account and mark, in the sign of the return."""


def on_accrual(books: Books) -> Held:
    """Return the amounts of everything that was posted, paid or not."""
    held: Held = Counter()
    for line, sign in lines_of(books):
        count(held, books, line.parts(books.side), sign)
        count(held, books, line.assessed, sign)
    for split in given_back(books):
        count(held, books, by_part(split), -1)
    for write_off in books.write_offs.values():
        if not write_off.reversed:
            relieve(held, books, write_off)
    add_money(held, books)
    return held


def on_cash(books: Books) -> Held:
    """Return the amounts of settlements; tax that the buyer owes counts on its own day."""
    held: Held = Counter()
    for line, sign in lines_of(books):
        if has_own_day(line.code):
            net, *_ = line.parts(books.side)
            count(held, books, {net: line.net}, sign)
            count(held, books, line.assessed, sign)
    for split in given_back(books):
        own = {key: n for key, n in split.items() if is_own(books, key[1])}
        count(held, books, by_part(Counter(own)), -1)
    for subject, settled in in_money(books):
        parts = {part: n for part, n in settled.items() if not is_own(books, part)}
        count(held, books, parts, 1 if isinstance(subject, Document) else -1)
    add_money(held, books)
    return held


def lines_of(books: Books) -> Iterable[tuple[Line, int]]:
    """Yield the lines of posted documents and credits, each with its sign, without openings."""
    for document in books.documents.values():
        if document.state == "open" and document.priced.is_posted and not document.opening:
            yield from ((each, 1) for each in document.priced.lines)
    for credit in books.credits.values():
        if credit.state == "open" and not credit.opening:
            yield from ((each, -1) for each in credit.lines)


def given_back(books: Books) -> Iterable[Split]:
    """Yield the splits of live refunds."""
    yield from (each.split for each in books.refunds.values() if not each.cancelled)
    for refund in books.vendor_refunds.values():
        yield from (each.split for each in refund.shares)


def relieve(held: Held, books: Books, write_off: WriteOff) -> None:
    """Add what a write-off takes back: withheld tax; with relief also tax and its net."""
    for (line, part), amount in write_off.relieved.items():
        mark = part[1]
        if mark is None:
            continue
        if mark.part == "withheld":
            count(held, books, {part: amount}, -1)
        else:
            kind = "relief_net" if part == net_part(books.side, line) else "relief"
            given = Mark(mark.code, mark.percent, kind)
            held[part[0], given] += amount


def add_money(held: Held, books: Books) -> None:
    """Add parts of bank lines, and other items of payouts that are paid."""
    money = [
        (part, 1 if line.moves > 0 else -1)
        for line in books.bank_lines.values()
        for part in line.parts
    ]
    for payout in books.payouts.values():
        money += [(part, 1) for part in payout.others if payout.status == "paid"]
    for part, comes in money:
        sign = comes if part.code and part.code.sales else -comes
        count(held, books, part.parts(books.side), sign)
        count(held, books, part.assessed, sign)


def count(held: Held, books: Books, parts: Mapping[Part, int], sign: int) -> None:
    """Add parts by mark, in the sign of the return."""
    for (account, mark), amount in parts.items():
        if mark is not None:
            owed = mark.part == "output" and not books.codes[mark.code].sales
            turned = owed or mark.part == "withheld"
            held[account, mark] += -sign * amount if turned else sign * amount


def by_part(split: Split) -> Counter[Part]:
    """Return the amounts of a split by part."""
    whole: Counter[Part] = Counter()
    for (_, part), amount in split.items():
        whole[part] += amount
    return whole


def is_own(books: Books, part: Part) -> bool:
    """Return whether a part counts on its own day on both schemes."""
    return part[1] is not None and has_own_day(books.codes[part[1].code])


def has_own_day(code: Code | None) -> bool:
    """Return whether the buyer owes the tax of a code."""
    return code is not None and (code.kind == ASSESSED or code.treatment == "reverse_charge")


def sums(held: Held) -> Sums:
    """Return the amount of each part by code and rate, without zeros."""
    marked: Counter[Mark] = Counter()
    for (_, mark), amount in held.items():
        marked[mark] += amount
    found: Sums = {}
    for mark, amount in marked.items():
        if amount:
            found.setdefault((mark.code, mark.percent), {})[mark.part] = amount
    return found


def settled(held: Held, books: Books) -> dict[str, int]:
    """Return the lines that settle these amounts, by account: debits above zero.

    Tax of opening documents, on 3290, leaves the account of its code.
    """
    moved: Counter[str] = Counter()
    for (account, mark), amount in held.items():
        code = books.codes[mark.code]
        sides = {"output": -1, "input": 1, "withheld": 1 if code.sales else -1}
        sides["relief"] = sides["withheld"]
        if mark.part in sides:
            on = code.account if account == "3290" else account
            moved[on] -= sides[mark.part] * amount
            moved["2230"] += sides[mark.part] * amount
    return {account: amount for account, amount in moved.items() if amount}


def read(shown: list[dict[str, object]]) -> Sums:
    """Read the amounts of a return by code."""
    parts = ("net", "output", "input", "blocked", "withheld", "relief_net", "relief")
    found: Sums = {}
    for each in shown:
        amounts = {part: int(str(each[f"{part}_cents"])) for part in parts}
        key = str(each["tax_code"]), Fraction(str(each["tax_rate"]))
        found[key] = {part: amount for part, amount in amounts.items() if amount}
    return {key: amounts for key, amounts in found.items() if amounts}
