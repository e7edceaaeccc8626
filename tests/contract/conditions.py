"""The `not` of an object, for requests that are older than some of its fields."""

from collections.abc import Mapping
from typing import Any


def as_seen_before(condition: Any, fields: Mapping[str, Any]) -> Any:
    """Return the part of a condition that concerns older requests, or True or False if none does.

    `fields` are the fields of the old, closed object, each with its enum where it has one.
    """
    return _seen(condition, set(fields), fields)


def _seen(condition: Any, known: set[str], words: Mapping[str, Any]) -> Any:
    if not isinstance(condition, Mapping):
        return condition
    left: dict[str, Any] = {}
    for keyword, said in condition.items():
        seen = _SEEN.get(keyword, lambda said, *_: said)(said, known, words)
        if seen is False:
            return False
        if seen is not True:
            left[keyword] = seen
    if left.keys() == {"anyOf"} and len(left["anyOf"]) == 1:
        return left["anyOf"][0]
    return left or True


def _required(said: Any, known: set[str], _words: Mapping[str, Any]) -> Any:
    return said if known.issuperset(said) else False


def _not(said: Any, known: set[str], words: Mapping[str, Any]) -> Any:
    seen = _seen(said, known, words)
    return not seen if isinstance(seen, bool) else seen


def _any(said: Any, known: set[str], words: Mapping[str, Any]) -> Any:
    seen = [_seen(each, known, words) for each in said]
    left = [each for each in seen if each is not False]
    return True if True in left else left or False


def _all(said: Any, known: set[str], words: Mapping[str, Any]) -> Any:
    seen = [_seen(each, known, words) for each in said]
    return False if False in seen else [each for each in seen if each is not True] or True


def _properties(said: Any, known: set[str], words: Mapping[str, Any]) -> Any:
    left = {}
    for name, field in said.items():
        listed = [
            word for word in field.get("enum", ()) if words.get(name) is None or word in words[name]
        ]
        if "enum" in field and not listed:
            return False
        left[name] = {**field, "enum": listed} if "enum" in field else field
    return left


_SEEN = {
    "required": _required,
    "not": _not,
    "anyOf": _any,
    "allOf": _all,
    "properties": _properties,
}
