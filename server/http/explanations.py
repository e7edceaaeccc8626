"""Explanation of invalid bodies, in steps of bounded cost.

The validator decides quickly whether a value is valid. But it finds all faults before it reports
any, and keeps a copy of the value with each. So it gets one level at a time: the fields and items
there, without their contents. Then each invalid one is explained in the same way, unless there are
too many, until there are enough faults.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from types import MappingProxyType
from typing import Any

from jsonschema_rs import Draft4Validator

from server.contract.document import ContractError, Schema
from server.http.field_errors import LONGEST_NAME, MOST_FIELDS, Faults, FieldWords, Place
from server.http.schemas import MAX_BYTES, SchemaCompiler

_KINDS: Mapping[str, type] = MappingProxyType({"object": dict, "array": list})


@dataclass(slots=True)
class Explainer:
    """An explainer of the faults in values of one schema.

    `level` is the schema without the parts that `fields`, `others` and `items` explain. `kind` is
    the type of the value, `known` the names of an object that accepts no others, and `most` the
    limit on others or items.
    """

    whole: Draft4Validator
    level: Draft4Validator
    words: FieldWords
    judged_whole: bool = False
    kind: type | None = None
    known: frozenset[str] | None = None
    most: int | None = None
    fields: Mapping[str, "Explainer"] = field(default_factory=dict)
    others: "Explainer | None" = None
    items: "Explainer | None" = None

    def explain(self, value: Any, faults: Faults, at: Place = ()) -> None:
        """Add the faults of an invalid value to `faults`; `at` is its place."""
        errors = self.level.iter_errors(self._outline(value))
        self.words.describe(errors, faults, at, self.known)
        for name, held, explainer in self._held(value):
            if len(faults) >= MOST_FIELDS:
                return
            if not explainer.whole.is_valid(held):
                explainer.explain(held, faults, (*at, name[:LONGEST_NAME]))

    def _outline(self, value: Any) -> Any:
        """Return the value without the contents of its parts, and without surplus parts."""
        if self.kind is not None and not isinstance(value, self.kind):
            return _emptied(value)
        if self.judged_whole:
            return value
        if isinstance(value, list):
            shown = value if self.most is None else value[: self.most + 1]
            return [_emptied(item) for item in shown]
        if not isinstance(value, dict):
            return value
        if self.known is None:
            return {name: _emptied(held) for name, held in value.items()}
        unknown = islice((name for name in value if name not in self.known), MOST_FIELDS)
        shown = [*(name for name in value if name in self.known), *unknown]
        return {name: _emptied(value[name]) for name in shown}

    def _held(self, value: Any) -> Iterator[tuple[str, Any, "Explainer"]]:
        """Yield the parts that are explained on their own, each with its explainer."""
        few = self.most is None or (isinstance(value, list | dict) and len(value) <= self.most)
        if isinstance(value, dict):
            others = self.others if few else None
            for name, held in value.items():
                explainer = self.fields.get(name, others)
                if explainer is not None:
                    yield name, held, explainer
        elif isinstance(value, list) and self.items is not None and few:
            for position, held in enumerate(value):
                yield str(position), held, self.items


class Explainers:
    """The explainers of one contract; those of its components are compiled once."""

    def __init__(self, compiler: SchemaCompiler) -> None:
        self._compiler = compiler
        self._compiled: dict[str, Explainer] = {}

    def of(self, schema: Schema) -> Explainer:
        """Compile the explainer of a schema."""
        reference = schema.get("$ref", "")
        if reference in self._compiled:
            return self._compiled[reference]
        whole = self._compiler.validator(schema)
        schema = self._compiler.resolved(schema)
        explainer = Explainer(whole, whole, self._compiler.words)
        if reference:  # Stored before its parts are compiled, since they may refer to it.
            self._compiled[reference] = explainer
        self._fill(explainer, schema)
        if explainer.fields or explainer.others or explainer.items:
            explainer.level = self._compiler.validator(self._level(schema))
        return explainer

    def _fill(self, explainer: Explainer, schema: Schema) -> None:
        properties = self._compiler.properties(schema)
        holds = self._compiler.holds_values
        nested = {name: part for name, part in properties.items() if holds(part)}
        explainer.fields = {name: self.of(part) for name, part in nested.items()}
        others = schema.get("additionalProperties")
        if isinstance(others, dict):
            explainer.others = self.of(others)
        elif others is False:
            explainer.known = frozenset(properties)
        if "items" in schema:
            explainer.items = self.of(schema["items"])
        explainer.kind = _KINDS.get(schema.get("type", ""))
        explainer.most = schema.get("maxItems", schema.get("maxProperties"))
        explainer.judged_whole = schema.get("uniqueItems", False) or MAX_BYTES in schema
        for choice in (*schema.get("anyOf", ()), *schema.get("oneOf", ())):
            if any(map(self._compiler.holds_values, self._compiler.properties(choice).values())):
                raise ContractError("A choice between objects that hold others is not explained")

    def _level(self, schema: Schema) -> Schema:
        """Return the schema without the rules for values that contain others, one level down."""
        schema = self._compiler.resolved(schema)
        level = {key: part for key, part in schema.items() if key != "items"}
        if isinstance(level.get("additionalProperties"), dict):
            del level["additionalProperties"]
        if "allOf" in level:
            level["allOf"] = [self._level(part) for part in level["allOf"]]
        if "properties" in level:
            holds, properties = self._compiler.holds_values, level["properties"].items()
            level["properties"] = {n: {} if holds(p) else p for n, p in properties}
        return level


def _emptied(value: Any) -> Any:
    """Return an empty value of the same type."""
    if isinstance(value, dict):
        return {}
    return [] if isinstance(value, list) else value
