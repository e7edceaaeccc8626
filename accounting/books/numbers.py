"""Numbers of documents and entries: gapless series, and numbers that are not assigned yet."""

from dataclasses import dataclass
from datetime import date

DIGITS = 6  # Numbers are padded to this length; above 999999 they are longer.
LARGEST_GIVEN = 999_999_999_999
EVENTS = "EVENT"  # The series of the sequence of events; answers show 42, never EVENT-000042.


@dataclass(frozen=True, slots=True)
class PendingNumber:
    """A number that its series assigns when the transaction is written.

    `place` counts from 0 among the numbers of that series in this transaction.
    """

    series: str
    place: int = 0


Number = str | PendingNumber | None


@dataclass(frozen=True, slots=True)
class NumberedTitle:
    """A text for people that ends in a number which is not assigned yet."""

    words: str
    number: PendingNumber


def titled(words: str, number: Number) -> str | NumberedTitle:
    """Append a number to a text, if there is one: vendor credit VC-000001."""
    if isinstance(number, PendingNumber):
        return NumberedTitle(words, number)
    return words if number is None else f"{words} {number}"


def render(series: str, count: int) -> str:
    """Format the nth number of a series: INV-000042 for the 42nd; above 999999 it is longer."""
    return f"{series}-{count:0{DIGITS}d}"


def given_in(series: str, text: str) -> int | None:
    """Parse a number that a caller wrote in the series' own form; None for any other.

    INV-000042 is the 42nd of INV; INV-42 is a caller's own style, which the series never assigns.
    """
    digits = text.removeprefix(f"{series}-")
    if not (digits.isdecimal() and len(digits) <= len(str(LARGEST_GIVEN))):
        return None
    count = int(digits)
    return count if count >= 1 and render(series, count) == text else None


def journal_series(entry_date: date) -> str:
    """Return the series of an entry's number, one for each year: JE-2026 for 2026-03-05."""
    return f"JE-{entry_date.year:04d}"


def journal_year(series: str) -> int:
    """Return the year of a journal series: 2026 for JE-2026."""
    return int(series.removeprefix("JE-"))
