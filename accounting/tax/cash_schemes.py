"""The tax codes whose amounts count when they are paid, for returns on the cash basis."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Final
from uuid import UUID

from accounting.tax.codes import Direction, TaxCodes
from accounting.tax.commands import Scheme
from accounting.tax.returns import JournalRange, TaxReturn, cut, joined, left_out, unfiled
from accounting.tax.taxed_amounts import SELF_ASSESSED

BOTH: Final = frozenset(Direction)

# The sides that a country's cash basis covers. In Germany, the bill itself recovers its tax.
COVERED: Final[Mapping[str, frozenset[Direction]]] = {"DE": frozenset({Direction.SALES})}


@dataclass(frozen=True, slots=True)
class CountedCodes:
    """The codes of a business by the event that makes their amounts count.

    Amounts of `when_posted` count when their lines are posted, by any source; amounts of
    `when_settled` are on documents, and count when they are settled.
    """

    when_posted: tuple[UUID, ...]
    when_settled: tuple[UUID, ...] = ()


def counted(country: str | None, scheme: Scheme, codes: TaxCodes) -> CountedCodes:
    """Return the codes of a business by the event that makes their amounts count.

    On accrual all amounts count when they are posted. On cash this is so for self-assessed tax,
    such as the reverse charge, and in Germany for all purchases.
    """
    if scheme is Scheme.ACCRUAL:
        return CountedCodes(tuple(each.id for each in codes.codes))
    covered = COVERED.get(country or "", BOTH)
    settled = [
        each.id
        for each in codes.codes
        if each.direction in covered and each.treatment not in SELF_ASSESSED
    ]
    others = (each.id for each in codes.codes if each.id not in settled)
    return CountedCodes(tuple(others), tuple(settled))


# Changes of the accounting basis of returns, and the basis on which each document counts.


def declared(own: TaxReturn, filed: Sequence[TaxReturn]) -> tuple[JournalRange, ...]:
    """Return the accounting basis of each part of the journal, for a return and all filed ones.

    If a first quarter is filed on accrual up to number 40 and later up to 90, and a second one on
    cash, the parts are the days before the first, the first with all its late entries, and the
    second. The result is empty if all parts are on the basis of the return.
    """
    every = [*own.slices, *(piece for each in filed for piece in each.slices), *unfiled(filed)]
    alike = {replace(each, late=False) for each in every}
    changes = sorted(transition(alike), key=lambda each: (each.change, each.first))
    if not changes and all(each.scheme is own.scheme for each in alike):
        return ()
    return (*left_out([own, *filed]), *joined(_laid_out(ordinary(alike))), *changes)


def transition(slices: Iterable[JournalRange]) -> tuple[JournalRange, ...]:
    """Return the slices of a transition from cash to accrual."""
    return tuple(each for each in slices if each.change is not None)


def ordinary(slices: Iterable[JournalRange]) -> tuple[JournalRange, ...]:
    """Return the slices that are no transition."""
    return tuple(each for each in slices if each.change is None)


def _laid_out(slices: Sequence[JournalRange]) -> Iterator[JournalRange]:
    """Yield slices by days: first those with the lowest numbers on each, then those above them."""
    first = min((each.first for each in slices), default=date.max)
    last = max((each.last for each in slices), default=date.min)
    days = list(cut(first, last, slices)) if slices else []
    piles = [_piled(each for each in slices if each.first <= day <= each.last) for day, _ in days]
    for height in range(max(map(len, piles), default=0)):
        for (begin, end), pile in zip(days, piles, strict=True):
            if height < len(pile):
                yield replace(pile[height], first=begin, last=end)


def _piled(slices: Iterable[JournalRange]) -> list[JournalRange]:
    """Sort the slices of a day by number, and merge adjoining ones on the same basis."""
    pile: list[JournalRange] = []
    for each in sorted(slices, key=lambda each: each.after):
        if pile and _continues(pile[-1], each):
            ends = (pile[-1].upto, each.upto)
            pile[-1] = replace(pile[-1], upto=None if None in ends else max(filter(None, ends)))
        else:
            pile.append(each)
    return pile


def _continues(below: JournalRange, above: JournalRange) -> bool:
    follows = below.upto is None or above.after <= below.upto
    return follows and below.scheme is above.scheme
