"""Bad forms, urlencoded and multipart, are refused like bad JSON, and nothing is stored."""

import gzip
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from tests.contract.document import Operation, bodies, follow
from tests.contract.each import each_taking
from tests.contract.valid_requests import MULTIPART, URLENCODED, Story, file_fields, text_of
from tests.partner import Partner

BOUNDARY = "frontier"
NOT_WHOLE = ["+5", "5.0", " 5", "1e3", "0x5", "\u0665", "5,0", "--5", "9" * 30, "", "true", "null"]
# A field of a form: text, or the bytes of a file.
Field = tuple[str, str | bytes]
Fields = dict[str, str | bytes]
NO_DOCUMENTS = {
    "a page": b"<!DOCTYPE html><html><script>alert(1)</script></html>",
    "a drawing": b"<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>",
    "an archive": b"PK\x03\x04" + bytes(60),
    "a program": b"MZ" + bytes(60),
    "JSON": b'{"a": 1}',
    "nothing we know": bytes(range(256)),
    "entities": b"<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>",
}


@dataclass(frozen=True)
class HostileForm:
    name: str
    content: bytes
    content_type: str
    status: int = 400
    encoding: str | None = None


def urlencoded(fields: Iterable[Field]) -> bytes:
    return "&".join(f"{quote(name)}={quote(value)}" for name, value in fields).encode()


def part(head: str, value: bytes) -> bytes:
    line = f"Content-Disposition: form-data{head}"
    return f"--{BOUNDARY}\r\n{line}\r\n\r\n".encode() + value + b"\r\n"


def multipart(fields: Iterable[Field], *more: bytes) -> bytes:
    parts = [
        part(f'; name="{name}"', value.encode())
        if isinstance(value, str)
        else part(f'; name="{name}"; filename="paper.pdf"', value)
        for name, value in fields
    ]
    return b"".join([*parts, *more]) + f"--{BOUNDARY}--\r\n".encode()


def hostile_fields(
    operation: Operation, content_type: str, valid: Fields
) -> Iterator[tuple[str, list[Field]]]:
    """Yield sets of fields that are invalid in either kind of form."""
    whole = follow(bodies(operation)[content_type]["schema"])
    closed = whole["additionalProperties"] is False
    rest: list[Field] = [*valid.items()]
    if closed:
        yield "unknown field", [*rest, ("nope", "1")]
        yield "field of an object", [*rest, ("metadata.plan", "growth")]
        yield "no name", [*rest, ("", "1")]
        yield "unknown field twice", [*rest, ("nope", "1"), ("nope", "1")]
    yield "too many fields", [*rest, *[("nope", "1")] * 1001]
    for name, node in whole["properties"].items():
        schema, optional = follow(node), name not in whole.get("required", [])
        others = [field for field in rest if field[0] != name]
        value = valid.get(name, b"%PDF-1.7" if schema.get("format") == "binary" else "1")
        if schema.get("type") != "array":
            yield f"{name} twice", [*others, (name, value), (name, value)]
        if schema.get("type") != "array" and closed:
            yield f"{name}[] as a list", [*others, (f"{name}[]", value)]
        omitted = {"null"} if optional and operation.method == "post" else set()
        omitted |= {""} if optional and not closed else set()
        for wrong in wrong_texts(schema):
            if wrong not in omitted:
                yield f"{name}={wrong[:30]}", [*others, (name, wrong)]
        if schema.get("type") in ("array", "object"):
            for nested in (f"{name}[0][amount_cents]", f"{name}.0.amount_cents", f"{name}[]"):
                yield nested, [*others, (nested, "5")]


def wrong_texts(schema: dict[str, Any]) -> list[str]:
    """Return texts that a field does not accept."""
    kind = schema.get("type")
    if kind == "integer":
        return [each for each in NOT_WHOLE if not (each == "null" and schema.get("nullable"))]
    no_json = ["plan", '{"a": 1', '{"a": 1, "a": 2}', '{"a": NaN}', '{"a":' * 10_000]
    if kind == "object":
        return ["[]", "1", *no_json]
    if not {"type", "allOf", "enum"} & schema.keys():
        return no_json
    if kind == "array" and follow(schema["items"]).get("type") == "object":
        sample = '{"invoice_id": "0197f0c8-62f4-7b9c-9d37-1a2b3c4d5e04", "amount_cents": %s}'
        whole = [f"[{sample % number}]" for number in ("5.0", '"5"', "NaN", "1e400", "null")]
        return [*whole, "x", "[", "[[]]", '{"0": {}}', "[" * 10_000, "null", "[1]"]
    if "enum" in schema:
        return ["nonsense", ""]
    if schema.get("format") == "binary":
        return ["%PDF-1.7", ""]
    wrong_formats = {"uuid": ["x", ""], "date": ["2026-02-30", "1.1.2026", ""]}
    wrong_formats["date-time"] = ["2026-02-30T00:00:00Z", "2026-01-01", "0", ""]
    return wrong_formats.get(schema.get("format", ""), [])


def hostile_urlencoded(operation: Operation, valid: Fields) -> Iterator[HostileForm]:
    good = urlencoded(valid.items())
    for name, fields in hostile_fields(operation, URLENCODED, valid):
        yield HostileForm(name, urlencoded(fields), URLENCODED)
    for name, tail in {
        "half an escape": b"&nope=%", "no escape": b"&nope=%zz", "not UTF-8": b"&nope=%ff",
        "a surrogate": b"&nope=%ed%a0%80", "U+0000": b"&nope=%00", "raw bytes": b"&nope=\xff",
        "U+0000 in a name": b"&no%00pe=1",
    }.items():  # fmt: skip
        yield HostileForm(name, good + tail, URLENCODED)
    yield HostileForm("JSON in it", b'{"a": "b"}', URLENCODED)
    yield HostileForm("multipart in it", multipart(valid.items()), URLENCODED)
    yield HostileForm("other charset", good, f"{URLENCODED}; charset=utf-16", 415)
    yield HostileForm("gzip", gzip.compress(good, mtime=0), URLENCODED, 415, "gzip")


