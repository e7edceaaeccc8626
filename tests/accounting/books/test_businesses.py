from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, ClassVar
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accounting.books.businesses import (
    COUNTRIES,
    CURRENCY_BY_COUNTRY,
    ENTITY_TYPES,
    FIXED,
    Business,
    Context,
    Sandbox,
    default_currency,
    entity_type,
    fiscal_year,
    refuse_archived_business,
    refuse_fixed,
    refuse_given_up,
    refuse_locked,
    refuse_moving_back,
    refuse_other_currency,
    refuse_taken,
)
from accounting.books.commands import ChangeBusiness
from accounting.errors import Conflict, RuleViolation, ValidationError
from accounting.money import CURRENCIES
from tests.accounting.samples import BORN, context_of, day, identifiers, refused


class TestCountry:
    def test_every_country_has_a_supported_currency(self) -> None:
        assert {default_currency(country) for country in COUNTRIES} <= set(CURRENCIES)
        assert set(CURRENCY_BY_COUNTRY) <= set(COUNTRIES)
        assert default_currency("IS") == "ISK"
        assert default_currency("FR") == "EUR"

    def test_a_legal_form_is_kept_in_lower_case(self) -> None:
        assert entity_type("GB", "Limited") == "limited"
        assert entity_type("DE", "GmbH") == "gmbh"
        assert entity_type("FR", "SAS") == "sas"  # The country has no list of entity types.

    def test_a_wrong_one_names_the_valid_ones(self) -> None:
        refusal = refused(entity_type, "NL", "limited")
        assert isinstance(refusal, ValidationError)
        assert refusal.detail["field_errors"]["entity_type"] == [
            f"must be one of {', '.join(ENTITY_TYPES['NL'])} in NL"
        ]

    def test_lists_are_lower_case_and_of_served_countries(self) -> None:
        assert set(ENTITY_TYPES) <= set(COUNTRIES)
        for forms in ENTITY_TYPES.values():
            assert len(set(forms)) == len(forms)
            assert all(form == form.lower() for form in forms)


class TestFiscalYear:
    def test_a_year_that_ends_in_march(self) -> None:
        end = date(2020, 3, 31)
        assert fiscal_year(end, date(2026, 2, 10)) == (date(2025, 4, 1), date(2026, 3, 31))
        assert fiscal_year(end, date(2026, 3, 31)) == (date(2025, 4, 1), date(2026, 3, 31))
        assert fiscal_year(end, date(2026, 4, 1)) == (date(2026, 4, 1), date(2027, 3, 31))

    @pytest.mark.parametrize("end", [date(2024, 2, 29), date(2025, 2, 28)])
    def test_a_year_that_ends_in_february_ends_on_its_last_day(self, end: date) -> None:
        assert fiscal_year(end, date(2026, 2, 28)) == (date(2025, 3, 1), date(2026, 2, 28))
        assert fiscal_year(end, date(2028, 2, 29)) == (date(2027, 3, 1), date(2028, 2, 29))

    @given(
        st.dates(date(1990, 1, 1), date(2090, 1, 1)), st.dates(date(1990, 1, 1), date(2090, 1, 1))
    )
    def test_years_follow_one_another_without_a_gap(self, end: date, on: date) -> None:
        first, last = fiscal_year(end, on)
        assert first <= on <= last
        assert fiscal_year(end, last + timedelta(days=1))[0] == last + timedelta(days=1)


class TestArchived:
    def test_an_archived_business_is_only_read(self) -> None:
        refuse_archived_business(None)
        refusal = refused(refuse_archived_business, BORN)
        assert (type(refusal), refusal.code) == (Conflict, "business_archived")


class TestFixed:
    KNOWN: ClassVar = {"external_id": "shop", "country": "GB", "base_currency": "GBP"}

    def test_a_repeated_country_in_lower_case_is_no_change(self) -> None:
        refuse_fixed(self.KNOWN, ChangeBusiness())
        again = {**self.KNOWN, "country": "gb", "name": "Corner Shop"}
        refuse_fixed(self.KNOWN, ChangeBusiness(**again))

    def test_a_real_change_is_refused_with_all_that_it_changes(self) -> None:
        command = ChangeBusiness(external_id="other", country="DE", base_currency="EUR")
        refusal = refused(refuse_fixed, self.KNOWN, command)
        assert (type(refusal), refusal.code) == (RuleViolation, "immutable_field")
        assert refusal.detail == {"fields": list(FIXED)}


class TestContext:
    def test_days_are_days_of_the_moment(self) -> None:
        business = Business(identifiers()(), "GB", "GBP", "accrual", day("12-31"), day("1"))
        late = datetime(2026, 1, 31, 23, 59, tzinfo=UTC)
        context = Context(business, late, identifiers())
        assert (context.today, context.lock_date, context.currency) == (day("31"), day("1"), "GBP")

    @pytest.mark.parametrize(
        ("today", "last"),
        [
            (date(2026, 11, 29), date(2027, 11, 29)),
            (date(2027, 2, 28), date(2028, 2, 28)),
            (date(2028, 2, 29), date(2029, 2, 28)),
        ],
    )
    def test_a_day_is_distant_after_a_year(self, today: date, last: date) -> None:
        context = replace(context_of("1"), now=datetime.combine(today, time(23), UTC))
        assert not context.is_distant(last)
        assert context.is_distant(last + timedelta(days=1))

    def test_a_given_day_inside_the_lock_is_refused(self) -> None:
        refuse_locked(context_of("1"), day("1"))
        locked = context_of("1", lock="10")
        refuse_locked(locked, day("11"))
        refusal = refused(refuse_locked, locked, day("10"))
        assert (type(refusal), refusal.code) == (Conflict, "period_locked")
        assert refusal.detail == {"date": "2026-01-10", "lock_date": "2026-01-10"}

    def test_an_account_is_in_the_base_currency(self) -> None:
        for same in (None, "GBP"):
            refuse_other_currency(same, context_of("1"))
        refusal = refused(refuse_other_currency, "EUR", context_of("1"))
        assert (type(refusal), refusal.code) == (RuleViolation, "currency_mismatch")
        assert refusal.detail == {"currency": "EUR", "base_currency": "GBP"}


class TestSandbox:
    def test_a_clock_stays_or_goes_ahead_and_is_not_moved_back(self) -> None:
        refuse_moving_back(60, 60)
        refuse_moving_back(60, 61)
        refusal = refused(refuse_moving_back, 60, 59)
        assert (type(refusal), refusal.code) == (RuleViolation, "clock_moved_back")
        assert refusal.detail == {"clock_seconds_ahead": 60}

    @pytest.mark.parametrize("found", [None, Sandbox.TEMPLATE, Sandbox.GIVEN_UP])
    def test_by_a_sandbox_is_found_and_by_anything_else_refused(self, found: Any) -> None:
        refuse_taken(Sandbox.OPEN, "mine", UUID(int=1))
        refusal = refused(refuse_taken, found, "mine", UUID(int=1))
        assert isinstance(refusal, Conflict)
        assert refusal.detail == {"external_id": "mine", "id": UUID(int=1)}

    def test_only_a_sandbox_that_was_given_up_is_refused(self) -> None:
        for found in (None, Sandbox.OPEN):
            refuse_given_up(found)
        refusal = refused(refuse_given_up, Sandbox.GIVEN_UP)
        assert (type(refusal), refusal.code) == (Conflict, "invalid_state_transition")
