"""The model's own pricing of the lines of documents, with their taxes."""

from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from fractions import Fraction
from typing import Any

from tests.model.arithmetic import (
    Part,
    by_account,
    faults_of,
    half_up,
    named,
    shares,
    shares_by_rate,
)
from tests.model.codes import ASSESSED, CHARGED, WITHHELD, Code, Mark, Rate, percent
from tests.model.sides import Side

Codes = Mapping[str, Code]
Body = Mapping[str, Any]
Group = tuple[str, Fraction]
SELF = "2200"
"""The account of self-assessed tax that is owed."""


@dataclass(frozen=True)
class Taxation:
    """A tax code with its rate of the day; a rate that fits no code has no `code`."""

    code: Code | None
    rate: Rate

    @property
    def group(self) -> Group:
        """The key of the lines that are summed before they are rounded."""
        return (self.code.name if self.code else ""), self.rate.percent

    @property
    def kind(self) -> str:
        """The treatment of the tax."""
        return self.code.kind if self.code else CHARGED

    def charged(self) -> Mark | None:
        """Return the mark of the tax that is charged."""
        return self.mark("output" if self.code and self.code.sales else "input")

    def mark(self, part: str) -> Mark | None:
        """Return the mark of an amount for a part of the return."""
        return Mark(self.code.name, self.rate.percent, part) if self.code else None


@dataclass
class Tax:
    """A tax on a line; `blocked` is the amount that is not recovered."""

    amount: int
    account: str
    taxed: Taxation | None
    blocked: int = 0


OWN = ("net", "blocked")
"""The parts of a line that are income or cost on its own account."""


@dataclass(eq=False)
class Line:
    """A line: `subtotal` is its net before the discount on the document, `net` after it.

    `assessed` are its self-assessed amounts, debits above zero. A line that `deducts` has a price
    below zero. A line of an opening is `opened`: it was posted in the earlier books, and all its
    parts are on its own account. If it names an account, it was opened `against` equity, which
    keeps the tax.
    """

    account: str
    subtotal: int
    net: int
    taxed: Taxation | None
    taxes: list[Tax]
    withholding: Taxation | None
    withheld: int = 0
    given: bool = False
    deducts: bool = False
    assessed: Counter[Part] = field(default_factory=Counter)
    opened: bool = False
    against: str = ""
    id: str = ""

    @property
    def tax(self) -> int:
        return sum(each.amount for each in self.taxes)

    @property
    def code(self) -> Code | None:
        """The tax code of the line, if any."""
        return self.taxed.code if self.taxed else None

    @property
    def net_mark(self) -> Mark | None:
        """The tax mark of its net."""
        return self.taxed.mark("net") if self.taxed else None

    def parts(self, side: Side, home: str | None = None) -> Counter[Part]:
        """Return the parts of the line for refunds and credits; the net is on `home`."""
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
        """Return the parts of the line as they are settled."""
        parts = self.parts(side)
        if not self.opened:
            return parts
        tax = self.against or self.account
        return Counter(
            {
                (self.account if mark is None or mark.part in OWN else tax, mark): n
                for (_, mark), n in parts.items()
            }
        )

    def booked(self, side: Side) -> Counter[str]:
        """Return the amounts by account as they were posted."""
        held = by_account(self.posted(side))
        return Counter({self.against: sum(held.values())}) if self.against else Counter(held)


@dataclass(frozen=True)
class Pricing:
    """The computed lines of a document and their faults (`wrong`). A `discount` is net of tax."""

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
    def is_posted(self) -> bool:
        """A total of zero posts nothing, unless lines below zero bring it to zero."""
        return bool(self.total) or any(each.deducts for each in self.lines)

    @property
    def posted(self) -> Counter[str]:
        """The posted amounts by account, with discounts as the side posts them."""
        held: Counter[str] = Counter()
        for line in self.lines:
            held.update(line.booked(self.side))
            if self.side.discount is not None:
                held[line.account] += line.subtotal - line.net
                held[self.side.discount] -= line.subtotal - line.net
        return held

    @property
    def assessed(self) -> Counter[str]:
        """The self-assessed amounts by account."""
        held: Counter[str] = Counter()
        for line in self.lines:
            if not line.opened:
                held.update(by_account(line.assessed))
        return held


def gross(taxed: Taxation | None, account: str, amount: int) -> Line:
    """Create a line of a gross amount; its tax is not computed yet."""
    line = plain(account, amount)
    line.taxed = taxed
    if taxed is not None and taxed.code is not None and taxed.kind == CHARGED:
        line.taxes.append(given_tax(0, taxed.code.account, taxed))
    return line


