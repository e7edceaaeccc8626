"""Businesses: countries and their legal forms, the base currency, and the fiscal year."""

from calendar import monthrange
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from enum import StrEnum
from typing import Any
from uuid import UUID

from accounting.absent import said
from accounting.books import time_zones
from accounting.books.commands import ChangeBusiness
from accounting.books.exchange_rates import NO_RATES, KnownRates
from accounting.errors import Conflict, NotAllowed, RuleViolation, ValidationError

COUNTRIES = (
    *("GB", "DE", "FR", "NL", "ES", "BE", "IT", "IE", "AT", "PT", "SE", "NO", "DK", "FI", "IS"),
    *("MY", "SG"),
)

CURRENCY_BY_COUNTRY = {
    "GB": "GBP",
    "SE": "SEK",
    "NO": "NOK",
    "DK": "DKK",
    "IS": "ISK",
    "MY": "MYR",
    "SG": "SGD",
}

ENTITY_TYPES = {
    "GB": (
        *("limited", "sole_trader", "llp", "partnership", "plc", "limited_partnership"),
        *("limited_by_guarantee", "cic", "charity"),
    ),
    "DE": (
        *("gmbh", "ug", "ag", "ag_de", "einzelunternehmen", "gbr", "kg", "ohg", "gmbh_co_kg"),
        *("ek", "freiberufler", "partg", "partg_mbb", "kgaa", "eg", "ev", "stiftung", "se"),
    ),
    "NL": (
        *("bv", "nv", "eenmanszaak", "vof", "cv", "maatschap", "cooperatie", "stichting"),
        "vereniging",
    ),
    "ES": (
        *("sl", "slu", "slne", "sa", "sau", "sal", "sll", "autonomo", "cb", "sociedad_civil"),
        *("sociedad_colectiva", "scom", "scoop", "asociacion", "fundacion"),
    ),
    "BE": (
        *("bv", "srl", "nv", "sa", "eenmanszaak", "entreprise_individuelle", "vof", "snc"),
        *("commv", "scomm", "cv", "sc", "maatschap", "societe_simple", "vzw", "asbl", "ivzw"),
        *("aisbl", "stichting", "fondation"),
    ),
    "MY": (
        *("sdn_bhd", "bhd", "sole_proprietorship", "partnership", "llp", "plt"),
        *("company_limited_by_guarantee", "foreign_company", "cooperative"),
    ),
    "SG": (
        *("pte_ltd", "exempt_pte_ltd", "public_limited", "sole_proprietorship", "partnership"),
        *("limited_partnership", "llp", "company_limited_by_guarantee", "foreign_branch", "vcc"),
    ),
}

MOST_TOLERATED = 5
"""The largest matching tolerance, in whole units of the currency."""

FIXED = ("external_id", "country", "base_currency")
"""The fields of a business that are set when it is opened and never change."""


@dataclass(frozen=True, slots=True)
class Business:
    """The fields of a business that the rules need."""

    id: UUID
    country: str | None
    base_currency: str
    accounting_method: str
    fiscal_year_end: date
    lock_date: date | None = None
    archived_at: datetime | None = None
    matching_tolerance: int = 0
    timezone: str = time_zones.UNIVERSAL


def entity_type(country: str, text: str) -> str:
    """Return a legal form in lower case, if it is valid; countries without a list accept any.

    Raises ValidationError `validation_error` on `entity_type`, with the valid ones.
    """
    form = text.lower()
    valid = ENTITY_TYPES.get(country)
    if valid is not None and form not in valid:
        raise ValidationError.fields(
            entity_type=[f"must be one of {', '.join(valid)} in {country}"]
        )
    return form


def default_currency(country: str) -> str:
    """Return the default currency of a country: its own, else the euro."""
    return CURRENCY_BY_COUNTRY.get(country, "EUR")


