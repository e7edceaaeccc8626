"""Bodies of requests about exchange rates."""

from decimal import Decimal

from accounting.absent import Absent
from accounting.books.exchange_rates import SetRates
from accounting.books.revaluations import Revalue
from handlers.bodies import (
    ExchangeRatesInput,
    ExchangeRateTableSet,
    RevaluationCreate,
    RevaluationRates,
)


def set_rates(body: ExchangeRateTableSet) -> SetRates:
    """Parse the table of a day."""
    return SetRates(
        day=body["date"],
        reference_currency=body["reference_currency"],
        rates=by_currency(body["rates"]),
    )


def revalue(body: RevaluationCreate) -> Revalue:
    """Parse the day of a revaluation, and its closing rates."""
    rates = body["rates"]
    return Revalue(on=body["date"], rates={} if isinstance(rates, Absent) else by_currency(rates))


def by_currency(given: ExchangeRatesInput | RevaluationRates) -> dict[str, Decimal]:
    """Parse the rates that a body gives, by currency."""
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
    return {code: Decimal(str(rate)) for code, rate in rates if not isinstance(rate, Absent)}