def price(side: Side, codes: Codes, body: Body, day: date) -> Pricing:
    """Compute a document's lines by the rates of a day."""
    discount, given = body.get("additional_discount", 0), body["line_items"]
    wrong: set[tuple[int, str]] = set()
    lines = [read_line(side, codes, wrong, each, day) for each in given]
    amounts = [each.subtotal for each in lines]
    if is_below_zero(lines, given) or sum_below_zero(lines, amounts) or sum(amounts) < discount:
        wrong.add((422, "negative_amount"))
    elif not wrong:
        discount = compute(lines, discount, inclusive=body.get("amounts_include_tax", False))
        too_low = sum_below_zero(lines, [each.net for each in lines])
        if too_low or any(each.net < 0 for each in lines if not each.deducts):
            wrong.add((422, "negative_amount"))
    if sum(each.net + each.tax - each.withheld for each in lines) < 0:
        wrong.add((422, "negative_amount"))
    told = sum(line.get("discount_amount", 0) for line in given)
    told += body.get("additional_discount", 0)
    return Pricing(side, lines, discount, told, frozenset(wrong))


def is_below_zero(lines: Sequence[Line], given: Sequence[Body]) -> bool:
    """Return whether an amount is below zero, or a line that deducts has a discount or a tax."""
    return any(
        bool(body.get("discount_amount")) or line.tax != 0 if line.deducts else line.subtotal < 0
        for line, body in zip(lines, given, strict=True)
    )


def sum_below_zero(lines: Sequence[Line], nets: Sequence[int]) -> bool:
    """Return whether the lines of a code and rate, or of a withholding code, are below zero."""
    sums: Counter[Hashable] = Counter()
    for line, net in zip(lines, nets, strict=True):
        sums["net", group_of(line)] += net
        sums["tax", group_of(line)] += line.tax
        if line.withholding:
            sums["withheld", line.withholding.group] += net
    return min(sums.values()) < 0


def group_of(line: Line) -> Group:
    """Return the code and the rate of a line; it may have neither."""
    return line.taxed.group if line.taxed else ("", Fraction(0))


def read_line(side: Side, codes: Codes, wrong: set[tuple[int, str]], body: Body, day: date) -> Line:
    """Read a line; its amounts are not computed yet."""
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
    line.deducts = price_of(body) < 0
    if not line.given and taxed is not None and taxed.kind == CHARGED:
        code = taxed.code
        line.taxes.append(Tax(0, code.account if code else side.tax, taxed))
    return line


def plain(account: str, net: int) -> Line:
    """Create a line without tax."""
    return Line(account, net, net, None, [], None)


def given_tax(amount: int, account: str, taxed: Taxation | None) -> Tax:
    """Create a tax of a given amount; the amount that its code does not recover is blocked."""
    return Tax(amount, account, taxed, amount - recovered(amount, taxed) if taxed else 0)


def taxed_by(
    side: Side, codes: Codes, wrong: set[tuple[int, str]], body: Body, day: date
) -> Taxation | None:
    """Find the code that a line names, or the one that its rate means."""
    if "tax_rate" not in body:
        return read_code(side, codes, wrong, body.get("tax_code"), day)
    asked = percent(body["tax_rate"])
    return rate_alone(side, codes, asked, day)


def rate_alone(side: Side, codes: Codes, asked: Fraction, day: date) -> Taxation:
    """Return the only code that has a rate, or the default one; else the rate without a code."""
    found = [
        Taxation(each, rate)
        for each in codes.values()
        if each.treatment in ("standard", "reduced") and each.sales == (side.sign > 0)
        for rate in [each.on(day)]
        if rate is not None and rate.percent == asked
    ]
    if len(found) > 1:
        found = [each for each in found if each.code and each.code.is_default]
    return found[0] if len(found) == 1 and asked else Taxation(None, Rate(asked))


def read_code(
    side: Side | None,
    codes: Codes,
    wrong: set[tuple[int, str]],
    name: str | None,
    day: date,
    *,
    withheld: bool = False,
) -> Taxation | None:
    """Find a named code, or note its faults; without a side the codes of both sides fit."""
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
    return Taxation(code, rate)


def compute(lines: Sequence[Line], discount: int, *, inclusive: bool) -> int:
    """Compute nets and taxes; return the discount on the document, net of tax."""
    whole = [each.subtotal for each in lines]
    less = [n - part for n, part in zip(whole, discounts(lines, discount), strict=True)]
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


