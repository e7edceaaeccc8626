"""Amounts as they are to be posted, on the days on which what they stand for is so."""

from collections.abc import Iterable, Iterator
from datetime import date
from uuid import UUID

from accounting.books.ledger import Movement
from accounting.books.spans import Days
from accounting.books.splits import Part, Split, added, negative
from accounting.books.tax_marks import TaxMark
from accounting.tax.taxed_amounts import Tax
from accounting.values import dataclass, replace

MAIN = "main"
FEE = "fee"
APPLIED = "applied"
SELF_ASSESSED = "self_assessed"

_Place = tuple[date, str, UUID, UUID | None, TaxMark | None, UUID | None]


@dataclass(frozen=True, slots=True)
class Amount:
    """One amount for an account, with what it settles and how that is split.

    `about` as on a movement.
    """

    account_id: UUID
    amount: int
    settles: UUID | None = None
    split: Split = ()
    tax: TaxMark | None = None
    about: UUID | None = None


def of_tax(tax: Tax, amount: int) -> Amount:
    """An amount for the account of a tax, with what it is for a return."""
    return Amount(tax.account_id, amount, tax=tax.mark)


def of_part(part: Part, amount: int, about: UUID | None = None) -> Amount:
    """An amount for the account of a part, with what that says of tax."""
    return Amount(part.account_id, amount, tax=part.tax, about=about)


def during(stood: Days, stream: str, amounts: Iterable[Amount]) -> Iterator[Movement]:
    """Move amounts on the first day, and back on the day on which what they stand for ended."""
    begin, end = stood
    for each in amounts:
        moved = Movement(
            begin,
            stream,
            each.account_id,
            each.amount,
            each.settles,
            each.split,
            each.tax,
            each.about,
        )
        yield moved
        if end is not None:
            yield replace(moved, on=end, amount=-each.amount, split=negative(each.split))


def netted(movements: list[Movement]) -> list[Movement]:
    """Add up what meets on one account and day: only what is unapplied stands on 2100."""
    met: dict[_Place, Movement] = {}
    for move in movements:
        place = move.on, move.stream, move.account_id, move.settles, move.tax, move.about
        first = met.get(place)
        met[place] = move if first is None else _joined(first, move)
    return list(met.values())


def _joined(first: Movement, second: Movement) -> Movement:
    return replace(
        first, amount=first.amount + second.amount, split=added(first.split, second.split)
    )
