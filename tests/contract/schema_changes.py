"""The differences between two schemas with one name, and whether they break a client.

A schema of requests may only become wider, and a schema of answers only narrower. New fields and
enum values in answers are allowed, because a guide tells clients to expect both. A removed field
or enum value breaks clients, and so does another type.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from server.docs.reference.fields import Describer
from tests.contract.conditions import as_seen_before

Node = Mapping[str, Any]


class Kind(Enum):
    """The effect of a difference on clients."""

    BREAKING = "breaks clients"
    CHANGE = "goes on with what there was"
    WORDS = "is said in other words"


class Difference(NamedTuple):
    """A difference, with its place in the names of the contract."""

    place: str
    words: str
    kind: Kind


class Move(Enum):
    """The effect of a difference on the set of valid values."""

    NARROWER = "less is valid"
    WIDER = "more is valid"
    OTHER = "nobody can tell"


TEXTS: Final = frozenset(
    {"title", "summary", "description", "example", "examples", "x-pattern-message", "x-not"}
)
_KINDS: Final = frozenset({"type", "format"})
_MOST: Final = frozenset({"maxLength", "maximum", "maxItems", "maxProperties", "x-max-bytes"})
_LEAST: Final = frozenset({"minLength", "minimum", "minItems", "minProperties"})
_DEFAULTS: Final = MappingProxyType(
    {
        "nullable": False,
        "uniqueItems": False,
        "exclusiveMinimum": False,
        "exclusiveMaximum": False,
        "additionalProperties": True,
        "deprecated": False,
        "x-blank-is-absent": False,
    }
)
_OPENING: Final = frozenset({"nullable", "additionalProperties", "x-blank-is-absent"})
_WITHOUT_MEANING: Final = frozenset({"deprecated", "x-deprecated"})
_SAFE, _INT64 = 2**53 - 1, 2**63 - 1  # The integers of JavaScript, and those of `format: int64`.
_FREE_IN_ANSWERS: Final = frozenset({"additionalProperties"})
_BRANCHES: Final = frozenset({"anyOf", "oneOf"})
_BY_PARTS: Final = frozenset({"properties", "required", "enum", "items"})


class SchemaChanges:
    """A comparison of schemas of two documents; each pair is compared once for each direction."""

    def __init__(
        self,
        old: Node,
        new: Node,
        tell: Callable[[Difference], None],
    ) -> None:
        self._old, self._new = Describer(old), Describer(new)
        self._tell = tell
        self._seen: set[tuple[int, int, bool]] = set()

    def compare(self, old: Node, new: Node, place: str, *, sent: bool) -> None:
        """Report the differences between two schemas; `sent` by clients, else sent to them."""
        was, now = self._old.follow(old), self._new.follow(new)
        if (id(was), id(now), sent) in self._seen:
            return
        self._seen.add((id(was), id(now), sent))
        place = _name(new) or place
        shape = self._old.shape(was)
        fields = {name: self._old.follow(each) for name, each in shape["properties"].items()}
        words = {name: each.get("enum") for name, each in fields.items()}
        pair = _Pair(shape, self._new.shape(now), place, sent, words)
        for difference in pair.differences():
            self._tell(difference)
        self._inner(pair)

    def _inner(self, pair: "_Pair") -> None:
        was, now = pair.was.get("properties", {}), pair.now.get("properties", {})
        for name in was.keys() & now.keys():
            self.compare(was[name], now[name], f"{pair.place}.{name}", sent=pair.sent)
        for keyword in ("items", "additionalProperties"):
            both = pair.was.get(keyword), pair.now.get(keyword)
            if all(isinstance(each, dict) for each in both):
                self.compare(*both, f"{pair.place}[]", sent=pair.sent)  # type: ignore[arg-type]
        for keyword in _BRANCHES & pair.was.keys() & pair.now.keys():
            branches = enumerate(zip(pair.was[keyword], pair.now[keyword], strict=False), 1)
            for number, (one, other) in branches:
                self.compare(one, other, f"{pair.place} {keyword} {number}", sent=pair.sent)


@dataclass(frozen=True)
class _Pair:
    """Two schemas with one name, with references followed and `allOf` merged."""

    was: Node
    now: Node
    place: str
    sent: bool
    fields: Mapping[str, Any]  # The fields of the old schema, each with its enum or None.

    def differences(self) -> Iterator[Difference]:
        yield from self._words()
        yield from self._fields()
        yield from self._required()
        yield from self._enum()
        for keyword in sorted((self.was.keys() | self.now.keys()) - TEXTS - _BY_PARTS):
            yield from self._keyword(keyword)

    def _words(self) -> Iterator[Difference]:
        if changed := texts_changed(self.was, self.now):
            yield self._difference(f"says its {changed} in other words", Kind.WORDS)

    def _fields(self) -> Iterator[Difference]:
        was, now = self.was.get("properties", {}), self.now.get("properties", {})
        for name in sorted(was.keys() - now.keys()):
            yield self._difference(f"the field {name} is gone", Kind.BREAKING)
        for name in sorted(now.keys() - was.keys()):
            yield self._difference(f"the field {name} is new", Kind.CHANGE)

    def _required(self) -> Iterator[Difference]:
        was, now = set(self.was.get("required", ())), set(self.now.get("required", ()))
        for name in sorted(now - was):
            yield self._moved(f"the field {name} is required now", Move.NARROWER)
        for name in sorted(was - now):
            yield self._moved(f"the field {name} is no longer always there", Move.WIDER)

    def _enum(self) -> Iterator[Difference]:
        was, now = self.was.get("enum"), self.now.get("enum")
        if was is None or now is None:
            if was != now:
                yield self._moved(f"its list of words {_came(now)}", _appeared(now))
            return
        for word in was:
            if word not in now:
                yield self._difference(f"the word {word} is gone", Kind.BREAKING)
        for word in now:
            if word not in was:
                yield self._difference(f"the word {word} is new", Kind.CHANGE)

    def _keyword(self, keyword: str) -> Iterator[Difference]:
        default = _DEFAULTS.get(keyword)
        was, now = self.was.get(keyword, default), self.now.get(keyword, default)
        if was == now or _compared_inside(keyword, was, now):
            return
        if keyword == "not" and self._asks_old_requests_alike(was, now):
            yield self._difference("refuses more of what came to it", Kind.CHANGE)
            return
        words = f"{keyword} is {_shown(now)}, was {_shown(was)}"
        free = keyword in _WITHOUT_MEANING or (keyword in _FREE_IN_ANSWERS and not self.sent)
        free = free or (not self.sent and self._has_the_bound_of_its_format(keyword))
        if free or (keyword == "not" and was is None and _forbids_only_new(self.was, now)):
            yield self._difference(words, Kind.CHANGE)
        else:
            yield self._moved(words, _move(keyword, was, now))

    def _has_the_bound_of_its_format(self, keyword: str) -> bool:
        """Return whether a bound of an integer is now that of the 64 bits that it always had."""
        if keyword not in ("minimum", "maximum") or self.was.get("format") != "int64":
            return False
        was, now = (abs(each.get(keyword) or 0) for each in (self.was, self.now))
        return (was, now) == (_SAFE, _INT64)

    def _asks_old_requests_alike(self, was: Any, now: Any) -> bool:
        """Return whether a closed object is as strict as before for its old fields and enums."""
        closed = self.sent and self.was.get("additionalProperties") is False
        return closed and as_seen_before(now, self.fields) == was

    def _moved(self, words: str, move: Move) -> Difference:
        harmless = Move.WIDER if self.sent else Move.NARROWER
        return self._difference(words, Kind.CHANGE if move is harmless else Kind.BREAKING)

    def _difference(self, words: str, kind: Kind) -> Difference:
        return Difference(f"{self.place} in {'requests' if self.sent else 'answers'}", words, kind)


def texts_changed(was: Node, now: Node) -> str:
    """Return the names of the changed texts of a node: "description and example"."""
    changed = (key for key in TEXTS if was.get(key) != now.get(key))
    return " and ".join(sorted(changed))


def _move(keyword: str, was: Any, now: Any) -> Move:
    if keyword in _KINDS:
        return Move.OTHER
    if isinstance(was, bool) and isinstance(now, bool):
        return Move.WIDER if now is _opens(keyword) else Move.NARROWER
    if was is None or now is None:
        return _appeared(now)
    if keyword in _MOST | _LEAST:
        return Move.WIDER if (now > was) is (keyword in _MOST) else Move.NARROWER
    return Move.OTHER


def _forbids_only_new(was: Node, forbidden: Node) -> bool:
    """Return whether a new `not` forbids only values that were invalid before.

    Each of its branches needs a new field, or the absence of a required field.
    """
    closed = was.get("additionalProperties") is False
    known, needed = set(was.get("properties", {})), set(was.get("required", ()))
    for branch in forbidden.get("anyOf", [forbidden]):
        needs_new = closed and not set(branch.get("required", ())) <= known
        options = branch.get("not", {}).get("anyOf", ())
        if not needs_new and not any(set(each.get("required", ())) <= needed for each in options):
            return False
    return True


def _compared_inside(keyword: str, was: Any, now: Any) -> bool:
    if keyword in _BRANCHES:
        return isinstance(was, list) and isinstance(now, list) and len(was) == len(now)
    return _opens(keyword) and isinstance(was, dict) and isinstance(now, dict)


def _opens(keyword: str) -> bool:
    return keyword in _OPENING


def _appeared(now: Any) -> Move:
    return Move.WIDER if now is None else Move.NARROWER


def _came(now: Any) -> str:
    return "is gone" if now is None else "is new"


def _shown(value: Any) -> str:
    return "not there" if value is None else str(value)


def _name(node: Node) -> str:
    return str(node.get("$ref", "")).rpartition("/")[2]
