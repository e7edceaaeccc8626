"""Splits after lines of a document got other accounts: each part is split over its new parts.

Amounts, tax codes and rates stay; the base of foreign steps is taken anew. A part whose lines have
different accounts now becomes several parts; each settlement of it is split again over what earlier
ones have left of these.
"""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any, Generic, TypeVar

from accounting.books import foreign
from accounting.books.ledger import Shares, added, negative, rests, take

K = TypeVar("K", bound=Hashable)

Moves = Mapping[K, Mapping[K, int]]
"""The amounts of the new parts, by the part that moves."""


@dataclass(frozen=True, slots=True)
class Step(Generic[K]):
    """A split that one record takes of another, from a day on; `live` while it is in effect."""

    id: Any
    on: date
    split: Shares[K]
    live: bool


def moves(pairs: Iterable[tuple[K, K, int]]) -> Moves[K]:
    """Collect moves from old parts, new parts and amounts.

    Lines of 100 and 50 on one account, of which the first moves, make of 150 a new part of 100 and
    the old one of 50.
    """
    found: dict[K, dict[K, int]] = defaultdict(lambda: defaultdict(int))
    for old, new, amount in pairs:
        found[old][new] += amount
    return {old: dict(new) for old, new in found.items() if set(new) != {old}}


def split_again(moved: Moves[K], steps: Iterable[Step[K]]) -> dict[Any, Shares[K]]:
    """Split steps again over the new parts, by the id of the step.

    Live steps take in the order of their days what the earlier ones have left. Any other step is
    split as the only one; a part that the record does not have any more stays as it was.
    """
    shares = {step.id: shares for step, shares in shares_again(moved, steps)}
    return {id_: added(*(new for _, new in each)) for id_, each in shares.items()}


def shares_again(
    moved: Moves[K], steps: Iterable[Step[K]]
) -> list[tuple[Step[K], list[tuple[K, Shares[K]]]]]:
    """Split steps again, as `split_again` does, with the new shares of each of their parts."""
    taken: dict[K, Shares[K]] = defaultdict(tuple)
    found = []
    for step in sorted(steps, key=lambda step: (step.on, str(step.id))):
        shares = []
        for part, amount in step.split:
            new = _shares(moved, part, amount, taken[part] if step.live else ())
            if step.live:
                taken[part] = added(taken[part], new)
            shares.append((part, new))
        found.append((step, shares))
    return found


def with_base_anew(
    whole: Mapping[K, int], steps: Iterable[Step[K]], again: Mapping[Any, Shares[K]]
) -> dict[Any, Shares[K]]:
    """Return splits that were made again, with their base.

    The live steps take, in the order of their days, the base that earlier ones have left. Any other
    step is taken as the only one. A part of former lines stays as it was, and so do splits of what
    is not foreign.
    """
    found: dict[Any, Shares[K]] = {}
    taken: Shares[K] = ()
    for each in sorted(steps, key=lambda each: (each.on, str(each.id))):
        left = rests(whole, taken) if each.live else dict(whole)
        known = tuple(pair for pair in again[each.id] if pair[0] in left)
        former = tuple(pair for pair in again[each.id] if pair[0] not in left)
        based = (pair for pair in foreign.step(left, known) if pair[1])
        found[each.id] = (*based, *former)
        if each.live:
            taken = added(taken, found[each.id])
    return found


def _shares(moved: Moves[K], part: K, amount: int, taken: Shares[K]) -> Shares[K]:
    """Split an amount of a part over what is left of its new parts."""
    own: Shares[K] = ((part, amount),)
    if part not in moved:
        return own
    new = moved[part]
    try:
        if sum(new.values()) < 0:
            opposite = {each: -whole for each, whole in new.items()}
            return negative(take(opposite, negative(taken), -amount))
        return take(new, taken, amount)
    except ValueError:  # The step is of a time when the record had other parts.
        return own
