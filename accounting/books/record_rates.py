"""The exchange rate that a record takes, and what the record is worth in base with it."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from fractions import Fraction
from typing import Final, Protocol

from accounting.absent import ABSENT, Absent
from accounting.books.businesses import Context
from accounting.books.exchange_rates import MOST_DIGITS, ROUNDED, RatesNotLoaded, rate_day
from accounting.books.foreign import Worth, at_rate
from accounting.errors import RuleViolation
from accounting.money import DECIMALS


@dataclass(frozen=True, slots=True)
class GivenWorth:
    """The exchange rate or the base amount that a caller gives, in major and in minor units."""

    exchange_rate: Decimal | Absent = ABSENT
    base_amount: int | Absent = ABSENT


class ForeignRecord(Protocol):
    """A record with a currency, and with its worth if that is not the base currency."""

    @property
    def currency(self) -> str:
        """The currency of the record."""

    @property
    def worth(self) -> Worth | None:
        """The exchange rate and the base total; None in base, and on a draft without a rate."""


NO_WORTH_GIVEN: Final = GivenWorth()
_USUAL_WITHIN: Final = 10


def in_minor_units(rate: Decimal, currency: str, base_currency: str) -> Fraction:
    """Return a rate of major units for minor units: 0.0067 EUR for an ISK is 67/100."""
    return Fraction(rate) * Fraction(10) ** (DECIMALS[base_currency] - DECIMALS[currency])


def in_major_units(rate: Fraction, currency: str, base_currency: str) -> Decimal:
    """Return a rate of minor units for major units, with 12 significant digits."""
    major = rate * Fraction(10) ** (DECIMALS[currency] - DECIMALS[base_currency])
    return ROUNDED.divide(Decimal(major.numerator), Decimal(major.denominator))


def base_total(record: ForeignRecord, total: int, base_currency: str) -> int | None:
    """Return the total of a record in base: USD 100.00 at 0.92 is EUR 92.00; None on a draft."""
    if record.currency == base_currency:
        return total
    return None if record.worth is None else record.worth.base_total


def currency_or_base(currency: str | None, context: Context) -> str:
    """Return the given currency, or the base currency."""
    return context.currency if currency is None else currency


def currency_of_all(given: str | None, held: Iterable[str], context: Context, what: str) -> str:
    """Return the given currency, else that of all that a record holds, settles or gives back.

    `what` names it in the error. Nothing is in base. Raises RuleViolation `currency_mismatch` if
    several currencies are held and none is given.
    """
    currencies = sorted(set(held))
    if given is None and len(currencies) > 1:
        raise RuleViolation(
            "currency_mismatch",
            f"{what} {' and '.join(currencies)}. Give the currency.",
            field="currency",
            currencies=currencies,
        )
    return currency_or_base(given or next(iter(currencies), None), context)


def given_rate(currency: str, given: GivenWorth, context: Context) -> Worth | None:
    """Return the rate that a draft is to take when it opens; None if it has none of its own.

    Raises RuleViolation `exchange_rate_not_needed` or `exchange_rate_invalid`.
    """
    if currency == context.currency:
        _refuse_for_base(given, None)
        return None
    rate = given.exchange_rate
    if isinstance(rate, Absent):
        return None
    return Worth(currency, _checked(rate, currency, context.currency))


def refuse_unused(given: GivenWorth) -> None:
    """Refuse a rate or a base amount that nothing takes, such as of a refund to be paid later.

    Raises RuleViolation `exchange_rate_not_needed`.
    """
    if given not in (NO_WORTH_GIVEN, GivenWorth(exchange_rate=Decimal(1))):
        raise RuleViolation(
            "exchange_rate_not_needed",
            "Nothing is paid yet. Give the exchange rate with the payment.",
            field="exchange_rate",
        )


def worth_of(
    currency: str,
    total: int,
    given: GivenWorth,
    day: date,
    context: Context,
    before: Worth | None = None,
) -> Worth | None:
    """Return what a record of a day is worth: with the given rate, its own, or the table's.

    A record in the base currency has no worth of its own. USD 100.00 at 0.92 is worth EUR 92.00. A
    given base amount stands, and the rate follows from it; a total of 0 has a base of 0. A changed
    total keeps the rate that it had `before`. Raises RuleViolation `exchange_rate_not_needed`,
    `exchange_rate_mismatch`, `exchange_rate_invalid`, `exchange_rate_missing` or
    `amount_too_large`; RatesNotLoaded.
    """
    base_currency = context.currency
    if currency == base_currency:
        _refuse_for_base(given, total)
        return None
    rate, base = given.exchange_rate, given.base_amount
    if before is not None and _repeats(before, total, given, base_currency):
        return before
    if before is None or before.base_total is None or given != NO_WORTH_GIVEN:
        _need_table(day, context)  # Also for a given rate: the answer compares the two.
    exact = None if isinstance(rate, Absent) else _checked(rate, currency, base_currency)
    if isinstance(base, Absent) or total == base == 0:
        if exact is None:
            exact = before.rate if before is not None else _of_day(currency, day, context)
        return Worth.of(total, exact, currency)
    if exact is not None and at_rate(total, exact) != base:
        raise _mismatch(at_rate(total, exact), base)
    if not total or total * base < 0:
        raise _mismatch(0, base)
    return Worth(currency, Fraction(base, total) if exact is None else exact, base)


def _need_table(day: date, context: Context) -> None:
    used = rate_day(day, context.today)
    if not context.rates.has(used):
        raise RatesNotLoaded(used)


def unusual_rate(worth: Worth | None, day: date, context: Context) -> Decimal | None:
    """Return the table's rate of a day if it is loaded and the record's is over 10 % off it.

    1.02 is over 10 % off 0.92; 1.01 is not.
    """
    used = rate_day(day, context.today)
    if worth is None or not context.rates.has(used):
        return None
    try:
        usual = context.rates.rate_on(used, worth.currency, context.currency)
    except RuleViolation:
        return None
    expected = in_minor_units(usual, worth.currency, context.currency)
    return usual if abs(worth.rate - expected) > expected / _USUAL_WITHIN else None


def _of_day(currency: str, day: date, context: Context) -> Fraction:
    used = rate_day(day, context.today)
    found = context.rates.rate_on(used, currency, context.currency)
    return in_minor_units(found, currency, context.currency)


def _repeats(before: Worth, total: int, given: GivenWorth, base_currency: str) -> bool:
    """Return whether a caller sends back what an answer showed of an unchanged total."""
    rate, base = given.exchange_rate, given.base_amount
    shown = in_major_units(before.rate, before.currency, base_currency)
    return (
        (rate, base) != (ABSENT, ABSENT)
        and base in (ABSENT, before.base_total)
        and rate in (ABSENT, shown)
        and at_rate(total, before.rate) == before.base_total
    )


def _checked(rate: Decimal, currency: str, base_currency: str) -> Fraction:
    """Return a given rate in minor units.

    Raises RuleViolation `exchange_rate_invalid` if it is not above 0, or has more than 12 digits.
    """
    if rate <= 0:
        raise RuleViolation(
            "exchange_rate_invalid", "exchange_rate must be above 0.", field="exchange_rate"
        )
    if len(rate.normalize().as_tuple().digits) > MOST_DIGITS:
        raise RuleViolation(
            "exchange_rate_invalid",
            f"exchange_rate must have at most {MOST_DIGITS} significant digits.",
            field="exchange_rate",
        )
    return in_minor_units(rate, currency, base_currency)


def _refuse_for_base(given: GivenWorth, total: int | None) -> None:
    """Refuse another rate than 1, and another base amount than the total, of a base record.

    Raises RuleViolation `exchange_rate_not_needed` or `exchange_rate_mismatch`.
    """
    if given.exchange_rate not in (ABSENT, 1):
        raise RuleViolation(
            "exchange_rate_not_needed",
            "The record is in the base currency, so its exchange rate is 1.",
            field="exchange_rate",
        )
    base = given.base_amount
    if total is not None and not isinstance(base, Absent) and base != total:
        raise _mismatch(total, base)


def _mismatch(converted: int, base: int) -> RuleViolation:
    return RuleViolation(
        "exchange_rate_mismatch",
        "The base amount is not the amount at the exchange rate. Omit one of the two.",
        converted=converted,
        base_amount_cents=base,
    )
