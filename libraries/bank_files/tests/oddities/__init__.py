"""Oddities of bank files: small files in the shapes that banks write, and the right lines of each.

The shapes are those of public samples and reports; names, numbers and amounts are made up. The
readers are tested with them here, and the import over HTTP in `tests/handlers/bank`.
"""

from dataclasses import dataclass, field
from typing import Any

from libraries.bank_files import Format


@dataclass(frozen=True)
class Right:
    """The day and amount of a right line, and other facts of it that the oddity is about."""

    day: str
    amount: str
    facts: dict[str, Any] = field(default_factory=dict)


def right(day: str, amount: str, **facts: Any) -> Right:
    return Right(f"2026-{day}", amount, facts)


@dataclass(frozen=True)
class Oddity:
    """A file with an oddity: its right lines, or what the reader must ask for.

    `asks` is the part of the mapping that the sender must name, or "file" for a file that cannot
    be read. `bad` is the number of lines that fail by themselves.
    """

    format: Format
    oddity: str
    content: bytes
    lines: tuple[Right, ...] = ()
    columns: dict[str, Any] | None = None
    asks: str | None = None
    why: str = ""
    bad: int = 0
