"""What is accepted and looks wrong: telephone and VAT numbers, checked by the field's own books."""

from typing import Any

import phonenumbers
from stdnum import get_cc_module
from stdnum.exceptions import ValidationError

Warnings = list[dict[str, str]]


def of_phones(**numbers: str | None) -> Warnings:
    """Warn of telephone numbers that are not possible in E.164 form, by field."""
    return [
        {"field": field, "message": "does not look like a telephone number in E.164 form"}
        for field, number in numbers.items()
        if number and not _is_phone(number)
    ]


def of_vat_number(number: str | None, country: str | None) -> Warnings:
    """Warn of a VAT number that fails the check of its country; some countries have none."""
    if not number:
        return []
    prefix = number[:2].upper()
    module = get_cc_module((country or prefix).lower(), "vat")
    if module is None or _is_valid(module, number):
        return []
    return [{"field": "vat_number", "message": "fails the check of its country"}]


def _is_phone(number: str) -> bool:
    try:
        return phonenumbers.is_possible_number(phonenumbers.parse(number, None))
    except phonenumbers.NumberParseException:
        return False


def _is_valid(module: Any, number: str) -> bool:
    try:
        module.validate(number)
    except ValidationError:
        return False
    return True
