from datetime import date
from decimal import Decimal
from itertools import count
from uuid import UUID

import pytest

from accounting.books.businesses import COUNTRIES
from accounting.books.chart import Role
from accounting.books.ledger import TaxPart
from accounting.tax.codes import CHARGED, PURCHASES_ONLY, Direction, TaxCodes, Treatment
from accounting.tax.rates import RATES
from accounting.tax.starting_codes import boxes_of, made, starting_codes
from tests.accounting.samples import BORN, ROLES, account_id

EU = ("DE", "FR", "NL", "ES", "BE", "IT", "IE", "AT", "PT", "SE", "DK", "FI")
SALES, PURCHASES = Direction.SALES, Direction.PURCHASES


def codes_of(country: str) -> TaxCodes:
    numbers = count(1)
    return TaxCodes(
        tuple(made(starting_codes(country), ROLES, BORN, lambda: UUID(int=next(numbers))))
    )


def rate_of(country: str, code: str, day: str) -> str | None:
    found = codes_of(country).named(code)
    assert found is not None
    on = date.fromisoformat(day)
    return next((str(rate.rate) for rate in found.rates if rate.holds_on(on)), None)


class TestRates:
    def test_every_country_of_businesses_has_some_with_their_source(self) -> None:
        assert set(RATES) == set(COUNTRIES)
        assert all(each.source for each in RATES.values())

    @pytest.mark.parametrize(
        ("country", "code", "day", "rate"),
        [
            ("GB", "S20", "2026-01-01", "20"),
            ("DE", "S19", "2020-06-30", "19"),
            ("DE", "S19", "2020-07-01", "16"),
            ("DE", "P7", "2020-12-31", "5"),
            ("DE", "P7", "2021-01-01", "7"),
            ("DE", "S0", "2022-12-31", None),
            ("DE", "S0", "2023-01-01", "0"),
            ("NL", "S9", "2018-12-31", "6"),
            ("NL", "P9", "2019-01-01", "9"),
            ("IE", "S23", "2020-09-01", "21"),
            ("IE", "S23", "2021-03-01", "23"),
            ("NO", "S12", "2020-04-01", "6"),
            ("NO", "S12", "2021-10-01", "12"),
            ("FI", "S25.5", "2024-08-31", "24"),
            ("FI", "S25.5", "2024-09-01", "25.5"),
            ("FI", "PG13.5", "2025-12-31", "14"),
            ("SG", "S9", "2022-12-31", "7"),
            ("SG", "S9", "2023-12-31", "8"),
            ("SG", "S9", "2024-01-01", "9"),
            ("MY", "S8", "2024-02-29", "6"),
            ("MY", "S8", "2024-03-01", "8"),
            ("MY", "S6", "2024-02-29", None),
            ("AT", "S4.9", "2026-06-30", None),
            ("AT", "S4.9", "2026-07-01", "4.9"),
            ("PT", "SW23", "2024-12-31", "25"),
            ("PT", "SW23", "2025-01-01", "23"),
        ],
    )
    def test_a_rate_changes_on_its_day(
        self, country: str, code: str, day: str, rate: str | None
    ) -> None:
        assert rate_of(country, code, day) == rate


@pytest.mark.parametrize("country", COUNTRIES)
class TestStartingCodes:
    def test_codes_are_unique_and_told_apart_by_their_names(self, country: str) -> None:
        codes = starting_codes(country)
        assert len({each.code for each in codes}) == len(codes)
        named = {(each.direction, each.name) for each in codes}
        assert len(named) == len(codes)

    def test_each_direction_has_one_default_which_charges(self, country: str) -> None:
        for direction in Direction:
            defaults = [
                each
                for each in starting_codes(country)
                if each.is_default and each.direction is direction
            ]
            assert len(defaults) == 1
            assert defaults[0].treatment in CHARGED

    def test_rates_follow_one_another_without_overlap(self, country: str) -> None:
        for each in starting_codes(country):
            assert each.rates[-1].valid_to is None
            for before, after in zip(each.rates, each.rates[1:], strict=False):
                assert before.valid_to is not None
                assert after.valid_from is not None
                assert (after.valid_from - before.valid_to).days == 1

    def test_no_sale_is_an_acquisition_or_import(self, country: str) -> None:
        sold = {each.treatment for each in starting_codes(country) if each.direction is SALES}
        assert not sold & PURCHASES_ONLY

    def test_a_code_that_charges_today_is_found_by_its_rate(self, country: str) -> None:
        codes, today = codes_of(country), date(2026, 11, 1)
        for each in codes.codes:
            if each.treatment in CHARGED:
                assert codes.for_rate(each.direction, each.rates[-1].rate, today) is each

    def test_goods_are_acquired_in_the_eu_and_northern_ireland(self, country: str) -> None:
        treatments = {each.treatment for each in starting_codes(country)}
        assert (Treatment.ACQUISITION in treatments) == (country in (*EU, "GB"))

    def test_a_code_says_its_direction_and_its_newest_rate(self, country: str) -> None:
        for each in starting_codes(country):
            assert each.code[0] == {"sales": "S", "purchases": "P"}[each.direction]
            written = each.code.lstrip("SPEOXGUARIW")
            assert written in {"", str(each.rates[-1].rate)}

    def test_every_box_is_of_a_code_that_there_is(self, country: str) -> None:
        codes = {each.code for each in starting_codes(country)}
        for letter in "SP":
            for what in ("", *"EOXGUARIW"):
                for rate in ("", "0", "5", "7", "19", "20"):
                    code = f"{letter}{what}{rate}"
                    assert not boxes_of(country, code) or code in codes


