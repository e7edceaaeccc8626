"""CSV statements: each bank has its own columns, so the sender names them.

Banks put other rows above the header and below the table, and separate cells by a comma, a
semicolon, a tab or a bar. The reader uses the header and the separator with which it finds the
named columns.
"""

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from decimal import Decimal
from io import StringIO
from itertools import islice
from typing import Final

from libraries.bank_files.csv_cells import Amounts, Days, sign_of
from libraries.bank_files.field_values import decoded, reference_of, tidy
from libraries.bank_files.file_lines import (
    LONGEST_DESCRIPTION,
    MOST_LINES,
    BadLine,
    FileLine,
    ReadLine,
    Unreadable,
    WrongColumns,
)

MONEY: Final = ("amount", "credit", "debit")
DELIMITERS: Final = (";", ",", "\t", "|")
MOST_CELLS: Final = 1_000_000
HEADER_WITHIN: Final = 50  # The header must be in this many rows from the top.

Row = list[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """The columns of a CSV: for each field the name in the header, or the number from 1.

    Either `amount` is given, or `credit` and `debit`; `direction` only together with `amount`.
    Without `date_format` and `decimal_comma` the notation is derived from the cells.
    """

    date: str
    amount: str | None = None
    direction: str | None = None
    credit: str | None = None
    debit: str | None = None
    currency: str | None = None
    description: str | None = None
    counterparty_name: str | None = None
    reference: str | None = None
    external_id: str | None = None
    date_format: str | None = None
    decimal_comma: bool | None = None

    def named(self) -> dict[str, str]:
        """Return the given columns, by their attributes."""
        named = asdict(self)
        del named["date_format"], named["decimal_comma"]
        return {attribute: name for attribute, name in named.items() if name is not None}


@dataclass(frozen=True, slots=True)
class Table:
    """The rows of a table, and the index in a row of each attribute of `Columns`."""

    rows: Sequence[Row]
    places: Mapping[str, int]

    def cell(self, row: Row, name: str) -> str:
        """Return the cell of a column; an empty text if the row has none."""
        place = self.places.get(name)
        return row[place].strip() if place is not None and place < len(row) else ""


def read(content: bytes, columns: Columns) -> Iterator[ReadLine]:
    """Read the lines of a CSV by its columns; raises Unreadable and WrongColumns."""
    table = find_table(decoded(content), columns.named())
    days = Days(columns.date_format)
    cells = (table.cell(row, name) for row in table.rows for name in MONEY)
    amounts = Amounts.of(cells, columns.decimal_comma)
    for row in table.rows:  # Remarks below a table have neither a date nor an amount.
        if any(table.cell(row, name) for name in ("date", *MONEY)):
            try:
                yield read_row(table, row, days, amounts)
            except ValueError as error:
                yield BadLine(str(error))


def read_row(table: Table, row: Row, days: Days, amounts: Amounts) -> FileLine:
    """Read one row; raises ValueError with a sentence for a row that cannot be read."""
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
    """Return the amount of a row, negative for outgoing money."""
    if "amount" in table.places:
        amount = amounts.read(table.cell(row, "amount"))
        if "direction" not in table.places:
            return amount
        return abs(amount) * sign_of(table.cell(row, "direction"))
    came, went = table.cell(row, "credit"), table.cell(row, "debit")
    credit = amounts.read(came) if came else Decimal(0)
    debit = abs(amounts.read(went)) if went else Decimal(0)
    if credit and debit:
        raise ValueError("The line has both a credit and a debit.")
    return credit - debit


def find_table(text: str, named: Mapping[str, str]) -> Table:
    """Return the table that has the named columns; raises WrongColumns with a missing one."""
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
    raise WrongColumns("is not a column of the file", missing[0])


def places_in(row: Row, named: Mapping[str, str]) -> dict[str, int]:
    """Return the indexes of the named columns in a header row; {} if no name is a title in the row.

    A number is the position of a column, unless the header has it as a title.
    """
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
    """Create a table of numbered columns; a first row without a digit in its date is a header."""
    table = Table(rows, places)
    headed = rows and not any(character.isdigit() for character in table.cell(rows[0], "date"))
    return Table(rows[1:], places) if headed else table


def rows_of(text: str, delimiter: str) -> list[Row]:
    """Split a text into rows of cells; raises Unreadable."""
    if text.count(delimiter) > MOST_CELLS:
        raise Unreadable("has too many cells")
    reader = csv.reader(StringIO(text, newline=""), delimiter=delimiter)
    try:
        return list(islice(reader, MOST_LINES + 2 * HEADER_WITHIN))
    except csv.Error:
        raise Unreadable("is not valid CSV: its quotes do not match") from None
