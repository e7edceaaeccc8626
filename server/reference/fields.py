"""Schemas of the contract in words: what a field is, what it may hold, what stands inside it."""

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from accounting.values import dataclass, replace

Schema = Mapping[str, Any]

PREFIX: Final = "#/components/"
ANYTHING: Final = "any JSON"
SAFE_INTEGER: Final = 2**53 - 1
CHOICES_SHOWN: Final = 16
PATTERN_SHOWN_CHARACTERS: Final = 48
# Every text refuses U+0000; saying so at each of them would hide what differs.
PATTERN_OF_ANY_TEXT: Final = r"^[^\u0000]*$"
FORMATS: Final = frozenset({"uuid", "date", "date-time", "email", "uri", "binary", "byte"})
COUNTED: Final = (
    ("minLength", "maxLength", "character"),
    ("minItems", "maxItems", "item"),
    ("minProperties", "maxProperties", "field"),
)


@dataclass(frozen=True, slots=True)
class Field:
    """One line of a description; `link` names the schema that tells more, `inner` stands below."""

    name: str
    kind: str
    link: str | None
    required: bool
    facts: tuple[str, ...]
    choices: tuple[str, ...]
    text: str
    inner: tuple["Field", ...]


class Describer:
    """Read schemas of one document."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        self.document = document

    def follow(self, node: Any) -> Any:
        """Return what a `$ref` points at, or the node itself."""
        while isinstance(node, Mapping) and "$ref" in node:
            reference = node["$ref"]
            node = self.document
            for step in reference.removeprefix("#/").split("/"):
                node = node[step.replace("~1", "/").replace("~0", "~")]
        return node

    def parameters(self, item: Mapping[str, Any], operation: Mapping[str, Any]) -> list[Any]:
        """List the parameters of an operation, those first that its path has."""
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

        What is sent is closed, and what it must have is marked; in an answer nearly everything is
        always there, and what may be missing is marked.
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
        """Name the type in words, and the schema that tells more: `("array of", "LineItem")`."""
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
        """Describe what stands inside a value, unless it has a name and a place of its own."""
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
        """Return the shape of a value, or of the items when it is a list of them."""
        shape = self.shape(schema)
        return self.innermost(shape["items"]) if "items" in shape else shape


def alternatives(shape: Schema) -> tuple[Schema, ...]:
    """Give the shapes a value may have instead of one; an object that only adds rules has none."""
    if shape.get("properties"):
        return ()
    return tuple(shape.get("oneOf", shape.get("anyOf", ())))


def name_of(schema: Schema) -> str | None:
    """Name the schema which this one only points at, also from within an `allOf` of one part."""
    parts = schema.get("allOf", ())
    if len(parts) == 1 and "properties" not in schema:
        return name_of(parts[0])
    reference = str(schema.get("$ref", ""))
    start = f"{PREFIX}schemas/"
    return reference.removeprefix(start) if reference.startswith(start) else None


def facts(shape: Schema) -> Iterator[str]:
    """Say what a value may be, in a few words each: `1 to 255 characters`."""
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
    """Say between which numbers a value lies; the ends of the safe integers go without saying."""
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
    """Say how many of something there may be; nothing when any number will do."""
    if most is None:
        return f"at least {grouped(least)}" if least else ""
    if least == most:
        return grouped(most)
    return f"{grouped(least)} to {grouped(most)}" if least else f"up to {grouped(most)}"


def grouped(number: float) -> str:
    """Write a number with its digits in threes, unless it could be a year."""
    return f"{number:,}" if number >= 10_000 else str(number)


def as_written(value: Any) -> str:
    """Write a value as JSON writes it, a text without its quotes."""
    return value if isinstance(value, str) else json.dumps(value)