def fiscal_year(fiscal_year_end: date, on: date) -> tuple[date, date]:
    """Return the first and the last day of the fiscal year that contains a day.

    Only month and day of `fiscal_year_end` count. If years end on 31 March, 2026-02-10 is in the
    year from 2025-04-01 to 2026-03-31.
    """
    last = _year_end(fiscal_year_end, on.year)
    if on > last:
        last = _year_end(fiscal_year_end, on.year + 1)
    first = _year_end(fiscal_year_end, last.year - 1) + timedelta(days=1)
    return first, last


def refuse_archived_business(archived_at: datetime | None) -> None:
    """Refuse to write in an archived business.

    Raises Conflict `business_archived`.
    """
    if archived_at is not None:
        raise Conflict(
            "business_archived",
            "This business is archived. Unarchive it before you change its data.",
        )


def refuse_future_lock(lock_date: date | None, now: datetime, timezone: str) -> None:
    """Refuse to lock future days: on the 5th, the 5th is the last day that may be locked.

    Another time zone may make a locked day one of the future. Raises RuleViolation
    `lock_date_in_future`.
    """
    today = time_zones.day_of(now, timezone)
    if lock_date is not None and lock_date > today:
        raise RuleViolation(
            "lock_date_in_future",
            f"The lock date must not be after today ({timezone}).",
            lock_date=lock_date.isoformat(),
            today=today.isoformat(),
        )


def refuse_large_tolerance(tolerance: int, currency: str, exponent: int) -> None:
    """Refuse a matching tolerance above 5 whole units: 500 for GBP, which has pence, and 5 for ISK.

    Raises ValidationError `validation_error` on `matching_tolerance_cents`.
    """
    most: int = MOST_TOLERATED * 10**exponent
    if tolerance > most:
        raise ValidationError.fields(
            matching_tolerance_cents=[f"must be at most {most} in {currency}"]
        )


def refuse_fixed(known: Mapping[str, Any], command: ChangeBusiness) -> None:
    """Refuse to change a field that is fixed once a business is open; `gb` for GB is no change.

    `known` are the present values of the `FIXED` fields. Raises RuleViolation `immutable_field`.
    """
    given = said(command, *FIXED)
    if "country" in given:
        given["country"] = given["country"].upper()
    changed = [name for name, value in given.items() if value != known[name]]
    if changed:
        raise RuleViolation(
            "immutable_field",
            f"{', '.join(changed)} cannot be changed after the business is created.",
            fields=changed,
        )


def _year_end(fiscal_year_end: date, year: int) -> date:
    """Return the end of the fiscal year in a year; 28 or 29 February means the last of February."""
    month, day = fiscal_year_end.month, fiscal_year_end.day
    last = monthrange(year, month)[1]
    return date(year, month, last if (month, day) == (2, 28) else min(day, last))


# Sandboxes: businesses for practice, whose clock can be moved forward.


class Sandbox(StrEnum):
    """The state of a sandbox."""

    TEMPLATE = "template"  # New sandboxes copy its books; no caller uses it.
    OPEN = "open"
    GIVEN_UP = "given_up"  # Another one has replaced it; the sweep deletes it.


def refuse_given_up(found: Sandbox | None) -> None:
    """Refuse to restore a sandbox that was reset; raises Conflict."""
    if found is Sandbox.GIVEN_UP:
        raise Conflict.of_state(
            "This sandbox was reset. Another sandbox has replaced it.", Sandbox.GIVEN_UP.value
        )


def refuse_taken(found: Sandbox | None, external_id: str, business_id: UUID) -> None:
    """Refuse an external id that belongs to anything but an open sandbox; raises Conflict."""
    if found is not Sandbox.OPEN:
        raise Conflict(
            "duplicate_external_id",
            "A business that is not a sandbox has this external_id.",
            external_id=external_id,
            id=business_id,
        )


def refuse_fixed_clock(*, moves: bool) -> None:
    """Refuse to move a clock on a server outside development; raises NotAllowed."""
    if not moves:
        raise NotAllowed(
            "clock_fixed", "This server cannot move clocks. Use a server in development mode."
        )


def refuse_moving_back(ahead: int, wanted: int) -> None:
    """Refuse to move a clock back; both are seconds. Raises RuleViolation `clock_moved_back`.

    A clock that is 60 seconds ahead may be set to 60 again, but not to 59.
    """
    if wanted < ahead:
        raise RuleViolation(
            "clock_moved_back",
            "The clock of a sandbox can only move forward.",
            clock_seconds_ahead=ahead,
        )


