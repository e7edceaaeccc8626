"""The exchange rate of a record beside that of the table."""

from dataclasses import replace
from decimal import Decimal

import pytest

from accounting.books.foreign import Worth
from accounting.books.record_rates import in_minor_units, unusual_rate
from tests.accounting.samples import context_of, day, rates_on


class TestUnusualRate:
    """A table of 1 August in which a dollar is 0.80, and a krona 0.00625."""

    def unusual(self, rate: str, currency: str = "USD", on: str = "1") -> Decimal | None:
        context = replace(context_of("5"), rates=rates_on("1", USD="1.25", ISK="160"))
        worth = Worth(currency, in_minor_units(Decimal(rate), currency, "GBP"))
        return unusual_rate(worth, day(on), context)

    @pytest.mark.parametrize("rate", ["0.72", "0.8", "0.88"])
    def test_up_to_a_tenth_off_is_usual(self, rate: str) -> None:
        assert self.unusual(rate) is None

    @pytest.mark.parametrize("rate", ["0.7199", "0.8801"])
    def test_over_a_tenth_off_is_not(self, rate: str) -> None:
        assert self.unusual(rate) == Decimal("0.8")

    def test_a_currency_without_decimals_is_compared_in_major_units(self) -> None:
        assert self.unusual("0.0068", "ISK") is None
        assert self.unusual("0.0069", "ISK") == Decimal("0.00625")

    def test_nothing_is_unusual_without_a_table_or_in_base(self) -> None:
        assert self.unusual("9", "NOK") is None
        assert unusual_rate(None, day("1"), context_of("5")) is None
