from datetime import UTC, datetime

import pytest

from accounting.books.businesses import Business, Context, refuse_locked, refuse_other_currency
from accounting.errors import Conflict, RuleViolation
from tests.accounting.samples import context_of, day, identifiers, refused


class TestContext:
    def test_days_are_days_of_the_moment(self) -> None:
        business = Business(identifiers()(), "GB", "GBP", "accrual", day("12-31"), day("1"))
        late = datetime(2026, 1, 31, 23, 59, tzinfo=UTC)
        context = Context(business, late, identifiers())
        assert (context.today, context.lock_date, context.currency) == (day("31"), day("1"), "GBP")


class TestLock:
    def test_a_given_day_inside_the_lock_is_refused(self) -> None:
        refuse_locked(context_of("1"), day("1"))
        locked = context_of("1", lock="10")
        refuse_locked(locked, day("11"))
        refusal = refused(refuse_locked, locked, day("10"))
        assert (type(refusal), refusal.code) == (Conflict, "period_locked")
        assert refusal.detail == {"date": "2026-01-10", "lock_date": "2026-01-10"}


class TestCurrency:
    @pytest.mark.parametrize("same", [None, "GBP", "gbp"])
    def test_the_base_currency_may_be_said_in_any_case(self, same: str | None) -> None:
        refuse_other_currency(same, context_of("1"))

    def test_another_currency_is_refused(self) -> None:
        refusal = refused(refuse_other_currency, "EUR", context_of("1"))
        assert (type(refusal), refusal.code) == (RuleViolation, "currency_mismatch")
        assert refusal.detail == {"currency": "EUR", "base_currency": "GBP"}
