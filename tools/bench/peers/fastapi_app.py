"""The FastAPI peer: pydantic models for input and output, and the SQLAlchemy async ORM."""

from collections.abc import AsyncIterator
from typing import Annotated, Any
from uuid import UUID

from fastapi import Depends, FastAPI, HTTPException, Request
from fastapi.responses import JSONResponse
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from sqlalchemy.ext.asyncio import AsyncSession

from tools.bench.peers import books, environment
from tools.bench.peers.environment import Caller
from tools.bench.peers.fastapi_models import (
    CustomerOut,
    InvoiceIn,
    InvoiceOut,
    InvoicePage,
    PaymentIn,
    PaymentOut,
    ReportOut,
)
from tools.bench.peers.tables import Business

_bearer = HTTPBearer()


async def _session(request: Request) -> AsyncIterator[AsyncSession]:
    async with request.app.state.make_session() as opened:
        yield opened


async def _caller(
    request: Request, credentials: Annotated[HTTPAuthorizationCredentials, Depends(_bearer)]
) -> Caller:
    found = environment.read(credentials.credentials, request.app.state.key)
    if found is None:
        raise HTTPException(401)
    return found


Session = Annotated[AsyncSession, Depends(_session)]


async def _business(
    business_id: UUID, caller: Annotated[Caller, Depends(_caller)], session: Session
) -> Business:
    found = await books.find_business(session, caller.partner_id, business_id)
    if found is None or caller.business_id != business_id:
        raise HTTPException(403)
    return found


Owned = Annotated[Business, Depends(_business)]


def create_app() -> FastAPI:
    """Build the application."""
    app = FastAPI()
    app.state.key, app.state.make_session = environment.secret(), books.sessions()
    base = "/v1/platform/businesses/{business_id}"

    @app.exception_handler(books.RefusedRequest)
    async def refuse(_request: Request, refused: books.RefusedRequest) -> JSONResponse:
        return JSONResponse({"detail": str(refused)}, 422)

    @app.get(f"{base}/customers/{{customer_id}}/", response_model=CustomerOut)
    async def read_customer(business: Owned, customer_id: UUID, session: Session) -> Any:
        found = await books.read_customer(session, business.id, customer_id)
        if found is None:
            raise HTTPException(404)
        return found

    @app.get(f"{base}/invoices/", response_model=InvoicePage)
    async def list_invoices(business: Owned, session: Session) -> Any:
        return await books.list_invoices(session, business.id)

    @app.get(f"{base}/general-ledger/chart-of-accounts/hierarchy/", response_model=ReportOut)
    async def show_report(business: Owned, session: Session) -> Any:
        return await books.show_report(session, business.id)

    @app.post(f"{base}/invoices/", status_code=201, response_model=InvoiceOut)
    async def create_invoice(business: Owned, body: InvoiceIn, session: Session) -> Any:
        return await books.create_invoice(session, business.id, body.model_dump())

    @app.post(f"{base}/invoices/payments/", status_code=201, response_model=PaymentOut)
    async def create_payment(business: Owned, body: PaymentIn, session: Session) -> Any:
        return await books.create_payment(session, business.id, body.model_dump())

    return app
