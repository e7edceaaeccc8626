"""Bodies that no operation accepts, derived from a valid body, each with the expected status."""

import gzip
import json
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any

from tests.contract.document import Node, follow

JSON = "application/json"
MARK = "@mark@"
# U+0000 and lone surrogates, escaped.
BAD_TEXTS = (b"a\\u0000b", b"\\ud800", b"\\udc00\\ud800", b"x\\uD83D")
DEEP = 100_000
MOST_EXACT = 2**53 - 1
BEYOND = ("1e400", "-1e400", str(MOST_EXACT + 1), str(-MOST_EXACT - 1), "1" * 400)
Place = tuple[str | int, ...]


@dataclass(frozen=True)
class Hostile:
    """A body, its content type and the expected answer; `field` is the field of the error."""

    name: str
    content: bytes
    status: int = 400
    content_type: str | None = JSON
    codes: tuple[str, ...] = ("malformed_json",)
    encoding: str | None = None
    field: str | None = None

    @property
    def headers(self) -> dict[str, str]:
        lines = {"content-type": self.content_type, "content-encoding": self.encoding}
        return {name: value for name, value in lines.items() if value is not None}


@dataclass(frozen=True)
class Field:
    """A field or item of a body, its schema, and the values that leave it out."""

    place: Place
    schema: Node
    omitted_by: tuple[str | None, ...] = ()


def unreadable(valid: bytes) -> Iterator[Hostile]:
    """Yield every body that is refused whatever the operation."""
    yield from not_json(valid)
    yield from numbers()
    yield from announced_wrongly(valid)


def unfit(valid: Any, schema: Node, *, new: bool, required: bool) -> Iterator[Hostile]:
    """Yield every body that an operation refuses by its schema, derived from `valid`.

    `new`: the body creates an object, so null leaves out an optional field. `required`: so is the
    body, which null leaves out otherwise.
    """
    yield from wrong_as_a_whole(required)
    if follow(schema).get("additionalProperties") is False:
        yield from unknown_fields(valid)
    for number, place in enumerate(places(schema, valid, new=new)):
        yield from bad_text(valid, place, BAD_TEXTS[number % len(BAD_TEXTS)])
        yield from wrong_values(valid, place)


