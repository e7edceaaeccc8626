"""The name that was meant by one that is not known."""

from collections.abc import Collection
from difflib import get_close_matches
from typing import Final

ALIKE: Final = 0.72  # `state` is meant by `status`; `phone_number` and `reference_number` are two.
LONGEST: Final = 64


def closest(name: str, known: Collection[str]) -> str | None:
    """Return the known name that is spelled like this one, or has all of its words or some of them.

    Of `due_at` and `memo`, `due_date` is like the first; of `unit_price` and `memo`, `price` is a
    word of the first. To look among fifty names takes up to a millisecond.
    """
    name = name[:LONGEST]
    words = set(name.split("_"))
    related = [each for each in known if words <= (its := set(each.split("_"))) or its <= words]
    found = get_close_matches(name, known, n=1, cutoff=ALIKE)
    found = found or get_close_matches(name, related, n=1, cutoff=0)
    return found[0] if found else None
