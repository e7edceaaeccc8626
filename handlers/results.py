"""What a handler answers beside a plain value."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from accounting.values import dataclass

Reply = Any  # A plain value: the operation's 200, as its contract describes it.


@dataclass(frozen=True, slots=True)
class Created:
    """The operation's 201: something is there now that was not before."""

    value: Any


@dataclass(frozen=True, slots=True)
class Csv:
    """The operation's 200 as a file to keep: a table of comma-separated values.

    A cell is text, a number, a day, a moment, a truth or None; every row is as wide as the header.
    """

    file_name: str
    header: Sequence[str]
    rows: Iterable[Sequence[Any]]


@dataclass(frozen=True, slots=True)
class Pdf:
    """The operation's 200 as a paper to keep: `draw` makes it, and is called in a thread."""

    file_name: str
    draw: Callable[[], bytes]


@dataclass(frozen=True, slots=True)
class Tabled:
    """The operation's 200, and the same as a file for those who would rather have that."""

    value: Any
    file: Csv
    pdf: Pdf | None = None
