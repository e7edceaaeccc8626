"""Days and amounts as people's programs write them: in many ways, and one way in each file."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Final

from bank_files.lines import Unreadable

# Tried in this order where nothing is said. The month never comes first: 03/07 would be anybody's.
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

COMES_IN: Final = frozenset({"credit", "cr", "c", "in", "bij", "haben", "h", "+", "k", "abono"})
GOES_OUT: Final = frozenset({"debit", "dr", "db", "d", "out", "af", "soll", "s", "-", "cargo"})

_MARKS = re.compile(
    r"[\s\u00a0\u202f\u2009'\u2019]|EUR|GBP|USD|SEK|NOK|DKK|ISK|MYR|SGD|[€£$]|kr\.?"
)
_GROUPED = {
    ".": re.compile(r"\d{1,3}(?:,\d{2,3})*,\d{3}(?:\.\d*)?|\d{0,18}(?:\.\d{0,12})?", re.ASCII),
    ",": re.compile(r"\d{1,3}(?:\.\d{3})+(?:,\d*)?|\d{0,18}(?:,\d{0,12})?", re.ASCII),
}
_CENTS = re.compile(r"([.,])\d{1,2}\D*$", re.ASCII)
LONGEST_AMOUNT: Final = 40


class Days:
    """Reads days as one format has them, else as any of the usual ones."""

    def __init__(self, written: str | None) -> None:
        self._patterns = [_pattern(each) for each in ([written] if written else USUAL_DAYS)]

    def read(self, text: str) -> date:
        """Return the day a text begins with; a time may follow. ValueError for another."""
        for pattern in self._patterns:
            found = pattern.match(text)
            if found:
                year, month = found["Y"], found["M"].lower()
                number = MONTHS.index(month) + 1 if month in MONTHS else int(month)
                try:
                    return date(
                        int(year) + (2000 if len(year) == 2 else 0), number, int(found["D"])
                    )
                except ValueError:
                    break
        raise ValueError("The date is not as the others are written.")


@dataclass(frozen=True, slots=True)
class Amounts:
    """Reads amounts with one sign before the cents, a point or a comma."""

    decimal: str

    @classmethod
    def of(cls, cells: Iterable[str], decimal_comma: bool | None) -> "Amounts":
        """Take the sign that is said to stand before the cents, else the one the amounts show.

        1.234,50 shows a comma. Raises Unreadable where some show one and others the other.
        """
        if decimal_comma is not None:
            return cls("," if decimal_comma else ".")
        ends = (_CENTS.search(cell[:LONGEST_AMOUNT]) for cell in cells)
        shown = {found[1] for found in ends if found}
        if len(shown) > 1:
            raise Unreadable("is needed: the amounts show both", field="mapping.decimal_comma")
        return cls(shown.pop() if shown else ".")

    def read(self, text: str) -> Decimal:
        """Return 1.234,50, 1'234.50, (12.50), 12.50- or £12.50 as a number; ValueError else."""
        if len(text) > LONGEST_AMOUNT:
            raise ValueError("The amount is not a number.")
        bare = _MARKS.sub("", text.replace("\N{MINUS SIGN}", "-"))
        below = bare[:1] in ("-", "(") or bare[-1:] == "-"
        digits = bare.strip("+-()")
        if not re.search(r"[0-9]", digits) or not _GROUPED[self.decimal].fullmatch(digits):
            raise ValueError("The amount is not a number.")
        other = "," if self.decimal == "." else "."
        value = Decimal(digits.replace(other, "").replace(self.decimal, "."))
        return -value if below else value


def way(word: str) -> int:
    """Return 1 for a word that says money came in, -1 for one that says it went out."""
    said = word.strip().casefold()
    if said in COMES_IN:
        return 1
    if said in GOES_OUT:
        return -1
    raise ValueError("The line does not say which way the money went.")


def _pattern(written: str) -> re.Pattern[str]:
    """Turn DD/MM/YYYY into what it matches; raises Unreadable where it is no way to write a day."""
    parts = _PART.findall(written)
    if sorted(part[0] for part in parts) != ["D", "M", "Y"]:
        raise Unreadable("needs a day, a month and a year", field="mapping.date_format")
    pieces = _PART.split(written)
    glued = not pieces[1] or not pieces[2]
    text = re.escape(pieces[0])
    for part, piece in zip(parts, pieces[1:], strict=True):
        exact = _PARTS[part].replace("{1,2}", "{2}") if glued else _PARTS[part]
        text += exact + re.escape(piece)
    return re.compile(text + r"(?:(?!\w)|(?=T\d))", re.ASCII)
