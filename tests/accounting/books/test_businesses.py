from datetime import date, timedelta
from typing import ClassVar

from hypothesis import given
from hypothesis import strategies as st

from accounting.books.businesses import (
    COUNTRIES,
    CURRENCY_BY_COUNTRY,
    ENTITY_TYPES,
    FIXED,
    default_currency,
    entity_type,
    fiscal_year,
    refuse_archived_business,
    refuse_fixed,
)
from accounting.books.commands import ChangeBusiness
from accounting.errors import Conflict, RuleViolation, ValidationError
from accounting.money import CURRENCIES
from tests.accounting.samples import BORN, refused


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
