"""Customers, and what documents and payments know of the party on the other side."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from accounting.errors import Conflict, Malformed, RuleBroken


@dataclass(frozen=True, slots=True)
class Party:
    """What a document or payment knows of its customer (later: its vendor)."""

    id: UUID
    name: str
    email: str | None = None
    external_id: str | None = None
    payment_terms_days: int | None = None
    archived: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Customer:
    """A customer as it is stored."""

    id: UUID
    version: int
    created_at: datetime
    updated_at: datetime
    external_id: str | None = None
    reference_number: str | None = None
    individual_name: str | None = None
    company_name: str | None = None
    email: str | None = None
    mobile_phone: str | None = None
    office_phone: str | None = None
    address_line1: str | None = None
    address_line2: str | None = None
    city: str | None = None
    state_county: str | None = None
    postal_code: str | None = None
    country: str | None = None
    address_string: str | None = None
    vat_number: str | None = None
    tax_exempt: bool = False
    transaction_tags: tuple[str, ...] = field(default=())
    notes: str | None = None
    metadata: Any = None
    payment_terms_days: int | None = None
    credit_limit_cents: int | None = None
    archived_at: datetime | None = None


def display_name(customer: Customer) -> str:
    """Name a customer for people: the company, else the person."""
    return customer.company_name or customer.individual_name or ""


def full_address(customer: Customer) -> str:
    """Write the address on one line from its parts, else as it was given in one piece."""
    town = " ".join(part for part in (customer.postal_code, customer.city) if part)
    parts = (
        customer.address_line1,
        customer.address_line2,
        town,
        customer.state_county,
        customer.country,
    )
    return ", ".join(part for part in parts if part) or customer.address_string or ""


def party_of(customer: Customer) -> Party:
    """Take what documents and payments know of a customer."""
    return Party(
        id=customer.id,
        name=display_name(customer),
        email=customer.email,
        external_id=customer.external_id,
        payment_terms_days=customer.payment_terms_days,
        archived=customer.archived_at is not None,
    )


def refuse_nameless(individual_name: str | None, company_name: str | None) -> None:
    """Refuse a customer that would have no name left.

    Raises Malformed `validation_error` on `company_name`.
    """
    if not (individual_name or company_name):
        raise Malformed.fields(company_name=["is required where individual_name is absent"])


def refuse_archived_customer(party: Party) -> None:
    """Refuse new business with an archived customer.

    Raises Conflict `customer_archived`.
    """
    if party.archived:
        raise Conflict("customer_archived", "The customer is archived.", customer_id=str(party.id))


def refuse_reference_mismatch(party: Party, external_id: str | None) -> None:
    """Refuse an external id that names another party than the id beside it.

    Raises RuleBroken `reference_mismatch`.
    """
    if external_id is not None and external_id != party.external_id:
        raise RuleBroken(
            "reference_mismatch",
            "The id and the external id name different parties.",
            id=str(party.id),
            external_id=external_id,
        )


def refuse_archiving_customer(outstanding_balance: int) -> None:
    """Refuse to archive a customer who owes something.

    Raises Conflict `customer_has_balance`.
    """
    if outstanding_balance:
        raise Conflict(
            "customer_has_balance",
            "The customer has an outstanding balance.",
            outstanding_balance=outstanding_balance,
        )
