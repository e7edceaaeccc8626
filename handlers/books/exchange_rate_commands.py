"""Bodies of requests about exchange rates."""

from decimal import Decimal

from accounting.absent import Absent
from accounting.books.exchange_rates import SetRates
from handlers.bodies import ExchangeRatesInput, ExchangeRateTableSet


def set_rates(body: ExchangeRateTableSet) -> SetRates:
    """Parse the table of a day."""
    return SetRates(
        day=body["date"],
        reference_currency=body["reference_currency"],
        rates=_rates(body["rates"]),
    )


def _rates(given: ExchangeRatesInput) -> dict[str, Decimal]:
    rates = (
        ("EUR", given["EUR"]),
        ("GBP", given["GBP"]),
        ("USD", given["USD"]),
        ("SEK", given["SEK"]),
        ("NOK", given["NOK"]),
        ("DKK", given["DKK"]),
        ("ISK", given["ISK"]),
        ("MYR", given["MYR"]),
        ("SGD", given["SGD"]),
    )
    return {code: Decimal(rate) for code, rate in rates if not isinstance(rate, Absent)}
