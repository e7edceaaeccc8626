"""Changes of the accounting basis of returns, and the basis on which each document counts.

A document is on the basis of the return that has its first entry, and stays on it. A change from
cash to accrual declares what is unsettled of all earlier documents, which are on accrual from then
on: their own entries count, and their settlements do not. A document whose first entry is in no
return is on the basis of the return that follows, the only one on which its days can be filed.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import date

from accounting.tax.returns import Slice, TaxReturn, cut, joined, left_out, unfiled


def declared(own: TaxReturn, filed: Sequence[TaxReturn]) -> tuple[Slice, ...]:
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


def transition(slices: Iterable[Slice]) -> tuple[Slice, ...]:
    """Return the slices of a transition from cash to accrual."""
    return tuple(each for each in slices if each.change is not None)


def ordinary(slices: Iterable[Slice]) -> tuple[Slice, ...]:
    """Return the slices that are no transition."""
    return tuple(each for each in slices if each.change is None)


def _laid_out(slices: Sequence[Slice]) -> Iterator[Slice]:
    """Yield slices by days: first those with the lowest numbers on each, then those above them."""
    first = min((each.first for each in slices), default=date.max)
    last = max((each.last for each in slices), default=date.min)
    days = list(cut(first, last, slices)) if slices else []
    piles = [_piled(each for each in slices if each.first <= day <= each.last) for day, _ in days]
    for height in range(max(map(len, piles), default=0)):
        for (begin, end), pile in zip(days, piles, strict=True):
            if height < len(pile):
                yield replace(pile[height], first=begin, last=end)


def _piled(slices: Iterable[Slice]) -> list[Slice]:
    """Sort the slices of a day by number, and merge adjoining ones on the same basis."""
    pile: list[Slice] = []
    for each in sorted(slices, key=lambda each: each.after):
        if pile and _continues(pile[-1], each):
            ends = (pile[-1].upto, each.upto)
            pile[-1] = replace(pile[-1], upto=None if None in ends else max(filter(None, ends)))
        else:
            pile.append(each)
    return pile


def _continues(below: Slice, above: Slice) -> bool:
    follows = below.upto is None or above.after <= below.upto
    return follows and below.scheme is above.scheme
