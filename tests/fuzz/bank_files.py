"""`python -m tests.fuzz.bank_files [--seconds N] [--seed S]`: hostile files for each reader.

Each round has its own seed, the first of them S. A failing file is printed with the seed of its
round.
"""

import argparse
import secrets
import sys
import time
from itertools import count
from typing import NamedTuple

import hypothesis
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st

from libraries.bank_files import NAMES, Format
from libraries.bank_files.tests.hostile import PIECES, check, damaged_samples, much_of
from libraries.bank_files.tests.statements import FILES, content_of, format_of


class File(NamedTuple):
    """A file and its format: a head, then a megabyte of `piece` unless it is empty."""

    kind: Format
    head: bytes
    piece: bytes = b""


@st.composite
def small_files(draw: st.DrawFn) -> File:
    """Draw any bytes, or a damaged sample."""
    if draw(st.booleans()):
        return File(draw(st.sampled_from(sorted(NAMES))), draw(st.binary(max_size=2_000)))
    name = draw(st.sampled_from(sorted(FILES)))
    return File(format_of(name), draw(damaged_samples(name)))


@st.composite
def large_files(draw: st.DrawFn) -> File:
    """Draw the beginning of a sample, followed by a few pieces many times."""
    name = draw(st.sampled_from(sorted(FILES)))
    content = content_of(name)
    pieces = draw(st.lists(st.sampled_from(PIECES), min_size=1, max_size=4))
    return File(format_of(name), content[: draw(st.integers(0, len(content)))], b"".join(pieces))


# The number of files of a round. A large file that takes too long is not shrunk.
ROUND = (
    (small_files(), 400, (Phase.generate, Phase.shrink)),
    (large_files(), 15, (Phase.generate,)),
)


def main() -> int:
    asked = arguments()
    ends = time.monotonic() + asked.seconds
    for seed in count(asked.seed):
        try:
            play(seed)
        except Exception:
            sys.stderr.write(f"bank files: failed with --seed {seed}\n")
            raise
        if time.monotonic() > ends:
            break
    rounds = seed - asked.seed + 1
    sys.stdout.write(f"bank files: {rounds} rounds from seed {asked.seed}, nothing found\n")
    return 0


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.bank_files")
    parser.add_argument("--seconds", type=int, default=10, help="the last round may end later")
    parser.add_argument("--seed", type=int, default=None, help="random, and told, when left out")
    asked = parser.parse_args()
    if asked.seed is None:
        asked.seed = secrets.randbelow(2**32)
    return asked


def play(seed: int) -> None:
    """Read the files of one round with the readers."""
    for files, examples, phases in ROUND:

        @hypothesis.seed(seed)
        @settings(
            max_examples=examples,
            phases=phases,
            database=None,
            deadline=None,
            derandomize=False,
            suppress_health_check=list(HealthCheck),
        )
        @hypothesis.given(file=files)
        def read(file: File) -> None:
            more = much_of(file.piece) if file.piece else b""
            check(file.kind, file.head + more)

        read()


if __name__ == "__main__":
    sys.exit(main())
