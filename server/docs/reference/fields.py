"""Schemas of the contract in words: the type, constraints and nested fields of a value."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from server.contract.document import follow

Schema = Mapping[str, Any]

PREFIX: Final = "#/components/"
ANYTHING: Final = "any JSON"
SAFE_INTEGER: Final = 2**53 - 1
CHOICES_SHOWN: Final = 16
PATTERN_SHOWN_CHARACTERS: Final = 48
# No text may contain U+0000; repeating that for each field would hide the differences.
PATTERN_OF_ANY_TEXT: Final = r"^[^\u0000]*$"
FORMATS: Final = frozenset({"uuid", "date", "date-time", "email", "uri", "binary", "byte"})
COUNTED: Final = (
    ("minLength", "maxLength", "character"),
    ("minItems", "maxItems", "item"),
    ("minProperties", "maxProperties", "field"),
)


@dataclass(frozen=True, slots=True)
class Field:
    """A row of a description; `link` names the detailed schema, `inner` has the nested fields."""

    name: str
    kind: str
    link: str | None
    required: bool
    facts: tuple[str, ...]
    choices: tuple[str, ...]
    text: str
    inner: tuple["Field", ...]


class Describer:
    """A reader of the schemas of one document."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        self.document = document

    def follow(self, node: Mapping[str, Any]) -> dict[str, Any]:
        """Return the target of a `$ref`, or the node itself."""
        return follow(self.document, node)

    def parameters(self, item: Mapping[str, Any], operation: Mapping[str, Any]) -> list[Any]:
        """List the parameters of an operation, those of its path first."""
        named = (*item.get("parameters", ()), *operation.get("parameters", ()))
        return [self.follow(parameter) for parameter in named]

    def shape(self, schema: Schema) -> dict[str, Any]:
        """Return a schema as one flat object: references followed, the parts of `allOf` merged."""
        schema = self.follow(schema)
        own = {name: value for name, value in schema.items() if name != "allOf"}
        flat: dict[str, Any] = {}
        for part in (*map(self.shape, schema.get("allOf", ())), own):
            properties = {**flat.get("properties", {}), **part.get("properties", {})}
            required = [*flat.get("required", ()), *part.get("required", ())]
            flat |= {**part, "properties": properties, "required": required}
        return flat

    def fields(self, schema: Schema) -> tuple[Field, ...]:
        """Describe the properties of an object.

        Request objects are closed, and their required fields are marked. In responses nearly all
        fields are always present, so the optional ones are marked.
        """
        shape = self.shape(schema)
        required = frozenset(shape.get("required", ()))
        closed = shape.get("additionalProperties") is False
        fields = []
        for name, part in shape.get("properties", {}).items():
            field = self.field(name, part, required=closed and name in required)
            if not closed and name not in required:
                field = replace(field, facts=("not always there", *field.facts))
            fields.append(field)
        return tuple(fields)

    def field(self, name: str, schema: Schema, *, required: bool) -> Field:
        """Describe one property or parameter."""
        shape = self.shape(schema)
        kind, link = self.kind(schema)
        choices = tuple(str(choice) for choice in self.innermost(schema).get("enum", ()))
        return Field(
            name=name,
            kind=kind,
            link=link,
            required=required,
            facts=tuple(facts(shape)),
            choices=choices if link is None or len(choices) <= CHOICES_SHOWN else (),
            text=shape.get("description", ""),
            inner=self.inner(schema),
        )

    def kind(self, schema: Schema) -> tuple[str, str | None]:
        """Return the type in words, and the schema with details: `("array of", "LineItem")`."""
        name = name_of(schema)
        shape = self.shape(schema)
        if shape.get("type") == "array":
            words, link = self.kind(shape.get("items", {}))
            return f"array of {words}", name or link
        if variants := alternatives(shape):
            words = " or ".join(dict.fromkeys(self.kind(variant)[0] for variant in variants))
            return words, name
        words = str(shape.get("type", ANYTHING))
        if isinstance(shape.get("additionalProperties"), Mapping):
            of, link = self.kind(shape["additionalProperties"])
            return f"object of {of}", name or link
        if words == "string" and shape.get("format") in FORMATS:
            words = str(shape["format"])
        return words, name

    def inner(self, schema: Schema) -> tuple[Field, ...]:
        """Describe the fields inside a value, unless its schema has a page of its own."""
        if name_of(schema) is not None:
            return ()
        shape = self.shape(schema)
        if variants := alternatives(shape):
            return tuple(
                self.field(name_of(part) or f"variant {number}", part, required=False)
                for number, part in enumerate(variants, start=1)
                if self.shape(part).get("properties")
            )
        if shape.get("type") == "array":
            return self.inner(shape.get("items", {}))
        return self.fields(shape)

    def innermost(self, schema: Schema) -> dict[str, Any]:
        """Return the shape of a value, or of the items if it is a list."""
        shape = self.shape(schema)
        return self.innermost(shape["items"]) if "items" in shape else shape


