"""Dates, amounts and directions in the cells of a CSV; a file uses one notation for each."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Final

from libraries.bank_files.file_lines import WrongColumns

# Tried in this order if no format is given. None begins with the month: 03/07 is ambiguous.
USUAL_DAYS: Final = (
    *("YYYY-MM-DD", "YYYY/MM/DD", "YYYY.MM.DD", "YYYYMMDD"),
    *("DD/MM/YYYY", "DD-MM-YYYY", "DD.MM.YYYY", "DD MMM YYYY", "DD-MMM-YYYY"),
    *("DD/MM/YY", "DD-MM-YY", "DD.MM.YY", "DD MMM YY", "DD-MMM-YY"),
)
MONTHS: Final = (
    *("jan", "feb", "mar", "apr", "may", "jun"),
    *("jul", "aug", "sep", "oct", "nov", "dec"),
)
_PARTS: Final = {
    "YYYY": r"(?P<Y>\d{4})",
    "YY": r"(?P<Y>\d{2})",
    "MMM": r"(?P<M>[A-Za-z]{3})",
    "MM": r"(?P<M>\d{1,2})",
    "M": r"(?P<M>\d{1,2})",
    "DD": r"(?P<D>\d{1,2})",
    "D": r"(?P<D>\d{1,2})",
}
_PART = re.compile("YYYY|YY|MMM|MM|M|DD|D")

CREDIT_WORDS: Final = frozenset({"credit", "cr", "c", "in", "bij", "haben", "h", "+", "k", "abono"})
DEBIT_WORDS: Final = frozenset({"debit", "dr", "db", "d", "out", "af", "soll", "s", "-", "cargo"})

_LEFT_OUT = re.compile(
    r"[\s\u00a0\u202f\u2009'\u2019]|EUR|GBP|USD|SEK|NOK|DKK|ISK|MYR|SGD|[€£$]|kr\.?"
)
_GROUPED = {
    ".": re.compile(r"\d{1,3}(?:,\d{2,3})*,\d{3}(?:\.\d*)?|\d{0,18}(?:\.\d{0,12})?", re.ASCII),
    ",": re.compile(r"\d{1,3}(?:\.\d{3})+(?:,\d*)?|\d{0,18}(?:,\d{0,12})?", re.ASCII),
}
_CENTS = re.compile(r"([.,])\d{1,2}\D*$", re.ASCII)
LONGEST_AMOUNT: Final = 40


class Days:
    """A parser of dates in one format, or in any of the usual ones."""

    def __init__(self, date_format: str | None) -> None:
        formats = [date_format] if date_format else USUAL_DAYS
        self._patterns = [_pattern(each) for each in formats]

    def read(self, text: str) -> date:
        """Return the date that a text starts with; a time may follow. ValueError without a date."""
        for pattern in self._patterns:
            found = pattern.match(text)
            if found:
                year, month = found["Y"], found["M"].lower()
                century = 2000 if len(year) == 2 else 0
                try:
                    number = MONTHS.index(month) + 1 if month.isalpha() else int(month)
                    return date(century + int(year), number, int(found["D"]))
                except ValueError:
                    break
        raise ValueError("The date does not have the format of the other dates.")


@dataclass(frozen=True, slots=True)
class Amounts:
    """A parser of amounts with a decimal point or with a decimal comma."""

    decimal: str

    @classmethod
    def of(cls, cells: Iterable[str], decimal_comma: bool | None) -> "Amounts":
        """Return a parser with the given decimal sign, else with the one that the amounts show.

        1.234,50 shows a comma. Raises WrongColumns if the amounts show both.
        """
        if decimal_comma is not None:
            return cls("," if decimal_comma else ".")
        ends = (_CENTS.search(cell[:LONGEST_AMOUNT]) for cell in cells)
        shown = {found[1] for found in ends if found}
        if len(shown) > 1:
            raise WrongColumns("is required: the amounts use both decimal signs", "decimal_comma")
        return cls(shown.pop() if shown else ".")

    def read(self, text: str) -> Decimal:
        """Parse 1.234,50, 1'234.50, (12.50), 12.50- or £12.50; ValueError for another text."""
        if len(text) > LONGEST_AMOUNT:
            raise ValueError("The amount is not a number.")
        bare = _LEFT_OUT.sub("", text.replace("\N{MINUS SIGN}", "-"))
        below = bare[:1] in ("-", "(") or bare[-1:] == "-"
        digits = bare.strip("+-()")
        if not re.search(r"[0-9]", digits) or not _GROUPED[self.decimal].fullmatch(digits):
            raise ValueError("The amount is not a number.")
        other = "," if self.decimal == "." else "."
        value = Decimal(digits.replace(other, "").replace(self.decimal, "."))
        return -value if below else value


def sign_of(word: str) -> int:
    """Return 1 for a word for incoming money, -1 for outgoing money; else raise ValueError."""
    folded = word.strip().casefold()
    if folded in CREDIT_WORDS:
        return 1
    if folded in DEBIT_WORDS:
        return -1
    raise ValueError("The line does not show whether money came in or went out.")


def _pattern(date_format: str) -> re.Pattern[str]:
    """Compile a date format such as DD/MM/YYYY to a regular expression; raises WrongColumns."""
    parts = _PART.findall(date_format)
    if sorted(part[0] for part in parts) != ["D", "M", "Y"]:
        raise WrongColumns("needs a day, a month and a year", "date_format")
    pieces = _PART.split(date_format)
    glued = not pieces[1] or not pieces[2]
    text = re.escape(pieces[0])
    for part, piece in zip(parts, pieces[1:], strict=True):
        exact = _PARTS[part].replace("{1,2}", "{2}") if glued else _PARTS[part]
        text += exact + re.escape(piece)
    return re.compile(text + r"(?:(?!\w)|(?=T\d))", re.ASCII)
