"""Amounts for people: minor units with the symbol and the decimals of their currency."""

from decimal import Decimal
from functools import lru_cache

from babel.numbers import format_currency, get_currency_precision

LOCALE = "en_GB"


@lru_cache(maxsize=4096)
def formatted(amount: int, currency: str) -> str:
    """Write 123456 EUR as €1,234.56 and 1234 ISK, which has no minor unit, as ISK 1,234."""
    whole = Decimal(amount).scaleb(-get_currency_precision(currency))
    return str(format_currency(whole, currency, locale=LOCALE))
