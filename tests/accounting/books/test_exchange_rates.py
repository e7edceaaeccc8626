"""Exchange rates: the table of a day, and the rate that a record takes."""

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accounting.books.exchange_rates import (
    MOST_DIGITS,
    AppliedRate,
    RateSource,
    RateTable,
    SetRates,
    applied_rate,
    cross_rate,
    oldest_day,
    rate_day,
    table_set,
)
from accounting.errors import RuleViolation

DAY = date(2026, 7, 31)
MADE, LATER = datetime(2026, 7, 31, 15, tzinfo=UTC), datetime(2026, 8, 1, 9, tzinfo=UTC)
ECB = {"USD": "1.1172", "GBP": "0.8338", "ISK": "136"}
RATES = st.decimals("0.000001", "999999.999999", allow_nan=False, places=6)


def command(
    rates: dict[str, str] | None = None, *, reference: str = "EUR", day: date = DAY
) -> SetRates:
    sent = {currency: Decimal(rate) for currency, rate in (rates or ECB).items()}
    return SetRates(day=day, reference_currency=reference, rates=sent)


def table(
    rates: dict[str, str] | None = None, *, reference: str = "EUR", days_ago: int = 0
) -> RateTable:
    wanted = command(rates, reference=reference, day=DAY - timedelta(days=days_ago))
    return table_set(None, wanted, UUID(int=days_ago + 9), MADE)


class TestTableOfADay:
    def test_has_the_rates_without_that_of_its_reference(self) -> None:
        made = table({"USD": "1.10", "EUR": "1.0"})
        assert made.rates == {"USD": Decimal("1.1")}
        assert (made.version, made.created_at, made.updated_at) == (1, MADE, MADE)

    def test_is_replaced_whole(self) -> None:
        found = table()
        after = table_set(found, command({"SEK": "10.978"}), UUID(int=9), LATER)
        assert after.rates == {"SEK": Decimal("10.978")}
        assert (after.id, after.created_at, after.updated_at) == (found.id, MADE, LATER)

    @pytest.mark.parametrize("rates", [ECB, {**ECB, "USD": "1.1172000", "EUR": "1"}])
    def test_with_the_same_rates_is_unchanged(self, rates: dict[str, str]) -> None:
        assert table_set(table(), command(rates), UUID(int=9), LATER) == table()

    def test_may_change_its_reference(self) -> None:
        after = table_set(table(), command({"USD": "1.25"}, reference="GBP"), UUID(int=9), LATER)
        assert (after.reference_currency, after.updated_at) == ("GBP", LATER)

    @pytest.mark.parametrize(
        ("rates", "field", "words"),
        [
            ({"USD": "1.0843", "EUR": "1.01"}, "rates.EUR", "must be 1"),
            ({"USD": "1.234567890123"}, "rates.USD", "must have at most 12 significant digits"),
            ({"USD": "123456.1234567"}, "rates.USD", "must have at most 12 significant digits"),
            ({"EUR": "1"}, "rates", "must have another currency than EUR"),
        ],
    )
    def test_is_refused_with_its_field_and_reason(
        self, rates: dict[str, str], field: str, words: str
    ) -> None:
        with pytest.raises(RuleViolation) as refused:
            table(rates)
        assert refused.value.code == "exchange_rate_invalid"
        assert refused.value.detail == {"field": field}
        assert refused.value.message.startswith(f"{field} {words}")

    @pytest.mark.parametrize("rate", ["0.00000123456789012", "999999.999999", "1.00000000000000"])
    def test_counts_significant_digits_only(self, rate: str) -> None:
        assert table({"USD": rate}).rates == {"USD": Decimal(rate)}


class TestCrossRate:
    @pytest.mark.parametrize(
        ("currency", "base", "expected"),
        [
            ("USD", "GBP", "0.746330110992"),
            ("USD", "EUR", "0.895094880057"),
            ("EUR", "USD", "1.1172"),
            ("USD", "ISK", "121.732903688"),
            ("ISK", "USD", "0.00821470588235"),
        ],
    )
    def test_is_the_base_divided_by_the_foreign_rate(
        self, currency: str, base: str, expected: str
    ) -> None:
        assert cross_rate(table(), currency, base) == Decimal(expected)

    def test_rounds_a_half_up(self) -> None:
        # 9.00000000004 / 8 is 1.125000000005, of which the thirteenth digit is a 5.
        rates = {"USD": "8", "GBP": "9.00000000004"}
        assert cross_rate(table(rates), "USD", "GBP") == Decimal("1.12500000001")

    def test_needs_both_currencies_in_the_table(self) -> None:
        assert cross_rate(table({"USD": "1.1"}), "USD", "GBP") is None
        assert cross_rate(table({"USD": "1.1"}), "GBP", "USD") is None

    @given(RATES, RATES)
    def test_has_12_digits_and_is_within_half_a_unit_of_them(
        self, foreign: Decimal, base: Decimal
    ) -> None:
        rate = cross_rate(table({"USD": str(foreign), "GBP": str(base)}), "USD", "GBP")
        assert rate is not None
        assert len(rate.as_tuple().digits) <= MOST_DIGITS
        unit = Decimal(1).scaleb(rate.adjusted() - MOST_DIGITS + 1)
        assert abs(rate * foreign - base) <= unit / 2 * foreign


class TestAppliedRate:
    def applied(self, own: list[RateTable], of_partner: list[RateTable]) -> AppliedRate:
        return applied_rate("USD", "EUR", DAY, own, of_partner)

    def test_is_from_the_newest_table_up_to_seven_days_old(self) -> None:
        tables = [table({"USD": "1.3"}, days_ago=7), table({"USD": "1.25"}, days_ago=6)]
        found = self.applied([], tables)
        assert found == AppliedRate(Decimal("0.8"), RateSource.PARTNER, tables[1])
        assert self.applied([], tables[:1]).table == tables[0]

    @pytest.mark.parametrize("days_ago", [8, -1])
    def test_is_from_no_older_and_from_no_later_table(self, days_ago: int) -> None:
        with pytest.raises(RuleViolation) as refused:
            self.applied([table(days_ago=days_ago)], [table(days_ago=days_ago)])
        assert refused.value.code == "exchange_rate_missing"
        assert refused.value.detail == {"currency": "USD", "day": "2026-07-31"}

    def test_is_from_the_business_first_also_if_its_table_is_older(self) -> None:
        own, of_partner = table({"USD": "1.25"}, days_ago=7), table()
        assert self.applied([own], [of_partner]) == AppliedRate(
            Decimal("0.8"), RateSource.BUSINESS, own
        )

    def test_is_from_a_table_that_has_both_currencies(self) -> None:
        older = table(days_ago=2)
        lacking = table({"SEK": "10.978"})
        assert self.applied([lacking], [lacking, older]).table == older

    def test_of_the_base_currency_is_1_without_a_table(self) -> None:
        found = applied_rate("EUR", "EUR", DAY, [], [table({"USD": "1.1"})])
        assert found == AppliedRate(Decimal(1), RateSource.BASE)


class TestDays:
    def test_a_day_to_come_counts_as_today(self) -> None:
        today, tomorrow = DAY, DAY + timedelta(days=1)
        assert rate_day(tomorrow, today) == rate_day(None, today) == today
        assert rate_day(date(2020, 1, 1), today) == date(2020, 1, 1)

    def test_a_table_may_be_seven_days_old(self) -> None:
        assert oldest_day(DAY) == date(2026, 7, 24)
