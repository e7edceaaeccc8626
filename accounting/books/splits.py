"""Amounts by account: what a settlement takes of each part of what it settles."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from uuid import UUID

from accounting import money

Split = tuple[tuple[UUID, int], ...]
"""Amounts by account; on a movement or a line they have its sign and sum to its amount."""


def added(*splits: Split) -> Split:
    """Add splits up by account: 5 and 3 on one come to 8; what comes to zero is left out."""
    total: dict[UUID, int] = defaultdict(int)
    for split in splits:
        for account_id, amount in split:
            total[account_id] += amount
    return tuple((account_id, amount) for account_id, amount in total.items() if amount)


def negative(split: Split) -> Split:
    """Turn a split round."""
    return tuple((account_id, -amount) for account_id, amount in split)


def times_sign(split: Split, sign: int) -> Split:
    """Give a split the sign of the side it is posted on."""
    return split if sign > 0 else negative(split)


def summed(amounts: Iterable[tuple[UUID, int]]) -> dict[UUID, int]:
    """Add amounts up by account, in the order in which the accounts first appear."""
    total: dict[UUID, int] = defaultdict(int)
    for account_id, amount in amounts:
        total[account_id] += amount
    return dict(total)


def take(parts: Mapping[UUID, int], taken: Split, amount: int) -> Split:
    """Split one step over what earlier steps have left of each part.

    No part is taken below zero, and the step that takes all that is left closes every part exactly:
    after 3333 took 2777 and 556 of 8333 and 1667, one of 6667 takes 5556 and 1111. Raises
    ValueError where the step takes more than is left.
    """
    rests = dict(parts)
    for account_id, gone in taken:
        rests[account_id] -= gone
    if not 0 <= amount <= sum(rests.values()):
        raise ValueError("a step settles more than is left")
    shares = money.split(amount, list(rests.values()))
    return tuple((account, share) for account, share in zip(rests, shares, strict=True) if share)
