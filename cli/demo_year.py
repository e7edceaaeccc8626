"""A year in the books of a coffee roaster: what happens on which day, worked out and not yet done.

The same day and seed always give the same year, so that an interrupted demo goes on where it was.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date, timedelta
from fractions import Fraction
from itertools import pairwise
from random import Random
from typing import Any

Line = dict[str, Any]
WHOLE = Fraction(1)

BUSINESS = {
    "external_id": "tidewater-roasters",
    "legal_name": "Tidewater Roasters Ltd",
    "name": "Tidewater Roasters",
    "entity_type": "limited",
    "email": "books@tidewater.example.com",
    "country": "GB",
}

ACCOUNTS = (
    {"code": "4010", "name": "Coffee", "external_id": "coffee"},
    {"code": "4020", "name": "Training and service", "external_id": "service"},
    {"code": "4030", "name": "Machine rental", "external_id": "rental"},
)
"""Below Sales; what is sold names one of them."""


def product(name: str, unit_price: int, code: str, tax_rate: int) -> Line:
    """One thing that is sold; beans bear no VAT, services do."""
    return {
        "description": name,
        "unit_price": unit_price,
        "account_identifier": {"type": "AccountCode", "code": code},
        "tax_rate": tax_rate,
    }


BEANS = (
    product("House blend, 1 kg", 1_850, "4010", 0),
    product("Single origin, 1 kg", 2_640, "4010", 0),
    product("Decaf, 1 kg", 1_995, "4010", 0),
    product("Espresso blend, 5 kg", 8_400, "4010", 0),
)
SERVICES = (
    product("Barista training, half a day", 14_500, "4020", 20),
    product("Grinder service", 9_550, "4020", 20),
    product("Tasting for a group", 22_000, "4020", 20),
)
RENTAL = product("Espresso machine, one month", 18_000, "4030", 20)


@dataclass(frozen=True, slots=True)
class Customer:
    """Who buys; `habit` says how they pay. Those with `monthly` beans get an invoice a month."""

    name: str
    habit: str
    monthly: int = 0
    rents: bool = False
    facts: dict[str, Any] = field(default_factory=dict)


CUSTOMERS = (
    Customer("blue-door", "prompt", 12, True, {"company_name": "Blue Door Bakery"}),
    Customer("corner", "halves", 6, False, {"company_name": "The Corner House"}),
    Customer("quay", "slow", 9, True, {"company_name": "Quay Street Kitchen"}),
    Customer("museum", "two at once", 15, True, {"company_name": "Museum of the Sea"}),
    Customer("grand", "in advance", 20, True, {"company_name": "Grand Pier Hotel"}),
    Customer("studio", "card", 4, False, {"company_name": "Studio Larch"}),
    Customer("kiosk", "cash", 3, False, {"company_name": "Kiosk No. 7"}),
    Customer("library", "check", 5, False, {"company_name": "Friends of the Library"}),
    Customer("amara", "card", facts={"individual_name": "Amara Lindqvist"}),
    Customer("tomas", "prompt", facts={"individual_name": "Tomas Okafor"}),
    Customer("noor", "card", facts={"individual_name": "Noor Haddad", "country": "NL"}),
)


@dataclass(frozen=True, slots=True)
class Invoicing:
    """An invoice is written, and sent unless it stays a draft."""

    on: date
    name: str
    customer: str
    lines: tuple[Line, ...]
    additional_discount: int = 0
    draft: bool = False


@dataclass(frozen=True, slots=True)
class Receipt:
    """Money comes for invoices: a share of each, at most what is left, and perhaps too much."""

    on: date
    name: str
    customer: str
    shares: tuple[tuple[str, Fraction], ...]
    method: str = "bank_transfer"
    status: str = "completed"
    surplus: int = 0


@dataclass(frozen=True, slots=True)
class Advance:
    """Money comes before there is an invoice for it."""

    on: date
    name: str
    customer: str
    amount: int


@dataclass(frozen=True, slots=True)
class Application:
    """Money that waited is applied to invoices, in full."""

    on: date
    advance: str
    invoices: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Bounce:
    """Money turns out not to have come."""

    on: date
    receipt: str


@dataclass(frozen=True, slots=True)
class Voiding:
    """An invoice was a mistake."""

    on: date
    invoice: str


Step = Invoicing | Receipt | Advance | Application | Bounce | Voiding


def plan(today: date, seed: int = 7) -> list[Step]:
    """Lay out the steps of the twelve months before `today`, in the order of their days."""
    steps: list[Step] = []
    for customer in CUSTOMERS:
        # Each customer has dice of its own: one more customer leaves the others' year alone.
        dice = Random(f"{seed} {customer.name}")
        bought = list(invoices_to(customer, today, dice))
        steps += [*bought, *payments_of(customer, bought, today, dice)]
    steps += exceptions(today)
    return sorted((step for step in steps if step.on <= today), key=lambda step: step.on)


def invoices_to(customer: Customer, today: date, dice: Random) -> Iterator[Invoicing]:
    """Write a customer's invoices: one a month for regulars, now and then for the others."""
    for month in months_before(today, 12):
        if not customer.monthly and dice.random() < 0.6:
            continue
        on = month + timedelta(days=dice.randint(0, 6))
        if on >= today:
            return
        lines = beans(customer.monthly, dice) if customer.monthly else service(dice)
        if customer.rents:
            lines = (*lines, {**RENTAL, "quantity": 1})
        discount = dice.choice((0, 0, 0, 500)) if customer.monthly > 10 else 0
        yield Invoicing(on, f"{customer.name}-{on:%Y-%m}", customer.name, lines, discount)


