"""Compiler of the contract's schemas: a validator and a function that decodes valid values.

OpenAPI 3.0 uses a dialect of JSON Schema Draft 4, so schemas are compiled as Draft 4: `5.0` is not
an integer there and `exclusiveMinimum` is a boolean. A `$ref` stays a `$ref`; the components that
it reaches are included.
"""

from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

import orjson
from jsonschema_rs import Draft4Validator

from accounting.absent import RequestObject
from server.contract.document import Contract, Schema
from server.contract.formats import CHECKS, DECODERS, UUID_PATTERN
from server.http.field_errors import FieldWords

Decode = Callable[[Any], Any]

MAX_BYTES = "x-max-bytes"

# fmt: off
_COPIED = frozenset({
    "type", "enum", "format", "pattern", "minLength", "maxLength", "multipleOf", "minimum",
    "maximum", "exclusiveMinimum", "exclusiveMaximum", "minItems", "maxItems", "uniqueItems",
    "required", "minProperties", "maxProperties", MAX_BYTES,
})
# fmt: on
_NESTED = frozenset({"items", "not", "additionalProperties"})
_COMBINED = frozenset({"allOf", "anyOf", "oneOf"})
_SCALARS = frozenset({"string", "integer", "number", "boolean"})


class MaxBytes:
    """The contract's `x-max-bytes`: the limit on the length of a value as compact JSON."""

    def __init__(self, _schema: Schema, value: int, _path: list[str | int]) -> None:
        self._limit = value

    def validate(self, instance: Any) -> None:
        """Raise ValueError for a value that is longer."""
        if len(orjson.dumps(instance)) > self._limit:
            raise ValueError(f"must be at most {self._limit} bytes of JSON")


class SchemaCompiler:
    """A compiler of schemas with the components of one contract."""

    def __init__(self, contract: Contract) -> None:
        self._contract = contract
        self.words = FieldWords(contract.document)
        self._converted: dict[str, Schema] = {}
        self._validators: dict[bytes, Draft4Validator] = {}
        self._decoders: dict[str, Decode | None] = {}

    def validator(self, schema: Schema) -> Draft4Validator:
        """Compile a validator, once; formats are checked, the schema's `$ref`s are followed."""
        root = to_draft4(schema)
        known_by = orjson.dumps(root, option=orjson.OPT_SORT_KEYS)
        if known_by not in self._validators:
            # An `allOf` around the root would take a third more memory, 2 MB for the contract.
            document = {**root, "components": {"schemas": self._reachable(root)}}
            self._validators[known_by] = Draft4Validator(
                document,
                formats=dict(CHECKS),
                validate_formats=True,
                keywords={MAX_BYTES: MaxBytes},
            )
        return self._validators[known_by]

    def _reachable(self, root: Schema) -> dict[str, Schema]:
        """Return the components that a schema reaches, converted, by name."""
        found: dict[str, Schema] = {}
        waiting = references(root)
        while waiting:
            reference = waiting.pop()
            name = reference.removeprefix("#/components/schemas/")
            if name not in found:
                if name not in self._converted:
                    self._converted[name] = to_draft4(self._contract.follow({"$ref": reference}))
                found[name] = self._converted[name]
                waiting |= references(found[name])
        return found

    def properties(self, schema: Schema) -> dict[str, Schema]:
        """Return the properties of an object schema, those of its `allOf` parts included."""
        found: dict[str, Schema] = {}
        schema = self.resolved(schema)
        for part in schema.get("allOf", []):
            found |= self.properties(part)
        own: dict[str, Schema] = schema.get("properties", {})
        return found | own

    def required(self, schema: Schema) -> frozenset[str]:
        """Return the names that an object schema requires, those of its `allOf` parts included."""
        schema = self.resolved(schema)
        parts = map(self.required, schema.get("allOf", []))
        return frozenset(schema.get("required", [])).union(*parts)

    def accepts_null(self, schema: Schema) -> bool:
        """Return whether null is a valid value of a schema."""
        schema = self.resolved(schema)
        if "type" in schema:
            return bool(schema.get("nullable"))
        return self.validator(schema).is_valid(None)

    def holds_values(self, schema: Schema) -> bool:
        """Return whether values of a schema may contain other values."""
        return self.resolved(schema).get("type") not in _SCALARS

    def resolved(self, schema: Schema) -> Schema:
        """Return the target of a `$ref`, or the schema itself."""
        return self._contract.follow(schema)

    def decoder(self, schema: Schema) -> Decode | None:
        """Compile a decoder of valid text to UUID, date or datetime, and of numbers to Decimal.

        Objects with named fields become RequestObject. None if there is nothing to decode.
        """
        reference = schema.get("$ref")
        if reference is None:
            return self._decoder(self.resolved(schema))
        if reference not in self._decoders:
            # A schema that contains itself uses this entry, which calls the final one later.
            self._decoders[reference] = lambda value: self._late(reference, value)
            self._decoders[reference] = self._decoder(self.resolved(schema))
        return self._decoders[reference]

    def _late(self, reference: str, value: Any) -> Any:
        decode = self._decoders[reference]
        return value if decode is None else decode(value)

    def _decoder(self, schema: Schema) -> Decode | None:
        if schema.get("type") == "string":
            decode = DECODERS.get(schema.get("format", ""))
            return None if decode is None else _text_only(decode)
        if schema.get("type") == "number":
            return _exact_number
        steps = [self.decoder(part) for part in schema.get("allOf", [])]
        if "items" in schema:
            steps.append(_items(self.decoder(schema["items"])))
        steps.append(self._object_decoder(schema))
        for part in (*schema.get("anyOf", []), *schema.get("oneOf", [])):
            steps.append(self._branch_decoder(part))
        return _in_turn([step for step in steps if step is not None])

    def _object_decoder(self, schema: Schema) -> Decode | None:
        fields = {
            name: decode
            for name, part in schema.get("properties", {}).items()
            if (decode := self.decoder(part)) is not None
        }
        others = schema.get("additionalProperties")
        decode_others = self.decoder(others) if isinstance(others, dict) else None
        if decode_others is not None:
            return _map_values(fields, frozenset(schema.get("properties", {})), decode_others)
        return _fields(tuple(fields.items())) if "properties" in schema else None

    def _branch_decoder(self, part: Schema) -> Decode | None:
        """Compile a decoder that decodes only values that a branch of anyOf or oneOf accepts."""
        decode = self.decoder(part)
        if decode is None:
            return None
        accepts = self.validator(part).is_valid

        def decode_branch(value: Any) -> Any:
            # A value that an earlier branch has decoded is no text, and cannot be validated.
            try:
                return decode(value) if accepts(value) else value
            except (TypeError, ValueError):
                return value

        return decode_branch


