"""Requests sent by many clients at the same moment, or for a while.

They race for a few seconds, or for RACE_SECONDS; `make races` gives them half a minute.
"""

import os
import random
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from time import monotonic
from typing import Any, ClassVar
from uuid import uuid4

import httpx

from tests.partner import PATIENCE_SECONDS, Business, client

SECONDS = float(os.environ.get("RACE_SECONDS", "2"))
DEADLOCKS = "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()"

Call = Callable[[], httpx.Response]


@dataclass(frozen=True)
class Ran:
    """An answer, with the monotonic times when its request began and ended."""

    answer: httpx.Response
    began: float
    ended: float

    @property
    def status(self) -> int:
        return self.answer.status_code

    @property
    def code(self) -> str | None:
        return self.answer.json().get("error_code")


def together(calls: Sequence[Call]) -> list[Ran]:
    """Make all calls at the same moment, each in a thread; return the answers in their order."""
    gate = threading.Barrier(len(calls), timeout=PATIENCE_SECONDS)

    def run(call: Call) -> Ran:
        gate.wait()
        began = monotonic()
        return Ran(call(), began, monotonic())

    with ThreadPoolExecutor(len(calls)) as threads:
        return list(threads.map(run, calls))


def statuses(ran: Sequence[Ran]) -> dict[int, int]:
    """Return how often each status was answered."""
    seen = [each.status for each in ran]
    return {status: seen.count(status) for status in sorted(set(seen))}


def moving_lock_date(shop: Business, day: str | None) -> Call:
    """Return the request by which the partner sets or removes the lock date."""
    path = f"/v1/platform/businesses/{shop.id}/"
    return partial(shop.partner.api.patch, path, json={"lock_date": day}, timeout=60)


def race_for_one_key(shop: Business, path: str, body: Any) -> None:
    """Send a body forty times concurrently with one key; check that it takes effect once."""
    key = {"Idempotency-Key": str(uuid4())}
    ran = together([partial(shop.api.post, path, json=body, headers=key)] * 40)
    assert statuses(ran) == {201: 40}
    assert len({each.answer.content for each in ran}) == 1
    assert sum("idempotent-replayed" in each.answer.headers for each in ran) == 39
    assert shop.api.get(path).json()["count"] == 1


def race_for_one_name(shop: Business, path: str, body: Any, times: int = 20) -> list[Ran]:
    """Send a body many times concurrently with one external id; check that it is created once."""
    named = {**body, "external_id": "raced"}
    ran = together([partial(shop.api.post, path, json=named)] * times)
    assert statuses(ran) == {200: times - 1, 201: 1}
    bodies = [each.answer.json() for each in ran]
    assert len({body.get("payment", body)["id"] for body in bodies}) == 1
    return ran


@dataclass(kw_only=True)
class Contest:
    """The records that racers change, and their answers by move, status and code."""

    answers: Counter[tuple[str, int, str]] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def note(self, move: str, answer: httpx.Response) -> None:
        """Count an answer."""
        code = answer.json()["error_code"] if answer.status_code >= 400 else ""
        with self.lock:
            self.answers[move, answer.status_code, code] += 1

    def count(self, fits: Callable[[int], bool]) -> int:
        """Return how many answers have a status that fits."""
        return sum(n for (_, status, _), n in self.answers.items() if fits(status))

    @property
    def statuses(self) -> set[int]:
        return {status for _, status, _ in self.answers}

    @property
    def done(self) -> set[str]:
        """The moves that succeeded."""
        return {move for move, status, _ in self.answers if status < 300}


class Racer(threading.Thread):
    """A client with its own connection that makes random moves; `moves` are their weights."""

    moves: ClassVar[dict[str, int]]

    def __init__(self, contest: Contest, api: httpx.Client, until: float) -> None:
        super().__init__(daemon=True)
        self.contest = contest
        self.api = api
        self.until = until
        self.dice = random.Random()

    def run(self) -> None:
        while monotonic() < self.until and not self.contest.faults:
            [move] = self.dice.choices([*self.moves], [*self.moves.values()])
            try:
                answer: httpx.Response | None = getattr(self, move)()
            except Exception as error:  # An undocumented answer raises, too.
                self.contest.faults.append(f"{move}: {error!r}")
                return
            if answer is not None:
                self.contest.note(move, answer)


def race(racers: Callable[[float], list[Any]], enough: Callable[[], bool]) -> None:
    """Run racers for a while, repeatedly until `enough()` or until patience ends.

    `racers` creates them for the monotonic time until which they race. A busy machine gets more
    time.
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


def race_until_done(
    racer: type[Racer], contest: Contest, shop: Business, *, clients: int, wanted: set[str]
) -> None:
    """Run racers until each wanted move has succeeded; check that all answers are documented."""
    token = {"Authorization": shop.api.headers["Authorization"]}
    with ExitStack() as stack:
        apis = [stack.enter_context(client(shop.base_url, headers=token)) for _ in range(clients)]
        race(
            lambda until: [racer(contest, api, until) for api in apis],
            lambda: bool(contest.faults) or contest.done >= wanted,
        )
    assert contest.faults == []
    assert contest.statuses <= {200, 201, 409, 422}
    assert contest.done >= wanted
