"""Tables as comma-separated values (RFC 4180) in which no spreadsheet finds a formula.

Not every spreadsheet splits at commas. One that splits at semicolons ignores a quote within a cell,
so `x;=1+1` would end as a formula: each part of a text is made harmless, not only its start.
"""

import re
from collections.abc import Sequence
from datetime import UTC, date, datetime
from typing import Any, Final

from handlers.results import Csv

# The characters with which a spreadsheet begins a formula. The last four are full-width forms of
# the first four, and are treated alike.
_SIGNS: Final = r"=+\-@＝＋－＠"  # noqa: RUF001 - the wide signs are meant.
_SEPARATORS: Final = r";|\t\r\n"
# A white space at the start of a text is dropped by some spreadsheets, so it counts as a sign.
_FORMULA: Final = re.compile(rf'\A(?=[{_SIGNS}\t\r\n])|(?<=[{_SEPARATORS}])(?="*[{_SIGNS}])')
_QUOTED: Final = re.compile(rf'[,"{_SEPARATORS}]')


def csv_of(table: Csv) -> bytes:
    """Encode a table with its header, in UTF-8."""
    lines = [_line(table.header), *map(_line, table.rows), ""]
    return "\r\n".join(lines).encode()


def _line(cells: Sequence[Any]) -> str:
    texts = map(csv_text, cells)
    return ",".join(
        f'"{text.replace(chr(34), chr(34) * 2)}"' if _QUOTED.search(text) else text
        for text in texts
    )


def csv_text(value: Any) -> str:
    """Format a value: nothing for None, and text so that no spreadsheet runs it as a formula.

    Text gets an apostrophe wherever a formula could begin: `'=1+1`, `x;'=1+1`. A negative number is
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
            return _FORMULA.sub("'", value)
    return str(value)
