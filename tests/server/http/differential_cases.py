"""Requests from a contract: a valid one for each operation, and variants with one change."""

import copy
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import quote, urlencode

import orjson

from server.contract.document import JSON, Contract, Operation, Parameter, Schema
from server.http.schemas import SchemaCompiler
from server.http.validation import BATCH

MULTIPART = "multipart/form-data"
FORM = b"multipart/form-data; boundary=cut"
ID = "0197f0c4-8a20-7d3e-8c44-2e9b7f5a6b02"
PLAIN = {
    "uuid": ID,
    "date": "2025-01-31",
    "date-time": "2025-01-31T12:00:00Z",
    "email": "somebody@example.com",
    "cursor": "abc",
    "iban": "DE89370400440532013000",
}


@dataclass(frozen=True)
class Case:
    """A request and the name of its variation."""

    label: str
    operation_id: str
    method: str
    path: str
    query: bytes = b""
    content_type: bytes | None = None
    body: bytes = b""
    headers: tuple[tuple[bytes, bytes], ...] = ()

    def __str__(self) -> str:
        return f"{self.label} | {self.operation_id}"

    def lines(self) -> list[tuple[bytes, bytes]]:
        """Return the header lines as a server passes them."""
        length = [(b"content-length", b"%d" % len(self.body))] if self.body else []
        kind = [(b"content-type", self.content_type)] if self.content_type is not None else []
        return [(b"host", b"test"), *length, *kind, *self.headers]


