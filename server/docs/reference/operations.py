"""The operations of the contract, each with the data of its page."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from markupsafe import Markup, escape

from server.docs.reference.calls import JSON, Call, examples, read_call
from server.docs.reference.codes import ErrorCode, codes_of
from server.docs.reference.fields import Describer, Field
from server.docs.reference.languages import curl, python, typescript
from server.docs.reference.smallest_bodies import NAMED, SmallestBodies
from server.docs.reference.text import path_markup, pretty, slug

METHODS: Final = frozenset({"get", "post", "put", "patch", "delete"})
LANGUAGES: Final = (("curl", curl), ("Python", python), ("TypeScript", typescript))
PLACES: Final = (("path", "In the path"), ("query", "In the query"), ("header", "In the headers"))


@dataclass(frozen=True, slots=True)
class Body:
    """A request body: the content types that share one schema."""

    media_types: tuple[str, ...]
    link: str | None
    fields: tuple[Field, ...]


@dataclass(frozen=True, slots=True)
class DocumentedAnswer:
    """A documented response."""

    status: str
    text: str
    link: str | None


@dataclass(frozen=True, slots=True)
class Sample:
    """A block of code next to an operation; `shown` if it is expanded."""

    title: str
    code: Markup
    shown: bool = False


@dataclass(frozen=True, slots=True)
class OperationEntry:
    """An operation with the data of its page."""

    name: str
    method: str
    path: str
    shown_path: Markup
    summary: str
    text: str
    schemes: tuple[str, ...]
    parameters: tuple[tuple[str, tuple[Field, ...]], ...]
    bodies: tuple[Body, ...]
    answers: tuple[DocumentedAnswer, ...]
    codes: tuple[ErrorCode, ...]
    events: tuple[str, ...]
    call: Call
    samples: tuple[Sample, ...]


@dataclass(frozen=True, slots=True)
class Chapter:
    """A tag with its operations."""

    name: str
    anchor: str
    text: str
    operations: tuple[OperationEntry, ...]


def chapters(
    document: Mapping[str, Any], codes: Mapping[str, ErrorCode], describer: Describer
) -> Iterator[Chapter]:
    """Yield the tags in their own order, each with its operations in the order of the paths."""
    smallest = SmallestBodies(document)
    entries: dict[str, list[OperationEntry]] = {tag["name"]: [] for tag in document["tags"]}
    for path, item in document["paths"].items():
        for method in item:
            if method in METHODS:
                call = read_call(path, method, item, describer, smallest)
                entry = operation_entry(call, method, item, codes, describer)
                entries[item[method]["tags"][0]].append(entry)
    for tag in document["tags"]:
        name = tag["name"]
        yield Chapter(name, f"tag-{slug(name)}", tag.get("description", ""), tuple(entries[name]))


def operation_entry(
    call: Call,
    method: str,
    item: Mapping[str, Any],
    codes: Mapping[str, ErrorCode],
    describer: Describer,
) -> OperationEntry:
    """Collect the data of an operation's page."""
    operation = item[method]
    parameters = describer.parameters(item, operation)
    return OperationEntry(
        name=operation["operationId"],
        method=call.method,
        path=call.path,
        shown_path=path_markup(call.path),
        summary=operation.get("summary", operation["operationId"]),
        text=operation.get("description", ""),
        schemes=tuple(
            scheme for requirement in operation.get("security", ()) for scheme in requirement
        ),
        parameters=tuple(
            (title, fields)
            for place, title in PLACES
            if (fields := parameter_fields(parameters, place, describer))
        ),
        bodies=tuple(request_bodies(operation, describer)),
        answers=tuple(documented_answers(operation, describer)),
        codes=tuple(codes_of(operation, parameters, codes, describer)),
        events=tuple(operation.get("x-events", ())),
        call=call,
        samples=tuple(samples(call, operation, describer)),
    )


def parameter_fields(
    parameters: list[Mapping[str, Any]], place: str, describer: Describer
) -> tuple[Field, ...]:
    """Describe the parameters of one place."""
    return tuple(parameter_field(each, describer) for each in parameters if each["in"] == place)


def parameter_field(parameter: Mapping[str, Any], describer: Describer) -> Field:
    """Describe one parameter; a deprecation comes first."""
    field = describer.field(
        parameter["name"],
        {**describer.shape(parameter["schema"]), "description": parameter["description"]}
        if "description" in parameter
        else parameter["schema"],
        required=parameter.get("required", False),
    )
    told = parameter.get("x-deprecated")
    return field if told is None else replace(field, facts=(deprecated(told), *field.facts))


def deprecated(told: Mapping[str, str]) -> str:
    """Return the text of a deprecation: its start, and its end if there is one."""
    end = f", ends on {told['until']}" if "until" in told else ""
    return f"deprecated since {told['since']}{end}"


def request_bodies(operation: Mapping[str, Any], describer: Describer) -> Iterator[Body]:
    """Describe the request bodies, content types with one schema together."""
    body = describer.follow(operation.get("requestBody", {}))
    grouped: dict[str, tuple[list[str], Mapping[str, Any]]] = {}
    for media_type, content in body.get("content", {}).items():
        schema = content.get("schema", {})
        grouped.setdefault(repr(schema), ([], schema))[0].append(media_type)
    for media_types, schema in grouped.values():
        yield Body(
            media_types=tuple(media_types),
            link=describer.kind(schema)[1],
            fields=describer.fields(schema),
        )


def documented_answers(
    operation: Mapping[str, Any], describer: Describer
) -> Iterator[DocumentedAnswer]:
    """Describe every response that the contract lists."""
    for status, reference in operation["responses"].items():
        answer = describer.follow(reference)
        schemas = [content.get("schema", {}) for content in answer.get("content", {}).values()]
        yield DocumentedAnswer(
            status="other" if status == "default" else str(status),
            text=answer.get("description", ""),
            link=describer.kind(schemas[0])[1] if schemas else None,
        )


def samples(call: Call, operation: Mapping[str, Any], describer: Describer) -> Iterator[Sample]:
    """Yield the call in each language, the bodies with more fields, and the success responses."""
    for language, write in LANGUAGES:
        yield Sample(language, escape(write(call)), shown=write is curl)
    yield from fuller_bodies(call, operation, describer)
    for status, reference in operation["responses"].items():
        if str(status).startswith("2"):
            content = describer.follow(reference).get("content", {}).get(JSON, {})
            shown = list(examples(content, describer))
            for name, value in shown:
                title = f"{status}: {words(name)}" if len(shown) > 1 else str(status)
                yield Sample(title, pretty(value), shown=value is shown[0][1])


def fuller_bodies(
    call: Call, operation: Mapping[str, Any], describer: Describer
) -> Iterator[Sample]:
    """Yield the other examples of the body: JSON alone, a form as a call."""
    contents = describer.follow(operation.get("requestBody", {})).get("content", {})
    media_type = next(iter(contents), "")
    found = [
        (name, body)
        for name, body in examples(contents.get(media_type, {}), describer)
        if name != NAMED and body != call.body
    ]
    for name, body in found:
        as_form = replace(call, media_type=media_type, body=body)
        code = pretty(body) if media_type == JSON else escape(curl(as_form))
        yield Sample(f"More fields: {words(name)}" if len(found) > 1 else "More fields", code)


def words(name: str) -> str:
    """Convert the name of an example to words."""
    return name.replace("_", " ")
