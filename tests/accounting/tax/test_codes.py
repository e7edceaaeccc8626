from datetime import date
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest

from accounting.books.ledger import TaxPart
from accounting.tax.codes import Direction, Rate, TaxCode, TaxCodes, Treatment, rate_on
from tests.accounting.samples import BORN, STORED, account_id


def code_of(name: str, *rates: Rate, **facts: Any) -> TaxCode:
    known = {
        "id": UUID(int=int.from_bytes(name.encode())),
        "code": name,
        "name": name,
        "direction": Direction.SALES,
        "treatment": Treatment.STANDARD,
        "tax_account_id": account_id("2200"),
        "boxes": {TaxPart.NET: ("6",)},
    }
    return TaxCode(**{**STORED, **known, "rates": rates, **facts})


def percent(rate: str, first: str | None = None, last: str | None = None) -> Rate:
    return Rate(
        Decimal(rate),
        valid_from=date.fromisoformat(first) if first else None,
        valid_to=date.fromisoformat(last) if last else None,
    )


TODAY = date(2026, 1, 10)
GERMAN = code_of(
    "S19",
    percent("19", None, "2020-06-30"),
    percent("16", "2020-07-01", "2020-12-31"),
    percent("19", "2021-01-01"),
)
TWENTY = code_of("S20", percent("20"))


class TestRateOn:
    @pytest.mark.parametrize(
        ("day", "rate"),
        [
            ("2006-01-01", "19"),
            ("2020-06-30", "19"),
            ("2020-07-01", "16"),
            ("2020-12-31", "16"),
            ("2021-01-01", "19"),
        ],
    )
    def test_a_period_has_its_first_and_its_last_day(self, day: str, rate: str) -> None:
        held = rate_on(GERMAN, date.fromisoformat(day))
        assert held is not None
        assert held.rate == Decimal(rate)

    def test_a_day_outside_of_all_periods_has_none(self) -> None:
        assert rate_on(code_of("S8", percent("8", "2024-03-01")), date(2024, 2, 29)) is None


class TestNamed:
    def test_a_code_is_found_by_its_id_in_any_case_and_by_itself(self) -> None:
        codes = TaxCodes((TWENTY, GERMAN))
        assert codes.named(str(GERMAN.id).upper()) is GERMAN
        assert codes.named("S19") is GERMAN
        assert codes.named("s20") is None

    def test_an_id_goes_before_a_code_that_reads_like_it(self) -> None:
        odd = code_of("odd", percent("5"), code=str(TWENTY.id))
        assert TaxCodes((odd, TWENTY)).named(str(TWENTY.id)) is TWENTY


class TestForRate:
    def test_a_rate_alone_names_the_one_code_that_charges_it(self) -> None:
        reduced = code_of("S5", percent("5"), treatment=Treatment.REDUCED)
        codes = TaxCodes((TWENTY, reduced))
        assert codes.for_rate(Direction.SALES, Decimal("20.00"), TODAY) is TWENTY
        assert codes.for_rate(Direction.SALES, Decimal(5), TODAY) is reduced

    @pytest.mark.parametrize("default", [False, True])
    def test_of_several_codes_only_the_default_is_chosen(self, default: bool) -> None:
        other = code_of("S20B", percent("20"), is_default=default)
        chosen = TaxCodes((TWENTY, other)).for_rate(Direction.SALES, Decimal(20), TODAY)
        assert chosen is (other if default else None)

    @pytest.mark.parametrize(
        "changed",
        [
            {"direction": Direction.PURCHASES},
            {"archived_at": BORN},
            {"treatment": Treatment.REVERSE_CHARGE},
            {"treatment": Treatment.WITHHOLDING},
            {"rates": (percent("20", "2026-01-11"),)},
        ],
    )
    def test_a_code_that_charges_another_rate_is_ignored(self, changed: dict[str, object]) -> None:
        other = code_of("S20B", percent("20"), **changed)
        assert TaxCodes((other,)).for_rate(Direction.SALES, Decimal(20), TODAY) is None
        assert TaxCodes((other, TWENTY)).for_rate(Direction.SALES, Decimal(20), TODAY) is TWENTY

    def test_no_tax_names_no_code(self) -> None:
        zero = code_of("S0", percent("0"), is_default=True)
        assert TaxCodes((zero,)).for_rate(Direction.SALES, Decimal("0.00"), TODAY) is None
