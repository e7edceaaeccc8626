"""The tax rates of countries, from official sources, with their days.

Every business gets its first codes from this one table (`starting_codes`). A rate that changed
since 2019 has its days; a rate without days has been the same for longer. A temporary rate that has
ended is listed only as a period of a rate that still exists.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Final

from accounting.tax.codes import WHOLE, Rate

NOTHING: Final = Decimal(0)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChargedRate:
    """A rate that is charged, through time, and its usual name."""

    rates: tuple[Rate, ...]
    called: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CountryRates:
    """The tax rates and rules of a country, and their source in law."""

    source: str
    standard: ChargedRate
    reduced: tuple[ChargedRate, ...] = ()
    zero: tuple[Rate, ...] = ()
    withheld_on_sales: tuple[tuple[Rate, ...], ...] = ()
    withheld_on_purchases: tuple[tuple[Rate, ...], ...] = ()
    recoverable_percent: Decimal = WHOLE  # Of the tax on purchases.
    in_eu: bool = False
    eu_goods: bool = False  # Trade in goods with the EU follows the rules within it.
    postpones_imports: bool = False
    customs_in_return: bool = False  # The return has import VAT that was paid to customs.
    reverses_at_home: bool = True


def _day(text: str) -> date | None:
    return date.fromisoformat(text) if text else None


def _from(*steps: str) -> tuple[Rate, ...]:
    """Parse consecutive rates: '7 to 2022-12-31', '8 to 2023-12-31', '9'."""
    rates: list[Rate] = []
    first = ""
    for step in steps:
        rate, _, last = step.partition(" to ")
        rates.append(Rate(Decimal(rate), valid_from=_day(first), valid_to=_day(last)))
        first = _next_day(last)
    return tuple(rates)


def _next_day(text: str) -> str:
    return date.fromordinal(date.fromisoformat(text).toordinal() + 1).isoformat() if text else ""


def _charged(*steps: str, called: str = "") -> ChargedRate:
    return ChargedRate(rates=_from(*steps), called=called)


def _begun(rate: str, first: date, called: str = "") -> ChargedRate:
    return ChargedRate(rates=(Rate(Decimal(rate), valid_from=first),), called=called)


RATES: Final[Mapping[str, CountryRates]] = {
    "GB": CountryRates(
        source="Value Added Tax Act 1994, sections 2, 29A and 30",
        standard=_charged("20"),
        reduced=(_charged("5"),),
        zero=_from("0"),
        eu_goods=True,  # For Northern Ireland.
        postpones_imports=True,
    ),
    "DE": CountryRates(
        source="Umsatzsteuergesetz, § 12 and § 28",
        standard=_charged("19 to 2020-06-30", "16 to 2020-12-31", "19"),
        reduced=(_charged("7 to 2020-06-30", "5 to 2020-12-31", "7"),),
        zero=(Rate(NOTHING, valid_from=date(2023, 1, 1)),),  # Solar panels.
        in_eu=True,
        eu_goods=True,
        customs_in_return=True,
    ),
    "FR": CountryRates(
        source="Code général des impôts, articles 278 to 281 octies",
        standard=_charged("20"),
        reduced=(_charged("10"), _charged("5.5"), _charged("2.1")),
        in_eu=True,
        eu_goods=True,
        postpones_imports=True,
    ),
    "NL": CountryRates(
        source="Wet op de omzetbelasting 1968, article 9; imports: article 23",
        standard=_charged("21"),
        reduced=(_charged("6 to 2018-12-31", "9"),),
        zero=_from("0"),
        in_eu=True,
        eu_goods=True,
        postpones_imports=True,
    ),
    "ES": CountryRates(
        source="Ley 37/1992 del IVA, articles 90 and 91; withheld: Reglamento del IRPF, article 95",
        standard=_charged("21"),
        reduced=(_charged("10"), _charged("4")),
        zero=_from("0"),
        withheld_on_sales=(_from("15"), _from("7")),
        withheld_on_purchases=(_from("15"), _from("7")),
        in_eu=True,
        eu_goods=True,
        postpones_imports=True,
    ),
    "BE": CountryRates(
        source="Arrêté royal no. 20 of 20 July 1970; imports: licence ET 14.000",
        standard=_charged("21"),
        reduced=(_charged("12"), _charged("6")),
        zero=_from("0"),
        in_eu=True,
        eu_goods=True,
        postpones_imports=True,
    ),
    "IT": CountryRates(
        source="DPR 633/1972, article 16; withheld: DPR 600/1973, article 25",
        standard=_charged("22"),
        reduced=(_charged("10"), _charged("5"), _charged("4")),
        withheld_on_sales=(_from("20"),),
        withheld_on_purchases=(_from("20"),),
        in_eu=True,
        eu_goods=True,
    ),
    "IE": CountryRates(
        source="Value-Added Tax Consolidation Act 2010, section 46; imports: section 53A",
        standard=_charged("23 to 2020-08-31", "21 to 2021-02-28", "23"),
        reduced=(_charged("13.5"), _charged("9"), _charged("4.8")),
        zero=_from("0"),
        in_eu=True,
        eu_goods=True,
        postpones_imports=True,
    ),
    "AT": CountryRates(
        source="Umsatzsteuergesetz 1994, § 10",
        standard=_charged("20"),
        reduced=(_charged("13"), _charged("10"), _begun("4.9", date(2026, 7, 1))),
        in_eu=True,
        eu_goods=True,
    ),
    "PT": CountryRates(
        source="Código do IVA, articles 18 and 27; withheld: Código do IRS, article 101",
        standard=_charged("23"),
        reduced=(_charged("13"), _charged("6")),
        withheld_on_sales=(_from("25 to 2024-12-31", "23"),),
        withheld_on_purchases=(_from("25 to 2024-12-31", "23"),),
        in_eu=True,
        eu_goods=True,
        postpones_imports=True,
    ),
    "SE": CountryRates(
        source="Mervärdesskattelag (2023:200), chapter 9",
        standard=_charged("25"),
        reduced=(_charged("12"), _charged("6")),
        in_eu=True,
        eu_goods=True,
        postpones_imports=True,
    ),
    "NO": CountryRates(
        source="Stortingets vedtak om merverdiavgift; merverdiavgiftsloven, chapter 6",
        standard=_charged("25"),
        reduced=(
            _charged("15"),
            _charged("12 to 2020-03-31", "6 to 2021-09-30", "12"),
            _charged("11.11"),
        ),
        zero=_from("0"),
        postpones_imports=True,
    ),
    "DK": CountryRates(
        source="Momsloven, §§ 33 and 34",
        standard=_charged("25"),
        zero=_from("0"),
        in_eu=True,
        eu_goods=True,
        postpones_imports=True,
    ),
    "FI": CountryRates(
        source="Arvonlisäverolaki 1501/1993, sections 84, 85 and 85 a",
        standard=_charged("24 to 2024-08-31", "25.5"),
        reduced=(_charged("14 to 2025-12-31", "13.5"), _charged("10")),
        in_eu=True,
        eu_goods=True,
        postpones_imports=True,
    ),
    "IS": CountryRates(
        source="Lög um virðisaukaskatt nr. 50/1988, article 14",
        standard=_charged("24"),
        reduced=(_charged("11"),),
        reverses_at_home=False,
    ),
    "MY": CountryRates(
        source=(
            "Service Tax Act 2018 and Service Tax (Rate of Tax) Order 2018, amended from 1 March"
            " 2024; Sales Tax Act 2018; withheld: Income Tax Act 1967, sections 109 and 109B"
        ),
        # Some services stayed at 6 % when the rate of the others rose.
        standard=_charged("6 to 2024-02-29", "8", called="service tax"),
        reduced=(
            _begun("6", date(2024, 3, 1), called="service tax"),
            _charged("10", called="tax on goods"),
            _charged("5", called="tax on goods"),
        ),
        withheld_on_purchases=(_from("10"), _from("15")),
        recoverable_percent=NOTHING,  # It is charged once, and the buyer bears it.
        reverses_at_home=False,
    ),
    "SG": CountryRates(
        source="Goods and Services Tax Act 1993, section 16; imports: Import GST Deferment Scheme",
        standard=_charged("7 to 2022-12-31", "8 to 2023-12-31", "9"),
        zero=_from("0"),
        postpones_imports=True,
    ),
}
