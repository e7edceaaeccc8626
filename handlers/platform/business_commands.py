"""Businesses and sandboxes."""

from uuid import UUID

from accounting.absent import or_else, or_none
from accounting.books.commands import CALENDAR_YEAR_END, ChangeBusiness, OpenBusiness, OpenSandbox
from handlers.bodies import (
    BusinessCreate,
    BusinessTokenRequest,
    BusinessUpdate,
    SandboxCreate,
    SandboxUpdate,
    TokenRequest,
    TokenRevocation,
)

# Requests for tokens.


def client_id(body: TokenRequest) -> UUID | None:
    """Return the partner id that the body states besides the credentials, if any."""
    return or_none(body["client_id"])


def only_reads(body: BusinessTokenRequest | None) -> bool:
    """Return whether a business token is requested for reading only."""
    return body is not None and body["access"] == "read"


def token(body: TokenRevocation) -> str:
    """Return the token to revoke; all tokens are of the one kind that a hint may name."""
    return body["token"]


def open_business(body: BusinessCreate) -> OpenBusiness:
    """Parse a new business."""
    return OpenBusiness(
        external_id=body["external_id"],
        legal_name=body["legal_name"],
        entity_type=body["entity_type"],
        email=body["email"],
        name=or_none(body["name"]),
        phone_number=or_none(body["phone_number"]),
        tin=or_none(body["tin"]),
        vat_number=or_none(body["vat_number"]),
        company_number=or_none(body["company_number"]),
        country=or_none(body["country"]),
        province=or_none(body["province"]),
        eu_nace_industry_code=or_none(body["eu_nace_industry_code"]),
        base_currency=or_none(body["base_currency"]),
        accounting_method=or_else(body["accounting_method"], "accrual"),
        fiscal_year_end=or_else(body["fiscal_year_end"], CALENDAR_YEAR_END),
        coa_language=or_else(body["coa_language"], "en"),
        timezone=or_none(body["timezone"]),
        matching_tolerance_cents=or_else(body["matching_tolerance_cents"], 0),
        unknown_parties=or_else(body["unknown_parties"], "create"),
        metadata=or_else(body["metadata"], {}),
    )


def open_sandbox(body: SandboxCreate) -> OpenSandbox:
    """Parse a new sandbox."""
    return OpenSandbox(external_id=body["external_id"], name=or_none(body["name"]))


def seconds_ahead(body: SandboxUpdate) -> int:
    """Return the number of seconds that the clock of a sandbox is ahead."""
    return body["clock_seconds_ahead"]


def change_business(body: BusinessUpdate) -> ChangeBusiness:
    """Parse changes to a business."""
    return ChangeBusiness(
        external_id=body["external_id"],
        country=body["country"],
        base_currency=body["base_currency"],
        legal_name=body["legal_name"],
        name=body["name"],
        entity_type=body["entity_type"],
        email=body["email"],
        phone_number=body["phone_number"],
        tin=body["tin"],
        vat_number=body["vat_number"],
        company_number=body["company_number"],
        province=body["province"],
        eu_nace_industry_code=body["eu_nace_industry_code"],
        accounting_method=body["accounting_method"],
        fiscal_year_end=body["fiscal_year_end"],
        lock_date=body["lock_date"],
        timezone=body["timezone"],
        matching_tolerance_cents=body["matching_tolerance_cents"],
        unknown_parties=body["unknown_parties"],
        metadata=body["metadata"],
    )
