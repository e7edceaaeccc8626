"""Messages about invalid values, by field, for the person who sent the request.

Only words and numbers of the contract are repeated, never a client's value.
"""

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from decimal import Decimal
from types import MappingProxyType
from typing import Any, Final

import orjson
from jsonschema_rs import ValidationError

from server.contract.formats import UUID_PATTERN, WORDS
from server.http.known_names import closest
from server.http.strict_json import MAX_INTEGER

Faults = dict[str, list[str]]
Place = tuple[str, ...]
Explained = Iterable[tuple[Place, str, str]]

WHOLE_BODY = "body"  # The field name for a fault of the body as a whole.
MOST_FIELDS = 100
MOST_SUGGESTED = 10
LONGEST_NAME = 64
_LONGEST_LIST = 40
BEYOND: Final = f"must be from -{MAX_INTEGER} to {MAX_INTEGER}"

MONEY_NAME: Final = re.compile(r"(?:_cents|amount|price|discount|fee|credit_limit)$")
_IN_MINOR_UNITS: Final = "in minor units: 10.50 is 1050"

_TYPES: Mapping[str, str] = MappingProxyType(
    {
        "string": "a string",
        "integer": "an integer",
        "number": "a number",
        "boolean": "true or false",
        "object": "an object",
        "array": "a list",
        "null": "null",
    }
)

# If a value violates several keywords, the message of one of these is enough.
_DECISIVE = ("enum", "type", "format")


class FieldWords:
    """The messages of one contract: our own per keyword, and its `x-pattern-message` and `x-not`.

    A pattern has the same meaning everywhere in the contract, so it has one message; likewise a
    `not`.
    """

    def __init__(self, document: Any) -> None:
        self._patterns: dict[str, str] = {}
        self._exclusions: dict[bytes, tuple[str, str]] = {}
        self._collect(document)

    def _collect(self, node: Any) -> None:
        if isinstance(node, dict):
            if "x-pattern-message" in node:
                self._patterns[node["pattern"]] = node["x-pattern-message"]
            if "x-not" in node:
                words = node["x-not"]
                self._exclusions[_key(node["not"])] = (words["field"], words["message"])
            node = node.values()
        elif not isinstance(node, list):
            return
        for part in node:
            self._collect(part)

    def describe(
        self,
        errors: Iterable[ValidationError],
        faults: Faults,
        at: Place = (),
        known: Collection[str] | None = None,
    ) -> None:
        """Add every error to `faults` by dotted path, as `allocations.0.amount_cents`.

        `at` is prefixed to every path: the name of a parameter, or empty for a body. `known` are
        the fields that the value may have; the message about an unknown field suggests a similar
        one.
        """
        found: dict[Place, dict[str, list[str]]] = {}
        for error in errors:
            for place, keyword, words in self._explain(error, at):
                found.setdefault(place, {}).setdefault(keyword, []).append(words)
        for place, by_keyword in found.items():
            if place and "type" in found.get(place[:-1], {}):
                continue  # A `not` reports missing fields even of a value that is no object.
            decisive = next((word for word in _DECISIVE if word in by_keyword), None)
            chosen = [by_keyword[decisive]] if decisive else by_keyword.values()
            here = "unknown" in by_keyword and place[:-1] == at
            meant = suggestion(place[-1], known or (), faults) if here else ""
            for words in dict.fromkeys(word for group in chosen for word in group):
                add_fault(faults, ".".join(place) or WHOLE_BODY, words + meant)

    def _explain(self, error: ValidationError, at: Place) -> Explained:
        """Return (path, keyword, words); a few keywords are about other fields than their own."""
        path = (*at, *(str(part)[:LONGEST_NAME] for part in error.instance_path))
        kind: Any = error.kind
        match kind.name:
            case "required":
                return [((*path, kind.property), "required", "is required")]
            case "additionalProperties":
                names = sorted(kind.unexpected)[:MOST_FIELDS]
                words = "is not a known field"
                return [((*path, name[:LONGEST_NAME]), "unknown", words) for name in names]
            case "not":
                return [self._explain_not(kind.schema, path)]
            case "anyOf" | "oneOf":
                return self._explain_branches(error, path, at)
            case "pattern" if kind.pattern in self._patterns:
                return [(path, "pattern", self._patterns[kind.pattern])]
            case "type" if "integer" in kind.types and MONEY_NAME.search(path[-1] if path else ""):
                return [(path, "type", f"{_type_words(kind.types)} {_IN_MINOR_UNITS}")]
            case name:
                return [(path, name, _words(name, kind))]

    def _explain_not(self, schema: Any, path: Place) -> tuple[Place, str, str]:
        """Explain the two forms of `not` in the contract: at least one of, and not together."""
        named = self._exclusions.get(_key(schema))
        if named is not None:
            return (*path, named[0]), "not", named[1]
        together = schema.get("required")
        if together:
            return (*path, together[0]), "not", f"cannot be given together: {', '.join(together)}"
        wanted = [
            name
            for part in schema.get("allOf", [])
            for name in part.get("not", {}).get("required", [])
        ]
        if wanted:
            words = f"at least one of these is required: {', '.join(wanted)}"
            return (*path, wanted[0]), "not", words
        return path, "not", "is not allowed"

    def _explain_branches(self, error: ValidationError, path: Place, at: Place) -> Explained:
        """Explain by the closest branch: the one of the right type with the fewest errors."""
        kind: Any = error.kind  # Its type depends on the keyword.
        context: list[list[ValidationError]] = kind.context
        branches = [branch for branch in context if branch]
        if len(branches) < len(context):
            return [(path, "oneOf", "fits more than one of the allowed forms")]
        depth = len(error.instance_path)
        fitting = [branch for branch in branches if not _is_of_wrong_type(branch, depth)]
        if not fitting:
            kinds: list[Any] = [branch[0].kind for branch in branches]
            types = [name for each in kinds for name in each.types]
            return [(path, "type", _type_words(types))]
        closest = min(fitting, key=len)
        return [explained for inner in closest for explained in self._explain(inner, at)]