class Cases:
    """The cases of a contract; later operations are included automatically.

    A parameter or a field that operations share, by name and schema, is varied at the first.
    """

    def __init__(self, contract: Contract) -> None:
        self.contract = contract
        self.compiler = SchemaCompiler(contract)
        self.varied: set[bytes] = set()

    def __iter__(self) -> Iterator[Case]:
        for operation in self.contract.operations.values():
            valid = self.valid(operation)
            yield valid
            yield replace(valid, label="no final slash", path=valid.path.rstrip("/"))
            yield replace(valid, label="another method", method="TRACE")
            yield from self.changed_parameters(operation, valid)
            if not operation.bodies:
                unasked = replace(valid, label="a body nobody asked for", body=b"{}")
                yield replace(unasked, content_type=JSON.encode())
            elif JSON in operation.bodies:
                yield from self.changed_types(operation, valid)
                yield from self.changed_texts(valid)
                yield from self.changed_fields(operation, valid)
                yield from self.forms(operation, valid)
        yield Case("an unknown path", "none", "GET", "/v0/nothing/")

    def valid(self, operation: Operation) -> Case:
        """Return a request that both must accept."""
        path, pairs = operation.path, []
        for parameter in operation.parameters:
            text = self.text(parameter)
            path = path.replace(f"{{{parameter.name}}}", quote(text, safe=""))
            if parameter.place == "query" and parameter.required:
                pairs.append((parameter.name, text))
        case = Case("valid", operation.operation_id, operation.method, path)
        case = replace(case, query=urlencode(pairs).encode())
        if JSON in operation.bodies:
            body = orjson.dumps(self.example(operation, JSON))
            return replace(case, content_type=JSON.encode(), body=body)
        return self.upload(operation, case) if MULTIPART in operation.bodies else case

    def upload(self, operation: Operation, case: Case) -> Case:
        """Return the form of an operation that accepts only forms: its file and its texts."""
        known = self.compiler.properties(operation.bodies[MULTIPART])
        parts = b""
        for name, value in self.example(operation, MULTIPART).items():
            if isinstance(value, str):
                is_file = self.compiler.resolved(known[name]).get("format") == "binary"
                named = f'form-data; name="{name}"' + ('; filename="a"' if is_file else "")
                parts += f"--cut\r\nContent-Disposition: {named}\r\n\r\n{value}\r\n".encode()
        return replace(case, content_type=FORM, body=parts + b"--cut--\r\n")

    def text(self, parameter: Parameter) -> str:
        schema = self.compiler.resolved(parameter.schema)
        if schema["type"] == "array":
            schema = self.compiler.resolved(schema["items"])
        return str(self.plain(schema))

    def plain(self, schema: Schema) -> Any:
        """Return a value that a scalar schema accepts."""
        if "enum" in schema:
            return schema["enum"][0]
        match schema.get("type"):
            case "boolean":
                return "true"
            case "integer" | "number":
                return schema.get("minimum", 1)
        longest: int = schema.get("maxLength", 255)
        return PLAIN.get(schema.get("format", ""), "GB")[:longest]

    def example(self, operation: Operation, content_type: str) -> Any:
        """Return the first example of the operation's body of a type."""
        body = self.contract.follow(operation.document["requestBody"])
        media = body["content"][content_type]
        if "example" in media:
            return copy.deepcopy(media["example"])
        first = next(iter(media["examples"].values()))
        return copy.deepcopy(self.contract.follow(first)["value"])

    def changed_parameters(self, operation: Operation, valid: Case) -> Iterator[Case]:
        yield with_query(valid, "an unknown query parameter", ("no_such", "1"))
        for parameter in operation.parameters:
            if parameter.place == "path":
                yield from self.changed_path(operation, parameter, valid)
            elif parameter.place == "header":
                for label, value in (("long", b"x" * 9999), ("fine", b'"3"')):
                    line = (parameter.name.lower().encode(), value)
                    yield replace(valid, label=f"header: {label}", headers=(line,))
            elif not parameter.required and self.is_first(parameter.name, parameter.schema):
                yield from self.changed_query(parameter, valid)

    def is_first(self, *what: Any) -> bool:
        """Return whether nothing like this was varied; note that it is varied now."""
        key = orjson.dumps(what)
        known = key in self.varied
        self.varied.add(key)
        return not known

    def changed_path(
        self, operation: Operation, parameter: Parameter, valid: Case
    ) -> Iterator[Case]:
        def with_text(label: str, wrong: str) -> Case:
            path = operation.path.replace(f"{{{parameter.name}}}", wrong)
            for other in operation.parameters:
                path = path.replace(f"{{{other.name}}}", ID)
            return replace(valid, label=label, path=path)

        yield with_text("U+0000 in the path", "%00zz")
        if self.compiler.resolved(parameter.schema).get("format") == "uuid":
            yield with_text("path: no uuid", "zz")

    def changed_query(self, parameter: Parameter, valid: Case) -> Iterator[Case]:
        schema = self.compiler.resolved(parameter.schema)
        name, text = parameter.name, self.text(parameter)
        kind = str(schema.get("format", schema["type"]))
        yield with_query(valid, f"query: a {kind}", (name, text))
        for label, wrong in WRONG_TEXTS.get(kind, {}).items():
            yield with_query(valid, f"query: {label} for {kind}", (name, wrong))
        if "enum" in schema:
            yield with_query(valid, "query: none of the enum", (name, "no such"))
        if schema["type"] != "array":
            yield with_query(valid, "query: given twice", (name, text), (name, text))

    def changed_types(self, operation: Operation, valid: Case) -> Iterator[Case]:
        for label, content_type in CONTENT_TYPES.items():
            yield replace(valid, label=f"type: {label}", content_type=content_type)
        encoded = ((b"content-encoding", b"gzip"),)
        yield replace(valid, label="type: a content encoding", headers=encoded)
        absent = "absent" if operation.body_required else "absent, optional"
        yield replace(valid, label=f"body: {absent}", body=b"")

    def changed_texts(self, valid: Case) -> Iterator[Case]:
        for label, body in BODIES.items():
            yield replace(valid, label=f"json: {label}", body=body)
        inside = valid.body[:-1]
        if orjson.loads(valid.body):
            name, item = next(iter(orjson.loads(valid.body).items()))
            twice = inside + b"," + orjson.dumps({name: item})[1:]
            yield replace(valid, label="json: a repeated key", body=twice)

    def changed_fields(self, operation: Operation, valid: Case) -> Iterator[Case]:
        if operation.operation_id == BATCH:
            return  # Its items are held to other operations, which stock does not know.
        value = orjson.loads(valid.body)
        schema = operation.bodies[JSON]
        new = operation.method == "POST"
        for label, changed in self.changes(schema, value, new):
            yield replace(valid, label=f"field: {label}", body=orjson.dumps(changed))

    def changes(self, schema: Schema, value: Any, new: bool) -> Iterator[tuple[str, Any]]:
        """Yield the object with one field changed, at every depth of the example.

        `new`: a created object, or an item of a list.
        """
        if not isinstance(value, dict):
            return
        closed = self.compiler.resolved(schema).get("additionalProperties") is False
        yield f"unknown, {'closed' if closed else 'open'}", {**value, "no_such_field": 1}
        needed = self.compiler.resolved(schema).get("required", [])
        for name in value:
            required = name in needed
            without = {key: item for key, item in value.items() if key != name}
            yield f"left out, {'required' if required else 'optional'}", without
        for name, property_schema in self.compiler.properties(schema).items():
            part = self.compiler.resolved(property_schema)
            optional = new and name not in needed
            if self.is_first(name, property_schema, optional):
                for label, wrong in wrong_values(part, optional=optional):
                    yield label, {**value, name: wrong}
            if name in value:
                inner, item = self.inside(part, value[name])
                listed = isinstance(value[name], list)
                for label, changed in self.changes(inner, item, new or listed):
                    yield label, {**value, name: [changed] if listed else changed}

    def inside(self, part: Schema, value: Any) -> tuple[Schema, Any]:
        if isinstance(value, list) and value and "items" in part:
            return self.compiler.resolved(part["items"]), value[0]
        return part, value

    def forms(self, operation: Operation, valid: Case) -> Iterator[Case]:
        fields = [
            (name, item if isinstance(item, str) else orjson.dumps(item).decode())
            for name, item in orjson.loads(valid.body).items()
        ]
        if "application/x-www-form-urlencoded" in operation.bodies:
            form = replace(valid, content_type=b"application/x-www-form-urlencoded")
            yield replace(form, label="form: valid", body=urlencode(fields).encode())
            yield replace(form, label="form: broken text", body=b"grant_type=%ff")
            yield replace(
                form, label="form: a repeated scalar", body=urlencode(fields * 2).encode()
            )
        if MULTIPART in operation.bodies:
            parts = "".join(
                f'--cut\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{text}\r\n'
                for name, text in fields
            ).encode()
            form = replace(valid, content_type=FORM)
            yield replace(form, label="multipart: valid", body=parts + b"--cut--\r\n")
            yield replace(form, label="multipart: cut short", body=parts[:-20])
            bare = replace(form, content_type=MULTIPART.encode(), body=parts + b"--cut--\r\n")
            yield replace(bare, label="multipart: no boundary")


