"""Draws from hypothesis, in the words of a card player."""

from collections.abc import Sequence
from functools import lru_cache
from typing import TypeVar

from hypothesis import strategies as st

T = TypeVar("T")


@lru_cache(maxsize=4096)
def whole(low: int, high: int) -> st.SearchStrategy[int]:
    return st.integers(low, high)


class Hand:
    """What a rule draws with; the first of several and the least likely shrink away first."""

    def __init__(self, data: st.DataObject) -> None:
        self.data = data

    def number(self, low: int, high: int) -> int:
        """A whole number, both ends included."""
        return low if low >= high else self.data.draw(whole(low, high))

    def one(self, options: Sequence[T]) -> T:
        """One of several."""
        return options[self.number(0, len(options) - 1)]

    def chance(self, percent: int) -> bool:
        """True as often as that; shrinks to False."""
        return self.number(0, 99) >= 100 - percent

    def some(self, options: Sequence[T], at_most: int) -> list[T]:
        """A few different ones; none only where there are none."""
        rest = list(options)
        count = self.number(min(1, len(rest)), min(at_most, len(rest)))
        return [rest.pop(self.number(0, len(rest) - 1)) for _ in range(count)]
