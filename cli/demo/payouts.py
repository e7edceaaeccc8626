"""Payouts of the payment processor for card payments of the demo's customers."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from datetime import date, timedelta

from cli.demo.roaster import CUSTOMERS
from cli.demo.steps import CARDS, NewPayment, PayingOut, Step

DAY = 3  # The day of the month of a payout, for all payments of the month before.
SHORT_MONTHS_AGO, SHORT = 4, 350  # That payout is 3.50 short, which is not explained.


def payouts(steps: Iterable[Step], today: date) -> Iterator[PayingOut]:
    """Yield one payout a month for the card payments of the month before."""
    by_month: dict[date, list[str]] = defaultdict(list)
    customers = {customer.name for customer in CUSTOMERS}
    for step in steps:
        if isinstance(step, NewPayment) and step.method in CARDS and step.party in customers:
            by_month[step.on.replace(day=1)].append(step.name)
    due = {next_month(month): names for month, names in by_month.items()}
    days = sorted(on for on in due if on <= today)
    for place, on in enumerate(days):
        short = SHORT if len(days) - place == SHORT_MONTHS_AGO else 0
        yield PayingOut(on, f"payout-{on:%Y-%m}", tuple(due[on]), short)


def next_month(month: date) -> date:
    """Return the day on which the payments of a month are paid out: day 3 of the next month."""
    return (month + timedelta(days=31)).replace(day=DAY)
