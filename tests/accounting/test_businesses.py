from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from typing import ClassVar
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
    default_currency,
    entity_type,
    fiscal_year,
    refuse_archived_business,
    refuse_fixed,
)
from accounting.books.context import Context
from accounting.errors import Conflict, Malformed, RuleBroken
from accounting.money import CURRENCIES

BUSINESS = Business(UUID(int=1), "GB", "GBP", "accrual", date(2025, 12, 31))


class TestCountry:
    def test_every_country_has_a_supported_currency(self) -> None:
        assert {default_currency(country) for country in COUNTRIES} <= set(CURRENCIES)
        assert set(CURRENCY_BY_COUNTRY) <= set(COUNTRIES)
        assert default_currency("IS") == "ISK"
        assert default_currency("FR") == "EUR"


class TestEntityType:
    def test_any_case_is_kept_in_lower_case(self) -> None:
        assert entity_type("GB", "Limited") == "limited"
        assert entity_type("DE", "GmbH") == "gmbh"

    def test_a_country_without_a_list_takes_any(self) -> None:
        assert entity_type("FR", "SAS") == "sas"

    def test_a_wrong_one_names_the_valid_ones(self) -> None:
        with pytest.raises(Malformed) as refusal:
            entity_type("NL", "limited")
        assert refusal.value.detail["field_errors"]["entity_type"] == [
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

    def test_the_29th_of_february_is_the_last_of_february(self) -> None:
        end = date(2024, 2, 29)
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
        with pytest.raises(Conflict) as refusal:
            refuse_archived_business(datetime(2026, 1, 1, tzinfo=UTC))
        assert refusal.value.code == "business_archived"


class TestFixed:
    KNOWN: ClassVar = {"external_id": "shop", "country": "GB", "base_currency": "GBP"}

    def test_the_same_again_is_no_change_in_any_case_of_the_country(self) -> None:
        refuse_fixed(self.KNOWN, {})
        refuse_fixed(self.KNOWN, {**self.KNOWN, "country": "gb", "name": "Corner Shop"})

    def test_a_real_change_is_refused_with_all_that_it_changes(self) -> None:
        body = {"external_id": "other", "country": "DE", "base_currency": "EUR"}
        with pytest.raises(RuleBroken) as refusal:
            refuse_fixed(self.KNOWN, body)
        assert refusal.value.code == "immutable_field"
        assert refusal.value.detail == {"fields": list(FIXED)}


class TestOccasion:
    def test_days_are_days_of_the_moment(self) -> None:
        late = datetime(2026, 1, 31, 23, 59, tzinfo=UTC)
        context = Context(replace(BUSINESS, lock_date=date(2026, 1, 1)), late, lambda: UUID(int=2))
        assert context.today == date(2026, 1, 31)
        assert context.lock_date == date(2026, 1, 1)
        assert context.currency == "GBP"