def beans(kilograms: int, dice: Random) -> tuple[Line, ...]:
    """Fill an order of about so many bags, the large one a little cheaper."""
    kinds = dice.sample(BEANS, 2)
    lines = [{**kind, "quantity": dice.randint(1, kilograms)} for kind in kinds]
    if kilograms > 10:
        lines[0]["discount_amount"] = 250
    return tuple(lines)


def service(dice: Random) -> tuple[Line, ...]:
    """Book a service by the half day."""
    return ({**dice.choice(SERVICES), "quantity": dice.choice(("1", "1.5", "2"))},)


def payments_of(
    customer: Customer, invoices: list[Invoicing], today: date, dice: Random
) -> Iterator[Step]:
    """Let a customer pay as is its habit; what falls after today has not been paid yet."""
    match customer.habit:
        case "two at once":
            for first, second in list(pairwise(invoices))[::2]:
                shares = ((first.name, WHOLE), (second.name, WHOLE))
                yield receipt(second, dice.randint(8, 20), *shares)
        case "in advance":
            yield Advance(today - timedelta(days=330), "grand-advance", customer.name, 900_000)
            yield Application(today, "grand-advance", tuple(each.name for each in invoices[2:6]))
            for each in (*invoices[:2], *invoices[6:]):
                yield receipt(each, dice.randint(6, 24), (each.name, WHOLE))
        case "halves":
            for each in invoices:
                yield receipt(each, dice.randint(10, 18), (each.name, Fraction(1, 2)))
                yield receipt(each, dice.randint(40, 55), (each.name, WHOLE))
        case "card" | "cash" | "check":
            method = {"card": dice.choice(("stripe", "credit_card"))}.get(
                customer.habit, customer.habit
            )
            for each in invoices:
                yield receipt(each, dice.randint(0, 3), (each.name, WHOLE), method=method)
        case habit:
            days = (45, 80) if habit == "slow" else (6, 24)
            for each in invoices:
                yield receipt(each, dice.randint(*days), (each.name, WHOLE))


def receipt(
    invoice: Invoicing, days: int, *shares: tuple[str, Fraction], method: str = "bank_transfer"
) -> Receipt:
    """Let money come some days after an invoice."""
    name = f"{invoice.name}-paid-{days}"
    return Receipt(invoice.on + timedelta(days=days), name, invoice.customer, shares, method)


def exceptions(today: date) -> Iterator[Step]:
    """Add what goes wrong, and what is still open, whatever day it is."""

    def ago(days: int) -> date:
        return today - timedelta(days=days)

    training = ({**SERVICES[0], "quantity": 2},)
    for days, name, customer in ((70, "late-1", "quay"), (48, "late-2", "tomas")):
        yield Invoicing(ago(days), name, customer, training)
    yield Receipt(ago(20), "late-2-part", "tomas", (("late-2", Fraction(1, 3)),))
    yield Invoicing(ago(9), "current", "blue-door", training)
    yield Receipt(ago(2), "on-its-way", "blue-door", (("current", WHOLE),), status="pending")
    yield Invoicing(ago(60), "bounced", "library", training)
    yield Receipt(ago(52), "bounced-check", "library", (("bounced", WHOLE),), "check")
    yield Bounce(ago(1), "bounced-check")
    for days, name, customer in ((150, "mistake-1", "corner"), (12, "mistake-2", "noor")):
        yield Invoicing(ago(days), name, customer, training)
        yield Voiding(ago(days - 2), name)
    yield Invoicing(ago(200), "overpaid", "museum", ({**RENTAL, "quantity": 1},))
    yield Receipt(ago(190), "overpayment", "museum", (("overpaid", WHOLE),), surplus=5_000)
    for count, customer in enumerate(("corner", "amara", "quay"), start=1):
        yield Invoicing(ago(1), f"draft-{count}", customer, training, draft=True)


def months_before(today: date, count: int) -> list[date]:
    """List the first days of so many months before this one, and of this one."""
    month = today.year * 12 + today.month - 1
    return [date(n // 12, n % 12 + 1, 1) for n in range(month - count, month + 1)]
