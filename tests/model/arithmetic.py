"""The arithmetic of the model, written a second time: shares, rounding and the sums of lines."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction
from typing import Any

from tests.model.sides import Side

CONTROLS = frozenset({"1200", "1250", "1260", "1270", "2000", "2100", "2250", "2300"})
ASSETS = frozenset({"1000", "1100", "1300", "1900"})
ACCOUNTS = ASSETS | {"1150", "2200", "2400", "4000", "4100", "4500", "5100", "6000", "6200"}
"""The accounts a caller may name in a run of the model; only bank accounts bring others."""
CODED = frozenset({Fraction(20), Fraction(5)})
"""The rates that a tax code which every business is born with has, one for each."""
Part = tuple[str, str]
"""An account, and the mark of a coded rate or nothing."""


def half_up(value: Fraction) -> int:
    """Round a half away from zero."""
    exact = Decimal(value.numerator) / Decimal(value.denominator)
    return int(exact.quantize(Decimal(1), rounding=ROUND_HALF_UP))


def shares(amount: int, weights: Sequence[int]) -> list[int]:
    """Share an amount out: everybody's whole part first, then units to the largest remainders."""
    whole = sum(weights)
    if whole == 0:
        return [0 for _ in weights]
    exact = [Fraction(amount * weight, whole) for weight in weights]
    given = [int(each) for each in exact]
    order = sorted(range(len(weights)), key=lambda place: (given[place] - exact[place], place))
    for place in order[: amount - sum(given)]:
        given[place] += 1
    return given


@dataclass(frozen=True)
class Priced:
    """What lines come to, by account code: `gross` before the discount on all, `net` after it."""

    subtotal: int
    discount: int
    discount_total: int
    gross: Mapping[str, int]
    nets: Mapping[str, int]
    taxes: Mapping[str, int]
    parts: Mapping[Part, int]
    wrong: frozenset[str]

    @property
    def tax(self) -> int:
        return sum(self.taxes.values())

    @property
    def net(self) -> int:
        return self.subtotal - self.discount

    @property
    def total(self) -> int:
        return self.net + self.tax


def price(side: Side, body: Mapping[str, Any]) -> Priced:
    """Work out a document's lines; `wrong` are the codes of what cannot stand."""
    discount, lines = body.get("additional_discount", 0), body["line_items"]
    codes = [named(line.get("account_identifier"), side.line) for line in lines]
    subtotals = [subtotal_of(line) for line in lines]
    wrong = {fault for code in codes for fault in faults_of(code)}
    taxes: Counter[str] = Counter()
    for line in lines:
        for tax in line.get("sales_taxes", ()):
            code = named(tax.get("tax_account"), side.tax)
            wrong |= faults_of(code)
            taxes[code] += tax["amount"]
    nets, computed = subtotals, Counter[Fraction]()
    if min(subtotals) < 0 or sum(subtotals) < discount:
        wrong.add("negative_amount")
    else:
        less = shares(discount, subtotals)
        nets = [whole - part for whole, part in zip(subtotals, less, strict=True)]
        computed = computed_taxes(lines, nets)
        taxes[side.tax] += sum(computed.values())
    return Priced(
        subtotal=sum(subtotals),
        discount=discount,
        discount_total=sum(line.get("discount_amount", 0) for line in lines) + discount,
        gross=by_code(codes, subtotals),
        nets=by_code(codes, nets),
        taxes=taxes,
        parts=parts_of(side, lines, nets, computed),
        wrong=frozenset(wrong),
    )


def subtotal_of(line: Mapping[str, Any]) -> int:
    """What a line comes to before the discount on all."""
    gross = half_up(Fraction(str(line["quantity"])) * line["unit_price"])
    return gross - int(line.get("discount_amount", 0))


def by_code(codes: Sequence[str], amounts: Sequence[int]) -> Counter[str]:
    """Add amounts up by account, in the order in which the accounts first appear."""
    held: Counter[str] = Counter()
    for code, amount in zip(codes, amounts, strict=True):
        held[code] += amount
    return held


def computed_taxes(lines: Sequence[Mapping[str, Any]], nets: Sequence[int]) -> Counter[Fraction]:
    """Tax by rate, rounded once for each rate, on what the discount leaves of its lines."""
    bases: Counter[Fraction] = Counter()
    for line, net in zip(lines, nets, strict=True):
        if "tax_rate" in line:
            bases[Fraction(str(line["tax_rate"]))] += net
    return Counter({rate: half_up(rate * base / 100) for rate, base in bases.items()})


def parts_of(
    side: Side,
    lines: Sequence[Mapping[str, Any]],
    nets: Sequence[int],
    computed: Mapping[Fraction, int],
) -> Counter[Part]:
    """What refunds are split over: a coded rate sets its nets and taxes apart on their accounts."""
    parts: Counter[Part] = Counter()
    untold = Counter(computed)
    for line, net in zip(lines, nets, strict=True):
        rate = Fraction(str(line["tax_rate"])) if "tax_rate" in line else None
        mark = str(rate) if rate in CODED else ""
        code = side.returns or named(line.get("account_identifier"), side.line)
        parts[code, mark and f"net {mark}"] += net
        for tax in line.get("sales_taxes", ()):
            parts[named(tax.get("tax_account"), side.tax), ""] += tax["amount"]
        if rate is not None:
            parts[side.tax, mark and f"tax {mark}"] += untold.pop(rate, 0)
    return parts


def by_account(parts: Mapping[Part, int]) -> Counter[str]:
    """Add parts up by account."""
    return by_code([code for code, _ in parts], list(parts.values()))


def named(identifier: Mapping[str, str] | None, otherwise: str) -> str:
    """The code of an account as a body names it."""
    return otherwise if identifier is None else identifier["code"]


def faults_of(code: str) -> set[str]:
    """Why an account of this code cannot be named, if it cannot."""
    if code in CONTROLS:
        return {"control_account"}
    return set() if code in ACCOUNTS else {"reference_not_found"}
