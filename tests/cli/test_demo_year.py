from collections import Counter
from datetime import date, timedelta
from typing import get_args

import pytest

from cli.demo.roaster import ACCOUNTS, CUSTOMERS, VENDORS
from cli.demo.steps import (
    Advance,
    Application,
    Arrival,
    Bounce,
    Duplicate,
    ManualEntry,
    NewCredit,
    NewInvoice,
    NewPayment,
    NewRefund,
    PayingOut,
    Repayment,
    Reversal,
    Step,
    VendorRefundClaim,
    VoidedInvoice,
    Withdrawal,
    WritingOff,
)
from cli.demo.year import months_before, plan

DAYS = [date(2026, 11, 20), date(2026, 1, 1), date(2028, 2, 29), date(2027, 3, 31)]
NAMED = (
    NewInvoice
    | NewPayment
    | Advance
    | NewCredit
    | WritingOff
    | NewRefund
    | Repayment
    | VendorRefundClaim
    | PayingOut
    | ManualEntry
)


def known_before(step: Step) -> set[str]:
    """Return the invoices, payments and refunds that a step refers to."""
    match step:
        case NewPayment():
            return {invoice for invoice, _ in step.shares}
        case Application():
            return {step.payment, *step.invoices}
        case PayingOut():
            return set(step.payments)
        case Duplicate():
            return {step.bill.name}
        case VoidedInvoice() | WritingOff():
            return {step.invoice}
        case NewCredit():
            return {invoice for invoice, _ in step.amounts}
        case NewRefund():
            return {step.of}
        case VendorRefundClaim():
            return set() if step.of is None else {step.of}
        case (
            Repayment(refund=name)
            | Arrival(refund=name)
            | Withdrawal(refund=name)
            | Bounce(payment=name)
            | Reversal(entry=name)
        ):
            return {name}
        case _:
            return set()


@pytest.mark.parametrize("today", DAYS)
class TestPlan:
    def test_is_the_same_whenever_it_is_laid_out(self, today: date) -> None:
        assert plan(today) == plan(today)
        assert plan(today) != plan(today, seed=8)

    def test_speaks_only_of_what_has_happened_before(self, today: date) -> None:
        made = {account["external_id"] for each in ACCOUNTS.values() for account in each}
        made |= {party.name for party in (*CUSTOMERS, *VENDORS)}
        for step in plan(today):
            assert known_before(step) <= made
            if isinstance(step, NAMED):
                assert step.name not in made
                made.add(step.name)

    def test_fills_twelve_months_up_to_today_and_no_further(self, today: date) -> None:
        days = [step.on for step in plan(today)]
        assert days == sorted(days)
        assert today - timedelta(days=400) < days[0] < today - timedelta(days=330)
        assert days[-1] <= today

    def test_holds_every_kind_of_step_on_any_day(self, today: date) -> None:
        steps = plan(today)
        kinds = Counter(type(step) for step in steps)
        assert set(kinds) == set(get_args(Step))
        assert 150 < kinds[NewInvoice] < 300
        assert 140 < kinds[NewPayment] < 300
        assert [step.order for step in steps if isinstance(step, NewInvoice) and step.order]
        assert 10 <= kinds[PayingOut] <= 13
        assert [step.short for step in steps if isinstance(step, PayingOut) if step.short] == [350]
        assert {step.party for step in steps if isinstance(step, NewInvoice)} == {
            party.name for party in (*CUSTOMERS, *VENDORS)
        }

    def test_lets_vendors_bill_every_month_under_numbers_of_their_own(self, today: date) -> None:
        initials = {vendor.name: vendor.initials for vendor in VENDORS}
        bills = [
            step for step in plan(today) if isinstance(step, NewInvoice) and step.party in initials
        ]
        monthly = [bill for bill in bills if bill.party in {v.name for v in VENDORS if v.day}]
        assert {f"{bill.on:%Y-%m}" for bill in monthly if bill.party == "harbour"} >= {
            f"{month:%Y-%m}" for month in months_before(today, 12)[:-1]
        }
        assert all((bill.number or "").startswith(initials[bill.party]) for bill in bills)
        assert len({bill.number for bill in bills}) == len(bills)


class TestMonthsBefore:
    def test_counts_back_over_the_turn_of_the_year(self) -> None:
        months = months_before(date(2027, 1, 31), 2)
        assert months == [date(2026, 11, 1), date(2026, 12, 1), date(2027, 1, 1)]
