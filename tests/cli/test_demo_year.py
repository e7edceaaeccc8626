from collections import Counter
from datetime import date, timedelta
from typing import get_args

import pytest

from cli.demo_roaster import CUSTOMERS
from cli.demo_steps import (
    Advance,
    Application,
    Bounce,
    Crediting,
    Invoicing,
    Receipt,
    Refunding,
    Repayment,
    Step,
    Voiding,
    WritingOff,
)
from cli.demo_year import months_before, plan

DAYS = [date(2026, 11, 20), date(2026, 1, 1), date(2028, 2, 29), date(2027, 3, 31)]
NAMED = Invoicing | Receipt | Advance | Crediting | WritingOff | Refunding | Repayment


def known_before(step: Step) -> set[str]:
    """The invoices, payments and refunds that a step speaks of."""
    match step:
        case Receipt():
            return {invoice for invoice, _ in step.shares}
        case Application():
            return {step.payment, *step.invoices}
        case Bounce():
            return {step.receipt}
        case Voiding() | WritingOff():
            return {step.invoice}
        case Crediting():
            return {invoice for invoice, _ in step.amounts}
        case Refunding():
            return {step.of}
        case Repayment():
            return {step.refund}
        case _:
            return set()


@pytest.mark.parametrize("today", DAYS)
class TestPlan:
    def test_is_the_same_whenever_it_is_laid_out(self, today: date) -> None:
        assert plan(today) == plan(today)
        assert plan(today) != plan(today, seed=8)

    def test_speaks_only_of_what_has_happened_before(self, today: date) -> None:
        made: set[str] = set()
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
        assert 100 < kinds[Invoicing] < 200
        assert 80 < kinds[Receipt] < 200
        assert [step.order for step in steps if isinstance(step, Invoicing) and step.order]
        assert {step.customer for step in steps if isinstance(step, Invoicing)} == {
            customer.name for customer in CUSTOMERS
        }


class TestMonthsBefore:
    def test_counts_back_over_the_turn_of_the_year(self) -> None:
        months = months_before(date(2027, 1, 31), 2)
        assert months == [date(2026, 11, 1), date(2026, 12, 1), date(2027, 1, 1)]
