"""Answers that name numbers which are not known before the round trip that keeps the answer.

An answer carries a mark where a number belongs. The database puts the number there in what is kept
under an Idempotency-Key, and the server in what it sends: whoever waits for a number waits for the
database alone, and never for a server that writes answers.
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

# A function, since no sub-select may stand among the values of a row (machines.py).
_FILLED = "filled_answer(%(owner)s, %(pieces)s)"
_WIDTH = 6  # Digits of a mark: which of the numbers it stands for.


def rendered(series: ColumnElement[str], count: ColumnElement[int]) -> ColumnElement[str]:
    """Write the nth number of a series in SQL, as `accounting.books.numbers.render` does."""
    digits = cast(count, Text)
    width = func.greatest(literal_column(str(DIGITS)), func.length(digits))
    return series.concat(word("-")).concat(func.lpad(digits, width, word("0")))


def kept(series: ColumnElement[str], last: ColumnElement[int]) -> ColumnElement[str]:
    """Keep the last number of a series in a setting, until the transaction ends.

    The rows that carry numbers read it there: to look it up costs each of their statements 35 us.
    """
    return func.set_config(_setting_of(series), cast(last, Text), true())


def last_kept(series: ColumnElement[str]) -> ColumnElement[int]:
    """Read that setting; null for no series."""
    return cast(func.current_setting(_setting_of(series)), BigInteger)


def _setting_of(series: ColumnElement[str]) -> ColumnElement[str]:
    return word("taken.").concat(func.replace(series, word("-"), word("_")))


def back(number: Pending, taken: Mapping[str, int]) -> int:
    """Say how many places a number stands before the last one that its transaction takes."""
    return taken[number.series] - 1 - number.place


@dataclass(slots=True)
class Marks:
    """The marks in one answer; nobody can guess one and send it as his own text."""

    seal: str = field(default_factory=lambda: token_hex(16))
    numbers: list[Pending] = field(default_factory=list)

    def mark(self, number: Pending) -> str:
        """Stand in for a number."""
        self.numbers.append(number)
        return f"{self.seal}{len(self.numbers) - 1:0{_WIDTH}}"

    def fill(self, body: bytes, known: Callable[[Pending], str]) -> bytes:
        """Put the numbers into an answer, once they are known."""
        return b"".join(
            text if number is None else known(number).encode() + text
            for number, text in self._cut(body)
        )

    def filled(self, body: bytes, taken: Mapping[str, int]) -> Query | None:
        """The expression with which the database does the same; None where nothing is marked."""
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
        """Cut an answer at its marks: each piece with the number before it."""
        first, *others = body.split(self.seal.encode())
        marked = ((self.numbers[int(text[:_WIDTH])], text[_WIDTH:]) for text in others)
        return [(None, first), *marked]
