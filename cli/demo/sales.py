"""Special cases of the demo's sales, such as refunds and write-offs, by days before today."""

from collections.abc import Iterator
from datetime import date, timedelta
from fractions import Fraction

from cli.demo.roaster import GRINDER, RENTAL, TASTING, TRAINING
from cli.demo.steps import (
    WHOLE,
    Advance,
    Application,
    Bounce,
    ManualEntry,
    NewCredit,
    NewInvoice,
    NewPayment,
    NewRefund,
    Repayment,
    Reversal,
    Step,
    VoidedInvoice,
    WritingOff,
)

COURSE = ({**TRAINING, "quantity": 2},)
HALF = Fraction(1, 2)


def exceptions(today: date) -> Iterator[Step]:
    """Yield the steps of all special cases."""
    yield from late_and_bounced(today)
    yield from mistaken(today)
    yield from overpaid(today)
    yield from complained_of(today)
    yield from given_up(today)
    yield from given_back(today)
    yield from written(today)


def late_and_bounced(today: date) -> Iterator[Step]:
    """Yield late and partly paid invoices, a pending payment, and a cheque that bounces."""
    for days, name, customer in ((70, "late-1", "quay"), (48, "late-2", "tomas")):
        yield NewInvoice(ago(today, days), name, customer, COURSE)
    yield NewPayment(ago(today, 20), "late-2-part", "tomas", (("late-2", Fraction(1, 3)),))
    yield NewInvoice(ago(today, 9), "current", "blue-door", COURSE)
    shares = (("current", WHOLE),)
    yield NewPayment(ago(today, 2), "on-its-way", "blue-door", shares, status="pending")
    yield NewInvoice(ago(today, 60), "bounced", "library", COURSE)
    yield NewPayment(ago(today, 52), "bounced-check", "library", (("bounced", WHOLE),), "check")
    yield Bounce(ago(today, 1), "bounced-check")


def mistaken(today: date) -> Iterator[Step]:
    """Yield two invoices that are voided, and three drafts."""
    for days, name, customer in ((150, "mistake-1", "corner"), (12, "mistake-2", "noor")):
        yield NewInvoice(ago(today, days), name, customer, COURSE)
        yield VoidedInvoice(ago(today, days - 2), name)
    for count, customer in enumerate(("corner", "amara", "quay"), start=1):
        yield NewInvoice(ago(today, 1), f"draft-{count}", customer, COURSE, draft=True)


def overpaid(today: date) -> Iterator[Step]:
    """Yield an overpayment that is later applied to an invoice with a purchase order attached."""
    yield NewInvoice(ago(today, 200), "overpaid", "museum", ({**RENTAL, "quantity": 1},))
    shares = (("overpaid", WHOLE),)
    yield NewPayment(ago(today, 190), "overpayment", "museum", shares, surplus=5_000)
    lines = ({**TASTING, "quantity": 1}, {**GRINDER, "quantity": 1})
    yield NewInvoice(ago(today, 16), "opening-night", "museum", lines, order="PO 2041")
    yield Application(ago(today, 4), "overpayment", ("opening-night",))


def complained_of(today: date) -> Iterator[Step]:
    """Yield a credit on two invoices for a repair that failed, and an unapplied credit."""
    names = ("grinder-1", "grinder-2")
    for days, name in zip((110, 96), names, strict=True):
        yield NewInvoice(ago(today, days), name, "kiosk", ({**GRINDER, "quantity": 2},))
    repair = {"amount": 9_000, "tax_amount_cents": 1_800, "memo": "Half of each repair"}
    amounts = tuple(zip(names, (6_000, 4_800), strict=True))
    yield NewCredit(ago(today, 90), "loud", "kiosk", (repair,), amounts)
    shares = tuple((name, WHOLE) for name in names)
    yield NewPayment(ago(today, 85), "grinders-paid", "kiosk", shares, "cash")
    beans = {"amount": 1_995, "memo": "A bag of decaf that was none"}
    yield NewCredit(ago(today, 40), "no-decaf", "studio", (beans,))


def given_up(today: date) -> Iterator[Step]:
    """Yield the write-off of a customer who went out of business, and one of a small dispute."""
    yield NewInvoice(ago(today, 170), "closed-down", "tomas", COURSE)
    yield NewPayment(ago(today, 150), "closed-down-part", "tomas", (("closed-down", HALF / 2),))
    memo = "The café has closed"
    yield WritingOff(ago(today, 75), "closed-down-loss", "closed-down", memo)
    yield NewInvoice(ago(today, 45), "disputed", "library", COURSE)
    memo = "An hour that was not given"
    yield WritingOff(ago(today, 15), "disputed-part", "disputed", memo, Fraction(1, 10))


def given_back(today: date) -> Iterator[Step]:
    """Yield refunds of a cancelled tasting, of a cancelled course and of a deposit."""
    yield NewInvoice(ago(today, 130), "wedding", "amara", ({**TASTING, "quantity": 1},))
    yield NewPayment(ago(today, 129), "wedding-paid", "amara", (("wedding", WHOLE),), "stripe")
    memo = "The wedding was put off"
    yield NewRefund(ago(today, 100), "wedding-back", "wedding", memo, "STRIPE", at_once=True)
    yield NewInvoice(ago(today, 35), "course", "noor", COURSE)
    yield NewPayment(ago(today, 28), "course-paid", "noor", (("course", WHOLE),))
    yield NewRefund(ago(today, 3), "course-back", "course", "The trainer was ill")
    yield Repayment(ago(today, 2), "course-back-1", "course-back", HALF)
    yield Repayment(ago(today, 1), "course-back-2", "course-back")
    yield Advance(ago(today, 60), "deposit", "studio", 30_000)
    yield NewRefund(ago(today, 1), "deposit-back", "deposit", "The fair does not take place")


def written(today: date) -> Iterator[Step]:
    """Yield an accrual, reversed on the first of the month, and an entry proposed by an AI."""
    first = today.replace(day=1)
    words = "Energy used in the month and not billed yet"
    yield ManualEntry(ago(first, 1), "energy-accrued", words, "energy", "2400", 18_500)
    yield Reversal(first, "energy-accrued")
    words = "Rounding of card takings, as in the months before"
    yield ManualEntry(ago(today, 1), "rounding", words, "6400", "1150", 7, author="ai")


def ago(today: date, days: int) -> date:
    """Return the date some days before today."""
    return today - timedelta(days=days)
