"""Gaps between objects, and what is allocated once they are filled."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from server.process.gaps import MOST_BYTES, SIZES

ROOT = Path(__file__).parents[2]
SIZE = 64

# A process of its own: in this one there are gaps of all the tests before. Tells how many of 200
# blocks lie right behind another one, before and after, and how many fill gaps twice in turn.
FILLING = f"""
import json
from itertools import pairwise
from server.process.gaps import EMPTY_BYTES, SIZES, filled_gaps

def made(count):
    return [bytes({SIZE} - EMPTY_BYTES) for _ in range(count)]

def in_a_row(blocks):
    return sum(id(after) - id(before) == {SIZE} for before, after in pairwise(blocks))

kept = made(20_000)[::3]
scattered = made(200)
filled = filled_gaps()
together = made(200)
again = filled_gaps()
counts = [len(each[SIZES.index({SIZE})]) for each in (filled, again)]
print(json.dumps([in_a_row(scattered), in_a_row(together), *counts]))
"""


@pytest.fixture(scope="module")
def filling() -> list[int]:
    ran = subprocess.run(
        [sys.executable, "-c", FILLING], check=True, capture_output=True, text=True, cwd=ROOT
    )
    found: list[int] = json.loads(ran.stdout)
    return found


class TestFilledGaps:
    def test_what_is_made_next_lies_together(self, filling: list[int]) -> None:
        scattered, together, *_ = filling
        assert scattered < 150
        assert together > 190

    def test_it_takes_no_more_than_the_gaps(self, filling: list[int]) -> None:
        *_, filled, again = filling
        assert SIZE in SIZES
        assert filled * SIZE < MOST_BYTES
        assert again < filled / 10
