"""Warnings about accepted values that look wrong: numbers that fail a check, and dates."""

from functools import lru_cache
from typing import Final

import phonenumbers
from stdnum import get_cc_module
from stdnum.exceptions import ValidationError

from accounting.trade import refunds
from accounting.trade.documents import Document
from accounting.trade.refunds import VendorRefund

Warnings = list[dict[str, str]]

# A check takes 10 us, and a customer is read far more often than its number changes.
REMEMBERED: Final = 4096
MOST_TOLD: Final = 20


def of_phones(**numbers: str | None) -> Warnings:
    """Warn of telephone numbers that are invalid or not in E.164 form."""
    return [
        {"field": field, "message": "is no valid telephone number in E.164 form"}
        for field, number in numbers.items()
        if number and not _is_phone(number)
    ]


def of_payout_day(*, too_early: bool) -> Warnings:
    """Warn of a payout that is dated before a payment or refund in it."""
    told = "is before the day of a payment in it"
    return [{"field": "completed_at", "message": told}] if too_early else []


def of_rates_without_code(document: Document) -> Warnings:
    """Warn of lines with a tax rate but no tax code, which a tax return cannot classify."""
    told = "names no tax code, so a tax return shows the line as one without a code"
    places = [
        place
        for place, line in enumerate(document.lines)
        if line.tax_rate is not None and line.tax_code_id is None
    ]
    return [
        {"field": f"line_items.{place}.tax_rate", "message": told} for place in places[:MOST_TOLD]
    ]


def of_credits_without_code(refund: VendorRefund) -> Warnings:
    """Warn of parts of a refund that are kept as a credit without a tax code."""
    told = "names no tax code, so the credit has no tax"
    places = [
        place
        for place, each in enumerate(refunds.live_allocations(refund))
        if each.kind == "credit" and each.tax_code_id is None
    ]
    return [
        {"field": f"allocations.{place}.tax_code", "message": told} for place in places[:MOST_TOLD]
    ]


def of_vat_number(number: str | None, country: str | None) -> Warnings:
    """Warn of a VAT number that fails the check of its country; some countries have no check."""
    if not number or _is_vat_number(number, (country or number[:2]).lower()):
        return []
    return [{"field": "vat_number", "message": "fails the check of its country"}]


@lru_cache(REMEMBERED)
def _is_phone(number: str) -> bool:
    try:
        return phonenumbers.is_valid_number(phonenumbers.parse(number, None))
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
