"""Pydantic models of the FastAPI peer's request and response bodies."""

from datetime import date, datetime
from decimal import Decimal
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

Cents = Annotated[int, Field(ge=1, le=99_999_999_999_999)]


class Oddity(BaseModel):
    """A warning about an accepted value."""

    field: str
    message: str


class CustomerOut(BaseModel):
    """A customer in a response."""

    type: Literal["CustomerData"]
    id: UUID
    external_id: str | None
    reference_number: str | None
    individual_name: str | None
    company_name: str | None
    display_name: str
    email: str | None
    mobile_phone: str | None
    office_phone: str | None
    address_line1: str | None
    address_line2: str | None
    city: str | None
    state_county: str | None
    postal_code: str | None
    country: str | None
    full_address: str | None
    address_string: str | None
    vat_number: str | None
    tax_exempt: bool
    status: Literal["ACTIVE", "ARCHIVED"]
    is_active: bool
    is_archived: bool
    transaction_tags: list[str]
    notes: str | None
    metadata: Any
    payment_terms_days: int | None
    credit_limit: int | None
    credit_limit_cents: int | None
    outstanding_balance: int
    created_at: datetime
    updated_at: datetime
    archived_at: datetime | None
    documents: list[Any]
    warnings: list[Oddity]


class InvoiceRow(BaseModel):
    """An invoice in a list."""

    id: UUID
    customer_id: UUID
    customer_name: str | None
    invoice_number: str | None
    status: Literal["overdue"]
    is_overdue: bool
    currency: str
    sent_at: datetime | None
    due_at: datetime | None
    subtotal: int
    tax_total: int
    total_amount: int
    amount_paid: int
    outstanding_balance: int
    memo: str | None
    created_at: datetime
    updated_at: datetime


class InvoicePage(BaseModel):
    """Twenty invoices, and the number of all that match."""

    results: list[InvoiceRow]
    total: int


class Balance(BaseModel):
    """The balance of an account."""

    code: str
    name: str
    debits: int
    credits: int
    balance: int


class ReportOut(BaseModel):
    """The trial balance."""

    accounts: list[Balance]


class RequestModel(BaseModel):
    """A request body, which allows no other fields."""

    model_config = ConfigDict(extra="forbid")


class Line(RequestModel):
    """A line of an invoice."""

    description: Annotated[str, Field(max_length=500)]
    quantity: Annotated[Decimal, Field(gt=0)]
    unit_price: Cents
    tax_rate: Annotated[Decimal, Field(ge=0, le=100)]


class InvoiceIn(RequestModel):
    """An invoice that is sent immediately."""

    customer_id: UUID
    sent_at: datetime
    line_items: Annotated[list[Line], Field(min_length=1)]


class LineOut(Line):
    """A line with its net amount and tax."""

    id: UUID
    net: int
    tax: int


class InvoiceOut(BaseModel):
    """An invoice in a response."""

    id: UUID
    customer_id: UUID
    customer_name: str | None
    invoice_number: str
    status: Literal["sent"]
    currency: str
    sent_at: datetime
    subtotal: int
    tax_total: int
    total_amount: int
    outstanding_balance: int
    line_items: list[LineOut]
    created_at: datetime
    updated_at: datetime


class Share(RequestModel):
    """The allocation of a payment to an invoice."""

    invoice_id: UUID
    amount_cents: Cents


class PaymentIn(RequestModel):
    """A received payment."""

    customer_id: UUID
    total_amount_cents: Cents
    payment_date: date
    currency: Literal["GBP"]
    payment_method: Literal["bank_transfer", "cash"]
    allocations: Annotated[list[Share], Field(min_length=1, max_length=1)]


class ShareOut(Share):
    """An allocation with the current state of its invoice."""

    invoice_number: str
    outstanding_balance: int


class PaymentOut(BaseModel):
    """A payment in a response."""

    id: UUID
    customer_id: UUID
    customer_name: str | None
    total_amount_cents: int
    payment_date: date
    currency: str
    payment_method: str
    status: Literal["completed"]
    allocations: list[ShareOut]
    created_at: datetime
