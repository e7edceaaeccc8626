"""Dates, amounts and directions in the cells of a CSV; a file uses one notation for each.

The notation is derived from all cells of a column together. If they allow two meanings, the reader
asks for it: nothing is read on a guess.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Final

from libraries.bank_files.file_lines import WrongColumns

# Tried in this order if no format is given. Each one has a single meaning, whatever the cells.
PLAIN_DAYS: Final = (
    *("YYYY-MM-DD", "YYYY/MM/DD", "YYYY.MM.DD", "YYYYMMDD"),
    *("DD MMM YYYY", "DD-MMM-YYYY", "DD MMM YY", "DD-MMM-YY", "MMM DD, YYYY", "MMM DD YYYY"),
)
# Two orders of the same cells: 03/07/2026 is in July or in March.
DAY_FIRST: Final = ("DD/MM/YYYY", "DD-MM-YYYY", "DD.MM.YYYY", "DD/MM/YY", "DD-MM-YY", "DD.MM.YY")
MONTH_FIRST: Final = ("MM/DD/YYYY", "MM-DD-YYYY", "MM.DD.YYYY", "MM/DD/YY", "MM-DD-YY", "MM.DD.YY")
MONTHS: Final = (
    *("jan", "feb", "mar", "apr", "may", "jun"),
    *("jul", "aug", "sep", "oct", "nov", "dec"),
)
_PARTS: Final = {
    "YYYY": r"(?P<Y>\d{4})",
    "YY": r"(?P<Y>\d{2})",
    "MMM": r"(?P<M>[A-Za-z]{3})[a-z]*\.?",
    "MM": r"(?P<M>\d{1,2})",
    "M": r"(?P<M>\d{1,2})",
    "DD": r"(?P<D>\d{1,2})",
    "D": r"(?P<D>\d{1,2})",
}
_PART = re.compile("YYYY|YY|MMM|MM|M|DD|D")

CREDIT_WORDS: Final = frozenset(
    {"credit", "cr", "c", "crdt", "in", "bij", "haben", "h", "+", "k", "kredit", "abono", "deposit"}
)
DEBIT_WORDS: Final = frozenset(
    {
        "debit",
        "dr",
        "db",
        "d",
        "dbit",
        "out",
        "af",
        "soll",
        "s",
        "-",
        "debet",
        "cargo",
        "withdrawal",
    }
)

# No country that separates a date by points begins with the month.
_TWO_ORDERS = re.compile(
    r"(?P<first>\d{1,2})(?P<sign>[-/.])(?P<second>\d{1,2})(?P=sign)(?P<last>\d{4}|\d{2})(?!\d)",
    re.ASCII,
)

_SPACES = re.compile(r"[\s\u00a0\u202f\u2009'\u2019]")
# DR or CR, usually behind the figure; a single letter only there.
_SIDE = re.compile(
    r"(?<![A-Z])(?:(?P<credit>CR|C|H)|(?P<debit>DR|DB|D|S))\.?\s*$"
    r"|^\s*(?:(?P<credit_first>CR)|(?P<debit_first>DR|DB))\b\.?",
    re.ASCII | re.IGNORECASE,
)
# A currency before or behind the figure, by its code or its sign.
_CODES = (
    "EUR|GBP|USD|SEK|NOK|DKK|ISK|MYR|SGD|CHF|PLN|CZK|HUF|RON|BGN|TRY|AUD|NZD|CAD|JPY|CNY|HKD|INR"
    "|THB|IDR|PHP|KRW|TWD|VND|AED|SAR|ZAR|BRL|MXN|ILS|UAH"
)
_UNIT = rf"(?i:{_CODES}|RM|[A-Z]{{0,2}}[€£$¥₹]|kr\.?|zł|Kč|Ft|S?Fr\.?|Rs\.?)"
_LEADING = re.compile(rf"^(?P<sign>[+-]?\(?){_UNIT}(?=[-+(.,\d])")
_TRAILING = re.compile(rf"(?<=[-+).,\d]){_UNIT}(?P<sign>-?\)?)$")
_GROUPED = {
    ".": re.compile(r"\d{1,3}(?:,\d{2,3})*,\d{3}(?:\.\d*)?|\d{0,18}(?:\.\d{0,12})?", re.ASCII),
    ",": re.compile(r"\d{1,3}(?:\.\d{3})+(?:,\d*)?|\d{0,18}(?:,\d{0,12})?", re.ASCII),
}
# Figures whose only sign is thousands or decimals: 1.000 and 12,500, but not 0.500 or 1234.500.
_UNCLEAR = re.compile(r"[1-9]\d{0,2}[.,]\d{3}", re.ASCII)
OTHER: Final = {".": ",", ",": "."}
LONGEST_AMOUNT: Final = 40


class Days:
    """A parser of dates in some formats."""

    def __init__(self, formats: Sequence[str]) -> None:
        self._patterns = [_pattern(each) for each in formats]

    @classmethod
    def of(cls, cells: Iterable[str], date_format: str | None) -> "Days":
        """Return a parser for a format, else for the order of day and month that the cells show.

        A single 13/07/2026 shows that the day comes first in all cells. Raises WrongColumns if the
        cells show neither order, or both.
        """
        if date_format:
            return cls([date_format])
        found = [match for cell in cells if (match := _TWO_ORDERS.match(cell))]
        if _may_begin_with_the_year(found):
            raise WrongColumns(
                "is required: the dates do not show whether the day or the year is first",
                "date_format",
            )
        shown = {order for match in found if (order := _order(match))}
        if {"day", "month"} <= shown:
            raise WrongColumns("is required: the dates use two orders", "date_format")
        if shown == {"unclear"}:
            raise WrongColumns(
                "is required: the dates do not show whether the day or the month is first",
                "date_format",
            )
        return cls([*PLAIN_DAYS, *(MONTH_FIRST if "month" in shown else DAY_FIRST)])

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


def _may_begin_with_the_year(found: Sequence[re.Match[str]]) -> bool:
    """Return whether years of two digits may come first: 26/07/03 and 26/07/15.

    Else these dates would be on one day of the month in years that are far apart.
    """
    short = [match for match in found if len(match["last"]) == 2]
    first, last = ({int(match[name]) for match in short} for name in ("first", "last"))
    return bool(short) and min(first) > 12 and len(first) <= 2 and max(last) - min(last) > 1


def _order(found: re.Match[str]) -> str | None:
    """Return what a date shows of the order: "day" or "month" first, or "unclear".

    None if both orders mean the same day, or none is possible.
    """
    first, second = int(found["first"]), int(found["second"])
    if not (0 < min(first, second) <= 12 and max(first, second) <= 31):
        return None
    if max(first, second) > 12:
        return "day" if first > second else "month"
    return None if first == second or found["sign"] == "." else "unclear"


@dataclass(frozen=True, slots=True)
class Figure:
    """The digits of a cell with their points and commas, and the sign around them."""

    digits: str
    below: bool

    @classmethod
    def of(cls, text: str) -> "Figure":
        """Remove sign, currency and spaces from an amount: (£12.50) gives 12.50 below zero.

        Raises ValueError for a text that is no amount.
        """
        if len(text) > LONGEST_AMOUNT:
            raise ValueError("The amount is not a number.")
        side = _SIDE.search(text)
        bare = _SIDE.sub("", text, count=1)
        bare = _SPACES.sub("", bare.replace("\N{MINUS SIGN}", "-"))
        bare = _TRAILING.sub(r"\g<sign>", _LEADING.sub(r"\g<sign>", bare, count=1))
        minus = bare[:1] in ("-", "(") or bare[-1:] == "-"
        digits = bare.strip("+-()")
        comes_in = side and (side["credit"] or side["credit_first"])
        if not re.search(r"[0-9]", digits) or (minus and comes_in):
            raise ValueError("The amount is not a number.")
        return cls(digits, minus or bool(side and not comes_in))

    def decimal(self) -> str | None:
        """Return the decimal sign that the figure shows by itself; "" if it has two meanings.

        None if it has no point or comma.
        """
        signs = [letter for letter in self.digits if letter in OTHER]
        if not signs:
            return None
        if len(signs) > 1 and len(set(signs)) == 1:
            return OTHER[signs[0]]
        if len(signs) == 1 and _UNCLEAR.fullmatch(self.digits):
            return ""
        return signs[-1]


@dataclass(frozen=True, slots=True)
class Amounts:
    """A parser of amounts with a decimal point or with a decimal comma."""

    decimal: str

    @classmethod
    def of(cls, cells: Iterable[str], decimal_comma: bool | None) -> "Amounts":
        """Return a parser with the given decimal sign, else with the one that the amounts show.

        1.234,50 shows a comma, and so does 1.234.567. Raises WrongColumns if the amounts show both
        signs, or if each 1.234 among them can be thousands or decimals.
        """
        if decimal_comma is not None:
            return cls("," if decimal_comma else ".")
        shown = {found for cell in cells if (found := _decimal(cell)) is not None}
        if {".", ","} <= shown:
            raise WrongColumns("is required: the amounts use both decimal signs", "decimal_comma")
        if shown == {""}:
            raise WrongColumns(
                "is required: the amounts can have thousands or three decimals", "decimal_comma"
            )
        return cls(max(shown, default="."))

    def read(self, text: str) -> Decimal:
        """Parse 1.234,50, 1'234.50, (12.50), 12.50- or £12.50 DR; ValueError for another text."""
        figure = Figure.of(text)
        if not _GROUPED[self.decimal].fullmatch(figure.digits):
            raise ValueError("The amount is not a number.")
        value = Decimal(figure.digits.replace(OTHER[self.decimal], "").replace(self.decimal, "."))
        return -value if figure.below else value

    def are_below_zero(self, cells: Iterable[str]) -> bool:
        """Return whether the amounts of a column are all below zero; zeros do not count."""
        signs = {value < 0 for cell in cells if (value := self._value(cell))}
        return signs == {True}

    def _value(self, cell: str) -> Decimal:
        try:
            return self.read(cell)
        except ValueError:
            return Decimal(0)


def _decimal(cell: str) -> str | None:
    try:
        return Figure.of(cell).decimal()
    except ValueError:
        return None


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
