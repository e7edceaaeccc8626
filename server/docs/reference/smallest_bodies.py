"""The smallest body of a request that the contract accepts, derived from its examples."""

import re
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from itertools import chain, combinations
from typing import Any, Final

from server.contract.document import Contract
from server.http.schemas import SchemaCompiler

NAMED: Final = "smallest"
# A change of these has no other effect, so it is shown if an example has one.
HARMLESS: Final = ("memo", "note")
UUID: Final = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
CHANGES: Final = frozenset({"put", "patch"})

Fits = Callable[[Any], bool]


class SmallestBodies:
    """The smallest bodies of one contract's operations."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        self._compiler = SchemaCompiler(Contract(document))

    def of(self, method: str, schema: dict[str, Any], examples: Mapping[str, Any]) -> Any:
        """Return an example without what the schema does not require.

        An example named `smallest` is returned as it is. Of several results, the one with the
        fewest ids comes first. The body of a change keeps one field.
        """
        if NAMED in examples:
            return examples[NAMED]
        is_valid = self._compiler.validator(schema).is_valid
        fits = partial(changes, is_valid) if method in CHANGES else is_valid
        found = (reduced(value, fits) for value in examples.values())
        return min(found, key=ids_in, default={})


def changes(is_valid: Fits, body: Any) -> bool:
    """Return whether a body is valid and has a field."""
    return bool(body) and is_valid(body)


def ids_in(body: Any) -> int:
    """Return how many ids a caller must know to send a body."""
    return len(UUID.findall(str(body)))


def reduced(value: Any, fits: Fits) -> Any:
    """Return a value without the fields and items that it does not need; the first ones stay.

    `{"name": "a", "tags": ["x", "y"]}` becomes `{"name": "a"}` if only `name` is required.
    """
    if isinstance(value, dict):
        for left_out in omissions(value):
            without = {key: each for key, each in value.items() if key not in left_out}
            value = without if fits(without) else value
        return inside(value, value, fits)
    if isinstance(value, list):
        value = value[:1] if fits(value[:1]) else value
        return inside(value, range(len(value)), fits)
    return value


def omissions(value: dict[str, Any]) -> list[tuple[str, ...]]:
    """List the fields to leave out: each alone from the last to the first, then each two."""
    names = sorted(reversed(value), key=HARMLESS.__contains__)
    return [*chain.from_iterable(combinations(names, count) for count in (1, 2))]


def inside(holder: Any, keys: Iterable[Any], fits: Fits) -> Any:
    """Reduce each value of an object or a list."""
    for key in [*keys]:
        part = reduced(holder[key], partial(fits_at, fits, holder, key))
        holder = replaced(holder, key, part)
    return holder


def fits_at(fits: Fits, holder: Any, key: Any, value: Any) -> bool:
    """Return whether an object or a list fits with another value at a key."""
    return fits(replaced(holder, key, value))


def replaced(holder: Any, key: Any, value: Any) -> Any:
    """Return a copy of an object or a list with another value at a key."""
    copy = holder.copy()
    copy[key] = value
    return copy
