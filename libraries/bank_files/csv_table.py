"""CSV statements: each bank has its own columns, so the sender names them.

Banks put other rows above the header and below the table, and separate cells by a comma, a
semicolon, a tab or a bar. The reader uses the header and the separator with which it finds the
named columns.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from decimal import Decimal
from typing import Final

from libraries.bank_files.csv_cells import Amounts, Days, sign_of
from libraries.bank_files.csv_rows import Row, Rows, split
from libraries.bank_files.field_values import account_in, decoded, reference_of, tidy
from libraries.bank_files.file_lines import (
    LONGEST_DESCRIPTION,
    MOST_LINES,
    BadLine,
    FileLine,
    MissingColumn,
    ReadLine,
    Unreadable,
)

MONEY: Final = ("amount", "credit", "debit", "fee")
DELIMITERS: Final = (";", ",", "\t", "|")
HEADER_WITHIN: Final = 50  # The header must be in this many rows from the top.
MOST_ROWS: Final = MOST_LINES + 2 * HEADER_WITHIN


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """The columns of a CSV: for each field the name in the header, or the number from 1.

    Either `amount` is given, or `credit` and `debit`; `direction` only together with `amount`.
    A `fee` is deducted from the amount. `account` is the number of the account of each line.
    Without `date_format` and `decimal_comma` the notation is derived from the cells.
    """

    date: str
    amount: str | None = None
    direction: str | None = None
    credit: str | None = None
    debit: str | None = None
    fee: str | None = None
    account: str | None = None
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


@dataclass(frozen=True, slots=True)
class Notation:
    """The notation of a table: its dates and amounts, and whether paid money is below zero."""

    days: Days
    amounts: Amounts
    below_zero: Mapping[str, bool]

    @classmethod
    def of(cls, table: Table, columns: Columns) -> "Notation":
        """Return the notation of all rows together; raises WrongColumns if it must be named."""
        days = Days.of((table.cell(row, "date") for row in table.rows), columns.date_format)
        cells = (table.cell(row, name) for row in table.rows for name in MONEY)
        amounts = Amounts.of(cells, columns.decimal_comma)
        below = {
            name: amounts.are_below_zero(table.cell(row, name) for row in table.rows)
            for name in ("debit", "fee")
        }
        return cls(days, amounts, below)

    def paid(self, name: str, cell: str) -> Decimal:
        """Return the money that a cell of a debit or fee column takes away.

        Some banks write it below zero. If a column has both signs, the money below zero is a
        refund.
        """
        amount = self.read_filled(cell)
        return -amount if self.below_zero[name] else amount

    def read_filled(self, cell: str) -> Decimal:
        """Return the amount of a cell; 0 if it is empty or has dashes only."""
        return self.amounts.read(cell) if cell.strip("-\u2013\u2014 ") else Decimal(0)


def read(content: bytes, columns: Columns) -> Iterator[ReadLine]:
    """Read the lines of a CSV by its columns; raises Unreadable and WrongColumns."""
    table = find_table(decoded(content), columns.named())
    notation = Notation.of(table, columns)
    for row in table.rows:
        if not is_remark(table, row):
            try:
                yield read_row(table, row, notation)
            except ValueError as error:
                yield BadLine(str(error))


def is_remark(table: Table, row: Row) -> bool:
    """Return whether a row is a text below a table, which has neither a day nor an amount."""
    dated = any(character.isdigit() for character in table.cell(row, "date"))
    return not dated and not any(table.cell(row, name) for name in MONEY)


def read_row(table: Table, row: Row, notation: Notation) -> FileLine:
    """Read one row; raises ValueError with a sentence for a row that cannot be read."""
    fee = notation.paid("fee", table.cell(row, "fee"))
    return FileLine(
        booked_on=notation.days.read(table.cell(row, "date")),
        amount=amount_of(table, row, notation) - fee,
        external_id=tidy(table.cell(row, "external_id"), LONGEST_DESCRIPTION),
        currency=tidy(table.cell(row, "currency").upper(), 20),
        description=tidy(table.cell(row, "description"), LONGEST_DESCRIPTION),
        counterparty_name=tidy(table.cell(row, "counterparty_name")),
        reference=reference_of(table.cell(row, "reference")),
        account=account_in(table.cell(row, "account")),
    )


def amount_of(table: Table, row: Row, notation: Notation) -> Decimal:
    """Return the amount of a row before its fee, negative for outgoing money."""
    if "amount" in table.places:
        amount = notation.amounts.read(table.cell(row, "amount"))
        if "direction" not in table.places:
            return amount
        return abs(amount) * sign_of(table.cell(row, "direction"))
    credit = notation.read_filled(table.cell(row, "credit"))
    debit = notation.paid("debit", table.cell(row, "debit"))
    if credit and debit:
        raise ValueError("The line has both a credit and a debit.")
    return credit - debit


def find_table(text: str, named: Mapping[str, str]) -> Table:
    """Return the table that has the named columns.

    Raises MissingColumn with the first one, Unreadable if a quote hides rows.
    """
    failures: list[tuple[list[str], Unreadable | None]] = []
    for delimiter in DELIMITERS:
        found = split(text, delimiter, MOST_ROWS)
        rows = found.rows
        if all(name.isdecimal() and int(name) > 0 for name in named.values()):
            places = {column: int(name) - 1 for column, name in named.items()}
            if any(len(row) > max(places.values()) for row in rows[:HEADER_WITHIN]):
                return whole(numbered(rows, places), found)
        fewest = list(named)
        for place, row in enumerate(rows[:HEADER_WITHIN]):
            places = places_in(row, named)
            missing = [column for column in named if column not in places]
            if not missing:
                return whole(Table(rows[place + 1 :], places), found)
            fewest = min(fewest, missing, key=len)
        failures.append((fewest, found.fault))
    missing, fault = min(failures, key=lambda each: (len(each[0]), each[1] is not None))
    # A quote may hide the header too.
    raise fault or MissingColumn("is not a column of the file", missing[0])


def whole(table: Table, found: Rows) -> Table:
    """Return a table that has all its rows; raises Unreadable if a quote hides some."""
    money = [table.places[name] for name in MONEY if name in table.places]
    fault = found.fault_within(table.places["date"], money)
    if fault:
        raise fault
    return table


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
