"""CSV: every bank has columns of its own, so the sender says which is what.

Banks put lines above their header and sums below the table, and separate by comma, semicolon or
tab; all that is found by looking for the columns that were named.
"""

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from io import StringIO
from itertools import islice
from typing import Any, Final

from bank_files.lines import (
    LONGEST_DESCRIPTION,
    MOST_LINES,
    BadLine,
    FileLine,
    ReadLine,
    Unreadable,
    decoded,
    reference_of,
    tidy,
)
from bank_files.written import Amounts, Days, way

COLUMNS: Final = (
    *("date", "amount", "direction", "credit", "debit", "currency"),
    *("description", "counterparty_name", "reference", "external_id"),
)
MONEY: Final = ("amount", "credit", "debit")
DELIMITERS: Final = (";", ",", "\t", "|")
MOST_CELLS: Final = 1_000_000
HEADER_WITHIN: Final = 50  # Rows from the top in which the header is looked for.

Row = list[str]


@dataclass(frozen=True, slots=True)
class Table:
    """The rows of a table, and where in a row each named column stands."""

    rows: Sequence[Row]
    places: Mapping[str, int]

    def cell(self, row: Row, name: str) -> str:
        """Return what stands in a column; an empty text where the row has none."""
        place = self.places.get(name)
        return row[place].strip() if place is not None and place < len(row) else ""


def read(content: bytes, mapping: Mapping[str, Any]) -> list[ReadLine]:
    """Read the lines of a CSV by its columns; raises Unreadable."""
    named = {name: mapping[name] for name in COLUMNS if mapping.get(name) is not None}
    table = find_table(decoded(content), named)
    days = Days(mapping.get("date_format"))
    cells = (table.cell(row, name) for row in table.rows for name in MONEY)
    amounts = Amounts.of(cells, mapping.get("decimal_comma"))
    return list(read_rows(table, days, amounts))


def read_rows(table: Table, days: Days, amounts: Amounts) -> Iterator[ReadLine]:
    """Read each row that has a day or an amount; sums and remarks below a table have neither."""
    for row in table.rows:
        if any(table.cell(row, name) for name in ("date", *MONEY)):
            try:
                yield read_row(table, row, days, amounts)
            except ValueError as error:
                yield BadLine(str(error))


def read_row(table: Table, row: Row, days: Days, amounts: Amounts) -> FileLine:
    """Read one row; ValueError with a sentence for one that cannot be read."""
    return FileLine(
        booked_on=days.read(table.cell(row, "date")),
        amount=amount_of(table, row, amounts),
        external_id=tidy(table.cell(row, "external_id"), LONGEST_DESCRIPTION),
        currency=tidy(table.cell(row, "currency").upper(), 20),
        description=tidy(table.cell(row, "description"), LONGEST_DESCRIPTION),
        counterparty_name=tidy(table.cell(row, "counterparty_name")),
        reference=reference_of(table.cell(row, "reference")),
    )


def amount_of(table: Table, row: Row, amounts: Amounts) -> Decimal:
    """Return what a row moves, below zero going out."""
    if "amount" in table.places:
        amount = amounts.read(table.cell(row, "amount"))
        if "direction" not in table.places:
            return amount
        return abs(amount) * way(table.cell(row, "direction"))
    came, went = table.cell(row, "credit"), table.cell(row, "debit")
    credit = amounts.read(came) if came else Decimal(0)
    debit = abs(amounts.read(went)) if went else Decimal(0)
    if credit and debit:
        raise ValueError("The line has money going both ways.")
    return credit - debit


def find_table(text: str, named: Mapping[str, str]) -> Table:
    """Find the table that has the named columns; raises Unreadable with those it does not have."""
    best: tuple[int, list[str]] | None = None
    for delimiter in DELIMITERS:
        rows = rows_of(text, delimiter)
        if all(name.isdecimal() and int(name) > 0 for name in named.values()):
            places = {column: int(name) - 1 for column, name in named.items()}
            if any(len(row) > max(places.values()) for row in rows[:HEADER_WITHIN]):
                return numbered(rows, places)
        for place, row in enumerate(rows[:HEADER_WITHIN]):
            places = places_in(row, named)
            missing = [column for column in named if column not in places]
            if not missing:
                return Table(rows[place + 1 :], places)
            if best is None or len(missing) < len(best[1]):
                best = (place, missing)
    missing = best[1] if best else list(named)
    raise Unreadable("is no column of the file", field=f"mapping.{missing[0]}")


def places_in(row: Row, named: Mapping[str, str]) -> dict[str, int]:
    """Return where in a header the named columns stand; one that nobody is called is a number."""
    titles = [(tidy(cell) or "").casefold() for cell in row]
    found: dict[str, int] = {}
    for column, name in named.items():
        wanted = (tidy(name) or "").casefold()
        if wanted in titles:
            found[column] = titles.index(wanted)
        elif wanted.isdecimal() and len(wanted) < 4 and 0 < int(wanted) <= len(row):
            found[column] = int(wanted) - 1
    by_name = any((tidy(named[column]) or "").casefold() in titles for column in found)
    return found if by_name else {}


def numbered(rows: Sequence[Row], places: Mapping[str, int]) -> Table:
    """Make a table of rows whose columns are numbers; a first row without any digit is a header."""
    table = Table(rows, places)
    headed = rows and not any(letter.isdigit() for letter in table.cell(rows[0], "date"))
    return Table(rows[1:], places) if headed else table


def rows_of(text: str, delimiter: str) -> list[Row]:
    """Take a text apart into rows of cells; raises Unreadable where it cannot be."""
    if text.count(delimiter) > MOST_CELLS:
        raise Unreadable("holds more cells than are read")
    reader = csv.reader(StringIO(text, newline=""), delimiter=delimiter)
    try:
        return list(islice(reader, MOST_LINES + 2 * HEADER_WITHIN))
    except csv.Error:
        raise Unreadable("is no CSV whose quotes fit together") from None