def not_json(valid: bytes) -> Iterator[Hostile]:
    """Yield bodies that are not one JSON document in UTF-8."""
    text = valid.decode()
    for name, content in {
        "an open brace": b"{",
        "a word": b"nope",
        "white space": b" \n\t",
        "single quotes": b"{'a': 1}",
        "a key without quotes": b"{a: 1}",
        "a comma at the end": valid[:-1] + b",}",
        "a comment": b"/* hello */" + valid,
        "a form": b"legal_name=Harbour&email=a%40b.co",
        "XML": b"<a/>",
        "two documents": valid + valid,
        "two documents on two lines": valid + b"\n" + valid,
        "something behind it": valid + b" x",
        "cut short": valid[: len(valid) // 2],
        "the same key twice": valid[:-1] + b', "twice": 1, "twice": 1}',
        "the same key in two spellings": valid[:-1] + b', "twice": 1, "t\\u0077ice": 1}',
        "the same key twice inside": valid[:-1] + b', "in": {"metadata": 1, "metadata": 2}}',
        "invalid UTF-8": valid[:-1] + b', "a": "\xff"}',
        "UTF-8 longer than it needs": valid[:-1] + b', "a": "\xc0\xaf"}',
        "a surrogate in UTF-8": valid[:-1] + b', "a": "\xed\xa0\x80"}',
        "Latin-1": (text[:-1] + ', "a": "caf\xe9"}').encode("latin-1"),
        "UTF-16": text.encode("utf-16"),
        "UTF-16 without a mark": text.encode("utf-16-le"),
        "UTF-32": text.encode("utf-32"),
        "a byte order mark": b"\xef\xbb\xbf" + valid,
        "a raw U+0000": valid[:-1] + b', "a": "\x00"}',
        "a raw line break in a text": valid[:-1] + b', "a": "\n"}',
        "an unknown escape": valid[:-1] + b', "a": "\\x41"}',
        "U+0000 in a key": valid[:-1] + b', "a\\u0000": 1}',
        "a lone surrogate in a key": valid[:-1] + b', "a\\ud800": 1}',
        "lists too deep": b"[" * DEEP + b"]" * DEEP,
        "open lists too deep": b"[" * DEEP,
        "objects too deep": b'{"a":' * DEEP + b"1" + b"}" * DEEP,
        "one level too deep": valid[:-1] + b', "a": ' + b"[" * 33 + b"]" * 33 + b"}",
        "gzip under no name": gzip.compress(valid, mtime=0),
    }.items():
        yield Hostile(name, content)


def numbers() -> Iterator[Hostile]:
    """Yield numbers that JSON does not have, or that most parsers do not read exactly."""
    for number in (
        "NaN", "Infinity", "-Infinity", "9" * 5000, "01", "+1", "1.", ".5", "0x10", "1_000", "--1",
        "1e", *BEYOND,
    ):  # fmt: skip
        shown = number if len(number) < 20 else f"{len(number)} digits"
        for form, field in (('{"a": %s}', "a"), ('{"metadata": {"a": [%s]}}', "metadata.a.0")):
            hostile = Hostile(form % shown, (form % number).encode())
            named = {"codes": ("validation_error",), "field": field}
            yield replace(hostile, **named) if number in BEYOND else hostile


def announced_wrongly(valid: bytes) -> Iterator[Hostile]:
    """Yield valid bodies with a wrong content type."""
    for content_type in (
        None, "", "json", "text/json", "text/plain", "application/xml", "application/json+x",
        "application/problem+json", "application/octet-stream", "*/*",
        "application/json, application/json", "application/json; charset=bogus",
        "application/json; charset=utf-16", 'application/json; charset="iso-8859-1"',
    ):  # fmt: skip
        name = f"announced as {content_type}"
        yield Hostile(name, valid, 415, content_type, ("unsupported_media_type",))
    for encoding in ("gzip", "deflate", "br", "identity", "gzip, gzip", "bogus"):
        content = gzip.compress(valid, mtime=0) if encoding == "gzip" else valid
        yield Hostile(
            f"encoded {encoding}", content, 415, JSON, ("unsupported_media_type",), encoding
        )


def wrong_as_a_whole(required: bool) -> Iterator[Hostile]:
    """Yield JSON that is no object."""
    whole = ("validation_error",)
    for content in (b"[]", b'"text"', b"1", b"true", b"[{}]", *([b"null"] if required else [])):
        yield Hostile(f"not an object: {content.decode()}", content, codes=whole, field="body")


def unknown_fields(valid: Any) -> Iterator[Hostile]:
    """Yield objects with an unknown field."""
    for name in ("nope", "__proto__", "id", "", "a.b", "$ref", "x" * 300, "sent_at ", "Ünïcode"):
        content = json.dumps({**valid, name: 1}).encode()
        yield Hostile(
            f"unknown field {name[:20]!r}",
            content,
            codes=("validation_error",),
            field=name[:64] or "body",
        )


def bad_text(valid: Any, field: Field, text: bytes) -> Iterator[Hostile]:
    """Yield a body with a bad text in a text field.

    All fields read texts alike, so one bad text for each field is enough.
    """
    if field.schema.get("type") == "string":
        marked = json.dumps(changed(valid, field.place, MARK)).encode()
        name = f"{dotted(field.place)} = {text.decode()}"
        yield Hostile(name, marked.replace(MARK.encode(), text))


def wrong_values(valid: Any, field: Field) -> Iterator[Hostile]:
    """Yield bodies with a value of a wrong type or beyond a limit."""
    schema, place = field.schema, field.place
    tried = [*wrong_types(schema), *beyond_limits(schema, at(valid, place))]
    if "type" in schema and not schema.get("nullable"):
        tried.append(None)
    for value in [value for value in tried if value not in field.omitted_by]:
        shown = json.dumps(value)
        yield Hostile(
            f"{dotted(place)} = {shown[:40]}",
            json.dumps(changed(valid, place, value)).encode(),
            codes=("validation_error",),
            field=dotted(place),
        )


def wrong_types(schema: Node) -> list[Any]:
    if "anyOf" in schema:  # A number may be sent as text.
        return [True, {}, [1], "", "abc", "1e3", "NaN", " 1", "+1", "\uff11"]
    return {
        "string": [12345, 1.5, True, {}, ["a"]],
        "integer": ["5", 5.0, 5.5, 1e3, True, {}, [5], ""],
        "number": ["x", True, {}],
        "boolean": ["true", 1, 0, "", {}],
        "array": ["a", 5, {}, {"0": {}}],
        "object": ["a", 5, [], [{}], True],
    }.get(schema.get("type", ""), [])


def beyond_limits(schema: Node, present: Any) -> list[Any]:
    """Return values just beyond each limit, and invalid words, dates and IDs."""
    found: list[Any] = []
    if schema.get("type") == "string":
        found += {
            "uuid": ["x", "{0197f0c6-3d51-7a8b-b1e2-6c4d8e9f0a03}", "0" * 32, ""],
            "date": ["2026-02-30", "2026-1-1", "20260101", "1899-12-31", "2200-01-01", "today", ""],
            "date-time": ["2026-02-30T00:00:00Z", "2026-01-01T00:00:00", "2026-01-01", "0", ""],
            "byte": ["%%%%", "YQ", "YWJj YWJj", "YWJjZA=", "YWJj\u00e9", "____"],
            "email": ["nobody", "a@b@c.de", "a b@c.de", "@", ""],
        }.get(schema.get("format", ""), [])
        if "enum" in schema:
            found += ["nonsense", schema["enum"][0] + " ", ""]
        if "maxLength" in schema:
            found.append("x" * (schema["maxLength"] + 1))
    if schema.get("type") == "integer":
        found += [schema["maximum"] + 1] if schema["maximum"] < MOST_EXACT else []
        found += [schema["minimum"] - 1] if schema["minimum"] > -MOST_EXACT else []
    if schema.get("type") == "array" and present:
        found.append([present[0]] * (schema["maxItems"] + 1))
    return found


def places(schema: Node, value: Any, here: Place = (), *, new: bool) -> Iterator[Field]:
    """Yield each field that a body has or may have, and the fields inside those that it has.

    Items of lists are new, even in changes of an old object.
    """
    schema = follow(schema)
    by_any = (None, "") if "x-blank-is-absent" in schema else (None,)
    for name, part in schema.get("properties", {}).items():
        optional = new and name not in schema.get("required", [])
        yield Field((*here, name), follow(part), by_any if optional else ())
        if isinstance(value, dict) and value.get(name):
            yield from places(part, value[name], (*here, name), new=new)
    if "items" in schema and isinstance(value, list) and value:
        yield Field((*here, 0), follow(schema["items"]))
        yield from places(schema["items"], value[0], (*here, 0), new=True)


def changed(body: Any, place: Place, value: Any) -> Any:
    """Return a copy of a body with another value at a place."""
    body = deepcopy(body)
    here = body
    for key in place[:-1]:
        here = here[key]
    here[place[-1]] = value
    return body


def at(body: Any, place: Place) -> Any:
    for key in place:
        body = body.get(key) if isinstance(body, dict) else body[key]
    return body


def dotted(place: Place) -> str:
    return ".".join(map(str, place))


def with_nulls(value: Any, schema: Node) -> Any:
    """Return a new object as generated clients send it: null in each field without a value.

    A field that is `nullable` stays absent, since null may have a meaning there.
    """
    schema = follow(schema)
    if isinstance(value, list):
        return [with_nulls(item, schema.get("items", {})) for item in value]
    if not isinstance(value, dict):
        return value
    properties = {name: follow(part) for name, part in schema.get("properties", {}).items()}
    nulls = {name: None for name, part in properties.items() if is_omitted_by_null(part)}
    given = {name: with_nulls(item, properties.get(name, {})) for name, item in value.items()}
    return {**nulls, **given}


def is_omitted_by_null(schema: Node) -> bool:
    """Return whether null leaves out an optional field of a new object."""
    return bool(schema.keys() & {"type", "anyOf"}) and not schema.get("nullable")
