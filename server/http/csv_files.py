"""Tables as CSV files, in the format of RFC 4180 that spreadsheets read."""

import csv
from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime
from io import StringIO
from typing import Any

from handlers.results import Csv

# The characters with which a spreadsheet begins a formula. The last four are full-width forms of
# the first four, and are treated alike.
_WIDE = "＝＋－＠"  # noqa: RUF001 - the wide signs are meant.
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", *_WIDE)


def written(table: Csv) -> bytes:
    """Encode a table with its header, in UTF-8."""
    file = StringIO(newline="")
    writer = csv.writer(file)
    writer.writerow(table.header)
    writer.writerows(_cells(row) for row in table.rows)
    return file.getvalue().encode()


def _cells(row: Sequence[Any]) -> Iterator[str]:
    return (cell(value) for value in row)


def cell(value: Any) -> str:
    """Format a value: nothing for None, and text so that no spreadsheet runs it as a formula.

    Text that a formula could begin with gets an apostrophe before it: `'=1+1`. A negative number is
    a number, and is unchanged.
    """
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case datetime():
            return value.astimezone(UTC).isoformat().replace("+00:00", "Z")
        case date():
            return value.isoformat()
        case str():
            return f"'{value}" if value.startswith(_FORMULA_STARTS) else value
    return str(value)
