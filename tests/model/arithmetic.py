"""The arithmetic of the model, written a second time: shares, rounding and the sums of lines."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction
from typing import Any

SALES, DISCOUNTS, TAX = "4000", "4200", "2200"
CONTROLS = frozenset({"1200", "1250", "1260", "1270", "2000", "2100", "2250", "2300"})
ACCOUNTS = frozenset({SALES, "4500", "4100", TAX, "2400", "6200", "6000", "6400"})
"""The accounts a caller may name in a run of the model; it makes no others."""


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
    """What lines come to; `revenue` and `taxes` by account code, before the discount on all."""

    subtotal: int
    discount: int
    discount_total: int
    revenue: Mapping[str, int]
    taxes: Mapping[str, int]
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


def price(body: Mapping[str, Any]) -> Priced:
    """Work out an invoice's lines; `wrong` are the codes of what cannot stand."""
    discount = body.get("additional_discount", 0)
    subtotals, line_discounts = [], 0
    revenue: Counter[str] = Counter()
    taxes: Counter[str] = Counter()
    wrong = set()
    for line in body["line_items"]:
        less = line.get("discount_amount", 0)
        gross = half_up(Fraction(str(line["quantity"])) * line["unit_price"])
        subtotals.append(gross - less)
        line_discounts += less
        code = named(line.get("account_identifier"), SALES)
        wrong |= faults_of(code)
        revenue[code] += gross - less
        for tax in line.get("sales_taxes", ()):
            code = named(tax.get("tax_account"), TAX)
            wrong |= faults_of(code)
            taxes[code] += tax["amount"]
    if min(subtotals) < 0 or sum(subtotals) < discount:
        wrong.add("negative_amount")
    else:
        taxes[TAX] += computed_taxes(body["line_items"], subtotals, discount)
    return Priced(
        subtotal=sum(subtotals),
        discount=discount,
        discount_total=line_discounts + discount,
        revenue=revenue,
        taxes=taxes,
        wrong=frozenset(wrong),
    )


def computed_taxes(
    lines: Sequence[Mapping[str, Any]], subtotals: Sequence[int], discount: int
) -> int:
    """Tax by rate, rounded once for each rate, on what the discount leaves of its lines."""
    bases: Counter[Fraction] = Counter()
    for line, subtotal, share in zip(lines, subtotals, shares(discount, subtotals), strict=True):
        if "tax_rate" in line:
            bases[Fraction(str(line["tax_rate"]))] += subtotal - share
    return sum(half_up(rate * base / 100) for rate, base in bases.items())


def named(identifier: Mapping[str, str] | None, otherwise: str) -> str:
    """The code of an account as a body names it."""
    return otherwise if identifier is None else identifier["code"]


def faults_of(code: str) -> set[str]:
    """Why an account of this code cannot be named, if it cannot."""
    if code in CONTROLS:
        return {"control_account"}
    return set() if code in ACCOUNTS else {"reference_not_found"}
