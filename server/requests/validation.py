"""Checks a request against its operation, all faults in one answer, and hands on plain values.

Connexion's validation middleware, compiled once per operation. Behind it `scope["call"]` holds what
the caller asked for: UUIDs, dates and moments instead of texts, nothing the contract does not know.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from connexion.middleware.abstract import RoutedAPI, RoutedMiddleware
from connexion.operations import AbstractOperation
from starlette.types import ASGIApp, Receive, Scope, Send

from accounting.errors import Malformed
from accounting.files.uploads import Upload
from server.contract import Contract, Operation
from server.requests import body_reader
from server.requests.body_reader import BodyReader
from server.requests.field_errors import Faults
from server.requests.parameters import Parameters
from server.requests.schemas import SchemaCompiler


@dataclass(slots=True)
class Call:
    """One valid request, its values revived; what was not sent is absent, a missing body None."""

    operation_id: str
    path: dict[str, Any]
    query: dict[str, Any]
    body: Any
    files: Mapping[str, Upload]
    idempotency_key: str | None
    if_match: str | None


class ValidatedOperation:
    """One operation with everything compiled that its requests are checked against."""

    def __init__(self, next_app: ASGIApp, operation: Operation, compiler: SchemaCompiler) -> None:
        self._next_app = next_app
        self._operation_id = operation.operation_id
        self._parameters = Parameters(operation, compiler)
        self._body = BodyReader(operation, compiler)
        self._header_names = body_reader.HEADERS | self._parameters.header_names

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Put the Call into the scope, or raise with every field error at once."""
        faults: Faults = {}
        raw = self._select(scope["headers"])
        path = self._parameters.path(scope["path_params"], faults)
        query = self._parameters.query(scope["query_string"], faults)
        headers = self._parameters.headers(raw, faults)
        body, files = await self._body.read(raw, receive, faults)
        if faults:
            raise Malformed(
                "validation_error", "The request has invalid fields.", field_errors=faults
            )
        scope["call"] = Call(
            self._operation_id,
            path,
            query,
            body,
            files,
            headers.get("idempotency-key"),
            headers.get("if-match"),
        )
        await self._next_app(scope, receive, send)

    def _select(self, headers: list[tuple[bytes, bytes]]) -> dict[bytes, list[bytes]]:
        """Return the headers this operation reads, each with all its lines."""
        names = self._header_names
        found: dict[bytes, list[bytes]] = {}
        for name, value in headers:
            if name in names:
                found.setdefault(name, []).append(value)
        return found


class ValidationAPI(RoutedAPI[ValidatedOperation]):
    """Compiles every operation of a specification."""

    def __init__(self, specification: Any, *arguments: Any, **options: Any) -> None:
        super().__init__(specification, *arguments, **options)
        self._contract = Contract(specification.raw)
        self._compiler = SchemaCompiler(self._contract)
        self.add_paths()

    def make_operation(self, operation: AbstractOperation) -> ValidatedOperation:
        """Compile one operation; Connexion calls this for each."""
        found = self._contract.operations[operation.operation_id]
        return ValidatedOperation(self.next_app, found, self._compiler)


class Validation(RoutedMiddleware[ValidationAPI]):
    """The middleware itself, to stand behind security and in front of dispatch."""

    api_cls = ValidationAPI