def add_fault(faults: Faults, field: str, words: str) -> None:
    """Add a message about a field; beyond 100 fields, messages are dropped."""
    if field in faults or len(faults) < MOST_FIELDS:
        faults.setdefault(field, []).append(words)


def add_beyond(faults: Faults, places: Iterable[Place], told: Faults) -> None:
    """Add a message about each number beyond the limit of JSON.

    `told` are the faults of the schema: the limit of a field replaces that of JSON.
    """
    for place in places:
        field = ".".join(part[:LONGEST_NAME] for part in place) or WHOLE_BODY
        if field not in told:
            add_fault(faults, field, BEYOND)


def suggestion(name: str, known: Collection[str], faults: Faults) -> str:
    """Return a suggestion of the closest known name; empty if there is none or many faults.

    `due_date` among `due_at` and `memo` gives "; did you mean due_at?".
    """
    meant = None if len(faults) >= MOST_SUGGESTED else closest(name, known)
    return f"; did you mean {meant}?" if meant else ""


def _key(schema: Any) -> bytes:
    return orjson.dumps(schema, option=orjson.OPT_SORT_KEYS)


def _words(keyword: str, kind: Any) -> str:
    speak = _WORDS.get(keyword)
    return "is not valid" if speak is None else speak(kind)


def _is_of_wrong_type(branch: list[ValidationError], depth: int) -> bool:
    return branch[0].kind.name == "type" and len(branch[0].instance_path) == depth


def _type_words(names: Iterable[str]) -> str:
    ordered = sorted(dict.fromkeys(names), key=lambda name: name == "null")
    return "must be " + " or ".join(_TYPES.get(name, name) for name in ordered)


def _options(kind: Any) -> str:
    options = ["null" if option is None else str(option) for option in kind.options]
    if len(options) == 1:
        return f"must be {options[0]}"
    more = ", ..." if len(options) > _LONGEST_LIST else ""
    return f"must be one of: {', '.join(options[:_LONGEST_LIST])}{more}"


def _step(kind: Any) -> str:
    step = Decimal(str(kind.multiple_of)).normalize()
    digits = step.as_tuple()
    if digits.digits == (1,) and isinstance(digits.exponent, int) and digits.exponent < 0:
        return f"must have at most {-digits.exponent} decimals"
    return f"must be a multiple of {kind.multiple_of}"


def _plain(limit: float) -> str:
    """Format a limit in plain notation: 0.000001, where Python has 1e-06."""
    return f"{Decimal(str(limit)):f}"


def _shortest(kind: Any) -> str:
    return "must not be empty" if kind.limit == 1 else f"must have at least {kind.limit} characters"


def _fewest(kind: Any) -> str:
    return "must not be empty" if kind.limit == 1 else f"must have at least {kind.limit} items"


def _shape(kind: Any) -> str:
    return WORDS["uuid"] if kind.pattern == UUID_PATTERN else f"must match {kind.pattern}"


_WORDS: Mapping[str, Callable[[Any], str]] = MappingProxyType(
    {
        "type": lambda kind: _type_words(kind.types),
        "enum": _options,
        "minimum": lambda kind: f"must be at least {_plain(kind.limit)}",
        "maximum": lambda kind: f"must be at most {_plain(kind.limit)}",
        "exclusiveMinimum": lambda kind: f"must be greater than {_plain(kind.limit)}",
        "exclusiveMaximum": lambda kind: f"must be less than {_plain(kind.limit)}",
        "multipleOf": _step,
        "minLength": _shortest,
        "maxLength": lambda kind: f"must have at most {kind.limit} characters",
        "pattern": _shape,
        "format": lambda kind: WORDS.get(kind.format, f"must be a valid {kind.format}"),
        "minItems": _fewest,
        "maxItems": lambda kind: f"must have at most {kind.limit} items",
        "uniqueItems": lambda _: "must not have the same item twice",
        "x-max-bytes": lambda kind: kind.message,
        "minProperties": lambda kind: f"must have at least {kind.limit} fields",
        "maxProperties": lambda kind: f"must have at most {kind.limit} fields",
    }
)
