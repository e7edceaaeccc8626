"""What the lines of a document come to, with their taxes: the model's own pricing."""

from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from fractions import Fraction
from typing import Any

from tests.model.arithmetic import Part, by_account, faults_of, half_up, named, shares
from tests.model.codes import ASSESSED, CHARGED, WITHHELD, Code, Mark, Rate, percent
from tests.model.sides import Side

Codes = Mapping[str, Code]
Body = Mapping[str, Any]
Group = tuple[str, Fraction]
SELF = "2200"
"""Where tax is owed that a business assesses itself."""


@dataclass(frozen=True)
class Taxed:
    """A code as it stood on the day; `code` is none where a rate means none."""

    code: Code | None
    rate: Rate

    @property
    def group(self) -> Group:
        """What it is added up with before anything is rounded."""
        return (self.code.name if self.code else ""), self.rate.percent

    @property
    def kind(self) -> str:
        """What is done with the tax."""
        return self.code.kind if self.code else CHARGED

    def charged(self) -> Mark | None:
        """What its tax is for a return."""
        return self.mark("output" if self.code and self.code.sales else "input")

    def mark(self, part: str) -> Mark | None:
        """What an amount of it is for a return."""
        return Mark(self.code.name, self.rate.percent, part) if self.code else None


@dataclass
class Tax:
    """A tax on a line; what is not recovered of it is `blocked`."""

    amount: int
    account: str
    taxed: Taxed | None
    blocked: int = 0


@dataclass(eq=False)
class Line:
    """A line: `subtotal` is its net before the discount on all, `net` after it.

    `assessed` is what it posts besides, debits above zero. One that books were opened with is
    `opened`: it was posted elsewhere, and stands here on its own account, tax and all.
    """

    account: str
    subtotal: int
    net: int
    taxed: Taxed | None
    taxes: list[Tax]
    withholding: Taxed | None
    withheld: int = 0
    given: bool = False
    assessed: Counter[Part] = field(default_factory=Counter)
    opened: bool = False
    id: str = ""

    @property
    def tax(self) -> int:
        return sum(each.amount for each in self.taxes)

    @property
    def code(self) -> Code | None:
        """What it is taxed by, if a code taxes it."""
        return self.taxed.code if self.taxed else None

    @property
    def net_mark(self) -> Mark | None:
        """What its net is for a return."""
        return self.taxed.mark("net") if self.taxed else None

    def parts(self, side: Side, home: str | None = None) -> Counter[Part]:
        """What it comes to, by part, as whatever gives it back does; `home` bears the net."""
        own = home or self.account
        parts: Counter[Part] = Counter({(own, self.net_mark): self.net})
        for tax in self.taxes:
            mark = tax.taxed.charged() if tax.taxed else None
            parts[tax.account, mark] += tax.amount - tax.blocked
            if tax.blocked:
                assert tax.taxed is not None
                parts[own, tax.taxed.mark("blocked")] += tax.blocked
        if self.withheld:
            assert self.withholding is not None
            assert self.withholding.code is not None
            mark = self.withholding.mark("withheld")
            parts[self.withholding.code.account, mark] -= self.withheld
        return parts

    def posted(self, side: Side) -> Counter[Part]:
        """What it comes to as it was posted, and as it is settled."""
        parts = self.parts(side)
        if not self.opened:
            return parts
        return Counter({(self.account, mark): n for (_, mark), n in parts.items()})


@dataclass(frozen=True)
class Priced:
    """What lines come to; `wrong` is what cannot stand. A `discount` is shown net of tax."""

    side: Side
    lines: list[Line]
    discount: int
    discount_total: int
    wrong: frozenset[tuple[int, str]]

    @property
    def subtotal(self) -> int:
        return sum(each.subtotal for each in self.lines)

    @property
    def tax(self) -> int:
        return sum(each.tax for each in self.lines)

    @property
    def withheld(self) -> int:
        return sum(each.withheld for each in self.lines)

    @property
    def net(self) -> int:
        return self.subtotal - self.discount

    @property
    def total(self) -> int:
        return self.net + self.tax - self.withheld

    @property
    def posted(self) -> Counter[str]:
        """What stands against the whole, by account; what is given off as the side has it."""
        held: Counter[str] = Counter()
        for line in self.lines:
            held.update(by_account(line.posted(self.side)))
            if self.side.discount is not None:
                held[line.account] += line.subtotal - line.net
                held[self.side.discount] -= line.subtotal - line.net
        return held

    @property
    def assessed(self) -> Counter[str]:
        """What is posted besides, by account."""
        held: Counter[str] = Counter()
        for line in self.lines:
            if not line.opened:
                held.update(by_account(line.assessed))
        return held