def with_query(valid: Case, label: str, *pairs: tuple[str, str]) -> Case:
    """Add pairs to the query of a valid request."""
    query = b"&".join(filter(None, [valid.query, urlencode(pairs).encode()]))
    return replace(valid, label=label, query=query)


WRONG_TEXTS = {
    "int32": {"a sign": "+1", "an underscore": "1_0", "a space": " 1", "words": "x", "zero": "0"},
    "int64": {"a sign": "+1", "an underscore": "1_0", "a space": " 1", "words": "x", "zero": "0"},
    "boolean": {"capitals": "TRUE", "a digit": "1", "words": "x"},
    "uuid": {"words": "zz"},
    "date": {"words": "zz", "30 February": "2023-02-30"},
    "date-time": {"words": "zz", "a date": "2025-01-31", "30 February": "2023-02-30T00:00:00Z"},
    "string": {"U+0000": "a\0b", "too much": "x" * 6000},
    "cursor": {"punctuation": "=!"},
}

WRONG_KINDS: dict[str, dict[str, Any]] = {
    "integer": {
        "5.0 for an integer": 5.0,
        "a text for an integer": "5",
        "true for an integer": True,
        "past 2^53 for an integer": 2**60,
    },
    "number": {"a text for a number": "5", "a list for a number": []},
    "boolean": {"a text for a boolean": "true", "1 for a boolean": 1},
    "array": {"an object for a list": {}, "a text for a list": "x"},
    "object": {"a list for an object": [], "a text for an object": "x"},
    "string": {"a number for a text": 5, "a list for a text": []},
}

CONTENT_TYPES = {
    "capitals": b"APPLICATION/JSON",
    "charset utf-8": b"application/json; charset=utf-8",
    "charset bogus": b"application/json; charset=bogus",
    "none": None,
    "text/plain": b"text/plain",
}

BODIES = {
    "no JSON": b"{nope",
    "two documents": b"{} {}",
    "a list": b"[]",
    "NaN": b'{"a": NaN}',
    "5000 digits": b'{"a": ' + b"9" * 5000 + b"}",
    "depth 100000": b"[" * 100_000,
    "invalid UTF-8": b'{"a": "\xff"}',
    "UTF-16": '{"a": 1}'.encode("utf-16"),
    "a byte order mark": b"\xef\xbb\xbf{}",
}


def wrong_values(schema: Schema, optional: bool) -> Iterator[tuple[str, Any]]:
    """Yield unusual values for a field of this schema, with their names.

    `optional`: a field that a new object may omit.
    """
    kind = schema.get("type")
    if kind is None:
        return
    absent = "optional in a new object" if optional else "not nullable"
    yield f"null, {'nullable' if schema.get('nullable') else absent}", None
    yield from WRONG_KINDS[kind].items()
    if "maximum" in schema:
        yield "past the maximum", schema["maximum"] + 1
    if "minimum" in schema:
        yield "below the minimum", schema["minimum"] - 1
    if "maxItems" in schema:
        yield "too many items", ["x"] * (schema["maxItems"] + 1)
    if "x-max-bytes" in schema:
        yield "past x-max-bytes", {"a": "x" * schema["x-max-bytes"]}
    if kind == "string":
        yield from wrong_strings(schema)


def wrong_strings(schema: Schema) -> Iterator[tuple[str, Any]]:
    """Yield unusual texts for a field of this schema, with their names."""
    if "maxLength" in schema:
        yield "too long", "x" * (schema["maxLength"] + 1)
    if "enum" in schema:
        yield "none of the enum", "no such"
    elif "format" in schema:
        yield f"words for {schema['format']}", "zz"
        if schema["format"] == "date":
            yield "30 February", "2023-02-30"
        if schema["format"] == "email":
            yield "a local address", "a@b"
    else:
        yield "U+0000 in a text", "a\0b"
