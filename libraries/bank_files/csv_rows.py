"""Rows of a CSV, split at a delimiter, and the first row whose quotes are wrong.

A quote that does not close would hide the rows below it in one cell. So a file with such a row is
refused, and the error names the row by its number in the file.
"""

import csv
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from io import StringIO
from typing import Final

from libraries.bank_files.file_lines import LONGEST_DESCRIPTION, Unreadable

MOST_CELLS: Final = 1_000_000

Row = list[str]

_ENDS = re.compile(r"[\r\n]")
# A date in any usual notation: a cell that begins so in the column of dates begins a row.
_DATE = re.compile(r"\d{8}|\d{1,4}[-/. ](?:\d{1,2}|[A-Za-z]{3})[-/. ]\d{2,4}", re.ASCII)
_AMOUNT = re.compile(r"\D{0,6}\d[\d.,' ]*\D{0,6}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows up to the first whose quotes are wrong, and the error of that row, if any.

    `numbers` are the lines of the file, from 1, in which the rows begin.
    """

    rows: Sequence[Row]
    numbers: Sequence[int]
    delimiter: str
    fault: Unreadable | None = None

    def fault_within(self, date_place: int, money_places: Sequence[int]) -> Unreadable | None:
        """Return the error of the first row that hides another one in a cell, or has wrong quotes.

        A stray quote that happens to close in a later row makes one cell of several rows: a line of
        that cell has a date at the place of the dates, and an amount at that of the amounts.
        """
        for row, number in zip(self.rows, self.numbers, strict=True):
            for cell in (each for each in row if "\n" in each or "\r" in each):
                hidden = (line.split(self.delimiter) for line in _ENDS.split(cell)[1:])
                if any(_is_row(each, date_place, money_places) for each in hidden):
                    return _unclosed(number)
        return self.fault


def _is_row(cells: Row, date_place: int, money_places: Sequence[int]) -> bool:
    dated = len(cells) > date_place and _DATE.match(cells[date_place].strip())
    amounts = [cells[place] for place in money_places if place < len(cells)]
    return bool(dated) and any(_AMOUNT.fullmatch(each.strip(" \"'")) for each in amounts)


class _Lines:
    """The lines of a text, with the last one that was read."""

    def __init__(self, text: str) -> None:
        self._lines = StringIO(text, newline="")
        self.last = ""
        self.ended = False

    def __iter__(self) -> Iterator[str]:
        for line in self._lines:
            self.last = line
            yield line
        self.ended = True


def split(text: str, delimiter: str, most: int) -> Rows:
    """Split a text into at most `most` rows of cells; raises Unreadable for too many cells."""
    if text.count(delimiter) > MOST_CELLS:
        raise Unreadable("has too many cells")
    lines = _Lines(text)
    reader = csv.reader(iter(lines), delimiter=delimiter, strict=True)
    rows: list[Row] = []
    numbers: list[int] = []
    while len(rows) < most:
        above = reader.line_num
        try:
            row = next(reader)
        except StopIteration:
            break
        except csv.Error:
            if lines.ended or reader.line_num > above + 1:
                return Rows(rows, numbers, delimiter, _unclosed(above + 1))
            row = _lenient(lines.last, delimiter)
        if any(len(cell) > LONGEST_DESCRIPTION and _ENDS.search(cell) for cell in row):
            return Rows(rows, numbers, delimiter, _unclosed(above + 1))
        rows.append(row)
        numbers.append(above + 1)
    return Rows(rows, numbers, delimiter)


def _unclosed(number: int) -> Unreadable:
    return Unreadable(f"has a quote in row {number} that is not closed where its cell ends")


def _lenient(line: str, delimiter: str) -> Row:
    """Split a row with a text behind a closing quote, as some programs write it."""
    try:
        return next(csv.reader([line], delimiter=delimiter), [])
    except csv.Error:
        raise Unreadable("is not valid CSV: its quotes do not match") from None
