"""What a change of the scheme makes of documents: which scheme the amounts of each are on.

A document is on the scheme of the return that has its first entry, and stays on it. With a change
from cash to accrual, what is unsettled of all documents before is declared, and they are on accrual
from then on: what is posted for them counts itself, and what settles them does not. One whose first
entry is in no return is on the scheme of the return that follows: its own days can be filed on no
other.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import date

from accounting.tax.returns import Slice, TaxReturn, cut, joined, left_out, unfiled


def declared(own: TaxReturn, filed: Sequence[TaxReturn]) -> tuple[Slice, ...]:
    """Say which scheme each part of the journal is on, of a return and of all that are filed.

    Where a first quarter is filed on accrual up to number 40 and later up to 90, and a second one
    on cash, that is what was before the first, the first with all that will be late of it, and the
    second. Nothing where all is on the scheme of the return.
    """
    every = [*own.slices, *(piece for each in filed for piece in each.slices), *unfiled(filed)]
    alike = {replace(each, late=False) for each in every}
    changes = sorted(transition(alike), key=lambda each: (each.change, each.first))
    if not changes and all(each.scheme is own.scheme for each in alike):
        return ()
    return (*left_out([own, *filed]), *joined(_laid_out(ordinary(alike))), *changes)


def transition(slices: Iterable[Slice]) -> tuple[Slice, ...]:
    """Pick what is the transition from cash to accrual."""
    return tuple(each for each in slices if each.change is not None)


def ordinary(slices: Iterable[Slice]) -> tuple[Slice, ...]:
    """Pick what counts by itself."""
    return tuple(each for each in slices if each.change is None)


def _laid_out(slices: Sequence[Slice]) -> Iterator[Slice]:
    """Lay slices out by day: first what has the lowest numbers on each, then what stands above."""
    first = min((each.first for each in slices), default=date.max)
    last = max((each.last for each in slices), default=date.min)
    days = list(cut(first, last, slices)) if slices else []
    piles = [_piled(each for each in slices if each.first <= day <= each.last) for day, _ in days]
    for height in range(max(map(len, piles), default=0)):
        for (begin, end), pile in zip(days, piles, strict=True):
            if height < len(pile):
                yield replace(pile[height], first=begin, last=end)


def _piled(slices: Iterable[Slice]) -> list[Slice]:
    """Put the slices of a day upon one another by number, those on one scheme together."""
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
