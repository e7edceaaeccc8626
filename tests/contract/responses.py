"""Every answer of every test is held against the contract.

`check_response` hangs as a hook in each client the tests use. It asks nothing of the product's own
code: routes, schemas and formats are read here a second time, and more strictly, since an answer
may carry no field that the contract does not tell about.
"""

import csv
import re
from dataclasses import dataclass
from functools import cache, partial
from io import StringIO
from typing import Any
from urllib.parse import unquote_to_bytes

import httpx

from tests.contract.closed_schemas import Validator, validator
from tests.contract.document import Node, document, follow, operations

TRANSPORT_STATUSES = frozenset({408, 413, 414, 429, 431, 503})
STATUSES_WITHOUT_ROUTE = TRANSPORT_STATUSES | {400, 403, 404, 405}
SERVICE_ROUTES = ("/health", "/docs", "/openapi.")
TOKEN_PATH = re.compile(r"/v1/platform/([^/]+/)?oauth2/token/?")
# Said by us on some answers only, so that each place has to say so.
TOLD_HEADERS = (
    "ETag",
    "Location",
    "Idempotent-Replayed",
    "Retry-After",
    "Allow",
    "Content-Disposition",
    "Deprecation",
    "Sunset",
)
CSV = "text/csv; charset=utf-8"
RULED_STATUSES = frozenset({404, 409, 412, 422})
FAULTS_EXPECTED = "faults_expected"
FILE_PATH = re.compile(rb"/documents/[^/]+/[^/]+/?")
FILE_REFUSALS = {403: "Forbidden", 404: "DocumentNotFound"}


@dataclass(frozen=True, eq=False)
class Route:
    """One operation as answers meet it."""

    operation_id: str
    method: str
    segments: tuple[str, ...]
    node: Node

    @property
    def variables(self) -> int:
        return sum(segment.startswith("{") for segment in self.segments)

    def fits(self, segments: list[str]) -> bool:
        """Whether a path of as many segments is one of its own."""
        return all(
            given == ours or (given != "" and ours.startswith("{"))
            for ours, given in zip(self.segments, segments, strict=True)
        )


@dataclass(frozen=True)
class DocumentedHeader:
    """One header of an answer; its text is read as its schema's type."""

    required: bool
    kind: str
    values: Validator

    def value(self, text: str) -> Any:
        if self.kind == "boolean" and text in ("true", "false"):
            return text == "true"
        return int(text) if self.kind == "integer" and text.isdigit() else text


@dataclass(frozen=True)
class Documented:
    """One documented answer, compiled."""

    place: str
    content_types: tuple[str, ...]
    body: Validator
    headers: dict[str, "DocumentedHeader"]
    codes: frozenset[str]


def check_response(response: httpx.Response) -> None:
    """Fail the test when an answer is not one that the contract documents.

    A test that wants to see a 500 says so: `extensions={"faults_expected": True}`.
    """
    path = response.request.url.raw_path.partition(b"?")[0]
    beside = path == b"/" or path.decode("ascii").startswith(SERVICE_ROUTES)
    if beside or is_preflight(response.request):
        return
    response.read()
    if FILE_PATH.fullmatch(path):
        check_file(response)
    else:
        check_route(response, path)


def check_route(response: httpx.Response, path: bytes) -> None:
    """Hold the answer of an address that the contract may have against it."""
    met = routes_at(path)
    method = "GET" if response.request.method == "HEAD" else response.request.method
    found = [route for route in met if route.method == method]
    tell = partial(complain, response, found[0].operation_id if found else "no operation")
    if response.status_code == 500 and not response.request.extensions.get(FAULTS_EXPECTED):
        tell("A 500 is always a bug of ours.")
    if found:
        check_operation(response, found[0], tell)
    else:
        check_without_route(response, met, tell)


