"""Comparison of an answer with the contract: status, content type, headers, body and error code.

It uses none of the server's own code. It is stricter than a client has to be: an answer must not
have a field that the contract does not describe.
"""

import csv
import re
from collections.abc import Iterator
from dataclasses import dataclass
from io import StringIO
from typing import Any, Final

import httpx

from tools.verify.contract import Contract, Node, Operation
from tools.verify.schemas import Schemas, Validator

TRANSPORT_STATUSES: Final = frozenset({408, 413, 414, 429, 431, 503})
SERVER_FAULT: Final = "A 500 is always a fault of the server."

_STATUSES_WITHOUT_ROUTE: Final = TRANSPORT_STATUSES | {400, 403, 404, 405}
_SERVICE_ROUTES: Final = ("/health", "/docs", "/openapi.")
_TOKEN_PATH: Final = re.compile(r"/v1/platform/([^/]+/)?oauth2/(token|revoke)/?")
# The server sends these with some answers only, so each answer must document them.
_TOLD_HEADERS: Final = (
    "ETag",
    "Location",
    "Idempotent-Replayed",
    "Retry-After",
    "Allow",
    "Content-Disposition",
    "Deprecation",
    "Sunset",
    "RateLimit",
    "RateLimit-Policy",
)
_CSV: Final = "text/csv; charset=utf-8"
_PDF: Final = "application/pdf"
_RULED_STATUSES: Final = frozenset({404, 409, 412, 422})
_FILE_PATH: Final = re.compile(rb"/documents/[^/]+/[^/]+/?")
_FILE_REFUSALS: Final = {403: "Forbidden", 404: "DocumentNotFound"}


@dataclass(frozen=True)
class Judgement:
    """The faults of an answer as sentences, and its operation id; "" if it has no operation."""

    operation_id: str
    faults: tuple[str, ...]


@dataclass(frozen=True)
class _Header:
    """A documented header of an answer; its text is parsed as the type of its schema."""

    required: bool
    kind: str
    values: Validator

    def value(self, text: str) -> Any:
        """Parse a text as a boolean or an integer if the schema has this type."""
        if self.kind == "boolean" and text in ("true", "false"):
            return text == "true"
        return int(text) if self.kind == "integer" and text.isdigit() else text


@dataclass(frozen=True)
class _CompiledAnswer:
    """A documented answer, with compiled schemas."""

    place: str
    bodies: dict[str, Validator]  # By content type.
    headers: dict[str, _Header]
    codes: frozenset[str]


