"""Fields that a body names and nevertheless leaves out: null, and blank in requests of OAuth 2.0.

Generated clients send null for each optional field without a value. The contract gives null a
meaning only where a field is `nullable`; elsewhere in a new object the field counts as absent. The
contract's `x-blank-is-absent` adds blank parameters, as RFC 6749, 3.2, has it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from server.contract.document import Schema
from server.http.schemas import SchemaCompiler

BLANK_IS_ABSENT = "x-blank-is-absent"


@dataclass(slots=True)
class Omissions:
    """The fields that a value of one schema may leave out in this way, at every depth."""

    by_null: frozenset[str] = frozenset()
    by_blank: bool = False
    fields: Mapping[str, "Omissions"] = field(default_factory=dict)
    others: "Omissions | None" = None
    items: "Omissions | None" = None

    def remove_from(self, value: Any) -> bool:
        """Remove such fields from a value, in place; return whether there were any."""
        removed = False
        if not (self.by_null or self.by_blank or self.fields or self.others or self.items):
            return removed  # A map of texts may have thousands of them.
        if isinstance(value, dict):
            for name in [name for name, held in value.items() if self._is_absent(name, held)]:
                del value[name]
                removed = True
            for name, held in value.items():
                part = self.fields.get(name, self.others)
                removed |= part is not None and part.remove_from(held)
        elif isinstance(value, list) and self.items is not None:
            for held in value:
                removed |= self.items.remove_from(held)
        return removed

    def _is_absent(self, name: str, held: Any) -> bool:
        return (held is None and name in self.by_null) or (held == "" and self.by_blank)


class OmissionCompiler:
    """A compiler of omissions; those of the contract's components are compiled once."""

    def __init__(self, compiler: SchemaCompiler) -> None:
        self._compiler = compiler
        self._compiled: dict[tuple[str, bool], Omissions] = {}

    def of(self, schema: Schema, new: bool) -> Omissions:
        """Compile the omissions of a schema, for a `new` object or for changes of an old one.

        In changes, null keeps its meaning; but the items of their lists are new objects.
        """
        known_by = (schema.get("$ref", ""), new)
        if known_by in self._compiled:
            return self._compiled[known_by]
        omissions = Omissions()
        if known_by[0]:  # Stored before its parts are compiled, since they may refer to it.
            self._compiled[known_by] = omissions
        self._fill(omissions, self._compiler.resolved(schema), new)
        return omissions

    def _fill(self, omissions: Omissions, schema: Schema, new: bool) -> None:
        properties = self._compiler.properties(schema)
        if new:
            required = self._compiler.required(schema)
            omissions.by_null = frozenset(
                name
                for name, part in properties.items()
                if name not in required and not self._compiler.accepts_null(part)
            )
        omissions.by_blank = schema.get(BLANK_IS_ABSENT, False)
        holds = self._compiler.holds_values
        omissions.fields = {
            name: self.of(part, new) for name, part in properties.items() if holds(part)
        }
        others = schema.get("additionalProperties")
        if isinstance(others, dict) and holds(others):
            omissions.others = self.of(others, new)
        if "items" in schema and holds(schema["items"]):
            omissions.items = self.of(schema["items"], new=True)