def check_operation(response: httpx.Response, route: Route, tell: Any) -> None:
    """Hold an answer against its operation, and note that it was seen."""
    known = documented_statuses(route)
    status = response.status_code
    if status not in known and status not in TRANSPORT_STATUSES | {500}:
        tell(f"The contract documents {sorted(known)} for it.")
    check_answer(response, documented(route.operation_id, status if status in known else 0), tell)
    seen().add((route.operation_id, status))


def check_file(response: httpx.Response) -> None:
    """Hold a refusal of a signed link against the body of all errors; a file has no schema."""
    if response.status_code != 200:
        name = FILE_REFUSALS.get(response.status_code, "TransportFailure")
        check_answer(response, unrouted(name), partial(complain, response, "a signed link"))


def check_without_route(response: httpx.Response, met: list[Route], tell: Any) -> None:
    """Hold the answer of an address without an operation against the body of all errors."""
    if response.status_code not in STATUSES_WITHOUT_ROUTE | {500}:
        tell("No operation of the contract is served at this address.")
    if response.status_code == 405:
        taken = {route.method for route in met}
        taken |= {"HEAD"} if "GET" in taken else set()
        allowed = set(response.headers.get("allow", "").split(", "))
        if allowed != taken:
            tell(f"Allow is {sorted(allowed)}, the contract has {sorted(taken)}.")
    token = TOKEN_PATH.fullmatch(response.url.path)
    check_answer(response, unrouted("TokenTransportFailure" if token else "TransportFailure"), tell)
    seen().add(("", response.status_code))


def check_answer(response: httpx.Response, expected: Documented, tell: Any) -> None:
    """Check content type, headers, body and error code."""
    content_type = response.headers.get("content-type")
    if content_type not in expected.content_types:
        tell(f"The content type is {content_type!r}, not one of {expected.content_types}.")
    for name, header in expected.headers.items():
        if name in response.headers:
            for error in header.values.iter_errors(header.value(response.headers[name])):
                tell(f"The header {name} is {response.headers[name]!r}: {error.message}")
        elif header.required:
            tell(f"The header {name} is missing; {expected.place} requires it.")
    for name in TOLD_HEADERS:
        if name in response.headers and name not in expected.headers:
            tell(f"The header {name} is not documented at {expected.place}.")
    if response.request.method == "HEAD":
        if response.content:
            tell("An answer to HEAD has a body.")
        return
    check_body(response, expected, tell)


def check_body(response: httpx.Response, expected: Documented, tell: Any) -> None:
    """Check the body against the closed schema, and the code of an error against its status."""
    table = expected.content_types == (CSV,)
    if table:
        check_table(response, tell)
    body = response.text if table else response.json()
    # To be told that it fits takes a quarter of what it takes to gather what does not.
    if not expected.body.is_valid(body):
        faults = [
            f"  at {'.'.join(map(str, error.instance_path)) or 'the top'}: {error.message[:300]}"
            for error in expected.body.iter_errors(body)
        ]
        tell("\n".join([f"The body does not fit the schema of {expected.place}:", *faults[:10]]))
    if response.status_code < 400:
        return
    code = body["error_code"]
    explained = explained_codes()[code]
    if response.status_code != explained["status"]:
        tell(f"The contract has {code} with {explained['status']} (x-error-codes).")
    if unknown := body["detail"].keys() - explained.get("detail", {}).keys():
        tell(f"The contract does not name {unknown} of {code}'s detail (x-error-codes).")
    if body["doc_url"] != f"/docs/errors/{code}/":
        tell("The address of the page is not the one of the code.")
    if response.status_code in RULED_STATUSES and code not in expected.codes:
        tell(f"The text of the operation and of its answer do not name `{code}`.")
    # A replayed answer is the first one's bytes, and so carries the first one's id.
    replayed = "idempotent-replayed" in response.headers
    if not replayed and body["request_id"] != response.headers["x-request-id"]:
        tell("The request id of the body is not the one of the header.")