class TestBoxes:
    @pytest.mark.parametrize(
        ("code", "boxes"),
        [
            ("S20", {"net": "6", "output": "1"}),
            ("S5", {"net": "6", "output": "1"}),
            ("S0", {"net": "6"}),
            ("SE", {"net": "6"}),
            ("SX", {"net": "6"}),
            ("SR", {"net": "6"}),
            ("SA", {"net": "6"}),
            ("SG", {"net": "6 8"}),
            ("SO", {}),
            ("P20", {"net": "7", "input": "4"}),
            ("P5", {"net": "7", "input": "4"}),
            ("P0", {"net": "7"}),
            ("PE", {"net": "7"}),
            ("PA20", {"net": "6 7", "output": "1", "input": "4"}),
            ("PR20", {"net": "7", "output": "1", "input": "4"}),
            ("PI20", {"net": "7", "output": "1", "input": "4"}),
            ("PG20", {"net": "7 9", "output": "2", "input": "4"}),
            ("PO", {}),
        ],
    )
    def test_boxes_of_great_britain_are_on_its_return(
        self, code: str, boxes: dict[str, str]
    ) -> None:
        found = codes_of("GB").named(code)
        assert found is not None
        assert found.boxes == {TaxPart(part): tuple(each.split()) for part, each in boxes.items()}

    @pytest.mark.parametrize(
        ("code", "boxes"),
        [
            ("S19", {"net": "81"}),
            ("S7", {"net": "86"}),
            ("SE", {"net": "48"}),
            ("SX", {"net": "43"}),
            ("SG", {"net": "41"}),
            ("SU", {"net": "21"}),
            ("SA", {"net": "45"}),
            ("SR", {"net": "60"}),
            ("P19", {"input": "66"}),
            ("PG19", {"net": "89", "input": "61"}),
            ("PG7", {"net": "93", "input": "61"}),
            ("PU19", {"net": "46", "output": "47", "input": "67"}),
            ("PR19", {"net": "84", "output": "85", "input": "67"}),
        ],
    )
    def test_boxes_of_germany_are_the_kennzahlen(self, code: str, boxes: dict[str, str]) -> None:
        found = codes_of("DE").named(code)
        assert found is not None
        assert found.boxes == {TaxPart(part): (each,) for part, each in boxes.items()}


class TestMade:
    def test_tax_stands_on_the_account_of_its_direction_and_treatment(self) -> None:
        codes = codes_of("ES")
        accounts = {each.code: each.tax_account_id for each in codes.codes}
        assert accounts["S21"] == account_id("2200")
        assert accounts["PG21"] == account_id("1300")
        assert accounts["SW15"] == account_id("1310") == ROLES[Role.WITHHOLDING_TAX_RECEIVABLE]
        assert accounts["PW7"] == account_id("2210") == ROLES[Role.WITHHOLDING_TAX_PAYABLE]

    def test_service_tax_of_malaysia_is_not_recovered(self) -> None:
        bought = [each for each in codes_of("MY").codes if each.code in ("P8", "P6", "PA8")]
        assert {rate.recoverable_percent for each in bought for rate in each.rates} == {Decimal(0)}

    def test_a_business_without_a_country_starts_with_none(self) -> None:
        assert starting_codes(None) == starting_codes("US") == ()
