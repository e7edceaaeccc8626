"""Exchange rates: the table of a day, and the rate that a record of a day takes from the tables."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from decimal import ROUND_HALF_UP, Context, Decimal
from enum import StrEnum
from typing import Final
from uuid import UUID

from accounting.errors import RuleViolation

MOST_DIGITS: Final = 12
OLDEST: Final = timedelta(days=7)
ONE: Final = Decimal(1)
ROUNDED = Context(prec=MOST_DIGITS, rounding=ROUND_HALF_UP)


@dataclass(frozen=True, slots=True, kw_only=True)
class SetRates:
    """A command: the whole table of a day, in units for one of the reference currency."""

    day: date
    reference_currency: str
    rates: Mapping[str, Decimal]


@dataclass(frozen=True, slots=True, kw_only=True)
class RateTable:
    """The rates of a day; `rates` is without the reference currency, whose rate is 1."""

    id: UUID
    version: int
    created_at: datetime
    updated_at: datetime
    day: date
    reference_currency: str
    rates: Mapping[str, Decimal]

    def rate_of(self, currency: str) -> Decimal | None:
        """Return the units of a currency for one of the reference; None if the table lacks it."""
        return ONE if currency == self.reference_currency else self.rates.get(currency)


class RateSource(StrEnum):
    """The origin of a rate."""

    BUSINESS = "business"
    PARTNER = "partner"
    BASE = "base_currency"


@dataclass(frozen=True, slots=True)
class AppliedRate:
    """The worth of one unit of a currency in the base currency, and the table that it is from.

    The base currency itself has no table.
    """

    rate: Decimal
    source: RateSource
    table: RateTable | None = None


def table_set(found: RateTable | None, command: SetRates, id_: UUID, now: datetime) -> RateTable:
    """Return the table of a day after a command, which replaces all rates that the day has.

    The table that was found is returned unchanged if it has the same rates. Raises RuleViolation
    `exchange_rate_invalid`.
    """
    rates = _checked_rates(command)
    if found is None:
        return RateTable(
            id=id_,
            version=1,
            created_at=now,
            updated_at=now,
            day=command.day,
            reference_currency=command.reference_currency,
            rates=rates,
        )
    changed = replace(found, reference_currency=command.reference_currency, rates=rates)
    return found if changed == found else replace(changed, updated_at=now)


def _checked_rates(command: SetRates) -> dict[str, Decimal]:
    """Return the rates without that of the reference currency, and without trailing zeros."""
    reference = command.reference_currency
    for currency, rate in command.rates.items():
        if len(rate.normalize().as_tuple().digits) > MOST_DIGITS:
            raise _invalid(
                f"rates.{currency}", f"must have at most {MOST_DIGITS} significant digits"
            )
        if currency == reference and rate != ONE:
            raise _invalid(f"rates.{currency}", "must be 1, as it is the reference currency")
    rates = {
        currency: rate.normalize()
        for currency, rate in sorted(command.rates.items())
        if currency != reference
    }
    if not rates:
        raise _invalid("rates", f"must have another currency than {reference}")
    return rates


def _invalid(field: str, words: str) -> RuleViolation:
    return RuleViolation("exchange_rate_invalid", f"{field} {words}.", field=field)


def rate_day(day: date | None, today: date) -> date:
    """Return the day whose rate a record takes: today for a day to come, or without a day."""
    return today if day is None else min(day, today)


def oldest_day(day: date) -> date:
    """Return the day of the oldest table that a record of a day can use: 3 July for 10 July."""
    return day - OLDEST


def applied_rate(
    currency: str,
    base_currency: str,
    day: date,
    own: Iterable[RateTable],
    of_partner: Iterable[RateTable],
) -> AppliedRate:
    """Return the rate of a currency on a day that is not to come.

    It is from one table that has both currencies: the newest on the day or up to 7 days before it.
    The newest such table of the business comes first, also if its partner has a newer one. With USD
    1.1172 and GBP 0.8338 for one EUR, one USD is 0.8338 / 1.1172 = 0.746330110992 GBP. Raises
    RuleViolation `exchange_rate_missing`.
    """
    if currency == base_currency:
        return AppliedRate(ONE, RateSource.BASE)
    for source, tables in ((RateSource.BUSINESS, own), (RateSource.PARTNER, of_partner)):
        usable = [
            (table.day, rate, table)
            for table in tables
            if oldest_day(day) <= table.day <= day
            and (rate := cross_rate(table, currency, base_currency)) is not None
        ]
        if usable:
            _, rate, table = max(usable, key=lambda each: each[0])
            return AppliedRate(rate, source, table)
    raise RuleViolation(
        "exchange_rate_missing",
        f"There is no exchange rate for {currency} on {day}, nor in the {OLDEST.days} days before.",
        currency=currency,
        day=day.isoformat(),
    )


def cross_rate(table: RateTable, currency: str, base_currency: str) -> Decimal | None:
    """Return the worth of one unit of a currency in the base currency, by a single table.

    It has 12 significant digits, a half rounded up: 3 for one of the reference, which is the base,
    is 0.333333333333. None if the table lacks one of the currencies.
    """
    foreign, base = table.rate_of(currency), table.rate_of(base_currency)
    return None if foreign is None or base is None else ROUNDED.divide(base, foreign)


class RatesNotLoaded(Exception):
    """A rule needs the exchange rates of a day, or the accounts of foreign money, to be loaded.

    Without a `day` only the accounts are needed.
    """

    def __init__(self, day: date | None = None) -> None:
        super().__init__(day)
        self.day = day


@dataclass(frozen=True, slots=True)
class KnownRates:
    """The tables that were loaded: of the business, and of its partner.

    `days` are those whose tables were loaded, or None for all days.
    """

    own: Sequence[RateTable] = ()
    of_partner: Sequence[RateTable] = ()
    days: frozenset[date] | None = None

    def rate_on(self, day: date, currency: str, base_currency: str) -> Decimal:
        """Return the rate of a currency on a day that is not to come.

        Raises RuleViolation `exchange_rate_missing`; RatesNotLoaded.
        """
        if not self.has(day):
            raise RatesNotLoaded(day)
        return applied_rate(currency, base_currency, day, self.own, self.of_partner).rate

    def has(self, day: date) -> bool:
        """Return whether the tables of a day were loaded."""
        return self.days is None or day in self.days

    def joined(self, more: "KnownRates") -> "KnownRates":
        """Return these tables and those of more days."""
        return KnownRates(
            (*self.own, *more.own),
            (*self.of_partner, *more.of_partner),
            (self.days or frozenset()) | (more.days or frozenset()),
        )


NO_RATES: Final = KnownRates(days=frozenset())
"""The tables of a request that has loaded none yet."""
