"""Answers of a handler other than a plain value."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

Reply = Any  # A plain value: the operation's 200, as its contract describes it.


class AnswerFormat(StrEnum):
    """The format of an answer, where the contract describes several for one operation.

    A handler with a parameter `answer_format` receives the one that the client prefers. It returns
    a plain value for JSON, else a `Csv` or `Pdf`.
    """

    JSON = "application/json"
    CSV = "text/csv"
    PDF = "application/pdf"


@dataclass(frozen=True, slots=True)
class Created:
    """The operation's 201: the operation created a record."""

    value: Any


@dataclass(frozen=True, slots=True)
class ExistingRecord:
    """The operation's 200: a record with the external id of the body exists, and is unchanged.

    The answer warns of each field of the body that differs. `record` is the record as it is
    serialized, if it is only a part of the value.
    """

    value: Any
    record: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class FinishedBatch:
    """The results of the items of a batch that has run, and the entries if it was a preview."""

    results: Sequence[Mapping[str, Any]]
    entries: Sequence[Mapping[str, Any]] | None


@dataclass(frozen=True, slots=True)
class Csv:
    """The operation's 200 as a file download: a table of comma-separated values.

    A cell is text, a number, a date, a date-time, a boolean or None. Every row is as wide as the
    header.
    """

    file_name: str
    header: Sequence[str]
    rows: Iterable[Sequence[Any]]


@dataclass(frozen=True, slots=True)
class Pdf:
    """The operation's 200 as a PDF download, which `draw` renders in a thread."""

    file_name: str
    draw: Callable[[], bytes]
