"""The tax codes that every business starts with, by its country.

Codes are named in the same way in all countries: S for sales or P for purchases, then a letter for
the kind, then the rate if there is one. No letter is tax that is charged (S20, P5) or zero-rated
(S0); E exempt, O outside the scope, X exports, G goods traded with EU countries, U services traded
with EU countries, A services traded with other countries, R the domestic reverse charge, I imports
with postponed tax, W income tax that is withheld. If a rate has changed, the code has the newest.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final
from uuid import UUID

from accounting.books.chart import Role, Roles
from accounting.books.ledger import TaxPart
from accounting.tax.codes import Direction, Rate, TaxCode, Treatment, account_role
from accounting.tax.rates import NOTHING, RATES, ChargedRate, CountryRates

# The boxes of a country's return for each starting code, by country and code.


Boxes = Mapping[TaxPart, tuple[str, ...]]

NO_BOXES: Final[Boxes] = {}


def boxes_of(country: str, code: str) -> Boxes:
    """Return the boxes of a code: in Great Britain, S20 has its net in 6 and its tax in 1."""
    return _BOXES.get(country, {}).get(code, NO_BOXES)


def _boxes(net: str = "", output: str = "", input_: str = "") -> Boxes:
    parts = {TaxPart.NET: net, TaxPart.OUTPUT: output, TaxPart.INPUT: input_}
    return {part: tuple(numbers.split()) for part, numbers in parts.items() if numbers}


_SOLD = _boxes("6", "1")
_BOUGHT = _boxes("7", input_="4")
_ACQUIRED = _boxes("7 9", "2", "4")

_BOXES: Final[Mapping[str, Mapping[str, Boxes]]] = {
    "GB": {
        "S20": _SOLD,
        "S5": _SOLD,
        **dict.fromkeys(("S0", "SE", "SX", "SR", "SA"), _boxes("6")),
        "SG": _boxes("6 8"),
        "P20": _BOUGHT,
        "P5": _BOUGHT,
        **dict.fromkeys(("P0", "PE"), _boxes("7")),
        "PA20": _boxes("6 7", "1", "4"),
        **dict.fromkeys(("PR20", "PI20", "PI5"), _boxes("7", "1", "4")),
        "PG20": _ACQUIRED,
        "PG5": _ACQUIRED,
        "PG0": _boxes("7 9"),
    },
    # The tax of a net at 19 or 7 % has no Kennzahl: the form computes it. `german_form` has the
    # Kennzahlen of other rates.
    "DE": {
        "S19": _boxes("81"),
        "S7": _boxes("86"),
        "S0": _boxes("87"),
        "SE": _boxes("48"),
        "SX": _boxes("43"),
        "SG": _boxes("41"),
        "SU": _boxes("21"),
        "SA": _boxes("45"),
        "SR": _boxes("60"),
        "P19": _boxes(input_="66"),
        "P7": _boxes(input_="66"),
        "PI": _boxes(input_="62"),
        "PG19": _boxes("89", input_="61"),
        "PG7": _boxes("93", input_="61"),
        "PG0": _boxes("90"),
        "PU19": _boxes("46", "47", "67"),
        "PA19": _boxes("84", "85", "67"),
        "PR19": _boxes("84", "85", "67"),
    },
}


UNTAXED_RATE = (Rate(NOTHING),)


@dataclass(frozen=True, slots=True, kw_only=True)
class StartingCode:
    """A tax code that a business starts with."""

    code: str
    name: str
    direction: Direction
    treatment: Treatment
    rates: tuple[Rate, ...]
    boxes: Boxes
    is_default: bool

    @property
    def role(self) -> Role:
        """The role of its tax account."""
        return account_role(self.direction, self.treatment)


def starting_codes(country: str | None) -> tuple[StartingCode, ...]:
    """Return the first codes of a business in a country; an unknown country has none.

    Great Britain has S20 and S5 among them, Germany PG19 for goods from France.
    """
    found = RATES.get(country or "")
    if found is None:
        return ()
    return tuple(
        StartingCode(
            code=each.code,
            name=each.name,
            direction=each.direction,
            treatment=each.treatment,
            rates=each.rates,
            boxes=boxes_of(country or "", each.code),
            is_default=each.treatment is Treatment.STANDARD,
        )
        for each in (*_sold(found), *_bought(found))
    )


def made(
    starting: Sequence[StartingCode], roles: Roles, now: datetime, identify: Callable[[], UUID]
) -> list[TaxCode]:
    """Create the codes of a new business, with its own tax accounts."""
    return [
        TaxCode(
            id=identify(),
            version=1,
            created_at=now,
            updated_at=now,
            code=each.code,
            name=each.name,
            direction=each.direction,
            treatment=each.treatment,
            rates=each.rates,
            tax_account_id=roles[each.role],
            boxes=each.boxes,
            is_default=each.is_default,
        )
        for each in starting
    ]


@dataclass(frozen=True, slots=True)
class _Draft:
    direction: Direction
    letter: str
    treatment: Treatment
    name: str
    rates: tuple[Rate, ...] = UNTAXED_RATE
    shows_rate: bool = True

    @property
    def code(self) -> str:
        rate = _percent(self.rates) if self.shows_rate else ""
        return f"{self.direction[0].upper()}{self.letter}{rate}"


def _sold(country: CountryRates) -> Iterator[_Draft]:
    sales = Direction.SALES
    for charged, treatment in _charged(country):
        yield _Draft(sales, "", treatment, _named("Sales", charged, treatment), charged.rates)
    if country.zero:
        yield _Draft(sales, "", Treatment.ZERO, "Sales, zero rate", country.zero)
    outside = "outside the EU" if country.in_eu else "abroad"
    exports = "Exports of goods" if country.eu_goods else "Exports of goods and services"
    yield _unrated("E", Treatment.EXEMPT, "Sales, exempt")
    yield _unrated("O", Treatment.OUT_OF_SCOPE, "Sales, outside the scope")
    if country.recoverable_percent:
        yield _unrated("X", Treatment.ZERO, exports)
    if country.eu_goods:
        goods = "Goods to businesses in other EU countries"
        ours = goods if country.in_eu else "Goods from Northern Ireland to the EU"
        yield _unrated("G", Treatment.ZERO, ours)
        yield _unrated("A", Treatment.OUT_OF_SCOPE, f"Services to businesses {outside}")
    if country.in_eu:
        services = "Services to businesses in other EU countries"
        yield _unrated("U", Treatment.REVERSE_CHARGE, services)
    if country.reverses_at_home:
        yield _unrated("R", Treatment.REVERSE_CHARGE, "Sales under the domestic reverse charge")
    for rates in country.withheld_on_sales:
        yield _withheld(sales, rates)


def _bought(country: CountryRates) -> Iterator[_Draft]:
    bought = Direction.PURCHASES
    for charged, treatment in _charged(country):
        rates = _recovered(country, charged.rates)
        yield _Draft(bought, "", treatment, _named("Purchases", charged, treatment), rates)
    if country.zero:
        yield _Draft(bought, "", Treatment.ZERO, "Purchases, zero rate", country.zero)
    yield replace(_unrated("E", Treatment.EXEMPT, "Purchases, exempt"), direction=bought)
    scope = _unrated("O", Treatment.OUT_OF_SCOPE, "Purchases, outside the scope")
    yield replace(scope, direction=bought)
    yield from _self_assessed(country)
    if country.customs_in_return:
        # It has no rate, since its tax is always given: it is that of the customs' notice.
        customs = _unrated("I", Treatment.ZERO, "Import VAT paid to customs")
        yield replace(customs, direction=bought)
    for rates in country.withheld_on_purchases:
        yield _withheld(bought, rates)


def _self_assessed(country: CountryRates) -> Iterator[_Draft]:
    bought = Direction.PURCHASES
    standard = _recovered(country, country.standard.rates)
    every = [charged.rates for charged, _ in _charged(country)]
    outside = "outside the EU" if country.in_eu else "abroad"

    def reversed_(letter: str, name: str) -> _Draft:
        return _Draft(bought, letter, Treatment.REVERSE_CHARGE, _at(name, standard), standard)

    yield reversed_("A", f"Services from {outside}")
    if country.in_eu:
        yield reversed_("U", "Services from other EU countries")
    if country.reverses_at_home:
        yield reversed_("R", "Purchases under the domestic reverse charge")
    if country.eu_goods:
        goods = "other EU countries" if country.in_eu else "the EU to Northern Ireland"
        for rates in [*every, *([country.zero] if country.zero else [])]:
            name = _at(f"Goods from {goods}", rates)
            yield _Draft(bought, "G", Treatment.ACQUISITION, name, rates)
    if country.postpones_imports:
        for rates in every:
            name = _at("Imports with postponed tax", rates)
            yield _Draft(bought, "I", Treatment.IMPORT_POSTPONED, name, rates)


def _charged(country: CountryRates) -> Iterator[tuple[ChargedRate, Treatment]]:
    yield country.standard, Treatment.STANDARD
    for reduced in country.reduced:
        yield reduced, Treatment.REDUCED


def _named(what: str, charged: ChargedRate, treatment: Treatment) -> str:
    return _at(f"{what}, {charged.called or f'{treatment} rate'}", charged.rates)


def _unrated(letter: str, treatment: Treatment, name: str) -> _Draft:
    return _Draft(Direction.SALES, letter, treatment, name, shows_rate=False)


def _withheld(direction: Direction, rates: tuple[Rate, ...]) -> _Draft:
    name = _at("Income tax withheld", rates)
    return _Draft(direction, "W", Treatment.WITHHOLDING, name, rates)


def _recovered(country: CountryRates, rates: tuple[Rate, ...]) -> tuple[Rate, ...]:
    return tuple(replace(rate, recoverable_percent=country.recoverable_percent) for rate in rates)


def _at(name: str, rates: tuple[Rate, ...]) -> str:
    return f"{name} {_percent(rates)} %"


def _percent(rates: tuple[Rate, ...]) -> str:
    """Format the newest rate: 25.5 for Finland."""
    return f"{rates[-1].rate:f}"
