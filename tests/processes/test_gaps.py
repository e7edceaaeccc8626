"""Gaps between objects, and what is allocated once they are filled."""

import sys
from itertools import pairwise

from server.process.gaps import EMPTY_BYTES, MOST_BYTES, SIZES, filled_gaps

SIZE = 64


def made(count: int) -> list[bytes]:
    return [bytes(SIZE - EMPTY_BYTES) for _ in range(count)]


def in_a_row(blocks: list[bytes]) -> int:
    return sum(id(after) - id(before) == SIZE for before, after in pairwise(blocks))


def with_gaps() -> list[bytes]:
    """Some blocks, between which others are free."""
    return made(20_000)[::3]


class TestFilledGaps:
    def test_what_is_made_next_lies_together(self) -> None:
        kept = with_gaps()
        scattered = made(200)
        filled = filled_gaps()
        together = made(200)
        assert in_a_row(scattered) < 150
        assert in_a_row(together) > 190
        assert kept
        assert filled

    def test_it_takes_no_more_than_the_gaps(self) -> None:
        kept = with_gaps()
        [filled] = [each for size, each in zip(SIZES, filled_gaps(), strict=True) if size == SIZE]
        assert kept
        assert sum(map(sys.getsizeof, filled)) < MOST_BYTES
        assert len(filled_gaps()[SIZES.index(SIZE)]) < len(filled) / 10
