"""Whoever proves books for `accounting check-books`: this process, or several of its children."""

import asyncio
import gc
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context

from persistence.engine.pool import make_pool
from persistence.proof.integrity import BooksToProve, Check, prove
from persistence.proof.seals import seal

CHUNK = 8  # Businesses that a child takes at once: fewer cost more messages, more an uneven end.
COLLECT_AFTER = 100_000  # Objects. A proof makes many and keeps none, so there is little to find.

Advance = Callable[[BooksToProve, float], None]
"""Told of each further share of a business's proof that is done."""


@dataclass(frozen=True, slots=True)
class Proof:
    """One business and the checks of its books."""

    books: BooksToProve
    checks: list[Check]

    @property
    def faults(self) -> list[Check]:
        """The checks that do not hold."""
        return [check for check in self.checks if not check.ok]


class Prover:
    """One process with one connection, which proves one business after the other."""

    def __init__(self, url: str) -> None:
        gc.freeze()
        gc.set_threshold(COLLECT_AFTER)
        self._runner = asyncio.Runner()
        self._pool = make_pool(url, size=1)

    def prove(self, books: BooksToProve, advance: Advance) -> Proof:
        """Prove one business, then seal its audit trail."""
        checks = self._runner.run(prove(self._pool, books, partial(advance, books)))
        self._runner.run(seal(self._pool, books.id))
        return Proof(books, checks)

    def close(self) -> None:
        """Let the connection go."""
        self._runner.run(self._pool.close())
        self._runner.close()


@contextmanager
def alone(
    url: str, businesses: Sequence[BooksToProve], advance: Advance
) -> Iterator[Iterator[Proof]]:
    """Prove all in this process."""
    prover = Prover(url)
    try:
        yield (prover.prove(each, advance) for each in businesses)
    finally:
        prover.close()


@contextmanager
def together(
    url: str, businesses: Sequence[BooksToProve], advance: Advance, workers: int
) -> Iterator[Iterator[Proof]]:
    """Prove all in `workers` children, each with a connection of its own; in the same order."""
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
