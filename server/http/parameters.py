"""Parameters of path, query and headers: parsed from text to values or field errors."""

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Any

from accounting.errors import ValidationError
from server.contract.document import ContractError, Deprecation, Operation, Parameter, Schema
from server.contract.formats import UUID_PATTERN
from server.http.field_errors import LONGEST_NAME, Faults, add_fault, suggestion
from server.http.schemas import Decode, SchemaCompiler

Check = Callable[[Any], bool]

BUSINESS = "business_id"
MOST_PAIRS = 1000  # A URL of 8 kB has fewer; a form could have half a million.

_INTEGER = re.compile(r"-?(?:0|[1-9][0-9]{0,99})")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]{0,18})(?:\.[0-9]{1,18})?(?:[eE][+-]?[0-9]{1,3})?")
_BROKEN_ESCAPE = re.compile(rb"%(?![0-9A-Fa-f]{2})")

_BOOLEANS = {"true": True, "false": False}


def text_reader(schema: Schema) -> Callable[[str], Any]:
    """Return a function that converts text to the schema's type; invalid text is left as it is.

    So the validator can report the fault. `+1`, `1_0`, ` 1` and Arabic digits stay text.
    """
    match schema.get("type"):
        case "integer":
            return lambda text: int(text) if _INTEGER.fullmatch(text) else text
        case "number":
            return lambda text: _finite(text) if _NUMBER.fullmatch(text) else text
        case "boolean":
            return lambda text: _BOOLEANS.get(text, text)
        case _:
            return lambda text: text


def _finite(text: str) -> float | str:
    number = float(text)
    return number if isfinite(number) else text


def split_pairs(raw: bytes) -> list[tuple[str, str]]:
    """Return the names and values of a query or of an urlencoded form, in their order.

    ValidationError `bad_request` for a broken escape, text that is not UTF-8, U+0000, or too many
    pairs.
    """
    if _BROKEN_ESCAPE.search(raw):
        raise ValidationError("bad_request", "A % is not followed by two hexadecimal digits.")
    parts = raw.split(b"&")
    if len(parts) > MOST_PAIRS:
        raise ValidationError("bad_request", f"There are more than {MOST_PAIRS} fields.")
    pairs = []
    try:
        for part in parts:
            if part:
                name, _, value = part.replace(b"+", b" ").partition(b"=")
                pairs.append((_decode(name), _decode(value)))
    except UnicodeDecodeError:
        raise ValidationError("bad_request", "The text is not UTF-8.") from None
    return pairs


def _decode(raw: bytes) -> str:
    if b"%" in raw:
        # urllib's function takes a tenth of a second for a mebibyte of escapes.
        escaped = raw.replace(b"\\", rb"\x5c").replace(b"%", rb"\x")
        raw = escaped.decode("unicode_escape").encode("latin-1")
    text = raw.decode()
    if "\0" in text:
        raise ValidationError("bad_request", "The character U+0000 is not allowed.")
    return text


@dataclass(frozen=True, slots=True)
class Reader:
    """A compiled parameter."""

    name: str
    read: Callable[[str], Any]
    accepts: Check
    errors: Callable[[Any], Iterable[Any]]
    describe: Callable[[Iterable[Any], Faults, tuple[str, ...]], None]
    decode: Decode | None
    listed: bool
    exploded: bool
    required: bool
    deprecation: Deprecation | None

    def value(self, texts: list[str], faults: Faults) -> Any:
        """Return the parameter's value, or add its errors to `faults`."""
        value: Any
        if self.listed:
            if not self.exploded:  # Many clients repeat the name anyway.
                texts = [part for text in texts for part in text.split(",")]
            value = [self.read(text) for text in texts]
        elif len(texts) > 1:
            return add_fault(faults, self.name, "is given more than once")
        else:
            value = self.read(texts[0])
        if not self.accepts(value):
            return self.describe(self.errors(value), faults, (self.name,))
        return value if self.decode is None else self.decode(value)