def gross(taxed: Taxed | None, account: str, amount: int) -> Line:
    """A line of an amount of money, with the tax in it; still to be worked out."""
    line = plain(account, amount)
    line.taxed = taxed
    if taxed is not None and taxed.code is not None and taxed.kind == CHARGED:
        line.taxes.append(given_tax(0, taxed.code.account, taxed))
    return line


def price(side: Side, codes: Codes, body: Body, day: date) -> Priced:
    """Work out a document's lines by the rates of a day."""
    discount, given = body.get("additional_discount", 0), body["line_items"]
    wrong: set[tuple[int, str]] = set()
    lines = [read_line(side, codes, wrong, each, day) for each in given]
    if min(each.subtotal for each in lines) < 0 or sum(e.subtotal for e in lines) < discount:
        wrong.add((422, "negative_amount"))
    elif not wrong:
        discount = compute(lines, discount, inclusive=body.get("amounts_include_tax", False))
    if sum(each.net + each.tax - each.withheld for each in lines) < 0:
        wrong.add((422, "negative_amount"))
    told = sum(line.get("discount_amount", 0) for line in given)
    told += body.get("additional_discount", 0)
    return Priced(side, lines, discount, told, frozenset(wrong))


def read_line(side: Side, codes: Codes, wrong: set[tuple[int, str]], body: Body, day: date) -> Line:
    """Read a line; nothing of it is worked out yet."""
    account = named(body.get("account_identifier"), side.line)
    wrong |= {(422, fault) for fault in faults_of(account)}
    taxed = taxed_by(side, codes, wrong, body, day)
    withholding = read_code(side, codes, wrong, body.get("withholding_code"), day, withheld=True)
    taxes = []
    for each in body.get("sales_taxes", ()):
        own = read_code(side, codes, wrong, each.get("tax_code"), day) or taxed
        default = own.code.account if own and own.code else side.tax
        where = named(each.get("tax_account"), default)
        wrong |= {(422, fault) for fault in faults_of(where)}
        taxes.append(given_tax(each["amount"], where, own))
    subtotal = subtotal_of(body)
    net_of = taxed or next((each.taxed for each in taxes if each.taxed), None)
    line = Line(account, subtotal, subtotal, net_of, taxes, withholding)
    line.given = "sales_taxes" in body
    if not line.given and taxed is not None and taxed.kind == CHARGED:
        code = taxed.code
        line.taxes.append(Tax(0, code.account if code else side.tax, taxed))
    return line


def plain(account: str, net: int) -> Line:
    """A line without any tax."""
    return Line(account, net, net, None, [], None)


def given_tax(amount: int, account: str, taxed: Taxed | None) -> Tax:
    """A tax that stands as it was given; what its code does not recover is blocked."""
    return Tax(amount, account, taxed, amount - recovered(amount, taxed) if taxed else 0)


def taxed_by(
    side: Side, codes: Codes, wrong: set[tuple[int, str]], body: Body, day: date
) -> Taxed | None:
    """Find what a line is taxed by: the code that it names, or the one that its rate means."""
    if "tax_rate" not in body:
        return read_code(side, codes, wrong, body.get("tax_code"), day)
    asked = percent(body["tax_rate"])
    return rate_alone(side, codes, asked, day)


def rate_alone(side: Side, codes: Codes, asked: Fraction, day: date) -> Taxed:
    """What a rate means that is named alone: the one code that has it, or none."""
    found = [
        Taxed(each, rate)
        for each in codes.values()
        if each.treatment in ("standard", "reduced") and each.sales == (side.sign > 0)
        for rate in [each.on(day)]
        if rate is not None and rate.percent == asked
    ]
    if len(found) > 1:
        found = [each for each in found if each.code and each.code.is_default]
    return found[0] if len(found) == 1 and asked else Taxed(None, Rate(asked))


def read_code(
    side: Side | None,
    codes: Codes,
    wrong: set[tuple[int, str]],
    name: str | None,
    day: date,
    *,
    withheld: bool = False,
) -> Taxed | None:
    """Find the code that is named, or note what is wrong with it; money has no side."""
    if name is None:
        return None
    code = codes.get(name)
    if code is None:
        wrong.add((422, "reference_not_found"))
        return None
    of_another = side is not None and code.sales != (side.sign > 0)
    if of_another or (code.kind == WITHHELD) != withheld:
        wrong.add((422, "tax_code_mismatch"))
    rate = code.on(day)
    if rate is None:
        wrong.add((422, "tax_rate_missing"))
        return None
    return Taxed(code, rate)


