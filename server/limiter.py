"""What may be done in a minute, counted by all workers of all servers together.

Each worker counts for itself and tells the others in passing, each time that it has counted a
small part of a limit: a fortieth, divided by how many workers there are. A request waits for that
only where the same again was counted since, so that all of them never let through much more than
the limit, and refuse nobody before it is reached. While nothing can be told, each worker goes on
by itself. See docs/decisions/0044.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Hashable, Iterable, Mapping
from contextvars import Context
from math import ceil
from typing import Any, Final, Protocol
from uuid import UUID

import structlog

from accounting.errors import TooMany
from accounting.values import dataclass
from server.responses.errors import Headers

MINUTE_SECONDS: Final = 60
FAILED_LOGINS_PER_MINUTE: Final = 100
MOST_NAMES: Final = 20_000
# How many names are told at once, and how long it is from one time to the next at least.
MOST_TOLD: Final = 500
PAUSE_SECONDS: Final = 0.02
# How long a request waits to hear of the others, and how long nobody does after that has failed.
PATIENCE_SECONDS: Final = 0.25
DEAF_SECONDS: Final = 1.0


class Heard(Protocol):
    """What the others say: how many they are, and what they have counted by name."""

    @property
    def workers(self) -> int: ...

    @property
    def counts(self) -> Mapping[str, int]: ...


# Told the minute, since 1970, and what this worker has counted in it by name.
Tell = Callable[[int, Mapping[str, int]], Awaitable[Heard]]


@dataclass(slots=True, eq=False)
class Count:
    """What is counted of one name in this minute: by this worker, by others as far as is known.

    `told` of the former the others know.
    """

    name: str
    mine: int = 0
    others: int = 0
    told: int = 0


class SharedCounts:
    """What this worker tells the others, and hears from them."""

    def __init__(self, tell: Tell, *, workers: int, clock: Callable[[], float] = time.time) -> None:
        """`workers` is how many there are, as long as nothing was heard; `clock` tells seconds."""
        self._tell = tell
        self._workers = workers
        self._clock = clock
        self._limits: list[Limit] = []
        self._ends = 0.0
        self._due: set[Count] = set()
        self._is_announced = False
        self._talking: asyncio.Task[None] | None = None
        self._next: asyncio.Future[None] | None = None
        self._deaf_until = 0.0
        self._hears = True

    def limit(self, kind: str, most: int) -> "Limit":
        """Make a limit, of so many in a minute, whose counts are shared."""
        made = Limit(kind, most, self)
        made.divide(self._workers)
        self._limits.append(made)
        return made

    def seconds_left(self) -> int:
        """Tell the whole seconds until the next minute; when one begins, all is counted anew."""
        now = self._clock()
        if not self._ends - MINUTE_SECONDS <= now < self._ends:
            self._ends = (now // MINUTE_SECONDS + 1) * MINUTE_SECONDS
            for limit in self._limits:
                limit.counts.clear()
            self._due.clear()
            self._is_announced = False
            self._talk()
        return ceil(self._ends - now)

    def is_due(self, count: Count) -> None:
        """Let the others know of a count soon."""
        self._due.add(count)
        self._talk()

    async def hear(self) -> None:
        """Wait until the others were told of what is due, and have told; not for long."""
        self._talk()
        if self._next is not None and time.monotonic() >= self._deaf_until:
            _, missing = await asyncio.wait([self._next], timeout=PATIENCE_SECONDS)
            if missing:
                self._deaf_until = time.monotonic() + DEAF_SECONDS

    async def close(self) -> None:
        """Tell nothing more."""
        if self._talking is not None:
            self._talking.cancel()
            await asyncio.wait([self._talking])

    def _talk(self) -> None:
        if self._talking is None:
            loop = asyncio.get_running_loop()
            self._next = loop.create_future()
            # It is no part of the request that began it: nothing that listens there hears of it.
            telling = self._talk_until_all_is_told()
            self._talking = loop.create_task(telling, context=Context())

    async def _talk_until_all_is_told(self) -> None:
        told: asyncio.Future[None] | None = None
        try:
            while self._due or not self._is_announced:
                told, self._next = self._next, asyncio.get_running_loop().create_future()
                pause = PAUSE_SECONDS if await self._tell_what_is_due() else DEAF_SECONDS
                _end(told)
                await asyncio.sleep(pause)
        finally:
            _end(told)
            _end(self._next)
            self._talking = self._next = None

    async def _tell_what_is_due(self) -> bool:
        due = [*self._due][:MOST_TOLD]
        self._due.difference_update(due)
        counts, ends = {each.name: each.mine for each in due}, self._ends
        try:
            async with asyncio.timeout(DEAF_SECONDS):
                heard = await self._tell(int(ends) // MINUTE_SECONDS - 1, counts)
        except Exception as error:
            self._note_silence(error)
            if ends == self._ends:
                self._due.update(due)
            return False
        self._hears = True
        self._is_announced = ends == self._ends
        for each in due:
            each.told = counts[each.name]
            each.others = heard.counts.get(each.name, 0)
        if heard.workers != self._workers:
            self._workers = heard.workers
            for limit in self._limits:
                limit.divide(heard.workers)
        return True

    def _note_silence(self, error: Exception) -> None:
        self._deaf_until = time.monotonic() + DEAF_SECONDS
        if self._hears:
            log = structlog.get_logger("accounting.server")
            log.warning("limits_not_shared", reason=repr(error))
        self._hears = False


class Limit:
    """So many of each name in a minute: of a partner's requests, say."""

    def __init__(self, kind: str, most: int, shared: SharedCounts) -> None:
        self.kind = kind
        self.told = f'"{kind}"'
        self.most = most
        self.counts: dict[Hashable, Count] = {}
        self._shared = shared
        self._worth_telling = self._worth_waiting = 1

    def divide(self, workers: int) -> None:
        """Have so many workers count a twentieth of it, all in all, that others do not know of."""
        self._worth_waiting = max(1, self.most // (20 * workers))
        self._worth_telling = max(1, self._worth_waiting // 2)

    def count_of(self, name: Hashable) -> Count:
        """Return what is counted of a name."""
        counts = self.counts
        count = counts.pop(name, None)
        if count is None:
            count = Count(f"{self.kind} {name}")
        # What was counted last stays: nobody pushes a count of their own out with made-up names.
        counts[name] = count
        if len(counts) > MOST_NAMES:
            del counts[next(iter(counts))]
        return count

    def is_behind(self, count: Count) -> bool:
        """Tell whether the others have to be heard before anything is let through."""
        return count.mine - count.told >= self._worth_waiting and not self.is_full(count)

    def is_full(self, count: Count) -> bool:
        """Tell whether nothing more is let through in this minute."""
        return count.mine + count.others >= self.most

    def left(self, count: Count) -> int:
        """Tell how much more is, as far as is known."""
        return max(0, self.most - count.mine - count.others)

    def add(self, count: Count) -> None:
        """Count one more."""
        count.mine += 1
        # What comes once is not worth a word: names may be made up.
        if count.mine - count.told >= self._worth_telling and count.mine > 1:
            self._shared.is_due(count)


class RequestLimits:
    """How many requests a partner, and each of its businesses, may make in a minute; 0 for any."""

    def __init__(self, shared: SharedCounts, *, partner: int, business: int) -> None:
        self._shared = shared
        self._partner = shared.limit("partner", partner) if partner else None
        self._business = shared.limit("business", business) if business else None
        self._policies = _policy([self._partner]), _policy([self._partner, self._business])

    async def take(
        self, partner_id: UUID, business_id: str | None
    ) -> tuple[Headers, TooMany | None]:
        """Count a request where there is room; give its header lines, and why it is refused."""
        partner, business = self._partner, self._business if business_id else None
        if partner is None and business is None:
            return [], None
        seconds = self._shared.seconds_left()
        found = [
            (limit, limit.count_of(name))
            for limit, name in ((partner, partner_id), (business, business_id))
            if limit is not None
        ]
        for limit, count in found:
            if limit.is_behind(count):
                await self._shared.hear()
        full = next((limit for limit, count in found if limit.is_full(count)), None)
        if full is None:
            for limit, count in found:
                limit.add(count)
        left = ", ".join(
            [f"{limit.told};r={limit.left(count)};t={seconds}" for limit, count in found]
        )
        lines = [(b"ratelimit", left.encode()), self._policies[business is not None]]
        return lines, None if full is None else _refusal(full, seconds)


class FailedLogins:
    """Failures by name, a partner or an address.

    Only failures are counted and only failures are refused. A right key passes whatever others
    have tried under the same partner, because partner ids are no secret and a lock would let
    anybody shut a partner out; the keys themselves are far too long to be guessed.
    """

    def __init__(self, shared: SharedCounts, *, most: int = FAILED_LOGINS_PER_MINUTE) -> None:
        self._shared = shared
        self._limit = shared.limit("failed login", most)

    async def note(self, names: Iterable[str]) -> None:
        """Count one failure under each name; TooMany when one of them has had its share.

        With a limit of 100, the 101st failure of a minute is refused.
        """
        seconds = self._shared.seconds_left()
        found = [self._limit.count_of(name) for name in names]
        for count in found:
            if self._limit.is_behind(count):
                await self._shared.hear()
        full = any(self._limit.is_full(count) for count in found)
        for count in found:
            if not self._limit.is_full(count):
                self._limit.add(count)
        if full:
            raise TooMany(
                "rate_limited",
                "Too many failed logins. Try again later.",
                retry_after_seconds=seconds,
            )


def _policy(limits: Iterable[Limit | None]) -> tuple[bytes, bytes]:
    """Write the limits, as the draft of RateLimit header fields has it."""
    told = [f"{limit.told};q={limit.most};w={MINUTE_SECONDS}" for limit in limits if limit]
    return b"ratelimit-policy", ", ".join(told).encode()


def _refusal(full: Limit, seconds: int) -> TooMany:
    return TooMany(
        "rate_limited",
        f"The {full.kind} has used its {full.most} requests of this minute. Wait until the next"
        " minute.",
        retry_after_seconds=seconds,
    )


def _end(heard: Any) -> None:
    if heard is not None and not heard.done():
        heard.set_result(None)