def discounts(lines: Sequence[Line], discount: int) -> list[int]:
    """Divide the discount on the document over codes and rates, and then over their lines."""
    groups: dict[Group, list[int]] = {}
    for place, line in enumerate(lines):
        groups.setdefault(group_of(line), []).append(place)
    found = [0] * len(lines)
    by_group = [groups[group] for group in sorted(groups)]
    totals = [sum(lines[place].subtotal for place in places) for places in by_group]
    for places, share in zip(by_group, shares(discount, totals), strict=True):
        amounts = [max(0, lines[place].subtotal) for place in places]
        for place, part in zip(places, shares(share, amounts), strict=True):
            found[place] = part
    return found


def added(rate: Fraction) -> Fraction:
    """Return the tax on a net as a part of it: 20 on 100 at 20 %."""
    return rate / 100


def included(rate: Fraction) -> Fraction:
    """Return the tax in a gross amount as a part of it: 20 of 120 at 20 %."""
    return rate / (100 + rate)


def charge(
    lines: Sequence[Line], bases: Sequence[int], tax: Callable[[Fraction], Fraction]
) -> list[list[int]]:
    """Return the taxes of each line, computed once for each code and rate; given ones stay."""
    found = [[each.amount for each in line.taxes] for line in lines]
    for places in grouped(lines, lambda line: is_computed(line) and line.taxed):
        taxed = lines[places[0]].taxed
        assert taxed is not None
        held = [bases[place] for place in places]
        rate = tax(taxed.rate.percent)
        amounts = shares_by_rate(half_up(sum(held) * rate), held, rate)
        for place, part in zip(places, amounts, strict=True):
            found[place] = [part]
    return found


def is_computed(line: Line) -> bool:
    """Return whether the tax of a line is computed, not given."""
    return bool(line.taxes) and not line.given


def grouped(lines: Sequence[Line], of: Callable[[Line], Taxation | bool | None]) -> list[list[int]]:
    """Group the places of lines by their tax."""
    places: dict[Hashable, list[int]] = {}
    for place, line in enumerate(lines):
        taxed = of(line)
        if isinstance(taxed, Taxation):
            places.setdefault(taxed.group, []).append(place)
    return list(places.values())


def recovered(amount: int, taxed: Taxation) -> int:
    """Return the amount of a tax that is recovered."""
    return half_up(Fraction(amount * taxed.rate.recovered, 100))


def back_of(amount: int, taxes: Sequence[int], taxed: Taxation) -> list[int]:
    """Divide the recovered amount of some taxes over them."""
    return shares_by_rate(amount, taxes, Fraction(taxed.rate.recovered) / 100)


def block(lines: Sequence[Line]) -> None:
    """Set the blocked amounts of computed taxes."""
    for places in grouped(lines, lambda line: is_computed(line) and line.taxed):
        taxes = [lines[place].taxes[0] for place in places]
        taxed, amounts = taxes[0].taxed, [each.amount for each in taxes]
        assert taxed is not None
        parts = back_of(recovered(sum(amounts), taxed), amounts, taxed)
        for tax, part in zip(taxes, parts, strict=True):
            tax.blocked = tax.amount - part


def withhold(lines: Sequence[Line]) -> None:
    """Compute the withheld amounts from the nets."""
    for places in grouped(lines, lambda line: line.withholding):
        taxed = lines[places[0]].withholding
        assert taxed is not None
        nets = [lines[place].net for place in places]
        rate = added(taxed.rate.percent)
        parts = shares_by_rate(half_up(sum(nets) * rate), nets, rate)
        for place, part in zip(places, parts, strict=True):
            lines[place].withheld = part


def assess(lines: Sequence[Line]) -> None:
    """Compute self-assessed tax, and the amount of it that is recovered."""
    for places in grouped(lines, is_assessed):
        taxed = lines[places[0]].taxed
        assert taxed is not None
        nets = [lines[place].net for place in places]
        rate = added(taxed.rate.percent)
        amount = half_up(sum(nets) * rate)
        owed = shares_by_rate(amount, nets, rate)
        back = back_of(recovered(amount, taxed), owed, taxed)
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


def is_assessed(line: Line) -> Taxation | None:
    """Return the tax of a line if the buyer owes it."""
    return line.taxed if line.taxed and line.taxed.kind == ASSESSED and not line.given else None


def subtotal_of(line: Body) -> int:
    """Return the amount of a line before the discount on the document, as its price is given."""
    gross = half_up(Fraction(str(line["quantity"])) * price_of(line))
    return gross - int(line.get("discount_amount", 0))


def price_of(line: Body) -> Fraction:
    """Return the price of one unit."""
    return Fraction(line.get("unit_price_decimal", line.get("unit_price", 0)))
