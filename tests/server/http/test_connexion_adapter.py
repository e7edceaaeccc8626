"""The undocumented parts of Connexion that we use: a failure names what a new version changed."""

import asyncio
import os
import threading
from collections.abc import Mapping
from functools import partial
from types import FrameType
from typing import Any

import pytest
from connexion import ConnexionMiddleware
from connexion.exceptions import InvalidSpecification
from connexion.middleware.abstract import RoutedAPI
from connexion.resolver import Resolver
from connexion.security import AbstractSecurityHandler

from server.http.connexion_adapter import (
    RELIED_ON,
    Alternatives,
    LoadedOperation,
    MakeOperation,
    OperationLayer,
    RoutingLayer,
    built,
    route_to,
    routed_operation_id,
    schema_check_skipped,
    set_route,
)
from tests.api_server import ApiServer, Databases
from tests.server.adapter_members import moved

ADAPTER = "server/http/connexion_adapter.py"


def relies(on: str) -> str:
    return f"{ADAPTER} relies on this: {on}"


def described(name: str, **more: Any) -> dict[str, Any]:
    return {"operationId": name, "responses": {"200": {"description": "Fine."}}, **more}


def document(**changes: Any) -> dict[str, Any]:
    schemes = {name: {"type": "http", "scheme": name} for name in ("basic", "bearer", "unheard")}
    either = [{"bearer": []}, {"unheard": []}, {"basic": []}]
    paths = {
        "/things/": {
            "get": described("inherits"),
            "put": described("either", security=either),
            "post": described("both", security=[{"basic": [], "bearer": []}]),
            "patch": described("optional", security=[{}, {"basic": []}]),
            "delete": described("open", security=[]),
        }
    }
    return {
        "openapi": "3.0.3",
        "info": {"title": "Small", "version": "1"},
        "servers": [{"url": "https://api.test/v9"}],
        "security": [{"basic": []}],
        "paths": paths,
        "components": {"securitySchemes": schemes, "responses": {"Fine": {"description": "."}}},
        **changes,
    }


class NamedHandler(AbstractSecurityHandler):
    def get_fn(self, scheme: dict[str, Any], _scopes: list[str]) -> str:
        return f"alternative {scheme['scheme']}"


class AnyFunction(Resolver):
    def resolve_function_from_operation_id(self, operation_id: str) -> str:
        return f"handler of {operation_id}"


class FixedRouting(RoutingLayer):
    """A layer that sends every request to one operation."""

    def __init__(self, app: Any, to: str) -> None:
        super().__init__(app)
        self.to = to

    def add_paths(self, document: Mapping[str, Any], base_path: str) -> None:
        self.document, self.base_path = document, base_path

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            set_route(scope, route_to(self.base_path, self.to))
        await self.app(scope, receive, send)


class RecordingLayer(OperationLayer):
    """A layer that forwards every request, and records the document and each request."""

    def __init__(self, app: Any, name: str, stack: "Stack") -> None:
        super().__init__(app)
        self.name, self.stack = name, stack

    def maker(self, document: Mapping[str, Any], options: Mapping[str, Any]) -> MakeOperation:
        self.stack.told.append((self.name, document, options))

        def make(operation: LoadedOperation) -> Any:
            self.stack.operations[operation.operation_id] = operation
            if operation.operation_id == self.stack.refused:
                raise LookupError(operation.operation_id)

            async def serve(scope: Any, receive: Any, send: Any) -> None:
                self.stack.passed.append((self.name, operation.operation_id))
                await self.app(scope, receive, send)

            return serve

        return make


class Stack:
    """Two layers and an application that is a layer itself, as ours is, over one document."""

    def __init__(self, to: str = "inherits", refused: str = "", **options: Any) -> None:
        self.told: list[tuple[str, Mapping[str, Any], Mapping[str, Any]]] = []
        self.operations: dict[str, LoadedOperation] = {}
        self.passed: list[tuple[str, str]] = []
        self.refused = refused
        self.scope: dict[str, Any] = {"type": "http", "method": "GET", "path": "/"}
        self.security_map = {"basic": NamedHandler, "bearer": NamedHandler}
        self.application = ConnexionMiddleware(
            RecordingLayer(self.end, "application", self),
            import_name="tests",
            middlewares=[
                partial(FixedRouting, to=to),
                partial(RecordingLayer, name="layer", stack=self),
            ],
            resolver=options.pop("resolver", AnyFunction()),
            security_map=self.security_map,
            **options,
        )

    def add(self, loaded: dict[str, Any]) -> "Stack":
        self.application.add_api(loaded)
        return self

    def ask(self, **scope: Any) -> "Stack":
        """Build the stack and send one event."""
        self.scope.update(scope)
        asyncio.run(built(self.application)(self.scope, None, None))
        return self

    async def end(self, scope: Any, _receive: Any, _send: Any) -> None:
        self.passed.append(("end", scope["type"]))


@pytest.fixture(scope="module")
def operations() -> dict[str, LoadedOperation]:
    return Stack().add(document()).ask().operations


