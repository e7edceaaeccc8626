"""Amounts by part: how much of each part of a document a settlement settles."""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import TypeVar
from uuid import UUID

from accounting import money
from accounting.books.tax_marks import TaxMark


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a document: what it has on one account, with one tax mark or none."""

    account_id: UUID
    tax: TaxMark | None = None


Split = tuple[tuple[Part, int], ...]
"""Amounts by part; on a movement or a line they have its sign and sum to its amount."""

K = TypeVar("K", bound=Hashable)
Shares = tuple[tuple[K, int], ...]
"""Amounts by any key; a split has parts as keys."""


def added(*splits: Shares[K]) -> Shares[K]:
    """Add splits by part: 5 and 3 on one part give 8; a sum of zero is left out."""
    total = summed(pair for split in splits for pair in split)
    return tuple((part, amount) for part, amount in total.items() if amount)


def negative(split: Shares[K]) -> Shares[K]:
    """Negate the amounts of a split."""
    return tuple((part, -amount) for part, amount in split)


def times_sign(split: Split, sign: int) -> Split:
    """Multiply a split by the sign of the side on which it is posted."""
    return split if sign > 0 else negative(split)


def summed(amounts: Iterable[tuple[K, int]]) -> dict[K, int]:
    """Add amounts by part, in the order in which the parts first appear."""
    total: dict[K, int] = defaultdict(int)
    for part, amount in amounts:
        total[part] += amount
    return dict(total)


def rests(parts: Mapping[K, int], taken: Shares[K]) -> dict[K, int]:
    """Return the rest of each part: of 8333 and 1667 with 2777 and 556 taken, 5556 and 1111."""
    return summed([*parts.items(), *negative(taken)])


def take(parts: Mapping[K, int], taken: Shares[K], amount: int) -> Shares[K]:
    """Split one settlement over what earlier ones have left of each part.

    No part passes zero, and a settlement of all that is left closes every part exactly: after 3333
    took 2777 and 556 of 8333 and 1667, 6667 takes 5556 and 1111. Parts below zero are withheld: 530
    of 1000, 210 and -150 takes 500, 105 and -75. Raises ValueError if the settlement is more than
    what is left.
    """
    left = rests(parts, taken)
    if not 0 <= amount <= sum(left.values()):
        raise ValueError("a step settles more than is left")
    shares = money.split(amount, list(left.values()))
    return tuple((part, share) for part, share in zip(left, shares, strict=True) if share)