class Parameters:
    """The compiled parameters of one operation."""

    def __init__(self, operation: Operation, compiler: SchemaCompiler) -> None:
        readers: dict[str, list[Reader]] = {"path": [], "query": [], "header": []}
        self.defaults: dict[str, Any] = {}
        for parameter in operation.parameters:
            reader = compile_reader(parameter, compiler)
            readers[parameter.place].append(reader)
            schema = compiler.resolved(parameter.schema)
            if parameter.place == "query" and "default" in schema and not _renamed(parameter):
                default = schema["default"]
                self.defaults[parameter.name] = (
                    default if reader.decode is None else reader.decode(default)
                )
        self._path = tuple(readers["path"])
        self._query = {reader.name: reader for reader in readers["query"]}
        self._deprecated = {
            reader.name: reader.deprecation
            for reader in readers["query"]
            if reader.deprecation is not None
        }
        self._in_use = [name for name in self._query if name not in self._deprecated]
        self._refuse_unknown_names(operation)
        self._required = tuple(reader.name for reader in readers["query"] if reader.required)
        self._headers = {reader.name.lower().encode(): reader for reader in readers["header"]}
        self.header_names = frozenset(self._headers)

    def path(self, texts: dict[str, str], faults: Faults) -> dict[str, Any]:
        """Return the path's values; a malformed id is a fault of its name."""
        return {reader.name: reader.value([texts[reader.name]], faults) for reader in self._path}

    def item_path(self, given: Mapping[str, str], faults: Faults) -> dict[str, Any]:
        """Return the path's values of an item of a batch; the batch names the business.

        Missing and unknown names are faults.
        """
        readers = {reader.name: reader for reader in self._path if reader.name != BUSINESS}
        values = {}
        for name, reader in readers.items():
            if name in given:
                values[name] = reader.value([given[name]], faults)
            else:
                add_fault(faults, name, "is required")
        for name in given:
            if name not in readers:
                told = name[:LONGEST_NAME]
                meant = suggestion(told, readers, faults)
                add_fault(faults, told, f"is not a known parameter{meant}")
        return values

    def query(self, raw: bytes, faults: Faults, used: list[Deprecation]) -> dict[str, Any]:
        """Return the query's values, defaults included; unknown and repeated names are faults.

        A value under an old name is returned under the new name, and its deprecation added to
        `used`.
        """
        values = self.defaults.copy()
        if raw:
            given: dict[str, list[str]] = {}
            for name, text in split_pairs(raw):
                given.setdefault(name, []).append(text)
            for name, texts in given.items():
                reader = self._query.get(name)
                if reader is None:
                    told = name[:LONGEST_NAME]
                    meant = suggestion(told, self._in_use, faults)
                    add_fault(faults, told, f"is not a known parameter{meant}")
                else:
                    values[name] = reader.value(texts, faults)
            if not self._deprecated.keys().isdisjoint(given):
                self._hand_on(given, values, faults, used)
        for name in self._required:
            if name not in values:
                add_fault(faults, name, "is required")
        return values

    def _hand_on(
        self,
        given: Collection[str],
        values: dict[str, Any],
        faults: Faults,
        used: list[Deprecation],
    ) -> None:
        """Move each value under an old name to its new name."""
        said = set(given)
        for old in filter(self._deprecated.__contains__, given):
            deprecation = self._deprecated[old]
            used.append(deprecation)
            new = deprecation.instead
            if new is None:
                continue
            value = values.pop(old)
            sound = old not in faults and new not in faults
            if sound and new in said and value != values[new]:
                add_fault(faults, old, f"must have the same value as {new}, its new name")
                add_fault(faults, new, f"must have the same value as {old}, its old name")
            values[new] = value
            said.add(new)

    def _refuse_unknown_names(self, operation: Operation) -> None:
        for name, deprecation in self._deprecated.items():
            if deprecation.instead is not None and deprecation.instead not in self._in_use:
                raise ContractError(
                    f"{operation.operation_id}: instead of {name} there is no {deprecation.instead}"
                )

    def headers(
        self, raw: dict[bytes, list[bytes]], faults: Faults, used: list[Deprecation]
    ) -> dict[str, Any]:
        """Return the values of the declared headers that were sent, by lower-case name."""
        values = {}
        for name, reader in self._headers.items():
            texts = raw.get(name)
            if texts is not None:
                decoded = [text.decode("latin-1") for text in texts]
                values[reader.name.lower()] = reader.value(decoded, faults)
                if reader.deprecation is not None:
                    used.append(reader.deprecation)
            elif reader.required:
                add_fault(faults, reader.name, "is required")
        return values


def compile_reader(parameter: Parameter, compiler: SchemaCompiler) -> Reader:
    """Compile one parameter: a scalar, or a list of scalars."""
    schema = compiler.resolved(parameter.schema)
    listed = schema["type"] == "array"
    validator = compiler.validator(schema)
    item = compiler.resolved(schema["items"]) if listed else schema
    return Reader(
        name=parameter.name,
        read=text_reader(item),
        accepts=_plain_text_check(schema) or validator.is_valid,
        errors=validator.iter_errors,
        describe=compiler.words.describe,
        decode=compiler.decoder(schema),
        listed=listed,
        exploded=parameter.exploded,
        required=parameter.required,
        deprecation=parameter.deprecation,
    )


def _renamed(parameter: Parameter) -> bool:
    return parameter.deprecation is not None and parameter.deprecation.instead is not None


def _plain_text_check(schema: Schema) -> Check | None:
    """Return a cheap check for a plain UUID, the most common parameter; None for others."""
    meaning = {key for key in schema if key not in ("description", "example", "title")}
    if schema.get("format") == "uuid" and meaning == {"type", "format"}:
        matches = re.compile(UUID_PATTERN.removesuffix("$") + r"\Z").match
        return lambda text: matches(text) is not None
    return None