def check_table(response: httpx.Response, tell: Any) -> None:
    """Check that a file of comma-separated values is a table, and one to be kept."""
    header, *rows = csv.reader(StringIO(response.text, newline=""), strict=True)
    if any(len(row) != len(header) for row in rows):
        tell("A row of the file is not as wide as its header.")
    if len(set(header)) < len(header):
        tell("Two columns of the file have one name.")
    if not response.headers.get("content-disposition", "").startswith("attachment; "):
        tell("The file is not answered as an attachment.")


def complain(response: httpx.Response, operation_id: str, why: str) -> None:
    """Fail, and tell what was asked, what was answered and where to put it right."""
    request = response.request
    raise AssertionError(
        f"{request.method} {request.url} ({operation_id}) answered {response.status_code}.\n{why}\n"
        f"Answer: {response.text[:600]}\n"
        "Either the server is wrong, or openapi/accounting.yaml does not tell the whole truth."
    )


def is_preflight(request: httpx.Request) -> bool:
    return request.method == "OPTIONS" and "access-control-request-method" in request.headers


# What is worked out once.


@cache
def seen() -> set[tuple[str, int]]:
    """Every (operation, status) that this process was answered; written by `check_response`."""
    return set()


@cache
def routes() -> tuple[Route, ...]:
    """Every operation, the ones with fewer variables first."""
    found = [
        Route(each.name, each.method.upper(), tuple(each.path.strip("/").split("/")), each.node)
        for each in operations()
    ]
    return tuple(sorted(found, key=lambda route: route.variables))


@cache
def routes_of(length: int) -> tuple[Route, ...]:
    """The operations whose paths have so many segments."""
    return tuple(route for route in routes() if len(route.segments) == length)


def routes_at(path: bytes) -> list[Route]:
    """The operations at a path, with or without its final slash; none where it is no text."""
    try:
        segments = [unquote_to_bytes(part).decode() for part in path[1:].split(b"/")]
    except UnicodeDecodeError:
        return []
    if any("/" in segment or "\0" in segment for segment in segments):
        return []
    if segments[-1] == "":
        segments.pop()
    fitting = [route for route in routes_of(len(segments)) if route.fits(segments)]
    return [route for route in fitting if route.segments == fitting[0].segments]


@cache
def documented_statuses(route: Route) -> frozenset[int]:
    return frozenset(int(status) for status in route.node["responses"] if status.isdigit())


@cache
def documented(operation_id: str, status: int) -> Documented:
    """The documented answer of an operation; status 0 is its `default`."""
    [route] = [each for each in routes() if each.operation_id == operation_id]
    name = str(status) if status else "default"
    answer = follow(route.node["responses"][name])
    texts = route.node["description"] + answer["description"]
    return compiled(f"{operation_id} {name}", answer, texts)


@cache
def unrouted(component: str) -> Documented:
    """What is answered where there is no operation."""
    answers = document()["components"]["responses"]
    texts = answers["TransportFailure"]["description"] + answers[component]["description"]
    return compiled(component, answers[component], texts)


def compiled(place: str, answer: Node, texts: str) -> Documented:
    [(content_type, media)] = answer["content"].items()
    content_type = CSV if content_type == "text/csv" else content_type
    headers = {name: compiled_header(follow(node)) for name, node in answer["headers"].items()}
    codes = frozenset(re.findall(r"`([a-z_]+)`", texts))
    return Documented(place, (content_type,), validator(media["schema"]), headers, codes)


def compiled_header(node: Node) -> DocumentedHeader:
    schema = node["schema"]
    kind = follow(schema).get("type", "string")
    return DocumentedHeader(node.get("required", False), kind, validator(schema))


def explained_codes() -> dict[str, Node]:
    """What the contract says of each code: its status, when, what to do, the keys of `detail`."""
    codes: dict[str, Node] = document()["components"]["x-error-codes"]
    return codes
