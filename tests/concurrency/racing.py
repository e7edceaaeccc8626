"""Many clients at the same moment, or for a while.

They race for a few seconds, or for RACE_SECONDS; `make races` gives them half a minute.
"""

import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from time import monotonic

import httpx

from tests.partner import PATIENCE_SECONDS

SECONDS = float(os.environ.get("RACE_SECONDS", "2"))


@dataclass(frozen=True)
class Ran:
    """One answer and when its request began and ended."""

    answer: httpx.Response
    began: float
    ended: float

    @property
    def status(self) -> int:
        return self.answer.status_code

    @property
    def code(self) -> str | None:
        return self.answer.json().get("error_code")


def together(calls: Sequence[Callable[[], httpx.Response]]) -> list[Ran]:
    """Make every call in a thread of its own, all set off at once; answers in their order."""
    gate = threading.Barrier(len(calls), timeout=PATIENCE_SECONDS)

    def run(call: Callable[[], httpx.Response]) -> Ran:
        gate.wait()
        began = monotonic()
        return Ran(call(), began, monotonic())

    with ThreadPoolExecutor(len(calls)) as threads:
        return list(threads.map(run, calls))


def race(racers: Callable[[float], list[threading.Thread]], enough: Callable[[], bool]) -> None:
    """Let racers run for a while, and again until there was enough of it, or never will be.

    `racers` makes them, given the monotonic time until which they race. A busy machine gets more
    time for it.
    """
    give_up = monotonic() + PATIENCE_SECONDS
    while True:
        running = racers(monotonic() + SECONDS)
        for racer in running:
            racer.start()
        for racer in running:
            racer.join()
        if enough() or monotonic() > give_up:
            return


def statuses(ran: Sequence[Ran]) -> dict[int, int]:
    """How often each status was answered."""
    seen = [each.status for each in ran]
    return {status: seen.count(status) for status in sorted(set(seen))}
