"""The peers' schema, as the SQLAlchemy ORM describes it: our customer and what surrounds it."""

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import BigInteger, DateTime, ForeignKey, Index, Text, func, select
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

Moment = DateTime(timezone=True)


class Base(DeclarativeBase):
    """All of them."""

    type_annotation_map = {str: Text, datetime: Moment, int: BigInteger}  # noqa: RUF012 - SQLAlchemy's own table.


class Business(Base):
    """A tenant."""

    __tablename__ = "business"

    id: Mapped[UUID] = mapped_column(primary_key=True)
    partner_id: Mapped[UUID]
    archived_at: Mapped[datetime | None]


class Customer(Base):
    """A customer."""

    __tablename__ = "customer"

    id: Mapped[UUID] = mapped_column(primary_key=True)
    business_id: Mapped[UUID] = mapped_column(ForeignKey("business.id"))
    version: Mapped[int]
    created_at: Mapped[datetime]
    updated_at: Mapped[datetime]
    external_id: Mapped[str | None]
    reference_number: Mapped[str | None]
    individual_name: Mapped[str | None]
    company_name: Mapped[str | None]
    email: Mapped[str | None]
    mobile_phone: Mapped[str | None]
    office_phone: Mapped[str | None]
    address_line1: Mapped[str | None]
    address_line2: Mapped[str | None]
    city: Mapped[str | None]
    state_county: Mapped[str | None]
    postal_code: Mapped[str | None]
    country: Mapped[str | None]
    address_string: Mapped[str | None]
    vat_number: Mapped[str | None]
    tax_exempt: Mapped[bool]
    transaction_tags: Mapped[list[str]] = mapped_column(JSONB)
    notes: Mapped[str | None]
    extra: Mapped[Any] = mapped_column("metadata", JSONB)
    payment_terms_days: Mapped[int | None]
    credit_limit_cents: Mapped[int | None]
    archived_at: Mapped[datetime | None]

    __table_args__ = (
        Index("customer_external_id", "business_id", "external_id", unique=True),
        Index("customer_created_at", "business_id", "created_at", "id"),
    )


class Invoice(Base):
    """What a customer owes."""

    __tablename__ = "invoice"

    id: Mapped[UUID] = mapped_column(primary_key=True)
    business_id: Mapped[UUID] = mapped_column(ForeignKey("business.id"))
    customer_id: Mapped[UUID] = mapped_column(ForeignKey("customer.id"))
    outstanding: Mapped[int]

    __table_args__ = (Index("invoice_outstanding", "business_id", "customer_id", "outstanding"),)


_OUTSTANDING = (
    select(func.coalesce(func.sum(Invoice.outstanding), 0))
    .where(
        Invoice.business_id == Customer.business_id,
        Invoice.customer_id == Customer.id,
        Invoice.outstanding > 0,
    )
    .scalar_subquery()
)


async def find_business(
    session: AsyncSession, partner_id: UUID, business_id: UUID
) -> Business | None:
    """Find a business where it belongs to the partner."""
    mine = select(Business).where(Business.id == business_id, Business.partner_id == partner_id)
    return (await session.execute(mine)).scalar_one_or_none()


async def find_customer(
    session: AsyncSession, business_id: UUID, customer_id: UUID
) -> dict[str, Any] | None:
    """Find a customer and what it owes; its fields as they are shown."""
    wanted = select(Customer, _OUTSTANDING).where(
        Customer.business_id == business_id, Customer.id == customer_id
    )
    row = (await session.execute(wanted)).one_or_none()
    return None if row is None else shape(row[0], int(row[1]))


def shape(customer: Customer, outstanding_balance: int) -> dict[str, Any]:
    """Show a customer with all the fields of our contract."""
    parts = (
        customer.address_line1,
        customer.address_line2,
        customer.city,
        customer.state_county,
        customer.postal_code,
        customer.country,
    )
    archived = customer.archived_at is not None
    return {
        "type": "CustomerData",
        "id": customer.id,
        "external_id": customer.external_id,
        "reference_number": customer.reference_number,
        "individual_name": customer.individual_name,
        "company_name": customer.company_name,
        "display_name": customer.company_name or customer.individual_name,
        "email": customer.email,
        "mobile_phone": customer.mobile_phone,
        "office_phone": customer.office_phone,
        "address_line1": customer.address_line1,
        "address_line2": customer.address_line2,
        "city": customer.city,
        "state_county": customer.state_county,
        "postal_code": customer.postal_code,
        "country": customer.country,
        "full_address": ", ".join(part for part in parts if part) or None,
        "address_string": customer.address_string,
        "vat_number": customer.vat_number,
        "tax_exempt": customer.tax_exempt,
        "status": "ARCHIVED" if archived else "ACTIVE",
        "is_active": not archived,
        "is_archived": archived,
        "transaction_tags": customer.transaction_tags,
        "notes": customer.notes,
        "metadata": customer.extra,
        "payment_terms_days": customer.payment_terms_days,
        "credit_limit": customer.credit_limit_cents,
        "credit_limit_cents": customer.credit_limit_cents,
        "outstanding_balance": outstanding_balance,
        "created_at": customer.created_at,
        "updated_at": customer.updated_at,
        "archived_at": customer.archived_at,
        "documents": [],
        "warnings": [],
    }
