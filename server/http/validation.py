"""Validation of a request against its operation, with all faults in one answer.

It is compiled once per operation, in place of Connexion's own validation. Behind it `scope["call"]`
has the decoded request: UUIDs, dates and date-times instead of texts, and only names that the
contract knows. If the request used deprecated parts, `scope["deprecation"]` has the headers that
report them, whatever the answer.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from email.utils import format_datetime
from types import MappingProxyType
from typing import Any

from python_multipart.multipart import parse_options_header
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Receive, Scope, Send

from accounting.errors import ValidationError
from accounting.files.uploads import Upload
from persistence.engine.observer import observer
from server.contract.document import JSON, Contract, ContractError, Deprecation, Operation, Schema
from server.http.connexion_adapter import LoadedOperation, MakeOperation, OperationLayer
from server.http.errors import Headers
from server.http.explanations import Explainers
from server.http.field_errors import MOST_FIELDS, WHOLE_BODY, Faults, add_beyond, add_fault
from server.http.forms import FormReader, Pair, multipart_pairs, urlencoded_pairs
from server.http.omissions import OmissionCompiler
from server.http.parameters import Parameters
from server.http.problems import PayloadTooLarge, UnsupportedMediaType
from server.http.schemas import SchemaCompiler
from server.http.strict_json import MAX_VALUES, NumberBeyond, Place, parse_json

# The body of a request: accepted content types, size limits, and decoding to a Python value.


URLENCODED = "application/x-www-form-urlencoded"
MULTIPART = "multipart/form-data"

MAX_BODY_BYTES = 1024 * 1024
MAX_FILE_BYTES = 10 * 1024 * 1024
MAX_UPLOAD_BYTES = 11 * 1024 * 1024  # A file and the other fields of its form.

HEADERS = frozenset({b"content-type", b"content-encoding"})
BATCH = "run_batch"  # The operation whose items are requests of other operations.

HeaderValues = Mapping[bytes, list[bytes]]
Content = tuple[Any, Mapping[str, Upload]]

_NO_FILES: Mapping[str, Upload] = MappingProxyType({})
NOTHING: Content = (None, _NO_FILES)


class Compilers:
    """The compilers of one contract's schemas, each with what it has compiled so far."""

    def __init__(self, contract: Contract) -> None:
        self.schemas = SchemaCompiler(contract)
        self.explainers = Explainers(self.schemas)
        self.omissions = OmissionCompiler(self.schemas)


class BodyType:
    """A content type of an operation, compiled."""

    def __init__(
        self, content_type: str, schema: Schema, compilers: Compilers, operation: Operation
    ) -> None:
        if content_type not in (JSON, URLENCODED, MULTIPART):
            raise ContractError(f"A content type that is not served: {content_type}")
        compiler = compilers.schemas
        self._is_valid = compiler.validator(schema).is_valid
        self._omissions = compilers.omissions.of(schema, operation.method == "POST")
        self._explain = compilers.explainers.of(schema).explain
        self._revive = compiler.decoder(schema)
        self.form = None if content_type == JSON else FormReader(schema, compiler)
        takes_files = self.form is not None and self.form.takes_files
        own = operation.body_bytes or MAX_BODY_BYTES
        self.max_bytes = MAX_UPLOAD_BYTES if takes_files else own
        self._max_values = MAX_VALUES * own // MAX_BODY_BYTES

    def _accepts(self, value: Any) -> bool:
        """Return whether a value is valid, after removing the fields that it leaves out by null."""
        return self._is_valid(value) or (
            self._omissions.remove_from(value) and self._is_valid(value)
        )

    def json(self, raw: bytes, faults: Faults) -> Any:
        """Return the value of a JSON body, or None with its errors in `faults`."""
        beyond: list[Place] = []
        try:
            value = parse_json(raw, self._max_values)
        except NumberBeyond as error:
            value, beyond = error.value, error.places
        return self.parsed(value, faults, beyond)

    def parsed(self, value: Any, faults: Faults, beyond: Sequence[Place] = ()) -> Any:
        """Return the value of a JSON body that is parsed, or None with its errors in `faults`."""
        if not self._accepts(value):
            self._explain(value, faults)
        elif not beyond:
            return value if self._revive is None else self._revive(value)
        add_beyond(faults, beyond, faults)
        return None

    def fields(self, form: FormReader, pairs: list[Pair], faults: Faults) -> Content:
        """Return the value and the files of a form."""
        if sum(len(item.encode()) for _, item in pairs if isinstance(item, str)) > MAX_BODY_BYTES:
            raise _too_large(MAX_BODY_BYTES)
        here: Faults = {}
        told: Faults = {}
        beyond: list[Place] = []
        value, files = form.value(pairs, here, beyond)
        if not self._accepts(value):
            self._explain(value, told)
        # Unreadable fields are absent from the value; their own errors replace "is required".
        here = {**told, **here}
        add_beyond(here, beyond, told)
        for name, upload in files.items():
            value.pop(name)
            if len(upload.content) > MAX_FILE_BYTES:
                raise PayloadTooLarge(
                    "payload_too_large",
                    "A file may be at most 10 MiB.",
                    limit_bytes=MAX_FILE_BYTES,
                )
            if not upload.content:
                add_fault(here, name, "must not be empty")
        if not here and self._revive is not None:
            value = self._revive(value)
        for field, sentences in here.items():
            for words in sentences:
                add_fault(faults, field, words)
        return value, files


