"""The operations of the contract behind Connexion, built once for all processes forked later.

It has no state of a process: the scope of a request contains the services that it needs.
"""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from functools import cache
from typing import Any

from connexion import ConnexionMiddleware
from starlette.routing import Router
from starlette.types import ASGIApp, Receive, Scope, Send

from accounting.errors import NotFound
from server.connexion_seam import built, schema_check_skipped
from server.contract import Contract, parse
from server.dispatch import ContractResolver, Dispatch, Services
from server.requests.routing import Routing
from server.requests.security import SECURITY_MAP, Authenticator, Security
from server.requests.validation import Validation


@cache
def stack_of(source: bytes) -> ASGIApp:
    """Build the stack of a contract, once; raises ContractError."""
    return build_stack(parse(source))


def build_stack(document: dict[str, Any]) -> ASGIApp:
    """Add our compiled layers to Connexion, which loads and resolves the contract.

    Raises ContractError for faults that would be served wrongly.
    """
    stack = ConnexionMiddleware(
        Dispatch(nothing_beyond),
        import_name="accounting",
        middlewares=[Routing, Security, Validation],
        security_map=SECURITY_MAP,
        resolver=ContractResolver(Contract(document)),
    )
    # The check takes more than a second, and grows with the contract. A separate process runs a
    # stricter check.
    with schema_check_skipped():
        stack.add_api(document)
    return built(stack)


class BoundStack:
    """The stack of one application, with the services of its requests.

    `life` is the context manager of its start-up and shutdown.
    """

    def __init__(
        self,
        stack: ASGIApp,
        services: Services,
        authenticator: Authenticator,
        life: Callable[[Any], AbstractAsyncContextManager[None]],
    ) -> None:
        self._stack = stack
        self._services = services
        self._authenticator = authenticator
        self._life = Router(lifespan=life)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request, or start up and shut down."""
        if scope["type"] == "lifespan":
            await self._life(scope, receive, send)
            return
        scope["services"] = self._services
        scope["authenticator"] = self._authenticator
        await self._stack(scope, receive, send)


async def nothing_beyond(_scope: Scope, _receive: Receive, _send: Send) -> None:
    """Raise NotFound; the routing passes no request beyond the last operation."""
    raise NotFound("route_not_found", "There is nothing at this address.")
