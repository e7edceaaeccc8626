"""Suggestions of a known name for an unknown one."""

from collections.abc import Collection
from difflib import get_close_matches
from typing import Final

ALIKE: Final = 0.72  # `state` suggests `status`; `phone_number` not `reference_number`.
LONGEST: Final = 64


def closest(name: str, known: Collection[str]) -> str | None:
    """Return the known name with the most similar spelling, or one that shares all words of either.

    Of `due_at` and `memo`, `due_date` is similar to the first; of `unit_price` and `memo`, `price`
    is a word of the first. A search among fifty names takes up to a millisecond.
    """
    name = name[:LONGEST]
    words = set(name.split("_"))
    related = [each for each in known if words <= (its := set(each.split("_"))) or its <= words]
    found = get_close_matches(name, known, n=1, cutoff=ALIKE)
    found = found or get_close_matches(name, related, n=1, cutoff=0)
    return found[0] if found else None