def to_draft4(schema: Schema) -> Schema:
    """Convert an OpenAPI 3.0 schema to Draft 4: `nullable` becomes a type, notes are removed.

    As 3.0.3 requires, `nullable` applies only next to `type`, and a `$ref` has no siblings.
    """
    if "$ref" in schema:
        return {"$ref": schema["$ref"]}
    found = {key: value for key, value in schema.items() if key in _COPIED}
    for key in _NESTED & schema.keys():
        value = schema[key]
        found[key] = to_draft4(value) if isinstance(value, dict) else value
    for key in _COMBINED & schema.keys():
        found[key] = [to_draft4(part) for part in schema[key]]
    if "properties" in schema:
        found["properties"] = {name: to_draft4(part) for name, part in schema["properties"].items()}
    if schema.get("nullable") and "type" in found:
        found["type"] = [found["type"], "null"]
        if "enum" in found:
            found["enum"] = list(dict.fromkeys([*found["enum"], None]))
    if found.get("format") == "uuid":
        found.setdefault("pattern", UUID_PATTERN)
    return found


def references(schema: Any) -> set[str]:
    """Return every `$ref` inside a part of a contract, such as a converted schema."""
    if isinstance(schema, list):
        return set().union(*map(references, schema)) if schema else set()
    if not isinstance(schema, dict):
        return set()
    if isinstance(schema.get("$ref"), str):
        return {schema["$ref"]}
    return set().union(*map(references, schema.values())) if schema else set()


def _exact_number(value: float | None) -> Decimal | None:
    """Return the number as written, as 0.1 for 0.1, not the nearest binary fraction."""
    return None if value is None else Decimal(str(value))


def _text_only(decode: Decode) -> Decode:
    """Skip null and values that another part of an `allOf` has decoded already."""
    return lambda value: decode(value) if type(value) is str else value


def _items(decode: Decode | None) -> Decode | None:
    if decode is None:
        return None

    def decode_items(value: Any) -> Any:
        if type(value) is list:
            value[:] = map(decode, value)
        return value

    return decode_items


def _fields(fields: tuple[tuple[str, Decode], ...]) -> Decode:
    def decode_fields(value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        for name, decode in fields:
            if name in value:
                value[name] = decode(value[name])
        return RequestObject(value)

    return decode_fields


def _map_values(fields: Mapping[str, Decode], named: frozenset[str], others: Decode) -> Decode:
    def decode_values(value: Any) -> Any:
        if type(value) is dict:
            for name, item in value.items():
                decode = fields.get(name) if name in named else others
                if decode is not None:
                    value[name] = decode(item)
        return value

    return decode_values


def _in_turn(steps: list[Decode]) -> Decode | None:
    if len(steps) < 2:
        return steps[0] if steps else None

    def decode_in_turn(value: Any) -> Any:
        for decode in steps:
            value = decode(value)
        return value

    return decode_in_turn
