"""What is accepted and looks wrong: telephone and VAT numbers, checked by the field's own books."""

from functools import lru_cache
from typing import Final

import phonenumbers
from stdnum import get_cc_module
from stdnum.exceptions import ValidationError

Warnings = list[dict[str, str]]

# The books take 10 us to ask, and a customer is read far more often than its number changes.
REMEMBERED: Final = 4096


def of_phones(**numbers: str | None) -> Warnings:
    """Warn of telephone numbers that are not possible in E.164 form, by field."""
    return [
        {"field": field, "message": "does not look like a telephone number in E.164 form"}
        for field, number in numbers.items()
        if number and not _is_phone(number)
    ]


def of_vat_number(number: str | None, country: str | None) -> Warnings:
    """Warn of a VAT number that fails the check of its country; some countries have none."""
    if not number or _is_vat_number(number, (country or number[:2]).lower()):
        return []
    return [{"field": "vat_number", "message": "fails the check of its country"}]


@lru_cache(REMEMBERED)
def _is_phone(number: str) -> bool:
    try:
        return phonenumbers.is_possible_number(phonenumbers.parse(number, None))
    except phonenumbers.NumberParseException:
        return False


@lru_cache(REMEMBERED)
def _is_vat_number(number: str, country: str) -> bool:
    module = get_cc_module(country, "vat")
    if module is None:
        return True
    try:
        module.validate(number)
    except ValidationError:
        return False
    return True
