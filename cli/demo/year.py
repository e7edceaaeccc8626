"""The plan of a year of trade of a coffee roaster: all steps with their dates, not yet executed.

The same day and seed always give the same year, so that an interrupted demo can continue.
"""

from collections.abc import Iterator
from datetime import date, timedelta
from fractions import Fraction
from itertools import pairwise
from random import Random

from cli.demo import bank, payouts, purchases, sales
from cli.demo.roaster import (
    BEANS,
    CUSTOMERS,
    RENTAL,
    SERVICES,
    VENDORS,
    Customer,
    Line,
    Party,
    Vendor,
)
from cli.demo.steps import WHOLE, Advance, Application, NewInvoice, NewPayment, Step


def plan(today: date, seed: int = 7) -> list[Step]:
    """Return the steps of the twelve months before `today`, in order of date."""
    steps: list[Step] = []
    for party in (*CUSTOMERS, *VENDORS):
        # Each party has its own generator, so a new party does not change the others' year.
        dice = Random(f"{seed} {party.name}")
        written = list(
            bills_of(party, today, dice)
            if isinstance(party, Vendor)
            else invoices_to(party, today, dice)
        )
        steps += [*written, *payments_of(party, written, today, dice)]
    steps += [*sales.exceptions(today), *purchases.exceptions(today)]
    steps += payouts.payouts(steps, today)
    steps += bank.statements(today)
    return sorted((step for step in steps if step.on <= today), key=lambda step: step.on)


def invoices_to(customer: Customer, today: date, dice: Random) -> Iterator[NewInvoice]:
    """Yield a customer's invoices: one a month for regulars, occasional ones for others."""
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
        yield NewInvoice(on, f"{customer.name}-{on:%Y-%m}", customer.name, lines, discount)


def beans(kilograms: int, dice: Random) -> tuple[Line, ...]:
    """Return the lines of an order of two products; a larger one has a discount of 2.50."""
    kinds = dice.sample(BEANS, 2)
    lines = [{**kind, "quantity": dice.randint(1, kilograms)} for kind in kinds]
    if kilograms > 10:
        lines[0]["discount_amount"] = 250
    return tuple(lines)


def service(dice: Random) -> tuple[Line, ...]:
    """Return the line of one service, of one to two units."""
    return ({**dice.choice(SERVICES), "quantity": dice.choice(("1", "1.5", "2"))},)


def bills_of(vendor: Vendor, today: date, dice: Random) -> Iterator[NewInvoice]:
    """Yield the monthly bills of a vendor with a `day`, each with its own number."""
    if vendor.day is None:
        return
    for month in months_before(today, 12):
        on = month.replace(day=vendor.day)
        if on >= today:
            return
        lines = tuple(
            {**each, "quantity": dice.randint(least, most)} for each, least, most in vendor.supplies
        )
        name, number = f"{vendor.name}-{on:%Y-%m}", f"{vendor.initials}-{on:%y%m}"
        yield NewInvoice(on, name, vendor.name, lines, number=number)


def payments_of(
    party: Party, invoices: list[NewInvoice], today: date, dice: Random
) -> Iterator[Step]:
    """Yield the payments of invoices as the party's habit is; they can be dated after today."""
    match party.habit:
        case "two at once":
            for first, second in list(pairwise(invoices))[::2]:
                shares = ((first.name, WHOLE), (second.name, WHOLE))
                yield payment(second, dice.randint(8, 20), *shares)
        case "in advance":
            advance = f"{party.name}-advance"
            yield Advance(today - timedelta(days=330), advance, party.name, party.advance)
            yield Application(today, advance, tuple(each.name for each in invoices[2:6]))
            for each in (*invoices[:2], *invoices[6:]):
                yield payment(each, dice.randint(6, 24), (each.name, WHOLE))
        case "halves":
            for each in invoices:
                yield payment(each, dice.randint(10, 18), (each.name, Fraction(1, 2)))
                yield payment(each, dice.randint(40, 55), (each.name, WHOLE))
        case "card" | "cash" | "check":
            method = {"card": dice.choice(("stripe", "credit_card"))}.get(party.habit, party.habit)
            for each in invoices:
                yield payment(each, dice.randint(0, 3), (each.name, WHOLE), method=method)
        case habit:
            days = (45, 80) if habit == "slow" else (6, 24)
            for each in invoices:
                yield payment(each, dice.randint(*days), (each.name, WHOLE))


def payment(
    invoice: NewInvoice, days: int, *shares: tuple[str, Fraction], method: str = "bank_transfer"
) -> NewPayment:
    """Return a payment some days after an invoice."""
    name = f"{invoice.name}-paid-{days}"
    return NewPayment(invoice.on + timedelta(days=days), name, invoice.party, shares, method)


def months_before(today: date, count: int) -> list[date]:
    """Return the first days of the `count` months before this one, and of this one."""
    month = today.year * 12 + today.month - 1
    return [date(n // 12, n % 12 + 1, 1) for n in range(month - count, month + 1)]
