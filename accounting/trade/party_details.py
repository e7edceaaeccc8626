"""Supplied fields of customers and vendors, and references to them."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from accounting.absent import ABSENT, Absent


@dataclass(frozen=True, slots=True)
class PartyNamed:
    """A customer or vendor, named by its id, by its external id, or by both."""

    id: UUID | None = None
    external_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PartyDetails:
    """The supplied fields of a customer or vendor."""

    external_id: str | Absent | None = ABSENT
    individual_name: str | Absent | None = ABSENT
    company_name: str | Absent | None = ABSENT
    email: str | Absent | None = ABSENT
    mobile_phone: str | Absent | None = ABSENT
    office_phone: str | Absent | None = ABSENT
    country: str | Absent | None = ABSENT
    address_string: str | Absent | None = ABSENT
    vat_number: str | Absent | None = ABSENT
    transaction_tags: tuple[str, ...] | Absent = ABSENT
    metadata: Any = ABSENT
    payment_terms_days: int | Absent | None = ABSENT


@dataclass(frozen=True, slots=True, kw_only=True)
class CustomerDetails(PartyDetails):
    """The supplied fields of a customer."""

    reference_number: str | Absent | None = ABSENT
    address_line1: str | Absent | None = ABSENT
    address_line2: str | Absent | None = ABSENT
    city: str | Absent | None = ABSENT
    state_county: str | Absent | None = ABSENT
    postal_code: str | Absent | None = ABSENT
    tax_exempt: bool | Absent = ABSENT
    notes: str | Absent | None = ABSENT
    credit_limit_cents: int | Absent | None = ABSENT


@dataclass(frozen=True, slots=True, kw_only=True)
class VendorDetails(PartyDetails):
    """The supplied fields of a vendor; `standing` is ACTIVE, INACTIVE or BLOCKED."""

    memo: str | Absent | None = ABSENT
    standing: str | Absent = ABSENT
