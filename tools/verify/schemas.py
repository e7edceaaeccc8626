"""The schemas of the contract, converted to exact and closed JSON schemas.

An answer must not have a field that its schema does not describe, unless the schema says that it is
open. An object composed by `allOf` is closed as a whole, which needs JSON Schema 2020-12.
"""

from typing import Any, Final

from jsonschema_rs import Draft202012Validator

from tools.verify.contract import Contract, Node

Validator = Draft202012Validator

COPIED: Final = frozenset(
    {
        "type", "enum", "format", "pattern", "minLength", "maxLength", "multipleOf", "minimum",
        "maximum", "minItems", "maxItems", "uniqueItems", "required", "minProperties",
        "maxProperties",
    }
)  # fmt: skip
COMBINED: Final = ("allOf", "anyOf", "oneOf")
# Stricter than the formats themselves: the server uses only one spelling of each.
SPELLINGS: Final = {
    "uuid": "^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$",
    "date-time": "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}(\\.[0-9]{6})?Z$",
}


class Whole:
    """A keyword for integers, which must be written without a fraction: `5.0` is invalid."""

    def __init__(self, _schema: Node, _value: Any, _path: list[str | int]) -> None:
        pass

    def validate(self, instance: Any) -> None:
        """Raise ValueError for a number that is written with a fraction."""
        if isinstance(instance, float):
            raise ValueError(f"{instance} is not written as an integer")


class Schemas:
    """A compiler of the schemas of one contract, each compiled once."""

    def __init__(self, contract: Contract) -> None:
        self._follow = contract.follow
        self._compiled: dict[int, tuple[Node, Validator]] = {}  # By `id`: the schema is kept.

    def validator(self, schema: Node) -> Validator:
        """Compile a schema with all schemas that it refers to."""
        if id(schema) not in self._compiled:
            self._compiled[id(schema)] = schema, self._compile(schema)
        return self._compiled[id(schema)][1]

    def _compile(self, schema: Node) -> Validator:
        root = self._closed(schema)
        return Draft202012Validator(
            {**root, "$defs": self._definitions(root)},
            validate_formats=True,
            keywords={"whole": Whole},
        )

    def _definitions(self, root: Node) -> Node:
        """Return the components that a schema refers to, each in the forms that are used."""
        found: Node = {}
        waiting = _references(root)
        while waiting:
            key = waiting.pop().removeprefix("#/$defs/")
            if key not in found:
                form, _, name = key.partition("-")
                schema = self._follow({"$ref": f"#/components/schemas/{name}"})
                found[key] = self._closed(schema) if form == "closed" else self._opened(schema)
                waiting |= _references(found[key])
        return found

    def _closed(self, schema: Node) -> Node:
        """Convert a schema; an object that it describes may have no other fields."""
        if "$ref" in schema:
            return {"$ref": f"#/$defs/closed-{schema['$ref'].rpartition('/')[2]}"}
        found = self._opened(schema)
        if self._describes_fields(schema) and not self._is_open(schema):
            found["unevaluatedProperties"] = False
        return found

    def _opened(self, schema: Node) -> Node:
        """Convert a schema that is a part of another schema, which is closed as a whole."""
        if "$ref" in schema:
            return {"$ref": f"#/$defs/opened-{schema['$ref'].rpartition('/')[2]}"}
        found = {key: value for key, value in schema.items() if key in COPIED}
        for key in COMBINED:
            if key in schema:
                found[key] = [self._opened(part) for part in schema[key]]
        if "not" in schema:
            found["not"] = self._opened(schema["not"])
        if "items" in schema:
            found["items"] = self._closed(schema["items"])
        if "properties" in schema:
            fields = schema["properties"].items()
            found["properties"] = {name: self._closed(part) for name, part in fields}
        others = schema.get("additionalProperties")
        if others is not None:
            found["additionalProperties"] = (
                self._closed(others) if isinstance(others, dict) else others
            )
        return _exact(found, nullable=schema.get("nullable", False))

    def _parts(self, schema: Node) -> list[Node]:
        schema = self._follow(schema)
        inner = [
            part for key in COMBINED for each in schema.get(key, []) for part in self._parts(each)
        ]
        return [schema, *inner]

    def _describes_fields(self, schema: Node) -> bool:
        return any("properties" in part for part in self._parts(schema))

    def _is_open(self, schema: Node) -> bool:
        parts = self._parts(schema)
        return any(part.get("additionalProperties") not in (None, False) for part in parts)


def _exact(found: Node, *, nullable: bool) -> Node:
    if found.get("type") == "integer":
        found["whole"] = True
    if found.get("format") in SPELLINGS:
        found.setdefault("pattern", SPELLINGS[found["format"]])
    if not nullable:
        return found
    widened = {**found, "type": [found["type"], "null"]}
    if "enum" in widened:
        widened["enum"] = [*widened["enum"], None]
    return widened


def _references(node: Any) -> set[str]:
    if isinstance(node, list):
        return set().union(*map(_references, node)) if node else set()
    if not isinstance(node, dict):
        return set()
    if isinstance(node.get("$ref"), str):
        return {node["$ref"]}
    return set().union(*map(_references, node.values())) if node else set()