def alternatives(shape: Schema) -> tuple[Schema, ...]:
    """Return the alternative shapes of a value; none for an object that only adds rules."""
    if shape.get("properties"):
        return ()
    return tuple(shape.get("oneOf", shape.get("anyOf", ())))


def name_of(schema: Schema) -> str | None:
    """Return the name of the schema that this one only refers to, also by an `allOf` of one."""
    parts = schema.get("allOf", ())
    if len(parts) == 1 and "properties" not in schema:
        return name_of(parts[0])
    reference = str(schema.get("$ref", ""))
    start = f"{PREFIX}schemas/"
    return reference.removeprefix(start) if reference.startswith(start) else None


def facts(shape: Schema) -> Iterator[str]:
    """Yield the constraints on a value in a few words each: `1 to 255 characters`."""
    if shape.get("nullable"):
        yield "or null"
    yield from interval(shape)
    for least, most, counted in COUNTED:
        if words := span(shape.get(least, 0), shape.get(most)):
            unit = "byte" if shape.get("format") == "binary" else counted
            yield f"{words} {unit}{'' if words == '1' else 's'}"
    if "x-max-bytes" in shape:
        yield f"up to {shape['x-max-bytes']:,} bytes"
    pattern = shape.get("pattern", PATTERN_OF_ANY_TEXT)
    if "x-pattern-message" in shape:
        yield str(shape["x-pattern-message"])
    elif pattern != PATTERN_OF_ANY_TEXT and len(pattern) <= PATTERN_SHOWN_CHARACTERS:
        yield f"matches `{pattern}`"
    if "default" in shape:
        yield f"default `{as_written(shape['default'])}`"


def interval(shape: Schema) -> Iterator[str]:
    """Yield the bounds of a number; the bounds of safe integers are omitted."""
    least, most = shape.get("minimum"), shape.get("maximum")
    least = None if least == -SAFE_INTEGER else least
    most = None if most == SAFE_INTEGER else most
    above = shape.get("exclusiveMinimum", False)
    if least is not None and most is not None and not above:
        yield f"{grouped(least)} to {grouped(most)}"
        return
    if least is not None:
        yield f"{'more than' if above else 'at least'} {grouped(least)}"
    if most is not None:
        yield f"at most {grouped(most)}"


def span(least: int, most: int | None) -> str:
    """Return the bounds of a count in words; empty if there are none."""
    if most is None:
        return f"at least {grouped(least)}" if least else ""
    if least == most:
        return grouped(most)
    return f"{grouped(least)} to {grouped(most)}" if least else f"up to {grouped(most)}"


def grouped(number: float) -> str:
    """Format a number with thousands separators, unless it could be a year."""
    return f"{number:,}" if number >= 10_000 else str(number)


def as_written(value: Any) -> str:
    """Return a value as JSON, a text without its quotes."""
    return value if isinstance(value, str) else json.dumps(value)
