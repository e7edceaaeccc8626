"""Businesses: countries and their legal forms, the base currency, and the fiscal year."""

from calendar import monthrange
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any
from uuid import UUID

from accounting.absent import or_none, said
from accounting.books.commands import ChangeBusiness
from accounting.errors import Conflict, Malformed, RuleBroken

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


def entity_type(country: str, text: str) -> str:
    """Return a legal form in lower case, if it is valid; countries without a list accept any.

    Raises Malformed `validation_error` on `entity_type`, with the valid ones.
    """
    form = text.lower()
    valid = ENTITY_TYPES.get(country)
    if valid is not None and form not in valid:
        raise Malformed.fields(entity_type=[f"must be one of {', '.join(valid)} in {country}"])
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


def refuse_future_lock(command: ChangeBusiness, today: date) -> None:
    """Refuse to lock future days: on the 5th, the 5th is the last day that may be locked.

    Raises RuleBroken `lock_date_in_future`.
    """
    lock_date = or_none(command.lock_date)
    if lock_date is not None and lock_date > today:
        raise RuleBroken(
            "lock_date_in_future",
            "The lock date must not be after today (UTC).",
            lock_date=lock_date.isoformat(),
            today=today.isoformat(),
        )


def refuse_large_tolerance(tolerance: int, currency: str, exponent: int) -> None:
    """Refuse a matching tolerance above 5 whole units: 500 for GBP, which has pence, and 5 for ISK.

    Raises Malformed `validation_error` on `matching_tolerance_cents`.
    """
    most: int = MOST_TOLERATED * 10**exponent
    if tolerance > most:
        raise Malformed.fields(matching_tolerance_cents=[f"must be at most {most} in {currency}"])


def refuse_fixed(known: Mapping[str, Any], command: ChangeBusiness) -> None:
    """Refuse to change a field that is fixed once a business is open; `gb` for GB is no change.

    `known` are the present values of the `FIXED` fields. Raises RuleBroken `immutable_field`.
    """
    given = said(command, *FIXED)
    if "country" in given:
        given["country"] = given["country"].upper()
    changed = [name for name, value in given.items() if value != known[name]]
    if changed:
        raise RuleBroken(
            "immutable_field",
            f"{', '.join(changed)} cannot be changed after the business is created.",
            fields=changed,
        )


def _year_end(fiscal_year_end: date, year: int) -> date:
    """Return the end of the fiscal year in a year; 29 February means the last day of February."""
    month, day = fiscal_year_end.month, fiscal_year_end.day
    return date(year, month, min(day, monthrange(year, month)[1]))
