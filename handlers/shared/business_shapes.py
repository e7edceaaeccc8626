"""Serialization of businesses."""

from typing import Any

from handlers.shared import warnings
from persistence.partners.registry import RegisteredBusiness


def shape(found: RegisteredBusiness) -> dict[str, Any]:
    """Serialize a business."""
    return {
        **{name: getattr(found, name) for name in SHOWN},
        "currency": found.base_currency,
        "is_active": found.archived_at is None,
        "is_sandbox": found.sandbox is not None,
        "warnings": [
            *warnings.of_phones(phone_number=found.phone_number),
            *warnings.of_vat_number(found.vat_number, found.country),
        ],
    }


def summarize(found: RegisteredBusiness) -> dict[str, Any]:
    """Serialize a business for a list."""
    return {
        **{name: getattr(found, name) for name in LISTED},
        "tax_id": found.tin,
        "currency": found.base_currency,
        "is_active": found.archived_at is None,
    }


LISTED = (
    "id",
    "external_id",
    "name",
    "legal_name",
    "entity_type",
    "country",
    "province",
    "eu_nace_industry_code",
    "activation_at",
    "created_at",
    "updated_at",
    "vat_number",
    "company_number",
    "base_currency",
)
SHOWN = (
    *LISTED,
    "email",
    "phone_number",
    "tin",
    "accounting_method",
    "fiscal_year_end",
    "coa_language",
    "lock_date",
    "matching_tolerance_cents",
    "metadata",
)
