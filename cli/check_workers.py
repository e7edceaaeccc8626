"""Checking of books for `accounting check-books`, in this process or in several child processes."""

import asyncio
import gc
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context

from persistence.engine.pool import make_pool
from persistence.integrity.checks import BooksToProve, Check, prove
from persistence.integrity.seals import seal

CHUNK = 8  # Businesses per task of a child: fewer need more messages, more end less evenly.
COLLECT_AFTER = 100_000  # Objects. Checks create many and keep none, so collecting finds little.

Advance = Callable[[BooksToProve, float], None]
"""A callback with a business and the share of its checks that was completed since the last call."""


@dataclass(frozen=True, slots=True)
class Proof:
    """A business and the results of its integrity checks."""

    books: BooksToProve
    checks: list[Check]

    @property
    def faults(self) -> list[Check]:
        """The checks that failed."""
        return [check for check in self.checks if not check.ok]


class Prover:
    """A checker of one business at a time, with its own database connection."""

    def __init__(self, url: str) -> None:
        gc.freeze()
        gc.set_threshold(COLLECT_AFTER)
        self._runner = asyncio.Runner()
        self._pool = make_pool(url, size=1)

    def prove(self, books: BooksToProve, advance: Advance) -> Proof:
        """Check the books of one business, then seal its audit trail."""
        checks = self._runner.run(prove(self._pool, books, partial(advance, books)))
        self._runner.run(seal(self._pool, books.id))
        return Proof(books, checks)

    def close(self) -> None:
        """Close the connection."""
        self._runner.run(self._pool.close())
        self._runner.close()


@contextmanager
def alone(
    url: str, businesses: Sequence[BooksToProve], advance: Advance
) -> Iterator[Iterator[Proof]]:
    """Check all businesses in this process; yields an iterator of their proofs."""
    prover = Prover(url)
    try:
        yield (prover.prove(each, advance) for each in businesses)
    finally:
        prover.close()


@contextmanager
def together(
    url: str, businesses: Sequence[BooksToProve], advance: Advance, workers: int
) -> Iterator[Iterator[Proof]]:
    """Check all businesses in `workers` child processes; yields their proofs in the same order.

    Each child has its own connection.
    """
    spawning = get_context("spawn")
    executor = ProcessPoolExecutor(workers, spawning, initializer=_begin, initargs=(url,))
    try:
        yield _told(executor.map(_prove, businesses, chunksize=CHUNK), advance)
    finally:
        executor.shutdown(cancel_futures=True)


def _told(proofs: Iterator[Proof], advance: Advance) -> Iterator[Proof]:
    for proof in proofs:
        advance(proof.books, 1.0)
        yield proof


_child: list[Prover] = []  # The one prover of a child.


def _begin(url: str) -> None:
    _child.append(Prover(url))


def _prove(books: BooksToProve) -> Proof:
    [prover] = _child
    return prover.prove(books, lambda *_: None)
