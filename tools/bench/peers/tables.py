"""The peers' schema (`schema.sql`) for the SQLAlchemy ORM."""

from datetime import date, datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

from sqlalchemy import BigInteger, DateTime, ForeignKey, Numeric, Text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column, relationship


class Base(DeclarativeBase):
    """The base of all models."""

    type_annotation_map = {  # noqa: RUF012 - SQLAlchemy's own table.
        str: Text,
        datetime: DateTime(timezone=True),
        int: BigInteger,
        Decimal: Numeric,
    }

    id: Mapped[UUID] = mapped_column(primary_key=True)


class Business(Base):
    __tablename__ = "business"

    partner_id: Mapped[UUID]
    archived_at: Mapped[datetime | None]


class Account(Base):
    __tablename__ = "account"

    business_id: Mapped[UUID] = mapped_column(ForeignKey("business.id"))
    code: Mapped[str]
    name: Mapped[str]


class Customer(Base):
    __tablename__ = "customer"

    business_id: Mapped[UUID] = mapped_column(ForeignKey("business.id"))
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


class Counter(Base):
    __tablename__ = "counter"

    business_id: Mapped[UUID] = mapped_column(ForeignKey("business.id"))
    series: Mapped[str]
    last: Mapped[int]


class Invoice(Base):
    __tablename__ = "invoice"

    business_id: Mapped[UUID] = mapped_column(ForeignKey("business.id"))
    customer_id: Mapped[UUID] = mapped_column(ForeignKey("customer.id"))
    number: Mapped[str | None]
    state: Mapped[str]
    currency: Mapped[str]
    sent_at: Mapped[datetime | None]
    due_at: Mapped[datetime | None]
    subtotal: Mapped[int]
    tax_total: Mapped[int]
    total_amount: Mapped[int]
    outstanding: Mapped[int]
    memo: Mapped[str | None]
    created_at: Mapped[datetime]
    updated_at: Mapped[datetime]

    customer: Mapped[Customer] = relationship(lazy="raise")


class InvoiceLine(Base):
    __tablename__ = "invoice_line"

    invoice_id: Mapped[UUID] = mapped_column(ForeignKey("invoice.id"))
    place: Mapped[int]
    description: Mapped[str]
    quantity: Mapped[Decimal]
    unit_price: Mapped[int]
    tax_rate: Mapped[Decimal]
    net: Mapped[int]
    tax: Mapped[int]


class Payment(Base):
    __tablename__ = "payment"

    business_id: Mapped[UUID] = mapped_column(ForeignKey("business.id"))
    customer_id: Mapped[UUID] = mapped_column(ForeignKey("customer.id"))
    total: Mapped[int]
    currency: Mapped[str]
    method: Mapped[str]
    payment_date: Mapped[date]
    created_at: Mapped[datetime]


class Allocation(Base):
    __tablename__ = "allocation"

    payment_id: Mapped[UUID] = mapped_column(ForeignKey("payment.id"))
    invoice_id: Mapped[UUID] = mapped_column(ForeignKey("invoice.id"))
    amount: Mapped[int]


class Entry(Base):
    __tablename__ = "entry"

    business_id: Mapped[UUID] = mapped_column(ForeignKey("business.id"))
    number: Mapped[str]
    entry_date: Mapped[date]
    description: Mapped[str]
    source_id: Mapped[UUID]


class EntryLine(Base):
    __tablename__ = "entry_line"

    business_id: Mapped[UUID] = mapped_column(ForeignKey("business.id"))
    entry_id: Mapped[UUID] = mapped_column(ForeignKey("entry.id"))
    account_id: Mapped[UUID] = mapped_column(ForeignKey("account.id"))
    entry_date: Mapped[date]
    debit: Mapped[int]
    credit: Mapped[int]
