"""Random draws from hypothesis."""

from collections.abc import Sequence
from functools import lru_cache
from typing import TypeVar

from hypothesis import strategies as st

T = TypeVar("T")


@lru_cache(maxsize=4096)
def whole(low: int, high: int) -> st.SearchStrategy[int]:
    return st.integers(low, high)


class Hand:
    """The random draws of a rule, which shrink to the first option and to False."""

    def __init__(self, data: st.DataObject) -> None:
        self.data = data

    def number(self, low: int, high: int) -> int:
        """Return a whole number, both ends included."""
        return low if low >= high else self.data.draw(whole(low, high))

    def one(self, options: Sequence[T]) -> T:
        """Return one of several options."""
        return options[self.number(0, len(options) - 1)]

    def chance(self, percent: int) -> bool:
        """Return true in some percent of the calls; shrinks to False."""
        return self.number(0, 99) >= 100 - percent

    def some(self, options: Sequence[T], at_most: int) -> list[T]:
        """Return a few different options; none only where there are none."""
        rest = list(options)
        count = self.number(min(1, len(rest)), min(at_most, len(rest)))
        return [rest.pop(self.number(0, len(rest) - 1)) for _ in range(count)]
