"""Validation of a request against its operation, with all faults in one answer.

It is compiled once per operation, in place of Connexion's own validation. Behind it `scope["call"]`
has the decoded request: UUIDs, dates and date-times instead of texts, and only names that the
contract knows. If the request used deprecated parts, `scope["deprecation"]` has the headers that
report them, whatever the answer.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from starlette.types import ASGIApp, Receive, Scope, Send

from accounting.errors import Malformed
from accounting.files.uploads import Upload
from persistence.engine.observing import observer
from server.connexion_seam import LoadedOperation, MakeOperation, OperationLayer
from server.contract import Contract, Operation
from server.requests import body_reader
from server.requests.body_reader import BodyReader
from server.requests.deprecations import lines_of
from server.requests.explaining import Explainers
from server.requests.field_errors import Faults
from server.requests.parameters import Parameters
from server.requests.schemas import SchemaCompiler


@dataclass(slots=True)
class Call:
    """A valid request with decoded values; unsent parts are absent, a missing body is None."""

    operation_id: str
    path: dict[str, Any]
    query: dict[str, Any]
    body: Any
    files: Mapping[str, Upload]
    idempotency_key: str | None
    if_match: str | None


class Checks:
    """The compiled checks for the requests of one operation."""

    def __init__(
        self, operation: Operation, compiler: SchemaCompiler, explainers: Explainers
    ) -> None:
        self.parameters = Parameters(operation, compiler)
        self.body = BodyReader(operation, compiler, explainers)
        self.deprecations = () if operation.deprecation is None else (operation.deprecation,)
        self.header_names = body_reader.HEADERS | self.parameters.header_names


def compile_checks(contract: Contract) -> Mapping[str, Checks]:
    """Compile the checks of a contract by operationId."""
    compiler = SchemaCompiler(contract)
    explainers = Explainers(compiler)
    return {
        operation_id: Checks(operation, compiler, explainers)
        for operation_id, operation in contract.operations.items()
    }


class ValidatedOperation:
    """An operation whose requests are validated."""

    def __init__(self, next_app: ASGIApp, operation_id: str, checks: Checks) -> None:
        self._next_app = next_app
        self._operation_id = operation_id
        self._parameters = checks.parameters
        self._body = checks.body
        self._header_names = checks.header_names
        self._deprecations = checks.deprecations

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Put the Call into the scope, or raise Malformed with every field error."""
        with observer.get().room("validation"):
            scope["call"] = await self._read(scope, receive)
        await self._next_app(scope, receive, send)

    async def _read(self, scope: Scope, receive: Receive) -> Call:
        faults: Faults = {}
        used = list(self._deprecations)
        raw = self._select(scope["headers"])
        path = self._parameters.path(scope["path_params"], faults)
        query = self._parameters.query(scope["query_string"], faults, used)
        headers = self._parameters.headers(raw, faults, used)
        if used:
            scope["deprecation"] = lines_of(used)
        body, files = await self._body.read(raw, receive, faults)
        if faults:
            raise Malformed.with_faults(faults)
        return Call(
            self._operation_id,
            path,
            query,
            body,
            files,
            headers.get("idempotency-key"),
            headers.get("if-match"),
        )

    def _select(self, headers: list[tuple[bytes, bytes]]) -> dict[bytes, list[bytes]]:
        """Return the headers that this operation reads, each with all its lines."""
        names = self._header_names
        found: dict[bytes, list[bytes]] = {}
        for name, value in headers:
            if name in names:
                found.setdefault(name, []).append(value)
        return found


class Validation(OperationLayer):
    """The layer of the stack behind security and in front of dispatch."""

    def maker(self, document: Mapping[str, Any], _options: Mapping[str, Any]) -> MakeOperation:
        """Return a function that puts its checks in front of each operation."""
        checks = compile_checks(Contract(document))

        def make(operation: LoadedOperation) -> ValidatedOperation:
            name = operation.operation_id
            return ValidatedOperation(self.app, name, checks[name])

        return make
