"""Amounts to be posted, as movements on the days on which they begin and end."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import date
from uuid import UUID

from accounting.books.ledger import Movement
from accounting.books.spans import Days
from accounting.books.splits import Part, Split, added, negative
from accounting.books.tax_marks import TaxMark
from accounting.tax.taxed_amounts import Tax

MAIN = "main"
FEE = "fee"
APPLIED = "applied"
SELF_ASSESSED = "self_assessed"

_Place = tuple[date, str, UUID, UUID | None, TaxMark | None, UUID | None]


@dataclass(frozen=True, slots=True)
class Amount:
    """An amount for an account, with the document it settles and the split of the settlement.

    `about` as on a movement.
    """

    account_id: UUID
    amount: int
    settles: UUID | None = None
    split: Split = ()
    tax: TaxMark | None = None
    about: UUID | None = None


def of_tax(tax: Tax, amount: int) -> Amount:
    """Create an amount for the account of a tax, with the tax's mark."""
    return Amount(tax.account_id, amount, tax=tax.mark)


def of_part(part: Part, amount: int, about: UUID | None = None) -> Amount:
    """Create an amount for the account of a part, with the part's tax mark."""
    return Amount(part.account_id, amount, tax=part.tax, about=about)


def during(stood: Days, stream: str, amounts: Iterable[Amount]) -> Iterator[Movement]:
    """Yield a movement of each amount on the first day, and its reversal on the end day."""
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
    """Net the movements with the same day, stream, account and references.

    Only the unapplied amount is then posted to 2100.
    """
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
