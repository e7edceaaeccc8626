"""What many would write: FastAPI, pydantic models on both sides, the SQLAlchemy async ORM."""

from datetime import datetime
from typing import Annotated, Any, Literal, Self
from uuid import UUID

from fastapi import FastAPI, HTTPException
from pydantic import BaseModel, ConfigDict, EmailStr, Field, model_validator

from bench.peers import fastapi_postings, setting
from bench.peers.fastapi_doors import Owned, Session
from bench.peers.tables import find_customer, shape

Text50 = Annotated[str, Field(max_length=50)]
Text100 = Annotated[str, Field(max_length=100)]
Text255 = Annotated[str, Field(max_length=255)]
Name = Annotated[str, Field(min_length=1, max_length=255, pattern=r"\S")]
Cents = Annotated[int, Field(ge=0, le=99_999_999_999_999)]


class CustomerIn(BaseModel):
    """What may be sent."""

    model_config = ConfigDict(extra="forbid", strict=True)

    external_id: Annotated[str, Field(min_length=1, max_length=255)] | None = None
    reference_number: Text255 | None = None
    individual_name: Name | None = None
    company_name: Name | None = None
    email: EmailStr | None = None
    mobile_phone: Text50 | None = None
    office_phone: Text50 | None = None
    address_line1: Text255 | None = None
    address_line2: Text255 | None = None
    city: Text100 | None = None
    state_county: Text100 | None = None
    postal_code: Annotated[str, Field(max_length=20)] | None = None
    country: Annotated[str, Field(pattern="^[A-Za-z]{2}$")] | None = None
    address_string: Annotated[str, Field(max_length=500)] | None = None
    vat_number: Text50 | None = None
    notes: Annotated[str, Field(max_length=5000)] | None = None
    tax_exempt: bool = False
    transaction_tags: list[Text100] = []
    payment_terms_days: Annotated[int, Field(ge=0, le=3650)] | None = None
    credit_limit: Cents | None = None
    credit_limit_cents: Cents | None = None
    metadata: Any = None

    @model_validator(mode="after")
    def refuse_nameless(self) -> Self:
        """One of the two names is needed."""
        if self.individual_name is None and self.company_name is None:
            raise ValueError("individual_name or company_name is required")
        return self


class Oddity(BaseModel):
    """What was accepted and looks wrong."""

    field: str
    message: str


class CustomerOut(BaseModel):
    """What is shown."""

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


def create_app() -> FastAPI:
    """Build the application."""
    app = FastAPI()
    app.state.key, app.state.make_session = setting.secret(), setting.sessions()
    app.include_router(fastapi_postings.router)

    @app.get("/v1/platform/businesses/{business_id}/customers/{customer_id}/")
    async def get_customer(business: Owned, customer_id: UUID, session: Session) -> CustomerOut:
        found = await find_customer(session, business.id, customer_id)
        if found is None:
            raise HTTPException(404)
        return found  # type: ignore[return-value] # FastAPI makes the model of it.

    @app.post("/v1/platform/businesses/{business_id}/customers/", status_code=201)
    async def create_customer(business: Owned, body: CustomerIn, session: Session) -> CustomerOut:
        if business.archived_at is not None:
            raise HTTPException(409)
        customer = setting.new_customer(business.id, body.model_dump(exclude_unset=True))
        session.add(customer)
        await session.commit()
        return shape(customer, 0)  # type: ignore[return-value] # FastAPI makes the model of it.

    return app
