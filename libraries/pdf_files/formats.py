"""Amounts, quantities, rates and dates in the notation of the reader's language and country."""

from calendar import monthrange
from datetime import UTC, date, datetime
from decimal import Decimal

from babel import Locale, UnknownLocaleError
from babel.dates import format_date, format_datetime, format_interval, format_skeleton
from babel.numbers import format_currency, format_decimal, format_percent, get_currency_precision

from libraries.pdf_files.papers import Days, Style


class Formats:
    """A formatter of values in one style."""

    def __init__(self, style: Style) -> None:
        self._locale = _locale(style.language, style.country)
        self._currency = style.currency
        self._decimals = get_currency_precision(style.currency)
        self._pattern = "#,##0." + "0" * self._decimals if self._decimals else "#,##0"

    def money(self, amount: int) -> str:
        """Format an amount: 123456 EUR is 1.234,56 € in Germany; 1234 ISK, without minor units, is
        whole.

        The symbol is where the language puts it.
        """
        return str(format_currency(self._whole(amount), self._currency, locale=self._locale))

    def amount(self, amount: int) -> str:
        """Format an amount without its currency, for a column: 123456 EUR is 1.234,56."""
        return str(format_decimal(self._whole(amount), self._pattern, locale=self._locale))

    def price(self, price: int | Decimal) -> str:
        """Format a price like an amount, with all decimals that it has: 16.48 pence is 0.1648."""
        exact = Decimal(price).scaleb(-self._decimals)
        if exact == round(exact, self._decimals):
            return self.amount(int(price))
        return self.quantity(exact)

    def quantity(self, quantity: Decimal) -> str:
        """Format a quantity with the decimals that it has: 1.50 is 1,5."""
        return str(format_decimal(quantity, locale=self._locale, decimal_quantization=False))

    def percent(self, rate: Decimal) -> str:
        """Format a rate in percent with the decimals that it has: 5.50 is 5,5 %."""
        part = rate.scaleb(-2)
        return str(format_percent(part, locale=self._locale, decimal_quantization=False))

    def day(self, day: date) -> str:
        """Format a date: 1 March 2025."""
        return str(format_date(day, "long", locale=self._locale))

    def short_day(self, day: date) -> str:
        """Format a date for a column: 1 Mar 2025."""
        return str(format_date(day, "medium", locale=self._locale))

    def moment(self, moment: datetime) -> str:
        """Format a moment in UTC: 1 Mar 2025, 09:00:00 UTC."""
        return f"{format_datetime(moment.astimezone(UTC), 'medium', locale=self._locale)} UTC"

    def days(self, days: Days) -> str:
        """Format a period: 5 Jan to 31 Mar 2025; whole months and years by name: Mar 2025.

        Without a first day, the last day is shown.
        """
        first, last = days.first, days.last
        if first is None:
            return self.short_day(last)
        if first.day != 1 or last.day != monthrange(last.year, last.month)[1]:
            return str(format_interval(first, last, "yMMMd", locale=self._locale))
        if (first.month, last.month, first.year) == (1, 12, last.year):
            return str(format_skeleton("y", last, locale=self._locale))
        return str(format_interval(first, last, "yMMM", locale=self._locale))

    def country(self, code: str | None) -> str:
        """Return the name of a country: GB is United Kingdom. Unknown codes stay; None gives ""."""
        return str(self._locale.territories.get(code, code or "")) if code else ""

    def _whole(self, amount: int) -> Decimal:
        return Decimal(amount).scaleb(-self._decimals)


def _locale(language: str, country: str | None) -> Locale:
    """Return the locale of a language in a country; if there is none, that of its home country."""
    at_home = "en_GB" if language == "en" else language
    for name in (f"{language}_{country}" if country else at_home, at_home):
        try:
            return Locale.parse(name)
        except (UnknownLocaleError, ValueError):
            continue
    raise ValueError(f"no language of these papers: {language}")
