"""Marks in an answer for numbers that are known only after the round trip that stores it.

An answer has a mark where a number belongs. The database replaces the mark in the answer that is
stored under an Idempotency-Key, and the server replaces it in the answer that it sends. So a series
is locked only while the database works, and never while a server renders answers.
"""

from collections.abc import Callable, Mapping
from dataclasses import field
from secrets import token_hex
from typing import Any

import orjson
from sqlalchemy import BigInteger, Text, cast, func, literal_column, true
from sqlalchemy.sql.elements import ColumnElement

from accounting.books.numbers import DIGITS, Pending
from accounting.values import dataclass
from persistence.engine.sql import Query, word

# A function, since the values of a row may contain no sub-select (machines.py).
_FILLED = "filled_answer(%(owner)s, %(pieces)s)"
_WIDTH = 6  # Digits of the index of the number that a mark represents.


def rendered(series: ColumnElement[str], count: ColumnElement[int]) -> ColumnElement[str]:
    """Return the SQL of the nth number of a series, as `accounting.books.numbers.render` has it."""
    digits = cast(count, Text)
    width = func.greatest(literal_column(str(DIGITS)), func.length(digits))
    return series.concat(word("-")).concat(func.lpad(digits, width, word("0")))


def kept(series: ColumnElement[str], last: ColumnElement[int]) -> ColumnElement[str]:
    """Return the SQL that keeps the last number of a series in a setting of the transaction.

    The statements of rows with numbers read it there: a look-up costs each of them 35 µs.
    """
    return func.set_config(_setting_of(series), cast(last, Text), true())


def last_kept(series: ColumnElement[str]) -> ColumnElement[int]:
    """Return the SQL that reads that setting; null for no series."""
    return cast(func.current_setting(_setting_of(series)), BigInteger)


def _setting_of(series: ColumnElement[str]) -> ColumnElement[str]:
    return word("taken.").concat(func.replace(series, word("-"), word("_")))


def back(number: Pending, taken: Mapping[str, int]) -> int:
    """Return the distance of a number from the last one of its series in the transaction."""
    return taken[number.series] - 1 - number.place


@dataclass(slots=True)
class Marks:
    """The marks in one answer; no caller can guess a mark and send it as text."""

    seal: str = field(default_factory=lambda: token_hex(16))
    numbers: list[Pending] = field(default_factory=list)

    def mark(self, number: Pending) -> str:
        """Create the mark of a number."""
        self.numbers.append(number)
        return f"{self.seal}{len(self.numbers) - 1:0{_WIDTH}}"

    def fill(self, body: bytes, known: Callable[[Pending], str]) -> bytes:
        """Replace the marks in an answer by their numbers, once they are known."""
        return b"".join(
            text if number is None else known(number).encode() + text
            for number, text in self._cut(body)
        )

    def filled(self, body: bytes, taken: Mapping[str, int]) -> Query | None:
        """Return the SQL that replaces the marks of an answer; None where it has no marks."""
        if not self.numbers:
            return None
        pieces: list[dict[str, Any]] = []
        for place, (number, text) in enumerate(self._cut(body)):
            piece = {"place": place, "text": text.decode()}
            if number is not None:
                piece |= {"series": number.series, "back": back(number, taken)}
            pieces.append(piece)
        return Query(_FILLED, {"pieces": orjson.dumps(pieces).decode()})

    def _cut(self, body: bytes) -> list[tuple[Pending | None, bytes]]:
        """Split an answer at its marks; return each piece with the number before it."""
        first, *others = body.split(self.seal.encode())
        marked = ((self.numbers[int(text[:_WIDTH])], text[_WIDTH:]) for text in others)
        return [(None, first), *marked]
