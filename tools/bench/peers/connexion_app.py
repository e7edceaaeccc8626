"""The Connexion peer: AsyncApp over a contract, handlers by operationId, the async ORM."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import date, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

from connexion import AsyncApp
from connexion.exceptions import Forbidden
from connexion.resolver import Resolution, Resolver
from sqlalchemy.ext.asyncio import AsyncSession
from starlette.requests import Request
from starlette.responses import JSONResponse

from tools.bench.peers import books, environment
from tools.bench.peers.environment import Caller

CONTRACT = Path(__file__).with_name("connexion.yaml")


def create_app() -> AsyncApp:
    """Build the application."""
    app = AsyncApp(__name__)
    app.add_api(CONTRACT, strict_validation=True, resolver=HandlerResolver(Handlers()))
    app.add_error_handler(books.RefusedRequest, _refuse)
    return app


def _refuse(_request: Request, refused: Exception) -> JSONResponse:
    return JSONResponse({"detail": str(refused)}, 422)


async def token_info(token: str) -> dict[str, Any] | None:
    """Return the caller of a token to Connexion; None for an invalid token."""
    found = environment.read(token, environment.secret())
    return None if found is None else {"sub": found}


class Handlers:
    """The handlers of the operations."""

    def __init__(self) -> None:
        self.make_session = books.sessions()

    async def read_customer(self, business_id: str, customer_id: str, user: Caller) -> Any:
        async with self._session(user, business_id) as session:
            found = await books.read_customer(session, user.business_id, UUID(customer_id))
        return (None, 404) if found is None else found

    async def list_invoices(self, business_id: str, user: Caller, **_filters: Any) -> Any:
        async with self._session(user, business_id) as session:
            return await books.list_invoices(session, user.business_id)

    async def show_report(self, business_id: str, user: Caller) -> Any:
        async with self._session(user, business_id) as session:
            return await books.show_report(session, user.business_id)

    async def create_invoice(self, business_id: str, body: dict[str, Any], user: Caller) -> Any:
        sent = {
            **body,
            "customer_id": UUID(body["customer_id"]),
            "sent_at": datetime.fromisoformat(body["sent_at"]),
        }
        async with self._session(user, business_id) as session:
            return await books.create_invoice(session, user.business_id, sent), 201

    async def create_payment(self, business_id: str, body: dict[str, Any], user: Caller) -> Any:
        [share] = body["allocations"]
        sent = {
            **body,
            "customer_id": UUID(body["customer_id"]),
            "payment_date": date.fromisoformat(body["payment_date"]),
            "allocations": [{**share, "invoice_id": UUID(share["invoice_id"])}],
        }
        async with self._session(user, business_id) as session:
            return await books.create_payment(session, user.business_id, sent), 201

    @asynccontextmanager
    async def _session(self, user: Caller, business_id: str) -> AsyncIterator[AsyncSession]:
        async with self.make_session() as session:
            found = await books.find_business(session, user.partner_id, UUID(business_id))
            if found is None or str(user.business_id) != business_id:
                raise Forbidden
            yield session


class HandlerResolver(Resolver):
    """A resolver that finds a handler by its operationId."""

    def __init__(self, handlers: Handlers) -> None:
        super().__init__()
        self._handlers = handlers

    def resolve(self, operation: Any) -> Resolution:
        return Resolution(getattr(self._handlers, operation.operation_id), operation.operation_id)
