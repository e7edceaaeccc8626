"""Generator of `handlers/bodies.py`: a type for every request body, as the handlers receive it.

Run `python -m server.contract.body_types > handlers/bodies.py` after a change of the contract. The
types are those of decoded values: an id is a UUID, a date a date, a decimal number a Decimal, a
file of a form an Upload. Optional fields may be ABSENT.
"""

import sys
from collections.abc import Iterator, Mapping
from keyword import iskeyword
from textwrap import wrap
from types import MappingProxyType

from server.contract.document import Contract, ContractError, Schema
from server.contract.formats import DECODERS

WIDTH = 100

HEADING = '''"""The request bodies of the contract as handlers receive them, validated and decoded.

Written by `python -m server.contract.body_types`; a change belongs into the contract.
"""
'''

_FORMATS: Mapping[str, str] = MappingProxyType(
    {
        "uuid": "UUID",
        "date": "date",
        "date-time": "datetime",
        "byte": "bytes",
    }
)
_SCALARS: Mapping[str, str] = MappingProxyType(
    {"integer": "int", "number": "Decimal", "boolean": "bool"}
)
_IMPORTS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "datetime": ("date", "datetime"),
        "decimal": ("Decimal",),
        "typing": ("Any", "Literal", "TypedDict"),
        "uuid": ("UUID",),
        "accounting.absent": ("Absent",),
        "accounting.files.uploads": ("Upload",),
    }
)


class BodyTypes:
    """The definitions of all request bodies, each after the ones that it uses."""

    def __init__(self, contract: Contract) -> None:
        self._contract = contract
        self._schemas: Mapping[str, Schema] = contract.components["schemas"]
        self._words: set[str] = set()
        self._definitions: dict[str, str] = {}
        for operation in contract.operations.values():
            for schema in operation.bodies.values():
                self._type_of(schema)

    def module(self) -> str:
        """Return the text of the module."""
        return f"{HEADING}\n{''.join(self._imports())}{''.join(self._spaced())}"

    def _imports(self) -> Iterator[str]:
        group = ""
        for module, names in _IMPORTS.items():
            used = [name for name in names if name in self._words]
            if used:
                if "." in module and not group:  # Imports of the project form a group.
                    yield "\n"
                    group = module
                yield f"from {module} import {', '.join(used)}\n"

    def _spaced(self) -> Iterator[str]:
        """Put two empty lines around a class, one below the imports, none between other names."""
        gap = "\n"
        for text in self._definitions.values():
            is_class = text.startswith("class ")
            yield ("\n\n" if is_class else gap) + text
            gap = "\n\n" if is_class else ""

    def _type_of(self, schema: Schema) -> str:
        """Return the type of a schema's values, defining the named types that it uses."""
        if "$ref" in schema:
            return self._named(schema["$ref"].rpartition("/")[2])
        found = self._plain_type_of(schema)
        return f"{found} | None" if schema.get("nullable") else found

    def _plain_type_of(self, schema: Schema) -> str:
        branches = schema.get("anyOf") or schema.get("oneOf")
        if branches:
            return " | ".join(dict.fromkeys(self._type_of(branch) for branch in branches))
        if "enum" in schema:
            return self._word("Literal", ", ".join(f'"{word}"' for word in schema["enum"]))
        match schema.get("type"):
            case None:
                return self._word("Any")
            case "string":
                kind = schema.get("format", "")
                if kind == "binary":
                    return self._word("Upload")
                return self._word(_FORMATS[kind]) if kind in DECODERS else "str"
            case "array":
                return f"list[{self._type_of(schema['items'])}]"
            case "object":
                values = schema.get("additionalProperties", True)
                inner = self._type_of(values) if isinstance(values, dict) else self._word("Any")
                return f"dict[str, {inner}]"
            case scalar:
                return self._word(_SCALARS[scalar])

    def _named(self, name: str) -> str:
        """Define a component once and return its name."""
        if name not in self._definitions:
            schema = self._schemas[name]
            if any("properties" in self._contract.follow(part) for part in schema.get("allOf", ())):
                raise ContractError(f"A request body cannot be composed: {name}")
            text = (
                self._class(name, schema)
                if "properties" in schema
                else _alias(name, self._type_of(schema))
            )
            self._definitions[name] = text
        return name

    def _class(self, name: str, schema: Schema) -> str:
        required = schema.get("required", ())
        lines = []
        for field, part in schema["properties"].items():
            if iskeyword(field) or not field.isidentifier():
                raise ContractError(f"{name}.{field} cannot be an attribute")
            found = self._type_of(part)
            if field not in required:
                found = _with_none_last(f"{found} | {self._word('Absent')}")
            lines.append(f"    {field}: {found}\n")
        base = self._word("TypedDict")
        return f"class {name}({base}):\n{_docstring(schema)}{''.join(lines)}"

    def _word(self, word: str, inner: str = "") -> str:
        self._words.add(word)
        return f"{word}[{inner}]" if inner else word


def _alias(name: str, meaning: str) -> str:
    """Format `Name = meaning`, with one word per line if it is too long for a single line."""
    line = f"{name} = {meaning}\n"
    if len(line) <= WIDTH or not meaning.startswith("Literal["):
        return line
    words = meaning.removeprefix("Literal[").removesuffix("]").split(", ")
    return f"{name} = Literal[\n{''.join(f'    {word},{chr(10)}' for word in words)}]\n"


def _with_none_last(union: str) -> str:
    return f"{union.replace(' | None', '')} | None" if " | None" in union else union


def _docstring(schema: Schema) -> str:
    lines = wrap(schema.get("description", ""), WIDTH - 10)
    return f'    """{lines[0]}"""\n\n' if len(lines) == 1 else ""


def written(contract: Contract) -> str:
    """Return the text of the module of body types, such as `handlers/bodies.py`."""
    return BodyTypes(contract).module()


if __name__ == "__main__":
    sys.stdout.write(written(Contract.load()))
