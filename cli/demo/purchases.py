"""Special cases of the demo's purchases, such as duplicates and refunds, by days before today."""

from collections.abc import Iterator
from datetime import date
from fractions import Fraction

from cli.demo.roaster import BAGS, GREEN, PARTS, POWER, REPAIR, Line
from cli.demo.sales import ago
from cli.demo.steps import (
    WHOLE,
    Arrival,
    Bounce,
    Duplicate,
    NewCredit,
    NewInvoice,
    NewPayment,
    Step,
    VendorRefundClaim,
    VoidedInvoice,
    Withdrawal,
)

VISIT = ({**REPAIR, "quantity": 2},)
VISIT_COMES_TO = 18_720
BURRS = ({**PARTS, "quantity": 1},)
HALF = Fraction(1, 2)


def exceptions(today: date) -> Iterator[Step]:
    """Yield the steps of all special cases."""
    yield from sent_twice(today)
    yield from mistaken(today)
    yield from still_owed(today)
    yield from worn_too_soon(today)
    yield from paid_twice(today)
    yield from misread(today)
    yield from damp(today)
    yield from in_vain(today)
    yield from thought_better_of(today)


def sent_twice(today: date) -> Iterator[Step]:
    """Yield a bill that arrives by e-mail and again by post; the duplicate is rejected."""
    bill = _bill(today, 160, "check-up", VISIT, "MW-118")
    yield bill
    yield Duplicate(ago(today, 157), bill)
    yield _paid(today, 155, bill)


def mistaken(today: date) -> Iterator[Step]:
    """Yield a voided bill that was meant for a neighbour, and a draft that is not checked yet."""
    bags = ({**BAGS, "quantity": 5},)
    yield NewInvoice(ago(today, 82), "neighbours", "bag-maker", bags, number="VK-77120")
    yield VoidedInvoice(ago(today, 80), "neighbours")
    yield NewInvoice(ago(today, 1), "unread", "machinist", VISIT, draft=True, number="MW-163")


def still_owed(today: date) -> Iterator[Step]:
    """Yield one late bill, one partly paid, one new, and one whose payment is returned."""
    yield _bill(today, 64, "late", VISIT, "MW-140")
    part = _bill(today, 18, "in-part", VISIT, "MW-155")
    yield part
    yield _paid(today, 7, part, HALF)
    yield _bill(today, 5, "fresh", VISIT, "MW-160")
    returned = _bill(today, 38, "returned", BURRS, "MW-147")
    yield returned
    yield _paid(today, 30, returned)
    yield Bounce(ago(today, 1), "returned-paid")


def worn_too_soon(today: date) -> Iterator[Step]:
    """Yield two bills for burrs that wore out within weeks, and one credit allocated to both."""
    yield _bill(today, 118, "burrs-1", BURRS, "MW-126")
    yield _bill(today, 104, "burrs-2", BURRS, "MW-129")
    worn = {"amount": 7_000, "tax_amount_cents": 1_400, "memo": "Burrs that wore out"}
    amounts = (("burrs-1", 5_000), ("burrs-2", 3_400))
    yield NewCredit(ago(today, 97), "burrs-credit", "machinist", (worn,), amounts)
    shares = (("burrs-1", WHOLE), ("burrs-2", WHOLE))
    yield NewPayment(ago(today, 92), "burrs-paid", "machinist", shares, "check")


def paid_twice(today: date) -> Iterator[Step]:
    """Yield a transfer that pays a visit twice, and the refund of the second amount."""
    yield _bill(today, 140, "visit", VISIT, "MW-122")
    shares = (("visit", WHOLE),)
    yield NewPayment(ago(today, 133), "visit-paid", "machinist", shares, surplus=VISIT_COMES_TO)
    yield VendorRefundClaim(
        on=ago(today, 126),
        name="visit-back",
        vendor="machinist",
        kind="payment",
        of="visit-paid",
        amount=VISIT_COMES_TO,
        refund_type="duplicate_payment",
        reason="The visit was paid twice",
    )
    yield Arrival(ago(today, 119), "visit-back")


def misread(today: date) -> Iterator[Step]:
    """Yield a bill based on a wrong meter reading, and the refund of a part of it."""
    power = ({**POWER, "quantity": 800},)
    yield NewInvoice(ago(today, 88), "meter", "northgrid", power, number="NE-X3")
    yield NewPayment(ago(today, 81), "meter-paid", "northgrid", (("meter", WHOLE),))
    yield VendorRefundClaim(
        on=ago(today, 50),
        name="meter-back",
        vendor="northgrid",
        kind="bill",
        of="meter",
        amount=9_600,
        refund_type="billing_error",
        reason="The meter was misread",
    )
    yield Arrival(ago(today, 43), "meter-back")


def damp(today: date) -> Iterator[Step]:
    """Yield a delivery of which a third was damp, refunded as a credit for the next one."""
    sacks = ({**GREEN[0], "quantity": 60},)
    yield NewInvoice(ago(today, 72), "damp", "highland", sacks, number="HG-X9")
    yield NewPayment(ago(today, 66), "damp-paid", "highland", (("damp", WHOLE),))
    yield VendorRefundClaim(
        on=ago(today, 59),
        name="damp-back",
        vendor="highland",
        kind="credit",
        of=None,
        amount=12_200,
        refund_type="goods_return",
        reason="A third of the sacks was damp",
    )
    yield Arrival(ago(today, 58), "damp-back")


def in_vain(today: date) -> Iterator[Step]:
    """Yield a repair that did not last, and an open refund of its price plus compensation."""
    bill = _bill(today, 55, "in-vain", VISIT, "MW-143")
    yield bill
    yield _paid(today, 49, bill)
    yield VendorRefundClaim(
        on=ago(today, 10),
        name="in-vain-back",
        vendor="machinist",
        kind="bill",
        of="in-vain",
        amount=VISIT_COMES_TO,
        refund_type="service_cancellation",
        reason="The repair did not last",
        waiting=4_000,
    )


def thought_better_of(today: date) -> Iterator[Step]:
    """Yield a refund that a vendor agrees to and later withdraws."""
    bill = _bill(today, 34, "tuning", VISIT, "MW-150")
    yield bill
    yield _paid(today, 29, bill)
    yield VendorRefundClaim(
        on=ago(today, 21),
        name="tuning-back",
        vendor="machinist",
        kind="bill",
        of="tuning",
        amount=6_000,
        refund_type="overpayment",
        reason="An hour less than billed",
    )
    yield Withdrawal(ago(today, 3), "tuning-back")


def _bill(today: date, days: int, name: str, lines: tuple[Line, ...], number: str) -> NewInvoice:
    return NewInvoice(ago(today, days), name, "machinist", lines, number=number)


def _paid(today: date, days: int, bill: NewInvoice, share: Fraction = WHOLE) -> NewPayment:
    return NewPayment(ago(today, days), f"{bill.name}-paid", bill.party, ((bill.name, share),))
