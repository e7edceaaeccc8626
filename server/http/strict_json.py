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
MAX_VALUES = 20_000  # A mebibyte could hold 400,000, which take half a second to check.
MAX_INTEGER = 2**53 - 1  # The limit up to which every JSON reader, JavaScript included, is exact.

_POSITION = re.compile(r"at line (\d+) column (\d+)$")


def parse_json(raw: bytes) -> Any:
    """Return the value of a JSON document; ValidationError `malformed_json` for anything else.

    Integers are int, numbers with a fraction or an exponent are float: their `str()` is the text as
    written, up to 15 significant digits. If the contract says `number`, validation uses that text
    for a Decimal.
    """
    refuse_too_many(raw)
    try:
        value = jiter.from_json(
            raw, allow_inf_nan=False, cache_mode="keys", catch_duplicate_keys=True
        )
    except ValueError as error:
        raise _malformed(str(error)) from None
    _check(value, 0)
    if b"\\u0000" in raw:
        _check_text(value)
    return value


def refuse_too_many(*texts: bytes) -> None:
    """Raise ValidationError if JSON texts contain too many values together, before they are parsed.

    The exact count, which ignores quoted text, is made only if the rough count is too high.
    """
    if sum(map(_marks, texts)) > MAX_VALUES and sum(map(_values, texts)) > MAX_VALUES:
        message = f"The body has more than {MAX_VALUES} fields and list items."
        raise ValidationError("malformed_json", message)


def _marks(text: bytes) -> int:
    """Count commas and opening brackets: there are at least as many as values."""
    return text.count(b",") + text.count(b"[") + text.count(b"{")


def _values(text: bytes) -> int:
    """Count the fields of all objects and the items of all lists of a JSON text."""
    text = text.replace(b"\\\\", b"").replace(b'\\"', b"")
    if text.count(b'"') > 4 * MAX_VALUES:  # A value has at most four quotes.
        return MAX_VALUES + 1
    bare = b"0".join(text.split(b'"')[::2]).translate(None, b" \t\r\n")
    return _marks(bare) - bare.count(b"[]") - bare.count(b"{}")


def _malformed(reason: str) -> ValidationError:
    """Return the error in our own words: the parser's message may repeat a whole key."""
    message = "The body is not valid JSON."
    if reason.startswith("Detected duplicate key"):
        message = "The body has the same key twice in one object."
    elif reason.startswith("number out of range"):
        message = f"The body has a number beyond {MAX_INTEGER}."
    elif reason.startswith("recursion limit"):
        message = f"The body is nested deeper than {MAX_DEPTH} levels."
    found = _POSITION.search(reason)
    position = {"line": int(found[1]), "column": int(found[2])} if found else {}
    return ValidationError("malformed_json", message, **position)


def _check(value: Any, depth: int) -> None:
    """Check depth and numbers; texts, the bulk of every body, are skipped."""
    kind = type(value)
    if kind is dict or kind is list:
        if depth == MAX_DEPTH:
            raise ValidationError(
                "malformed_json", f"The body is nested deeper than {MAX_DEPTH} levels."
            )
        for item in value.values() if kind is dict else value:
            kind = type(item)
            if kind is not str and kind is not bool and item is not None:
                _check(item, depth + 1)
    elif kind is int:
        if not -MAX_INTEGER <= value <= MAX_INTEGER:
            raise ValidationError("malformed_json", f"The body has a number beyond {MAX_INTEGER}.")
    elif kind is float and value - value != 0:  # False for all numbers except infinity.
        raise ValidationError("malformed_json", "The body has a number that is too large.")


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