# The business and the time for which a rule is applied.


@dataclass(frozen=True, slots=True)
class Context:
    """The business, the current time (aware, UTC), and the function that creates ids.

    `given_day` is the day that a caller gives to a change, such as a `status_date`. `rates` are
    the exchange rates that a foreign record may need, and `own_accounts` the ledger accounts that
    foreign money may need: by currency, that of the oldest active bank account. They are loaded
    when a rule needs them; `own_accounts` is None until then.
    """

    business: Business
    now: datetime
    identify: Callable[[], UUID]
    given_day: date | None = None
    rates: KnownRates = NO_RATES
    own_accounts: Mapping[str, UUID] | None = None

    @property
    def today(self) -> date:
        """The current day of the business."""
        return self.day_of(self.now)

    def is_distant(self, day: date) -> bool:
        """Return whether a day is more than a year ahead: on 2026-11-29, 2027-11-30 is."""
        today = self.today
        return (day.year - 1, day.month, day.day) > (today.year, today.month, today.day)

    @property
    def day(self) -> date:
        """The day of the change: the given one, else today."""
        return self.given_day or self.today

    @property
    def at(self) -> datetime:
        """The moment of the change: the start of the given day, else now."""
        return self.now if self.given_day is None else self.start_of(self.given_day)

    def day_of(self, moment: datetime) -> date:
        """Return the day of a moment, in the time zone of the business."""
        return time_zones.day_of(moment, self.business.timezone)

    def start_of(self, day: date) -> datetime:
        """Return the first moment of a day in the time zone of the business, as UTC."""
        return time_zones.start_of(day, self.business.timezone)

    def on(self, day: date | None) -> "Context":
        """Return the context of a change that happened on a given day."""
        return replace(self, given_day=day)

    @property
    def lock_date(self) -> date | None:
        """The last day that is locked, if any."""
        return self.business.lock_date

    @property
    def currency(self) -> str:
        """The base currency of the business."""
        return self.business.base_currency


def refuse_locked(context: Context, on: date) -> None:
    """Refuse to post on a locked day.

    Raises Conflict `period_locked`.
    """
    lock_date = context.lock_date
    if lock_date is not None and on <= lock_date:
        raise Conflict(
            "period_locked",
            f"Cannot post on {on}: the period is locked through {lock_date}. Use a later date.",
            date=on.isoformat(),
            lock_date=lock_date.isoformat(),
        )


def refuse_out_of_order(context: Context, field: str, on: date, earliest: date | None) -> None:
    """Refuse the given day of a later event: before `earliest`, after today, or inside the lock.

    `field` is its API name; `earliest` is the day of what the event follows, if there is one.
    Raises RuleViolation `date_out_of_order`; Conflict `period_locked`.
    """
    today = context.today
    if on > today or (earliest is not None and on < earliest):
        bounds = [f"before {earliest}"] if earliest is not None else []
        bounds.append(f"after today, {today} ({context.business.timezone})")
        message = f"{field} must not be {' or '.join(bounds)}."
        raise out_of_order(context, message, field, on, earliest)
    refuse_locked(context, on)


def out_of_order(
    context: Context, message: str, field: str, on: date, earliest: date | None
) -> RuleViolation:
    """Return the refusal of a given day."""
    return RuleViolation(
        "date_out_of_order",
        message,
        field=field,
        date=on.isoformat(),
        earliest=None if earliest is None else earliest.isoformat(),
        today=context.today.isoformat(),
    )


def refuse_other_currency(currency: str | None, context: Context) -> None:
    """Refuse a currency other than the base currency for an account that no bank account has.

    Raises RuleViolation `currency_mismatch`.
    """
    if currency is not None and currency != context.currency:
        raise RuleViolation(
            "currency_mismatch",
            f"The account is in {context.currency}. A bank account in another currency has an"
            " account of its own.",
            currency=currency,
            base_currency=context.currency,
        )
