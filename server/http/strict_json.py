"""Strict JSON: one document, exact integers, bounded depth, text that every store can hold.

The parser (jiter) itself refuses invalid JSON, two documents, repeated keys in any spelling, NaN
and Infinity, invalid UTF-8, a byte order mark, UTF-16, lone surrogates, integers of more than 4,300
digits and nesting beyond 200. One walk over the value refuses the rest.
"""

import re
from typing import Any

import jiter

from accounting.errors import ValidationError

MAX_DEPTH = 32
# For each mebibyte of a body; it could hold 400,000, which take half a second to check.
MAX_VALUES = 20_000
MAX_INTEGER = 2**53 - 1  # The limit up to which every JSON reader, JavaScript included, is exact.

Place = tuple[str, ...]

_POSITION = re.compile(r"at line (\d+) column (\d+)$")


class NumberBeyond(ValidationError):
    """A JSON document with numbers beyond the limit.

    `value` is its value, in which each of them is replaced by the first number beyond the limit;
    `places` are their paths.
    """

    def __init__(self, value: Any, places: list[Place]) -> None:
        self.value = value
        self.places = places
        super().__init__("malformed_json", f"The body has a number beyond {MAX_INTEGER}.")


def parse_json(raw: bytes, most_values: int = MAX_VALUES) -> Any:
    """Return the value of a JSON document; ValidationError `malformed_json` for anything else.

    NumberBeyond for a document with numbers that are too large, so that their fields can be named.

    Integers are int, numbers with a fraction or an exponent are float: their `str()` is the text as
    written, up to 15 significant digits. If the contract says `number`, validation uses that text
    for a Decimal.
    """
    refuse_too_many(raw, most=most_values)
    try:
        value = jiter.from_json(
            raw, allow_inf_nan=False, cache_mode="keys", catch_duplicate_keys=True
        )
    except ValueError as error:
        raise _malformed(str(error)) from None
    places: list[Place] = []
    if not _check(value, 0):
        value = _bounded(value, (), places)
    if b"\\u0000" in raw:
        _check_text(value)
    if places:
        raise NumberBeyond(value, places)
    return value


def refuse_too_many(*texts: bytes, most: int = MAX_VALUES) -> None:
    """Raise ValidationError if JSON texts contain too many values together, before they are parsed.

    The exact count, which ignores quoted text, is made only if the rough count is too high.
    """
    if sum(map(_marks, texts)) > most and sum(_values(text, most) for text in texts) > most:
        message = f"The body has more than {most} fields and list items."
        raise ValidationError("malformed_json", message)


def _marks(text: bytes) -> int:
    """Count commas and opening brackets: there are at least as many as values."""
    return text.count(b",") + text.count(b"[") + text.count(b"{")


def _values(text: bytes, most: int) -> int:
    """Count the fields of all objects and the items of all lists of a JSON text."""
    text = text.replace(b"\\\\", b"").replace(b'\\"', b"")
    if text.count(b'"') > 4 * most:  # A value has at most four quotes.
        return most + 1
    bare = b"0".join(text.split(b'"')[::2]).translate(None, b" \t\r\n")
    return _marks(bare) - bare.count(b"[]") - bare.count(b"{}")


def _malformed(reason: str) -> ValidationError:
    """Return the error in our own words: the parser's message may repeat a whole key."""
    found = _POSITION.search(reason)
    at = f" at line {found[1]}, column {found[2]}" if found else ""
    message = f"The body is not valid JSON{at}."
    if reason.startswith("Detected duplicate key"):
        message = "The body has the same key twice in one object."
    elif reason.startswith("number out of range"):
        message = f"The body has a number beyond {MAX_INTEGER}."
    elif reason.startswith("recursion limit"):
        message = f"The body is nested deeper than {MAX_DEPTH} levels."
    position = {"line": int(found[1]), "column": int(found[2])} if found else {}
    return ValidationError("malformed_json", message, **position)


def _check(value: Any, depth: int) -> bool:
    """Check the depth, and return whether all numbers are within the limit.

    Texts, the bulk of every body, are skipped.
    """
    kind = type(value)
    if kind is dict or kind is list:
        if depth == MAX_DEPTH:
            raise ValidationError(
                "malformed_json", f"The body is nested deeper than {MAX_DEPTH} levels."
            )
        within = True
        for item in value.values() if kind is dict else value:
            kind = type(item)
            if kind is not str and kind is not bool and item is not None:
                within = _check(item, depth + 1) and within
        return within
    if kind is int:
        return bool(-MAX_INTEGER <= value <= MAX_INTEGER)
    # The difference is 0 for all numbers except infinity.
    return not (kind is float and value - value != 0)


def _bounded(value: Any, at: Place, places: list[Place]) -> Any:
    """Return a value with each number beyond the limit replaced; their paths go to `places`."""
    if type(value) is dict:
        return {name: _bounded(item, (*at, name), places) for name, item in value.items()}
    if type(value) is list:
        return [_bounded(item, (*at, str(n)), places) for n, item in enumerate(value)]
    if _check(value, 0):
        return value
    places.append(at)
    return MAX_INTEGER + 1 if value > 0 else -MAX_INTEGER - 1


def _check_text(value: Any) -> None:
    """Check every string and key for U+0000, which PostgreSQL cannot store."""
    kind = type(value)
    if kind is str:
        if "\0" in value:
            raise ValidationError("malformed_json", "The body has the character U+0000 in a text.")
    elif kind is dict:
        for key, item in value.items():
            _check_text(key)
            _check_text(item)
    elif kind is list:
        for item in value:
            _check_text(item)
