"""The room in which statements of banks are read: bytes in, lines out.

It knows neither HTTP nor SQL nor the ledger. Whatever the bytes are, the outcome is lines, good and
bad, or `Unreadable`: other people's programs wrote these files, and somebody may have meant harm.
"""

from collections.abc import Mapping
from typing import Any, Final, Literal

from bank_files import camt, mt940_text, ofx, table
from bank_files.guessing import guess
from bank_files.lines import MOST_LINES, BadLine, FileLine, ReadLine, Unreadable

__all__ = ["BadLine", "FileLine", "ReadLine", "Unreadable", "guess", "read"]

Format = Literal["csv", "ofx", "camt053", "mt940"]

# Whose own ids of a line belong to no other line. In the others an id may be that of a whole batch.
UNIQUE_IDS: Final = frozenset({"csv", "ofx"})

NAMES: Final = {"csv": "CSV", "ofx": "OFX", "camt053": "CAMT.053", "mt940": "MT940"}


def read(content: bytes, kind: Format, mapping: Mapping[str, Any] | None) -> list[ReadLine]:
    """Read the lines of a file; a CSV's columns are what `mapping` says.

    Raises Unreadable for a file that is not of that kind, holds no line, or too many.
    """
    if kind == "csv":
        if mapping is None:
            raise Unreadable("is required for CSV", field="mapping")
        lines = table.read(content, mapping)
    elif mapping is not None:
        raise Unreadable("is for CSV only", field="mapping")
    else:
        lines = {"ofx": ofx.read, "camt053": camt.read, "mt940": mt940_text.read}[kind](content)
    if not lines:
        raise Unreadable(f"holds no {NAMES[kind]} line")
    if len(lines) > MOST_LINES:
        raise Unreadable(f"holds more than {MOST_LINES:,} lines")
    return lines
