"""The peers' books, as many would keep them: documents, money, a journal, and numbers in a row."""

from datetime import date, datetime
from decimal import Decimal
from uuid import UUID

from sqlalchemy import CheckConstraint, ForeignKey, Index, Numeric
from sqlalchemy.orm import Mapped, mapped_column

from bench.peers.tables import Base


class Account(Base):
    """An account of the ledger."""

    __tablename__ = "account"

    id: Mapped[UUID] = mapped_column(primary_key=True)
    business_id: Mapped[UUID] = mapped_column(ForeignKey("business.id"))
    code: Mapped[str]

    __table_args__ = (Index("account_code", "business_id", "code", unique=True),)


class Counter(Base):
    """The last number given out of a series: its lock makes the numbers gapless."""

    __tablename__ = "counter"

    business_id: Mapped[UUID] = mapped_column(ForeignKey("business.id"), primary_key=True)
    series: Mapped[str] = mapped_column(primary_key=True)
    last: Mapped[int]


class SentInvoice(Base):
    """An invoice that was sent, with what is left of it."""

    __tablename__ = "sent_invoice"

    id: Mapped[UUID] = mapped_column(primary_key=True)
    business_id: Mapped[UUID] = mapped_column(ForeignKey("business.id"))
    party_id: Mapped[UUID] = mapped_column(ForeignKey("customer.id"))
    number: Mapped[str]
    sent_at: Mapped[datetime]
    currency: Mapped[str]
    subtotal: Mapped[int]
    tax_total: Mapped[int]
    total_amount: Mapped[int]
    outstanding: Mapped[int]
    created_at: Mapped[datetime]
    updated_at: Mapped[datetime]

    __table_args__ = (
        CheckConstraint("outstanding BETWEEN 0 AND total_amount"),
        Index("sent_invoice_number", "business_id", "number", unique=True),
        Index("sent_invoice_sent_at", "business_id", "sent_at", "id"),
        Index("sent_invoice_outstanding", "business_id", "party_id", "outstanding"),
    )


class InvoiceLine(Base):
    """One thing sold."""

    __tablename__ = "invoice_line"

    id: Mapped[UUID] = mapped_column(primary_key=True)
    invoice_id: Mapped[UUID] = mapped_column(ForeignKey("sent_invoice.id"), index=True)
    place: Mapped[int]
    description: Mapped[str]
    quantity: Mapped[Decimal] = mapped_column(Numeric)
    unit_price: Mapped[int]
    tax_rate: Mapped[Decimal] = mapped_column(Numeric)
    net: Mapped[int]
    tax: Mapped[int]


class Payment(Base):
    """Money from a customer."""

    __tablename__ = "payment"

    id: Mapped[UUID] = mapped_column(primary_key=True)
    business_id: Mapped[UUID] = mapped_column(ForeignKey("business.id"))
    party_id: Mapped[UUID] = mapped_column(ForeignKey("customer.id"))
    total: Mapped[int]
    currency: Mapped[str]
    method: Mapped[str]
    payment_date: Mapped[date]
    created_at: Mapped[datetime]

    __table_args__ = (Index("payment_date", "business_id", "payment_date", "id"),)


class Allocation(Base):
    """What of a payment settles an invoice."""

    __tablename__ = "allocation"

    id: Mapped[UUID] = mapped_column(primary_key=True)
    payment_id: Mapped[UUID] = mapped_column(ForeignKey("payment.id"), index=True)
    invoice_id: Mapped[UUID] = mapped_column(ForeignKey("sent_invoice.id"), index=True)
    amount: Mapped[int]


class Entry(Base):
    """An entry of the journal."""

    __tablename__ = "entry"

    id: Mapped[UUID] = mapped_column(primary_key=True)
    business_id: Mapped[UUID] = mapped_column(ForeignKey("business.id"))
    number: Mapped[str]
    entry_date: Mapped[date]
    description: Mapped[str]
    source_id: Mapped[UUID] = mapped_column(index=True)

    __table_args__ = (Index("entry_number", "business_id", "number", unique=True),)


class EntryLine(Base):
    """One side of an entry."""

    __tablename__ = "entry_line"

    id: Mapped[UUID] = mapped_column(primary_key=True)
    entry_id: Mapped[UUID] = mapped_column(ForeignKey("entry.id"), index=True)
    account_id: Mapped[UUID] = mapped_column(ForeignKey("account.id"))
    entry_date: Mapped[date]
    debit: Mapped[int]
    credit: Mapped[int]

    __table_args__ = (Index("entry_line_account", "account_id", "entry_date"),)
