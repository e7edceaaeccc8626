"""Serialization that the operations of several tags share."""

from datetime import date, datetime
from decimal import Decimal
from functools import lru_cache
from typing import Any, Final

import phonenumbers
from stdnum import get_cc_module
from stdnum.exceptions import ValidationError

from accounting.books.accounts import Account
from accounting.books.businesses import Context
from accounting.books.record_rates import ForeignRecord, unusual_rate
from accounting.trade import refunds
from accounting.trade.documents import Document
from accounting.trade.parties import Party
from accounting.trade.refunds import VendorRefund
from persistence.bank.bank_transactions import NamedAccount
from persistence.trade.linked_lines import Lines


def serialize_party(party: Party) -> dict[str, Any]:
    """Serialize a customer or vendor in brief."""
    return {
        "id": party.id,
        "external_id": party.external_id,
        "name": party.name,
        "display_name": party.name,
        "company_name": party.company_name,
        "individual_name": party.individual_name,
        "email": party.email,
    }


def serialize_rate(rate: Decimal | None) -> float | None:
    """Return a rate in percent as a number; it has at most 15 digits, so JSON keeps it exactly."""
    return None if rate is None else float(rate)


def day_start(day: date | None) -> str | None:
    """Format a date as a date-time, where the contract has one: its first second, in UTC."""
    return None if day is None else f"{day}T00:00:00Z"


ORIGINAL, RETURN = "original", "return"


def movement(*, back: bool) -> str:
    """Return the movement of money that a bank transaction shows."""
    return RETURN if back else ORIGINAL


def serialize_lines(lines: Lines) -> list[dict[str, Any]]:
    """Serialize the bank transactions that a payment or other target is matched with."""
    return [
        {
            "bank_transaction_id": line.transaction_id,
            "bank_transaction_date": day_start(line.booked_on),
            "bank_transaction_amount_cents": line.transaction_amount,
            "bank_transaction_direction": line.direction,
            "reconciled_amount_cents": line.amount,
            "reconciliation_link_id": line.link_id,
            "reconciled_at": line.linked_at,
            "currency": line.currency,
            "payment_type": line.target_type,
            "of": movement(back=line.back),
            "bank_account_name": line.bank_account_name,
            "notes": line.memo,
        }
        for line in lines
    ]


# Warnings about accepted values that look wrong: numbers that fail a check, and dates.


Warnings = list[dict[str, str]]

# A check takes 10 us, and a customer is read far more often than its number changes.
REMEMBERED: Final = 4096
MOST_TOLD: Final = 20


def of_phones(**numbers: str | None) -> Warnings:
    """Warn of telephone numbers that are invalid or not in E.164 form."""
    return [
        {"field": field, "message": "is not a valid telephone number in E.164 format"}
        for field, number in numbers.items()
        if number and not _is_phone(number)
    ]


def of_distant_days(context: Context, **days: date | None) -> Warnings:
    """Warn of days, or moments, more than a year ahead."""
    return [
        {"field": field, "message": "is more than a year ahead"}
        for field, on in days.items()
        if on and context.is_distant(context.day_of(on) if isinstance(on, datetime) else on)
    ]


def of_unusual_rate(context: Context, record: ForeignRecord, day: date | None) -> Warnings:
    """Warn of an exchange rate over 10 % off the table's, if the tables of its day are loaded."""
    if record.worth is None or day is None:
        return []
    usual = unusual_rate(record.worth, day, context)
    told = f"is more than 10 % off the rate of the tables, {usual}"
    return [] if usual is None else [{"field": "exchange_rate", "message": told}]


def of_early_due_day(
    context: Context, field: str, due_at: datetime | None, **days: Any
) -> Warnings:
    """Warn of a due day before the day of a document: that of the first of `days`, if it has one.

    `days` are days or moments by their API names. So an invoice of 1 March that is due on
    15 March may be sent on 20 March.
    """
    name, on = next(((name, on) for name, on in days.items() if on is not None), ("", None))
    if due_at is None or on is None:
        return []
    day = context.day_of(on) if isinstance(on, datetime) else on
    early = context.day_of(due_at) < day
    return [{"field": field, "message": f"is before {name}"}] if early else []


def of_small_rates(document: Document) -> Warnings:
    """Warn of tax rates above 0 and below 1, which are often meant as fractions: 0.2 for 20 %."""
    small = [
        (place, line.tax_rate)
        for place, line in enumerate(document.lines)
        if line.tax_rate is not None and 0 < line.tax_rate < 1 and line.tax_code_id is None
    ]
    return [
        {
            "field": f"line_items.{place}.tax_rate",
            "message": f"is {rate:f} % on line {place + 1};"
            f" did you mean {(rate * 100).normalize():f}?",
        }
        for place, rate in small[:MOST_TOLD]
    ]


def of_payout_day(*, too_early: bool) -> Warnings:
    """Warn of a payout that is dated before a payment or refund in it."""
    told = "is before the date of a payment in the payout"
    return [{"field": "completed_at", "message": told}] if too_early else []


def of_rates_without_code(document: Document) -> Warnings:
    """Warn of lines with a tax rate but no tax code, which a tax return cannot classify."""
    told = "has no tax code, so a tax return lists the line without a code"
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
    told = "is missing, so the credit has no tax"
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


def serialize_account(account: Account | NamedAccount) -> dict[str, Any]:
    """Serialize an account of the chart in brief."""
    return {"id": account.id, "code": account.code, "name": account.name}
