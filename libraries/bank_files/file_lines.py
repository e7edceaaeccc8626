"""Results, errors and limits that the readers of bank files have in common."""

from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Final

MOST_LINES: Final = 10_000
LONGEST_DESCRIPTION: Final = 2_000
LONGEST_NAME: Final = 255
DEEPEST: Final = 60  # The deepest nesting of elements.


class Unreadable(Exception):
    """A file that cannot be read as a whole."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why


class WrongColumns(Unreadable):
    """An error in the columns that were named for a CSV.

    `column` is the wrong attribute of `Columns`, or None for the columns as a whole.
    """

    def __init__(self, why: str, column: str | None = None) -> None:
        super().__init__(why)
        self.column = column


class MissingColumn(WrongColumns):
    """A file that has no column of a given name: perhaps it is no CSV at all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileLine:
    """A line of a statement; `amount` is in units of the currency, negative for outgoing money.

    `account` is the number of the statement's account, if the file has it: an IBAN, a national
    number or that of a card. `corrects` is the id of an earlier line that this one corrects;
    `deletes` is whether it only removes that line.
    """

    booked_on: date
    amount: Decimal
    external_id: str | None = None
    currency: str | None = None
    description: str | None = None
    counterparty_name: str | None = None
    reference: str | None = None
    account: str | None = None
    corrects: str | None = None
    deletes: bool = False


@dataclass(frozen=True, slots=True)
class BadLine:
    """A line that cannot be read, with the reason as a sentence."""

    why: str


ReadLine = FileLine | BadLine