def compute(lines: Sequence[Line], discount: int, *, inclusive: bool) -> int:
    """Work out nets and taxes, and say what the discount on all is net."""
    whole = [each.subtotal for each in lines]
    less = [n - part for n, part in zip(whole, shares(discount, whole), strict=True)]
    if inclusive:
        before = [n - sum(t) for n, t in zip(whole, charge(lines, whole, included), strict=True)]
        taxes = charge(lines, less, included)
        nets = [n - sum(t) for n, t in zip(less, taxes, strict=True)]
    else:
        before, nets, taxes = whole, less, charge(lines, less, added)
    for line, subtotal, net, computed in zip(lines, before, nets, taxes, strict=True):
        line.subtotal, line.net = subtotal, net
        for tax, amount in zip(line.taxes, computed, strict=True):
            tax.amount = amount
    block(lines)
    withhold(lines)
    assess(lines)
    return sum(before) - sum(nets)


def added(base: int, rate: Fraction) -> int:
    """Tax on a net."""
    return half_up(base * rate / 100)


def included(gross: int, rate: Fraction) -> int:
    """Tax in a gross amount: 6.03 at 20 % has 1.01."""
    return half_up(gross * rate / (100 + rate))


def charge(
    lines: Sequence[Line], bases: Sequence[int], tax: Callable[[int, Fraction], int]
) -> list[list[int]]:
    """The taxes of each line, computed once for each code and rate; given ones stay."""
    found = [[each.amount for each in line.taxes] for line in lines]
    for places in grouped(lines, lambda line: is_computed(line) and line.taxed):
        taxed = lines[places[0]].taxed
        assert taxed is not None
        held = [bases[place] for place in places]
        amount = tax(sum(held), taxed.rate.percent)
        for place, part in zip(places, shares(amount, held), strict=True):
            found[place] = [part]
    return found


def is_computed(line: Line) -> bool:
    """Whether its tax is worked out, and not given."""
    return bool(line.taxes) and not line.given


def grouped(lines: Sequence[Line], of: Callable[[Line], Taxed | bool | None]) -> list[list[int]]:
    """The places of lines that are taxed alike, for each of the ways."""
    places: dict[Hashable, list[int]] = {}
    for place, line in enumerate(lines):
        taxed = of(line)
        if isinstance(taxed, Taxed):
            places.setdefault(taxed.group, []).append(place)
    return list(places.values())


def recovered(amount: int, taxed: Taxed) -> int:
    """What of a tax is recovered."""
    return half_up(Fraction(amount * taxed.rate.recovered, 100))


def block(lines: Sequence[Line]) -> None:
    """Set apart what is not recovered of the taxes that were worked out."""
    for places in grouped(lines, lambda line: is_computed(line) and line.taxed):
        taxes = [lines[place].taxes[0] for place in places]
        taxed, amounts = taxes[0].taxed, [each.amount for each in taxes]
        assert taxed is not None
        parts = shares(recovered(sum(amounts), taxed), amounts)
        for tax, part in zip(taxes, parts, strict=True):
            tax.blocked = tax.amount - part


def withhold(lines: Sequence[Line]) -> None:
    """Work out what is withheld of the nets."""
    for places in grouped(lines, lambda line: line.withholding):
        taxed = lines[places[0]].withholding
        assert taxed is not None
        nets = [lines[place].net for place in places]
        parts = shares(added(sum(nets), taxed.rate.percent), nets)
        for place, part in zip(places, parts, strict=True):
            lines[place].withheld = part


def assess(lines: Sequence[Line]) -> None:
    """Work out the tax that a business owes itself, and what it recovers of that."""
    for places in grouped(lines, is_assessed):
        taxed = lines[places[0]].taxed
        assert taxed is not None
        nets = [lines[place].net for place in places]
        amount = added(sum(nets), taxed.rate.percent)
        owed = shares(amount, nets)
        back = shares(recovered(amount, taxed), owed)
        for place, tax, input_tax in zip(places, owed, back, strict=True):
            line, code = lines[place], taxed.code
            if code is not None and tax:
                line.assessed = Counter(
                    {
                        (code.account, taxed.mark("input")): input_tax,
                        (line.account, taxed.mark("blocked")): tax - input_tax,
                        (SELF, taxed.mark("output")): -tax,
                    }
                )


def is_assessed(line: Line) -> Taxed | None:
    """How a line is taxed, where whoever buys owes the tax."""
    return line.taxed if line.taxed and line.taxed.kind == ASSESSED and not line.given else None


def subtotal_of(line: Body) -> int:
    """What a line comes to before the discount on all, as its price is."""
    gross = half_up(Fraction(str(line["quantity"])) * line["unit_price"])
    return gross - int(line.get("discount_amount", 0))
