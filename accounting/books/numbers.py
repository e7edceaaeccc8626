"""Numbers of documents and entries: gapless series, and the number that is not known yet."""

from dataclasses import dataclass
from datetime import date

DIGITS = 6  # A number is padded to these; past them it grows.
LARGEST_GIVEN = 999_999_999_999


@dataclass(frozen=True, slots=True)
class Pending:
    """A number that its series gives out when the transaction is written.

    `place` counts from 0 among the numbers of that series which this transaction takes.
    """

    series: str
    place: int = 0


Number = str | Pending | None


@dataclass(frozen=True, slots=True)
class Titled:
    """Words for people that end in a number which is not known yet."""

    words: str
    number: Pending


def titled(words: str, number: Number) -> str | Titled:
    """Write a number behind words, where there is one: vendor credit VC-000001."""
    if isinstance(number, Pending):
        return Titled(words, number)
    return words if number is None else f"{words} {number}"


def render(series: str, count: int) -> str:
    """Write the nth number of a series: the 42nd of INV is INV-000042; past 999999 it grows."""
    return f"{series}-{count:0{DIGITS}d}"


def given_in(series: str, text: str) -> int | None:
    """Read a number that a caller wrote in the series' own form, else None.

    INV-000042 is the 42nd of INV; INV-42 is a caller's own style and can never be given out.
    """
    digits = text.removeprefix(f"{series}-")
    if not (digits.isdecimal() and len(digits) <= len(str(LARGEST_GIVEN))):
        return None
    count = int(digits)
    return count if count >= 1 and render(series, count) == text else None


def journal_series(entry_date: date) -> str:
    """Name the series of an entry, one for each calendar year: 2026-03-05 counts in JE-2026."""
    return f"JE-{entry_date.year:04d}"


def journal_year(series: str) -> int:
    """Say of which year's entries a series is: JE-2026 is of 2026."""
    return int(series.removeprefix("JE-"))