class BodyReader:
    """A reader for all content types of an operation's body."""

    def __init__(self, operation: Operation, compilers: Compilers) -> None:
        self._required = operation.body_required
        self._takes_empty_object = operation.method == "DELETE"
        self._types = {
            content_type: BodyType(content_type, schema, compilers, operation)
            for content_type, schema in operation.bodies.items()
        }
        self._json = self._types.get(JSON)
        sizes = (each.max_bytes for each in self._types.values())
        self._max_bytes = max(sizes, default=MAX_BODY_BYTES)

    async def read(self, headers: HeaderValues, receive: Receive, faults: Faults) -> Content:
        """Return (value, files); (None, no files) without a body.

        Adds every field error to `faults`. Raises UnsupportedMediaType, PayloadTooLarge, and
        ValidationError for a body that cannot be parsed.
        """
        message = await receive()
        start: bytes = message.get("body", b"")
        more = message.get("more_body", False)
        if message["type"] == "http.disconnect":
            raise ClientDisconnect
        if not start and more:  # A chunked body may begin with an empty part.
            start = await receive_rest(receive, [], self._max_bytes)
            more = False
        if not start:
            return self._nothing(headers, faults)
        if not self._types:
            if self._takes_empty_object and not more and start.strip() == b"{}":
                return NOTHING  # Some clients send an empty object with each DELETE.
            raise ValidationError("bad_request", "This operation does not accept a body.")
        content_type, options = self._content_type(headers)
        kind = self._types[content_type]
        if more:
            start = await receive_rest(receive, [start], kind.max_bytes)
        elif len(start) > kind.max_bytes:
            raise _too_large(kind.max_bytes)
        if kind.form is None:
            if not self._required and start.strip() == b"null":
                return NOTHING  # Generated clients send this for an absent body.
            return kind.json(start, faults), _NO_FILES
        return kind.fields(kind.form, _pairs(content_type, options, start), faults)

    def parsed(self, value: Any, faults: Faults) -> Any:
        """Return the value of the parsed body of an item of a batch; None without a body."""
        if value is None and not self._required:
            return None
        if self._json is not None:
            if value is None:
                return add_fault(faults, WHOLE_BODY, "is required")
            return self._json.parsed(value, faults)
        if not (self._takes_empty_object and value == {}):
            add_fault(faults, WHOLE_BODY, "is not accepted by this operation")
        return None

    def _nothing(self, headers: HeaderValues, faults: Faults) -> Content:
        """Return the content of an absent body: an empty form where one is declared, else none."""
        if self._required:
            content_type = _parse_content_type(headers)[0]
            kind = self._types.get(content_type)
            if kind is not None and kind.form is not None and content_type == URLENCODED:
                return kind.fields(kind.form, [], faults)
            add_fault(faults, WHOLE_BODY, "is required")
        return NOTHING

    def _content_type(self, headers: HeaderValues) -> tuple[str, Mapping[bytes, bytes]]:
        if b"content-encoding" in headers:
            raise _unsupported("Send the body without Content-Encoding.")
        if self._json is not None and headers.get(b"content-type") == [b"application/json"]:
            return JSON, {}
        content_type, options = _parse_content_type(headers)
        if content_type not in self._types:
            raise _unsupported(f"The body must be sent as {' or '.join(sorted(self._types))}.")
        if options.get(b"charset", b"utf-8").lower() not in (b"utf-8", b"utf8"):
            raise _unsupported("A body must be UTF-8.")
        return content_type, options


async def receive_rest(receive: Receive, chunks: list[bytes], max_bytes: int) -> bytes:
    """Return a whole body; raise PayloadTooLarge as soon as it exceeds `max_bytes`."""
    size = sum(map(len, chunks))
    more = True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientDisconnect
        chunk = message.get("body", b"")
        chunks.append(chunk)
        size += len(chunk)
        if size > max_bytes:
            raise _too_large(max_bytes)
        more = message.get("more_body", False)
    return b"".join(chunks)


def _pairs(content_type: str, options: Mapping[bytes, bytes], raw: bytes) -> list[Pair]:
    if content_type == URLENCODED:
        return urlencoded_pairs(raw)
    boundary = options.get(b"boundary")
    if not boundary:
        raise ValidationError(
            "bad_request", "The Content-Type of a multipart body needs a boundary."
        )
    return multipart_pairs(raw, boundary)


def _parse_content_type(headers: HeaderValues) -> tuple[str, Mapping[bytes, bytes]]:
    """Return the lower-case type and its parameters; an empty type for none or more than one."""
    lines = headers.get(b"content-type", [])
    if len(lines) != 1:
        return "", {}
    content_type, options = parse_options_header(lines[0])
    return content_type.decode("latin-1"), options


