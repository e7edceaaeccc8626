"""Readers of bank statement files: bytes in, lines out.

The package knows neither HTTP, SQL nor the ledger. For any bytes the result is lines, good and bad,
or `Unreadable`: the files come from other programs, and can be malicious.
"""

from collections.abc import Iterable
from itertools import islice
from typing import Final, Literal

from libraries.bank_files import camt053, csv_table, mt940, ofx
from libraries.bank_files.csv_table import Columns
from libraries.bank_files.file_lines import (
    MOST_LINES,
    BadLine,
    FileLine,
    MissingColumn,
    ReadLine,
    Unreadable,
    WrongColumns,
)
from libraries.bank_files.format_guess import guess, is_text

__all__ = [
    "NAMES",
    "BadLine",
    "Columns",
    "FileLine",
    "Format",
    "MissingColumn",
    "ReadLine",
    "Unreadable",
    "WrongColumns",
    "guess",
    "is_text",
    "read",
]

Format = Literal["csv", "ofx", "camt053", "mt940"]

NAMES: Final = {"csv": "CSV", "ofx": "OFX", "camt053": "CAMT.053", "mt940": "MT940"}


def read(content: bytes, kind: Format, columns: Columns | None) -> list[ReadLine]:
    """Read the lines of a file; a CSV needs its columns.

    A statement without movements has no lines. Raises Unreadable for a file that is not in this
    format or has more than MOST_LINES; WrongColumns for columns that are missing, that are not in
    the file, or whose notation must be named.
    """
    lines = list(islice(lines_of(content, kind, columns), MOST_LINES + 1))
    if len(lines) > MOST_LINES:
        raise Unreadable(f"has more than {MOST_LINES:,} lines")
    return lines


def lines_of(content: bytes, kind: Format, columns: Columns | None) -> Iterable[ReadLine]:
    """Read a file with the reader of its format."""
    if kind == "csv":
        if columns is None:
            raise WrongColumns("is required for CSV")
        return csv_table.read(content, columns)
    if columns is not None:
        raise WrongColumns("is allowed only for CSV")
    return {"ofx": ofx.read, "camt053": camt053.read, "mt940": mt940.read}[kind](content)