class Answers:
    """A checker of answers against one contract."""

    def __init__(self, contract: Contract) -> None:
        self._contract = contract
        self._schemas = Schemas(contract)
        self._components: Node = contract.document["components"]
        self._explained: dict[str, Node] = self._components["x-error-codes"]
        self._compiled: dict[tuple[str, str], _CompiledAnswer] = {}

    def judge(self, response: httpx.Response) -> Judgement | None:
        """Check an answer whose body was read; return None if it is not an answer of the API."""
        path = response.request.url.raw_path.partition(b"?")[0]
        beside = path == b"/" or path.decode("ascii").startswith(_SERVICE_ROUTES)
        if beside or _is_preflight(response.request):
            return None
        if _FILE_PATH.fullmatch(path):
            return Judgement("", tuple(self._of_file(response)))
        met = self._contract.at(path)
        method = "GET" if response.request.method == "HEAD" else response.request.method
        found = next((each for each in met if each.method == method), None)
        if found is None:
            return Judgement("", tuple(self._without_operation(response, met)))
        return Judgement(found.operation_id, tuple(self._of_operation(response, found)))

    def _of_operation(self, response: httpx.Response, operation: Operation) -> Iterator[str]:
        status = str(response.status_code)
        documented = operation.node["responses"]
        if response.status_code == 500:
            yield SERVER_FAULT
        elif status not in documented and response.status_code not in TRANSPORT_STATUSES:
            yield f"The contract documents {_statuses(documented)} for it."
        name = status if status in documented else "default"
        yield from self._answer(response, self._documented(operation, name))

    def _of_file(self, response: httpx.Response) -> Iterator[str]:
        """Check an error for a signed link against the general error schema; a file has none."""
        if response.status_code == 500:
            yield SERVER_FAULT
        if response.status_code != 200:
            name = _FILE_REFUSALS.get(response.status_code, "TransportFailure")
            yield from self._answer(response, self._component(name))

    def _without_operation(self, response: httpx.Response, met: list[Operation]) -> Iterator[str]:
        """Check the answer of an address without an operation against the general error schema."""
        if response.status_code == 500:
            yield SERVER_FAULT
        elif response.status_code not in _STATUSES_WITHOUT_ROUTE:
            yield "No operation of the contract is served at this address."
        if response.status_code == 405:
            taken = {each.method for each in met}
            taken |= {"HEAD"} if "GET" in taken else set()
            allowed = set(response.headers.get("allow", "").split(", "))
            if allowed != taken:
                yield f"Allow is {sorted(allowed)}, the contract has {sorted(taken)}."
        token = _TOKEN_PATH.fullmatch(response.url.path)
        name = "TokenTransportFailure" if token else "TransportFailure"
        yield from self._answer(response, self._component(name))

    def _answer(self, response: httpx.Response, expected: _CompiledAnswer) -> Iterator[str]:
        """Check content type, headers, body and error code."""
        content_type = response.headers.get("content-type")
        fits = content_type in expected.bodies
        if not fits:
            yield f"The content type is {content_type!r}, not one of {tuple(expected.bodies)}."
        yield from _headers(response, expected)
        if response.request.method == "HEAD":
            if response.content:
                yield "An answer to HEAD has a body."
        elif fits:
            yield from self._body(response, expected)

    def _body(self, response: httpx.Response, expected: _CompiledAnswer) -> Iterator[str]:
        """Check the body against the closed schema, and the contents of an error."""
        content_type = response.headers["content-type"]
        schema = expected.bodies[content_type]
        if content_type in (_CSV, _PDF):
            yield from _kept(response)
        if content_type == _CSV:
            yield from _table(response)
        elif content_type == _PDF and not response.content.startswith(b"%PDF-"):
            yield "The file is no PDF."
        try:
            body: Any = _text(response) if content_type in (_CSV, _PDF) else response.json()
        except ValueError:
            yield "The body is no JSON."
            return
        # `is_valid` takes a quarter of the time of `iter_errors`.
        if not schema.is_valid(body):
            faults = [
                f"  at {'.'.join(map(str, error.instance_path)) or 'the top'}: "
                f"{error.message[:300]}"
                for error in schema.iter_errors(body)
            ]
            head = f"The body does not fit the schema of {expected.place}:"
            yield "\n".join([head, *faults[:10]])
        elif response.status_code >= 400:
            yield from self._error(response, body, expected.codes)

    def _error(self, response: httpx.Response, body: Node, codes: frozenset[str]) -> Iterator[str]:
        """Check the code of an error against its status, its detail and the address of its page."""
        code = body["error_code"]
        explained = self._explained[code]
        if response.status_code != explained["status"]:
            yield f"The contract has {code} with {explained['status']} (x-error-codes)."
        if unknown := body["detail"].keys() - explained.get("detail", {}).keys():
            yield f"The contract does not name {unknown} of {code}'s detail (x-error-codes)."
        if body["doc_url"] != f"/docs/errors/{code}/":
            yield "The address of the page is not the one of the code."
        if response.status_code in _RULED_STATUSES and code not in codes:
            yield f"The text of the operation and of its answer do not name `{code}`."
        # A replayed answer has the bytes, and so the request id, of the first answer.
        replayed = "idempotent-replayed" in response.headers
        if not replayed and body["request_id"] != response.headers.get("x-request-id"):
            yield "The request id of the body is not the one of the header."

    def _documented(self, operation: Operation, status: str) -> _CompiledAnswer:
        """Return the documented answer of an operation, compiled on first use."""
        key = operation.operation_id, status
        if key not in self._compiled:
            answer = self._contract.follow(operation.node["responses"][status])
            texts = operation.node["description"] + answer["description"]
            self._compiled[key] = self._compile(" ".join(key), answer, texts)
        return self._compiled[key]

    def _component(self, name: str) -> _CompiledAnswer:
        """Return the shared answer with this name, compiled on first use."""
        key = "", name
        if key not in self._compiled:
            answers = self._components["responses"]
            texts = answers["TransportFailure"]["description"] + answers[name]["description"]
            self._compiled[key] = self._compile(name, answers[name], texts)
        return self._compiled[key]

    def _compile(self, place: str, answer: Node, texts: str) -> _CompiledAnswer:
        follow, validator = self._contract.follow, self._schemas.validator
        bodies = {
            _CSV if content_type == "text/csv" else content_type: validator(media["schema"])
            for content_type, media in answer["content"].items()
        }
        headers = {}
        for name, reference in answer["headers"].items():
            node = follow(reference)
            kind = follow(node["schema"]).get("type", "string")
            required = node.get("required", False)
            headers[name] = _Header(required, kind, validator(node["schema"]))
        codes = frozenset(re.findall(r"`([a-z_]+)`", texts))
        return _CompiledAnswer(place, bodies, headers, codes)


def _headers(response: httpx.Response, expected: _CompiledAnswer) -> Iterator[str]:
    for name, header in expected.headers.items():
        if name in response.headers:
            for error in header.values.iter_errors(header.value(response.headers[name])):
                yield f"The header {name} is {response.headers[name]!r}: {error.message}"
        elif header.required:
            yield f"The header {name} is missing; {expected.place} requires it."
    for name in _TOLD_HEADERS:
        if name in response.headers and name not in expected.headers:
            yield f"The header {name} is not documented at {expected.place}."


def _table(response: httpx.Response) -> Iterator[str]:
    """Check that a CSV file has rows of equal width and distinct column names."""
    header, *rows = csv.reader(StringIO(response.text, newline=""), strict=True)
    if any(len(row) != len(header) for row in rows):
        yield "A row of the file is not as wide as its header."
    if len(set(header)) < len(header):
        yield "Two columns of the file have one name."


def _kept(response: httpx.Response) -> Iterator[str]:
    """Check that a file is sent as an attachment."""
    if not response.headers.get("content-disposition", "").startswith("attachment; "):
        yield "The file is not answered as an attachment."


def _text(response: httpx.Response) -> str:
    """Return a file as the string that its schema describes: of a PDF, one character per byte."""
    pdf = response.headers["content-type"] == _PDF
    return response.content.decode("latin-1") if pdf else response.text


def _statuses(documented: Node) -> list[int]:
    return sorted(int(status) for status in documented if status.isdigit())


def _is_preflight(request: httpx.Request) -> bool:
    return request.method == "OPTIONS" and "access-control-request-method" in request.headers