def _unsupported(message: str) -> UnsupportedMediaType:
    return UnsupportedMediaType("unsupported_media_type", message)


def _too_large(max_bytes: int) -> PayloadTooLarge:
    return PayloadTooLarge(
        "payload_too_large", f"The body may be at most {max_bytes} bytes.", limit_bytes=max_bytes
    )


# Headers about deprecated parameters and operations that a request used (RFC 9745, RFC 8594).


def lines_of(used: Sequence[Deprecation]) -> Headers:
    """Return the Deprecation header with the earliest start, and Sunset with the earliest end."""
    lines = [(b"deprecation", b"@%d" % midnight(min(each.since for each in used)).timestamp())]
    ends = [each.until for each in used if each.until is not None]
    if ends:
        lines.append((b"sunset", format_datetime(midnight(min(ends)), usegmt=True).encode()))
    return lines


def midnight(day: date) -> datetime:
    """Return the start of a day, in UTC."""
    return datetime.combine(day, time(), UTC)


@dataclass(slots=True)
class Call:
    """A valid request with decoded values; unsent parts are absent, a missing body is None.

    A batch has its `items`, each with the `key` that the client gave it.
    """

    operation_id: str
    path: dict[str, Any]
    query: dict[str, Any]
    body: Any
    files: Mapping[str, Upload]
    idempotency_key: str | None
    if_match: str | None
    items: Sequence["Call"] = ()
    key: str = ""


class Checks:
    """The compiled checks for the requests of one operation."""

    def __init__(self, operation: Operation, compilers: Compilers) -> None:
        self.parameters = Parameters(operation, compilers.schemas)
        self.body = BodyReader(operation, compilers)
        self.deprecations = () if operation.deprecation is None else (operation.deprecation,)
        self.header_names = HEADERS | self.parameters.header_names


def compile_checks(contract: Contract) -> Mapping[str, Checks]:
    """Compile the checks of a contract by operationId."""
    compilers = Compilers(contract)
    return {
        operation_id: Checks(operation, compilers)
        for operation_id, operation in contract.operations.items()
    }


class Items:
    """The items of a batch, each held to the checks of its own operation."""

    def __init__(self, checks: Mapping[str, Checks]) -> None:
        self._checks = checks

    def read(self, batch: Call, faults: Faults) -> list[Call]:
        """Return the items of a valid batch, or add the errors of each to `faults`."""
        keys: dict[str, int] = {}
        items = []
        for place, item in enumerate(batch.body["items"]):
            if len(faults) >= MOST_FIELDS:
                break  # An error names no more.
            first = keys.setdefault(item["key"], place)
            if first != place:
                add_fault(faults, f"items.{place}.key", f"must differ from that of items.{first}")
            items.append(self._read(batch, item, f"items.{place}", faults))
        return items

    def _read(self, batch: Call, item: Mapping[str, Any], at: str, faults: Faults) -> Call:
        checks = self._checks[item["operation"]]
        if_match = item.get("if_match")
        if if_match is not None and b"if-match" not in checks.parameters.header_names:
            add_fault(faults, f"{at}.if_match", "is not accepted by this operation")
        in_path: Faults = {}
        path = checks.parameters.item_path(item.get("path") or {}, in_path)
        in_body: Faults = {}
        body = checks.body.parsed(item.get("body"), in_body)
        for part, found in (("path", in_path), ("body", in_body)):
            for field, sentences in found.items():
                name = f"{at}.{part}" if field == WHOLE_BODY else f"{at}.{part}.{field}"
                for words in sentences:
                    add_fault(faults, name, words)
        return Call(
            item["operation"],
            {**path, "business_id": batch.path["business_id"]},
            checks.parameters.defaults.copy(),
            body,
            _NO_FILES,
            batch.idempotency_key,
            if_match,
            key=item["key"],
        )


class ValidatedOperation:
    """An operation whose requests are validated."""

    def __init__(
        self, next_app: ASGIApp, operation_id: str, checks: Checks, items: Items | None = None
    ) -> None:
        """Compile nothing: `checks` are compiled, and a batch has `items`."""
        self._next_app = next_app
        self._items = items
        self._operation_id = operation_id
        self._parameters = checks.parameters
        self._body = checks.body
        self._header_names = checks.header_names
        self._deprecations = checks.deprecations

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Put the Call into the scope, or raise ValidationError with every field error."""
        with observer.get().in_package("validation"):
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
            raise ValidationError.with_faults(faults)
        call = Call(
            self._operation_id,
            path,
            query,
            body,
            files,
            headers.get("idempotency-key"),
            headers.get("if-match"),
        )
        if self._items is not None:
            call.items = self._items.read(call, faults)
            if faults:
                raise ValidationError.with_faults(faults)
        return call

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
            items = Items(checks) if name == BATCH else None
            return ValidatedOperation(self.app, name, checks[name], items)

        return make