class TestNames:
    def test_all_that_it_relies_on_is_there(self) -> None:
        assert moved(ADAPTER, RELIED_ON, {}) == []

    def test_a_missing_member_is_named(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delattr(RoutedAPI, "add_paths")
        assert moved(ADAPTER, RELIED_ON, {}) == [f"{ADAPTER} relies on RoutedAPI.add_paths()"]

    def test_a_member_with_other_parameters_is_named(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def make_operation(self: RoutedAPI, operation: Any, method: str) -> None: ...

        monkeypatch.setattr(RoutedAPI, "make_operation", make_operation)
        assert moved(ADAPTER, RELIED_ON, {}) == [
            f"{ADAPTER} relies on RoutedAPI.make_operation(operation)"
        ]


class TestLoading:
    def test_the_schema_check_and_no_more_is_skipped(self) -> None:
        wrong = document(info={})
        with pytest.raises(InvalidSpecification):
            Stack().add(wrong)
        with schema_check_skipped():
            stack = Stack().add(wrong)
        assert stack.ask().operations, relies("a document is checked by add_api, and only there")
        with pytest.raises(InvalidSpecification):
            Stack().add(wrong)

    def test_the_raw_document_keeps_its_references(self) -> None:
        pointing = document()
        reference = {"$ref": "#/components/responses/Fine"}
        pointing["paths"]["/things/"]["get"]["responses"]["200"] = reference
        [(_, raw, _), _] = Stack().add(pointing).ask().told
        found = raw["paths"]["/things/"]["get"]["responses"]["200"]
        assert found == reference, relies("raw is the document as it was given")

    def test_an_operation_comes_with_its_handler_and_the_security_that_it_inherits(
        self, operations: dict[str, LoadedOperation]
    ) -> None:
        found = operations["inherits"]
        assert (found.path, found.method) == ("/things/", "get"), relies("path and method")
        assert found.function == "handler of inherits", relies("the resolver's answer")
        assert found.security == [{"basic": []}], relies("the document's security is inherited")
        assert found.security_schemes.keys() == {"basic", "bearer", "unheard"}, relies("schemes")

    @pytest.mark.parametrize("broken", ["layer", "resolver"])
    def test_an_error_of_ours_stops_the_start(self, broken: str) -> None:
        class NoFunction(Resolver):
            def resolve_function_from_operation_id(self, operation_id: str) -> str:
                raise LookupError(operation_id)

        options = {"refused": "both"} if broken == "layer" else {"resolver": NoFunction()}
        with pytest.raises(LookupError):
            Stack(**options).add(document()).ask()


class TestStack:
    def test_each_layer_and_the_application_are_told_of_the_document_and_the_options(self) -> None:
        stack = Stack().add(document()).ask()
        assert [name for name, _, _ in stack.told] == ["application", "layer"], relies(
            "the application is told of the document when it is a SpecMiddleware"
        )
        for _, raw, options in stack.told:
            assert raw["paths"].keys() == {"/things/"}, relies("layers get the document")
            assert options["security_map"] is stack.security_map, relies("layers get the options")

    def test_a_request_passes_the_layers_in_the_order_of_the_list(self) -> None:
        stack = Stack(to="either").add(document()).ask()
        expected = [("layer", "either"), ("application", "either"), ("end", "http")]
        assert stack.passed == expected, relies("RoutedMiddleware finds an operation by its route")
        assert routed_operation_id(stack.scope) == "either"

    def test_the_base_path_is_that_of_the_first_server(self) -> None:
        stack = Stack().add(document()).ask()
        context = stack.scope["extensions"]["connexion_routing"]
        assert context["api_base_path"] == "/v9", relies("base_path comes from servers")


class TestAlternatives:
    def joined(self, operation: LoadedOperation) -> Any:
        handlers = {"basic": NamedHandler, "bearer": NamedHandler}
        return Alternatives(handlers, list).check_of(operation)

    def test_alternatives_keep_their_order_without_an_unknown_scheme(
        self, operations: dict[str, LoadedOperation]
    ) -> None:
        expected = ["alternative bearer", "alternative basic"]
        assert self.joined(operations["either"]) == expected, relies("get_fn's answers are joined")
        assert self.joined(operations["inherits"]) == ["alternative basic"]

    def test_open_has_no_check(self, operations: dict[str, LoadedOperation]) -> None:
        assert self.joined(operations["open"]) is None

    @pytest.mark.parametrize("name", ["both", "optional"])
    def test_an_alternative_of_connexion_is_distinguishable(
        self, operations: dict[str, LoadedOperation], name: str
    ) -> None:
        foreign = [each for each in self.joined(operations[name]) if not isinstance(each, str)]
        assert len(foreign) == 1, relies("a function of Connexion's stands for {} and for an AND")


class Trace:
    """The functions of Connexion that are called in any thread while `on`."""

    def __init__(self) -> None:
        self.on = False
        self.called: set[str] = set()

    def __call__(self, frame: FrameType, event: str, _argument: Any) -> None:
        if self.on and event == "call":
            module = frame.f_globals.get("__name__", "")
            if module.partition(".")[0] == "connexion":
                self.called.add(frame.f_code.co_qualname)


class TestRequest:
    def test_a_request_calls_a_single_function_of_connexion(self, databases: Databases) -> None:
        trace = Trace()
        api_server = ApiServer(databases.clone(f"traced_{os.getpid()}"))
        threading.setprofile(trace)  # For the threads that start later.
        try:
            with api_server:
                business = api_server.partner("Acme").business()
                trace.on = True
                business.customer()
                assert business.api.get("customers/").json()["results"]
                trace.on = False
        finally:
            threading.setprofile(None)
        assert trace.called == {"RoutedMiddleware.__call__"}
