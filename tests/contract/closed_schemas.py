"""The contract's schemas as answers are held against them: exact, and closed.

An answer may hold nothing that its schema does not tell about, unless the schema says that it is
open. An object put together by `allOf` is closed as a whole, which needs JSON Schema 2020-12.
"""

from functools import cache
from typing import Any

from jsonschema_rs import Draft202012Validator

from tests.contract.document import Node, document, follow

Validator = Draft202012Validator

COPIED = frozenset(
    {
        "type", "enum", "format", "pattern", "minLength", "maxLength", "multipleOf", "minimum",
        "maximum", "minItems", "maxItems", "uniqueItems", "required", "minProperties",
        "maxProperties",
    }
)  # fmt: skip
COMBINED = ("allOf", "anyOf", "oneOf")
# Stricter than the formats themselves: the server writes every one in one spelling only.
SPELLINGS = {
    "uuid": "^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$",
    "date-time": "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}(\\.[0-9]{6})?Z$",
}


class Whole:
    """A number without a fraction, written without one: `5.0` is no integer of ours."""

    def __init__(self, _schema: Node, _value: Any, _path: list[str | int]) -> None:
        pass

    def validate(self, instance: Any) -> None:
        if isinstance(instance, float):
            raise ValueError(f"{instance} is not written as an integer")


def validator(schema: Node) -> Validator:
    """Compile a schema of the contract with everything that it reaches."""
    return compile_closed(Frozen(schema))


class Frozen:
    """A schema by identity, so that it can be the key of a cache."""

    def __init__(self, schema: Node) -> None:
        self.schema = schema

    def __hash__(self) -> int:
        return id(self.schema)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Frozen) and self.schema is other.schema


@cache
def compile_closed(frozen: Frozen) -> Validator:
    root = closed(frozen.schema)
    return Draft202012Validator(
        {**root, "$defs": definitions(root)}, validate_formats=True, keywords={"whole": Whole}
    )


def definitions(root: Node) -> Node:
    """The components a schema reaches, each in the forms that it is reached in."""
    found: Node = {}
    waiting = references(root)
    while waiting:
        reference = waiting.pop()
        key = reference.removeprefix("#/$defs/")
        if key not in found:
            form, _, name = key.partition("-")
            schema = document()["components"]["schemas"][name]
            found[key] = closed(schema) if form == "closed" else opened(schema)
            waiting |= references(found[key])
    return found


def references(node: Any) -> set[str]:
    if isinstance(node, list):
        return set().union(*map(references, node)) if node else set()
    if not isinstance(node, dict):
        return set()
    if isinstance(node.get("$ref"), str):
        return {node["$ref"]}
    return set().union(*map(references, node.values())) if node else set()


def closed(schema: Node) -> Node:
    """Convert a schema; where it describes an object, that object has no other fields."""
    if "$ref" in schema:
        return {"$ref": f"#/$defs/closed-{schema['$ref'].rpartition('/')[2]}"}
    found = opened(schema)
    if describes_fields(schema) and not is_open(schema):
        found["unevaluatedProperties"] = False
    return found


def opened(schema: Node) -> Node:
    """Convert a schema that is a part of another, which closes the whole."""
    if "$ref" in schema:
        return {"$ref": f"#/$defs/opened-{schema['$ref'].rpartition('/')[2]}"}
    found = {key: value for key, value in schema.items() if key in COPIED}
    for key in COMBINED:
        if key in schema:
            found[key] = [opened(part) for part in schema[key]]
    if "not" in schema:
        found["not"] = opened(schema["not"])
    if "items" in schema:
        found["items"] = closed(schema["items"])
    if "properties" in schema:
        found["properties"] = {name: closed(part) for name, part in schema["properties"].items()}
    others = schema.get("additionalProperties")
    if others is not None:
        found["additionalProperties"] = closed(others) if isinstance(others, dict) else others
    if found.get("type") == "integer":
        found["whole"] = True
    if found.get("format") in SPELLINGS:
        found.setdefault("pattern", SPELLINGS[found["format"]])
    return nullable(found) if schema.get("nullable") else found


def nullable(found: Node) -> Node:
    widened = {**found, "type": [found["type"], "null"]}
    if "enum" in widened:
        widened["enum"] = [*widened["enum"], None]
    return widened


def parts(schema: Node) -> list[Node]:
    schema = follow(schema)
    inner = [part for key in COMBINED for each in schema.get(key, []) for part in parts(each)]
    return [schema, *inner]


def describes_fields(schema: Node) -> bool:
    return any("properties" in part for part in parts(schema))


def is_open(schema: Node) -> bool:
    return any(part.get("additionalProperties") not in (None, False) for part in parts(schema))
