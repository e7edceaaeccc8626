"""A sample call of an operation, read from the contract and independent of language."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from server.docs.reference.fields import Describer, Field, as_written
from server.docs.reference.smallest_bodies import SmallestBodies
from server.docs.reference.text import indented

JSON: Final = "application/json"
FORM: Final = "application/x-www-form-urlencoded"
MULTIPART: Final = "multipart/form-data"
ANY_TYPE: Final = "application/octet-stream"
VARIABLE: Final = re.compile(r"\{(\w+)\}")
TOKENS: Final = {"PartnerToken": "TOKEN", "BusinessToken": "BUSINESS_TOKEN"}
PREFERRED: Final = ("PartnerToken", "PartnerKey", "BusinessToken")


@dataclass(frozen=True, slots=True)
class Entry:
    """A form field that a page lets the user fill in, with the value of the smallest body.

    Each line of a list is a value. A file has content types, that of the example first.
    """

    field: Field
    value: str
    is_list: bool
    file_types: str


@dataclass(frozen=True, slots=True)
class Form:
    """A body that a page can send: as JSON, or with an entry for each field."""

    media_type: str
    body: Any
    entries: tuple[Entry, ...]


@dataclass(frozen=True, slots=True)
class Call:
    """A sample call, with the first content type of its operation and the smallest body.

    `media_type` is None if nothing must be sent.
    """

    method: str
    path: str
    scheme: str | None
    repeatable: bool
    media_type: str | None
    body: Any
    files: tuple[str, ...]
    answers_json: bool
    forms: tuple[Form, ...]

    @property
    def token(self) -> str | None:
        """The name of the variable with the token, if a token is sent."""
        return TOKENS.get(self.scheme or "")

    @property
    def variables(self) -> list[str]:
        """The names of the variables in the path."""
        return VARIABLE.findall(self.path)

    def parts(self) -> Iterator[tuple[str, str]]:
        """Yield the fields of a form as text; a list of texts is a repeated field."""
        for name, value in self.body.items():
            if name not in self.files:
                for each in value if isinstance(value, list) else [value]:
                    yield name, as_written(each)


def read_call(
    path: str,
    method: str,
    item: Mapping[str, Any],
    describer: Describer,
    smallest: SmallestBodies,
) -> Call:
    """Read a call of an operation from the contract."""
    operation = item[method]
    schemes = {name for requirement in operation.get("security", ()) for name in requirement}
    parameters = describer.parameters(item, operation)
    request = describer.follow(operation.get("requestBody", {}))
    contents = request.get("content", {})
    bodies = {
        name: smallest.of(method, content["schema"], dict(examples(content, describer)))
        for name, content in contents.items()
    }
    media_type = next(iter(bodies), None)  # The sample uses the first content type.
    body = bodies.get(media_type, {})
    return Call(
        method=method.upper(),
        path=path,
        scheme=next((name for name in PREFERRED if name in schemes), None),
        repeatable="Idempotency-Key" in {each["name"] for each in parameters},
        media_type=media_type if body or request.get("required") else None,
        body=body,
        files=tuple(
            name for name in files_of(contents.get(media_type, {}), describer) if name in body
        ),
        answers_json=any(
            JSON in describer.follow(answer).get("content", {})
            for status, answer in operation["responses"].items()
            if str(status).startswith("2")
        ),
        forms=tuple(
            form_of(name, content, bodies[name], describer)
            for name, content in contents.items()
            if name == media_type or files_of(content, describer)
        ),
    )


def form_of(media_type: str, content: Mapping[str, Any], body: Any, describer: Describer) -> Form:
    """Read the form of a body for one content type, filled in with this body."""
    fields = () if media_type == JSON else describer.fields(content["schema"])
    types = content.get("encoding", {})
    return Form(
        media_type=media_type,
        body=body,
        entries=tuple(entry_of(each, body.get(each.name, ""), types) for each in fields),
    )


def entry_of(field: Field, value: Any, types: Mapping[str, Any]) -> Entry:
    """Build the entry of one form field."""
    values = value if isinstance(value, list) else [value]
    write = indented if isinstance(value, Mapping) else as_written
    is_file = field.kind == "binary"
    return Entry(
        field=field,
        value="\n".join(map(write, values)),
        is_list=field.kind.startswith("array"),
        file_types=types.get(field.name, {}).get("contentType", ANY_TYPE) if is_file else "",
    )


def files_of(content: Mapping[str, Any], describer: Describer) -> tuple[str, ...]:
    """Return the names of the fields of a body that are files."""
    fields = describer.shape(content.get("schema", {}))["properties"]
    return tuple(
        name for name, field in fields.items() if describer.shape(field).get("format") == "binary"
    )


def examples(content: Mapping[str, Any], describer: Describer) -> Iterator[tuple[str, Any]]:
    """Yield the examples of a content type by name."""
    for name, example in content.get("examples", {}).items():
        yield name, describer.follow(example).get("value")
    if "example" in content:
        yield "example", content["example"]
