"""An adapter for the parts of Connexion that are not documented, under our own names.

The documented parts are imported where they are used: `ConnexionMiddleware` with its arguments,
`Resolver`, `AbstractSecurityHandler`. `RELIED_ON` lists the members that this module uses;
tests/server/http/test_connexion_adapter.py compares it and the behaviour with the installed
version.
"""

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import MappingProxyType
from typing import Any, Final, Protocol

from connexion import ConnexionMiddleware
from connexion.middleware.abstract import (
    ROUTING_CONTEXT,
    RoutedAPI,
    RoutedMiddleware,
    SpecMiddleware,
)
from connexion.middleware.security import SecurityOperation
from connexion.operations import AbstractOperation
from connexion.security import SecurityHandlerFactory
from connexion.spec import OpenAPISpecification
from starlette.types import ASGIApp, Scope

__all__ = [
    "RELIED_ON",
    "Alternatives",
    "LoadedDocument",
    "LoadedOperation",
    "MakeOperation",
    "OperationLayer",
    "Route",
    "RoutingLayer",
    "built",
    "route_to",
    "routed_operation_id",
    "schema_check_skipped",
    "set_route",
]

Route = dict[str, str]


class LoadedDocument(Protocol):
    """The fields that we read of a document loaded by Connexion; `raw` keeps its `$ref`s."""

    raw: Mapping[str, Any]
    base_path: str


class LoadedOperation(Protocol):
    """The fields that we read of an operation resolved by Connexion.

    `function` is its handler, `security` its own requirements or those of the whole document.
    """

    operation_id: str
    path: str
    method: str
    function: Any
    security: Sequence[Any] | None
    security_schemes: Mapping[str, Any]


# Called or overridden methods with the names of their parameters, and attributes.
RELIED_ON: Final[Mapping[type, str]] = MappingProxyType(
    {
        OpenAPISpecification: " ".join(["openapi_schema", *LoadedDocument.__annotations__]),
        AbstractOperation: " ".join(LoadedOperation.__annotations__),
        SpecMiddleware: "add_api(specification)",
        RoutedMiddleware: "__init__(app) add_api(specification)",
        RoutedAPI: "__init__(specification,next_app) add_paths() make_operation(operation)",
        ConnexionMiddleware: "_build_middleware_stack()",
        SecurityHandlerFactory: "__init__(security_handlers) verify_security(auth_funcs)",
        SecurityOperation: (
            "__init__(next_app,security_handler_factory,security,security_schemes)"
        ),
    }
)


@contextmanager
def schema_check_skipped() -> Iterator[None]:
    """Skip Connexion's check of a document against the schema of OpenAPI in this block."""
    schema = OpenAPISpecification.openapi_schema
    OpenAPISpecification.openapi_schema = {}
    try:
        yield
    finally:
        OpenAPISpecification.openapi_schema = schema


def built(stack: ConnexionMiddleware) -> ASGIApp:
    """Build the layers now instead of at the first request; return the outermost layer."""
    first: ASGIApp
    first, _ = stack._build_middleware_stack()
    return first


class RoutingLayer(SpecMiddleware):
    """A layer that determines the operation of each request for the layers behind it."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    @abstractmethod
    def add_paths(self, document: Mapping[str, Any], base_path: str) -> None:
        """Add every path of a document; all of them begin with `base_path`."""

    def add_api(self, loaded: LoadedDocument, **_options: Any) -> None:
        """Add a document; Connexion calls this once, at start-up."""
        self.add_paths(loaded.raw, loaded.base_path)


def route_to(base_path: str, operation_id: str) -> Route:
    """Return the route by which the layers behind the routing find an operation."""
    return {"api_base_path": base_path, "operation_id": operation_id}


def set_route(scope: Scope, route: Route) -> None:
    """Store in the scope the operation of a request, for the layers behind."""
    extensions = scope.get("extensions")
    if extensions is None:
        extensions = scope["extensions"] = {}
    extensions[ROUTING_CONTEXT] = route


def routed_operation_id(scope: Scope) -> str | None:
    """Return the operationId to which a request was routed."""
    route: Route = scope.get("extensions", {}).get(ROUTING_CONTEXT) or {}
    return route.get("operation_id")


MakeOperation = Callable[[LoadedOperation], ASGIApp]


class _Operations(RoutedAPI):
    """The applications of one document's operations."""

    def __init__(self, *arguments: Any, make: MakeOperation, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._make = make
        self.add_paths()
        # Each of these keeps the document alive, which takes many megabytes.
        del self.specification, self.resolver, self._make

    def make_operation(self, operation: LoadedOperation) -> ASGIApp:
        """Build the application of an operation; Connexion calls this for each operation."""
        return self._make(operation)


class OperationLayer(RoutedMiddleware):
    """A layer with one application per operation; Connexion finds it by operationId.

    `self.app` is the layer behind.
    """

    api_cls = _Operations

    @abstractmethod
    def maker(self, document: Mapping[str, Any], options: Mapping[str, Any]) -> MakeOperation:
        """Return a function that builds the application of an operation.

        `options` are those of ConnexionMiddleware.
        """

    def add_api(self, loaded: LoadedDocument, **options: Any) -> Any:
        """Build the applications of a document; Connexion calls this once, at start-up."""
        return super().add_api(loaded, make=self.maker(loaded.raw, options), **options)


class Alternatives(SecurityHandlerFactory):
    """A security factory that resolves as Connexion does, and joins alternatives by `join`.

    An alternative is the result of `get_fn` of its scheme's handler in `security_map`. Connexion
    drops an alternative whose scheme is unknown. It uses a function of its own for an alternative
    that is empty or requires two schemes at once.
    """

    def __init__(
        self, security_map: Mapping[str, type] | None, join: Callable[[Sequence[Any]], Any]
    ) -> None:
        super().__init__(security_map)
        self.verify_security = join

    def check_of(self, operation: LoadedOperation) -> Any:
        """Return the check of an operation, or None if it has no security."""
        if not operation.security:
            return None
        return SecurityOperation(
            None,
            security_handler_factory=self,
            security=operation.security,
            security_schemes=operation.security_schemes,
        ).verification_fn
