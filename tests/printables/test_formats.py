"""Amounts, rates and days as they are written in each language and country."""

from datetime import date
from decimal import Decimal

import pytest

from accounting.books.businesses import COUNTRIES
from accounting.money import CURRENCIES
from libraries.pdf_files.formats import Formats
from libraries.pdf_files.letters import shown
from libraries.pdf_files.papers import Style

LANGUAGES = ("en", "de", "nl", "fr", "es")


def formats(language: str, country: str | None, currency: str = "EUR") -> Formats:
    return Formats(Style(language=language, country=country, currency=currency))


def plain(text: str) -> str:
    """Write all blanks as the one on the keyboard."""
    return " ".join(text.split())


@pytest.mark.parametrize(
    ("language", "country", "currency", "money", "amount"),
    [
        ("en", "GB", "GBP", "£1,234.50", "1,234.50"),
        ("en", "IE", "EUR", "€1,234.50", "1,234.50"),
        ("de", "DE", "EUR", "1.234,50 €", "1.234,50"),
        ("de", "AT", "EUR", "€ 1.234,50", "1.234,50"),
        ("nl", "NL", "EUR", "€ 1.234,50", "1.234,50"),
        ("fr", "FR", "EUR", "1 234,50 €", "1 234,50"),
        ("es", "ES", "EUR", "1.234,50 €", "1.234,50"),
        ("en", "MY", "MYR", "RM1,234.50", "1,234.50"),
        ("en", "IS", "ISK", "ISK123,450", "123,450"),
    ],
)
def test_money_is_written_as_its_readers_do(
    language: str, country: str, currency: str, money: str, amount: str
) -> None:
    write = formats(language, country, currency)
    assert plain(write.money(123_450)) == money
    assert plain(write.amount(123_450)) == amount


def test_what_is_below_zero_has_a_sign() -> None:
    assert plain(formats("en", "GB", "GBP").money(-5_000)) == "-£50.00"
    assert plain(formats("de", "DE").amount(-5_000)) == "-50,00"


def test_quantities_and_rates_have_the_decimals_that_they_have() -> None:
    write = formats("de", "DE")
    assert write.quantity(Decimal("1.500000")) == "1,5"
    assert write.quantity(Decimal("1234")) == "1.234"
    assert plain(write.percent(Decimal("5.50"))) == "5,5 %"
    assert plain(write.percent(Decimal(19))) == "19 %"
    assert formats("en", "GB").percent(Decimal("17.1250")) == "17.125%"


def test_days_are_written_in_the_language() -> None:
    day = date(2025, 3, 1)
    written = [formats(language, None).day(day) for language in LANGUAGES]
    assert written == [
        *("1 March 2025", "1. März 2025", "1 maart 2025", "1 mars 2025"),
        "1 de marzo de 2025",
    ]


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("country", [*COUNTRIES, None, "ZZ"])
def test_every_language_is_written_in_every_country(language: str, country: str | None) -> None:
    for currency in CURRENCIES:
        write = formats(language, country, currency)
        values = (write.money(-123_450), write.amount(5), write.percent(Decimal("7.5")))
        assert all(shown(value) == value for value in values)
        assert shown(write.country(country)) == write.country(country)


def test_a_country_has_a_name_in_the_language() -> None:
    assert formats("de", "DE").country("GR") == "Griechenland"
    assert (formats("en", None).country("XX"), formats("en", None).country(None)) == ("XX", "")


def test_a_language_without_words_is_no_style() -> None:
    with pytest.raises(ValueError, match="no language"):
        formats("xx", "GB")
