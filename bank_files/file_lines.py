"""What the readers of bank files return, what they raise, and how much they read."""

from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Final

MOST_LINES: Final = 10_000
LONGEST_DESCRIPTION: Final = 2_000
LONGEST_NAME: Final = 255
DEEPEST: Final = 60  # Elements around an element.


class Unreadable(Exception):
    """The file as a whole cannot be read."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why


class WrongColumns(Unreadable):
    """The fault lies in the columns that were named for a CSV.

    `column` is the attribute of `Columns` at fault, None for the columns as a whole.
    """

    def __init__(self, why: str, column: str | None = None) -> None:
        super().__init__(why)
        self.column = column


@dataclass(frozen=True, slots=True, kw_only=True)
class FileLine:
    """One line of a statement: its amount in units of the currency, below zero going out.

    `iban` is the account of the statement, where the file has it and it is an IBAN.
    """

    booked_on: date
    amount: Decimal
    external_id: str | None = None
    currency: str | None = None
    description: str | None = None
    counterparty_name: str | None = None
    reference: str | None = None
    iban: str | None = None


@dataclass(frozen=True, slots=True)
class BadLine:
    """A line that cannot be read, and why, as a sentence."""

    why: str


ReadLine = FileLine | BadLine
