"""The operations of the contract behind Connexion, built once for all processes forked later."""

from collections.abc import Mapping
from functools import cache
from typing import Any

from connexion import ConnexionMiddleware
from starlette.types import ASGIApp, Receive, Scope, Send

from accounting.errors import NotFound
from server.contract.document import Contract, parse
from server.http.batches import BatchEndpoint
from server.http.connexion_adapter import (
    LoadedOperation,
    MakeOperation,
    OperationLayer,
    built,
    schema_check_skipped,
)
from server.http.dispatch import ContractResolver, Endpoint
from server.http.routing import Routing
from server.http.security import SECURITY_MAP, Security
from server.http.validation import BATCH, Validation


class Dispatch(OperationLayer):
    """The application at the end of Connexion's middlewares."""

    def maker(self, document: Mapping[str, Any], _options: Mapping[str, Any]) -> MakeOperation:
        """Return a function that builds the endpoints of a contract."""
        contract = Contract(document)
        endpoints: dict[str, Endpoint] = {}

        def make(operation: LoadedOperation) -> Endpoint:
            found = contract.operations[operation.operation_id]
            if found.operation_id == BATCH:
                return BatchEndpoint(found, contract, operation.function, endpoints)
            endpoint = Endpoint(found, contract, operation.function)
            return endpoints.setdefault(found.operation_id, endpoint)

        return make


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


async def nothing_beyond(_scope: Scope, _receive: Receive, _send: Send) -> None:
    """Raise NotFound; the routing passes no request beyond the last operation."""
    raise NotFound("route_not_found", "There is nothing at this address.")