def hostile_multipart(operation: Operation, valid: Fields) -> Iterator[HostileForm]:
    good, announced = multipart(valid.items()), f"{MULTIPART}; boundary={BOUNDARY}"
    for name, fields in hostile_fields(operation, MULTIPART, valid):
        yield HostileForm(name, multipart(fields), announced)
    for content_type in (MULTIPART, f"{MULTIPART}; boundary=", f'{MULTIPART}; boundary=""'):
        yield HostileForm(f"announced as {content_type}", good, content_type)
    yield HostileForm("another boundary", good, f"{MULTIPART}; boundary=other")
    yield HostileForm("very long boundary", good, f"{MULTIPART}; boundary={'b' * 3000}")
    for length in (1, 5, len(BOUNDARY) + 4, len(good) // 2, len(good) - 4, len(good) - 6):
        yield HostileForm(f"cut after {length} bytes", good[:length], announced)
    first = next(name for name, value in valid.items() if isinstance(value, str))
    if follow(bodies(operation)[MULTIPART]["schema"])["additionalProperties"] is False:
        for name, file in {"an unknown part": "", "a file": '; filename="a.pdf"'}.items():
            more = part(f'; name="nope"{file}', b"%PDF-")
            yield HostileForm(name, multipart(valid.items(), more), announced)
    for name, more in {
        "a part without a name": part("", b"x"),
        "a part that is not UTF-8": part(f'; name="{first}"', b"\xff"),
        "a surrogate": part('; name="nope"', b"\xed\xa0\x80"),
        "U+0000": part('; name="nope"', b"\x00"),
        "a file for a text": part(f'; name="{first}"; filename="a.txt"', b"x"),
        "a part without headers": f"--{BOUNDARY}\r\n\r\nx\r\n".encode(),
    }.items():
        yield HostileForm(name, multipart(valid.items(), more), announced)
    yield HostileForm("JSON in it", b'{"a": "b"}', announced)
    yield from hostile_files(operation, valid)
    yield HostileForm("gzip", gzip.compress(good, mtime=0), announced, 415, "gzip")


def hostile_files(operation: Operation, valid: Fields) -> Iterator[HostileForm]:
    """Yield forms with a file that is not accepted."""
    announced = f"{MULTIPART}; boundary={BOUNDARY}"
    for name in sorted(file_fields(operation)):
        for kind, content in NO_DOCUMENTS.items():
            fields = {**valid, name: content}
            yield HostileForm(f"{name}: {kind}", multipart(fields.items()), announced, 415)
        for kind, more in {
            "with a name that is no text": part(
                f'; name="{name}"; filename="a.pdf"', b"%PDF-1.7"
            ).replace(b"a.pdf", b"\xff"),
            "empty": part(f'; name="{name}"; filename="a.pdf"', b""),
            "without a name for it": part(f'; name="{name}"', b"%PDF-1.7"),
        }.items():
            others = {other: value for other, value in valid.items() if other != name}
            yield HostileForm(f"{name}: {kind}", multipart(others.items(), more), announced)


class TestForm:
    def fields(self, story: Story, operation: Operation, content_type: str) -> Fields:
        files = file_fields(operation) if content_type == MULTIPART else set()
        told = story.body(operation, content_type)
        return {
            name: value.encode() if name in files else text_of(value)
            for name, value in told.items()
        }

    def wrongly_answered(
        self, story: Story, operation: Operation, hostile: Iterable[HostileForm]
    ) -> list[str]:
        request, found = story.request(operation), []
        for each in hostile:
            headers = {"content-type": each.content_type}
            headers |= {"content-encoding": each.encoding} if each.encoding else {}
            answer = request.send(content=each.content, headers=headers)
            if answer.status_code != each.status:
                found.append(f"{each.name}: {answer.status_code} {answer.text[:200]}")
        return found

    @each_taking(URLENCODED)
    def test_urlencoded_is_refused_in_every_bad_form(
        self, operation: Operation, story: Story, nothing_kept: None
    ) -> None:
        hostile = [*hostile_urlencoded(operation, self.fields(story, operation, URLENCODED))]
        assert len(hostile) > 11
        assert self.wrongly_answered(story, operation, hostile) == []

    @each_taking(MULTIPART)
    def test_multipart_is_refused_in_every_bad_form(
        self, operation: Operation, story: Story, nothing_kept: None
    ) -> None:
        hostile = [*hostile_multipart(operation, self.fields(story, operation, MULTIPART))]
        assert len(hostile) > 20
        assert self.wrongly_answered(story, operation, hostile) == []

    @each_taking(URLENCODED)
    def test_urlencoded_is_taken_with_lists_and_objects_as_json_text(
        self, operation: Operation, rival: Partner
    ) -> None:
        story = Story.begin(rival)
        fields = self.fields(story, operation, URLENCODED)
        assert story.request(operation).send(data=fields).status_code == 200

    @each_taking(MULTIPART)
    def test_multipart_is_taken_with_lists_and_objects_as_json_text(
        self, operation: Operation, rival: Partner
    ) -> None:
        story = Story.begin(rival)
        fields = self.fields(story, operation, MULTIPART)
        headers = {"content-type": f"Multipart/Form-Data; boundary={BOUNDARY}"}
        answer = story.request(operation).send(content=multipart(fields.items()), headers=headers)
        assert answer.status_code == (201 if "201" in operation.node["responses"] else 200)
