"""Many clients at the same moment."""

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from time import monotonic

import httpx


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
    gate = threading.Barrier(len(calls))

    def run(call: Callable[[], httpx.Response]) -> Ran:
        gate.wait()
        began = monotonic()
        return Ran(call(), began, monotonic())

    with ThreadPoolExecutor(len(calls)) as threads:
        return list(threads.map(run, calls))


def statuses(ran: Sequence[Ran]) -> dict[int, int]:
    """How often each status was answered."""
    seen = [each.status for each in ran]
    return {status: seen.count(status) for status in sorted(set(seen))}
