"""The body of a request: accepted content types, size limits, and decoding to a Python value."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from python_multipart.multipart import parse_options_header
from starlette.requests import ClientDisconnect
from starlette.types import Receive

from accounting.errors import Malformed
from accounting.files.uploads import Upload
from server.contract import JSON, ContractError, Operation, Schema
from server.requests.explaining import Explainers
from server.requests.field_errors import WHOLE_BODY, Faults, add_fault
from server.requests.forms import FormReader, Pair, multipart_pairs, urlencoded_pairs
from server.requests.schemas import SchemaCompiler
from server.requests.strict_json import parse_json
from server.responses.problems import PayloadTooLarge, UnsupportedMediaType

URLENCODED = "application/x-www-form-urlencoded"
MULTIPART = "multipart/form-data"

MAX_BODY_BYTES = 1024 * 1024
MAX_FILE_BYTES = 10 * 1024 * 1024
MAX_UPLOAD_BYTES = 11 * 1024 * 1024  # A file and the other fields of its form.

HEADERS = frozenset({b"content-type", b"content-encoding"})

Headers = Mapping[bytes, list[bytes]]
Content = tuple[Any, Mapping[str, Upload]]

_NO_FILES: Mapping[str, Upload] = MappingProxyType({})
NOTHING: Content = (None, _NO_FILES)


class BodyType:
    """A content type of an operation, compiled."""

    def __init__(
        self, content_type: str, schema: Schema, compiler: SchemaCompiler, explainers: Explainers
    ) -> None:
        if content_type not in (JSON, URLENCODED, MULTIPART):
            raise ContractError(f"A content type that is not served: {content_type}")
        self._accepts = compiler.validator(schema).is_valid
        self._explain = explainers.of(schema).explain
        self._revive = compiler.reviver(schema)
        self.form = None if content_type == JSON else FormReader(schema, compiler)
        takes_files = self.form is not None and self.form.takes_files
        self.max_bytes = MAX_UPLOAD_BYTES if takes_files else MAX_BODY_BYTES

    def json(self, raw: bytes, faults: Faults) -> Any:
        """Return the value of a JSON body, or None with its errors in `faults`."""
        value = parse_json(raw)
        if self._accepts(value):
            return value if self._revive is None else self._revive(value)
        return self._explain(value, faults)

    def fields(self, form: FormReader, pairs: list[Pair], faults: Faults) -> Content:
        """Return the value and the files of a form."""
        if sum(len(item.encode()) for _, item in pairs if isinstance(item, str)) > MAX_BODY_BYTES:
            raise _too_large(MAX_BODY_BYTES)
        here: Faults = {}
        value, files = form.value(pairs, here)
        if not self._accepts(value):
            told: Faults = {}
            self._explain(value, told)
            # Unreadable fields are absent from the value; their own errors replace "is required".
            here = {**told, **here}
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

    def __init__(
        self, operation: Operation, compiler: SchemaCompiler, explainers: Explainers
    ) -> None:
        self._required = operation.body_required
        self._types = {
            content_type: BodyType(content_type, schema, compiler, explainers)
            for content_type, schema in operation.bodies.items()
        }
        self._json = self._types.get(JSON)

    async def read(self, headers: Headers, receive: Receive, faults: Faults) -> Content:
        """Return (value, files); (None, no files) without a body.

        Adds every field error to `faults`. Raises UnsupportedMediaType, PayloadTooLarge, and
        Malformed for a body that cannot be parsed.
        """
        message = await receive()
        start: bytes = message.get("body", b"")
        more = message.get("more_body", False)
        if message["type"] == "http.disconnect":
            raise ClientDisconnect
        if not start and more:  # A chunked body may begin with an empty part.
            start = await receive_rest(receive, [], MAX_BODY_BYTES)
            more = False
        if not start:
            return self._nothing(headers, faults)
        if not self._types:
            raise Malformed("bad_request", "This operation takes no body.")
        content_type, options = self._content_type(headers)
        kind = self._types[content_type]
        if more:
            start = await receive_rest(receive, [start], kind.max_bytes)
        elif len(start) > kind.max_bytes:
            raise _too_large(kind.max_bytes)
        if kind.form is None:
            return kind.json(start, faults), _NO_FILES
        return kind.fields(kind.form, _pairs(content_type, options, start), faults)

    def _nothing(self, headers: Headers, faults: Faults) -> Content:
        """Return the content of an absent body: an empty form where one is declared, else none."""
        if self._required:
            content_type = _parse_content_type(headers)[0]
            kind = self._types.get(content_type)
            if kind is not None and kind.form is not None and content_type == URLENCODED:
                return kind.fields(kind.form, [], faults)
            add_fault(faults, WHOLE_BODY, "is required")
        return NOTHING

    def _content_type(self, headers: Headers) -> tuple[str, Mapping[bytes, bytes]]:
        if b"content-encoding" in headers:
            raise _unsupported("A body must be sent as it is, without Content-Encoding.")
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
        raise Malformed("bad_request", "The Content-Type of a multipart body needs a boundary.")
    return multipart_pairs(raw, boundary)


def _parse_content_type(headers: Headers) -> tuple[str, Mapping[bytes, bytes]]:
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
