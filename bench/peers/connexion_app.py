"""Connexion as it comes, over our own contract: AsyncApp, answers validated, the async ORM."""

from typing import Any
from uuid import UUID

from connexion import AsyncApp
from connexion.exceptions import Forbidden
from connexion.resolver import Resolution, Resolver

from bench.peers import setting
from bench.peers.setting import Caller
from bench.peers.tables import find_business, find_customer, shape
from server.contract import parse, read_source

SERVED = ("get_customer", "create_customer")


def create_app() -> AsyncApp:
    """Build the application."""
    app = AsyncApp(__name__)
    app.add_api(
        contract(),
        strict_validation=True,
        validate_responses=True,
        resolver=HandlerResolver(Handlers()),
    )
    return app


def contract() -> dict[str, Any]:
    """Cut our contract down to the two operations, with a scheme that Connexion knows."""
    document = dict(parse(read_source()))
    paths: dict[str, Any] = {}
    for path, item in document["paths"].items():
        for method, operation in item.items():
            if isinstance(operation, dict) and operation.get("operationId") in SERVED:
                served = paths.setdefault(path, {"parameters": item["parameters"]})
                served[method] = stock(operation)
    scheme = {"type": "http", "scheme": "bearer", "x-bearerInfoFunc": f"{__name__}.token_info"}
    components = {**document["components"], "securitySchemes": {"token": scheme}}
    return {**document, "paths": paths, "components": components, "security": []}


def stock(operation: dict[str, Any]) -> dict[str, Any]:
    """Keep of an operation what this peer answers: no headers, and no errors of ours."""
    responses = {
        status: {name: part for name, part in response.items() if name != "headers"}
        for status, response in operation["responses"].items()
        if status < "300"
    }
    return {**operation, "responses": responses, "security": [{"token": []}]}


async def token_info(token: str) -> dict[str, Any] | None:
    """Tell Connexion who calls."""
    found = setting.read(token, setting.secret())
    return None if found is None else {"sub": found}


class Handlers:
    """The two operations."""

    def __init__(self) -> None:
        self.make_session = setting.sessions()

    async def get_customer(self, business_id: str, customer_id: str, user: Caller) -> Any:
        async with self.make_session() as session:
            await self._admit(session, user, business_id)
            found = await find_customer(session, UUID(business_id), UUID(customer_id))
        return (None, 404) if found is None else found

    async def create_customer(self, business_id: str, body: dict[str, Any], user: Caller) -> Any:
        async with self.make_session() as session:
            await self._admit(session, user, business_id)
            customer = setting.new_customer(UUID(business_id), body)
            session.add(customer)
            await session.commit()
        return shape(customer, 0), 201

    async def _admit(self, session: Any, user: Caller, business_id: str) -> None:
        found = await find_business(session, user.partner_id, UUID(business_id))
        if found is None or str(user.business_id) != business_id:
            raise Forbidden


class HandlerResolver(Resolver):
    """Finds an operation by its operationId."""

    def __init__(self, handlers: Handlers) -> None:
        super().__init__()
        self._handlers = handlers

    def resolve(self, operation: Any) -> Resolution:
        return Resolution(getattr(self._handlers, operation.operation_id), operation.operation_id)
