"""A fair semaphore: permits that tenants share, with one queue of limited length for each tenant.

A tenant whose requests wait for a lock, or come in a burst, would hold every connection and keep
all other tenants waiting. So no tenant holds more than half of the permits. Each tenant has a queue
of its own, and the queues are served in rotation. A request for a full queue is refused
immediately: it would wait longer than its client does.

Where work is quick, running more of one tenant together only slows each down (docs/decisions/0018).
There half of the share of a tenant is for work that has lasted `QUICK_SECONDS`.
"""

import asyncio
from collections import Counter, deque
from collections.abc import Hashable
from dataclasses import dataclass
from time import perf_counter

from persistence.engine.faults import unavailable
from persistence.engine.observing import observer

# At a hundred requests a second, all that wait are served within the deadline of a request.
MOST_WAITING = 1_000
# A posting takes a few milliseconds; work that takes so long waits for a lock, or is large.
QUICK_SECONDS = 0.02


@dataclass(slots=True, eq=False)
class Turn:
    """A permit that a tenant holds; while its timer runs, the work is new."""

    tenant: Hashable
    timer: asyncio.TimerHandle | None = None


Line = deque[asyncio.Future[Turn]]


class Turns:
    """A semaphore with `places` permits, of which each tenant may hold half.

    Where the work is expected to be `quick`, a tenant may hold half of that for new work.
    """

    def __init__(self, places: int, *, quick: bool = False) -> None:
        self._free = places
        self._share = _half(places)
        self._quick = quick
        self._share_of_new = _half(self._share) if quick else self._share
        self._held = Counter[Hashable]()
        self._new = Counter[Hashable]()
        self._lines: dict[Hashable, Line] = {}  # The queue that is served next is the first.
        self._waiting = 0

    @property
    def waiting(self) -> int:
        """The number of requests that wait for a permit."""
        return self._waiting

    @property
    def held(self) -> int:
        """The number of permits that are held."""
        return self._held.total()

    async def take(self, tenant: Hashable) -> Turn:
        """Wait for a permit of a tenant; raise Unavailable where too many requests wait already."""
        if self._free and self._may_hold(tenant):
            return self._give(tenant)
        self.refuse_crowd(tenant)
        return await self._wait(tenant)

    def refuse_crowd(self, tenant: Hashable) -> None:
        """Raise Unavailable where no further request of this tenant may wait."""
        line = self._lines.get(tenant, ())
        if self._waiting >= MOST_WAITING or len(line) >= MOST_WAITING // 2:
            raise unavailable()

    def give_back(self, turn: Turn) -> None:
        """Release a permit to the next request that may have it."""
        if turn.timer is not None:
            turn.timer.cancel()
            _count_down(self._new, turn.tenant)
        _count_down(self._held, turn.tenant)
        self._free += 1
        self._serve()

    def refuse_all(self) -> None:
        """Raise Unavailable in every request that waits."""
        for line in self._lines.values():
            for coming in line:
                if not coming.done():
                    coming.set_exception(unavailable())
        self._lines.clear()
        self._waiting = 0

    def _may_hold(self, tenant: Hashable) -> bool:
        return self._held[tenant] < self._share and self._new[tenant] < self._share_of_new

    def _give(self, tenant: Hashable) -> Turn:
        self._free -= 1
        self._held[tenant] += 1
        turn = Turn(tenant)
        if self._quick:
            self._new[tenant] += 1
            turn.timer = asyncio.get_running_loop().call_later(QUICK_SECONDS, self._grow_old, turn)
        return turn

    def _grow_old(self, turn: Turn) -> None:
        turn.timer = None
        _count_down(self._new, turn.tenant)
        self._serve()

    async def _wait(self, tenant: Hashable) -> Turn:
        coming: asyncio.Future[Turn] = asyncio.get_running_loop().create_future()
        self._lines.setdefault(tenant, deque()).append(coming)
        self._waiting += 1
        began = perf_counter()
        try:
            return await coming
        except asyncio.CancelledError:
            if coming.cancelled():
                self._leave(tenant, coming)
            elif coming.exception() is None:
                self.give_back(coming.result())  # It came as the wait was cancelled.
            raise
        finally:
            observer.get().waited(perf_counter() - began)

    def _leave(self, tenant: Hashable, coming: asyncio.Future[Turn]) -> None:
        line = self._lines.get(tenant)
        if line is not None and coming in line:
            line.remove(coming)
            self._waiting -= 1
            if not line:
                del self._lines[tenant]

    def _serve(self) -> None:
        """Assign the free permits to the queues in rotation; skip tenants with a full share."""
        while self._free:
            for tenant in self._lines:
                if self._may_hold(tenant):
                    break
            else:
                return
            coming = self._next_of(tenant)
            if not coming.done():
                coming.set_result(self._give(tenant))

    def _next_of(self, tenant: Hashable) -> asyncio.Future[Turn]:
        """Remove the first request of a queue, and move the queue to the end of the rotation."""
        line = self._lines.pop(tenant)
        coming = line.popleft()
        self._waiting -= 1
        if line:
            self._lines[tenant] = line
        return coming


def _half(places: int) -> int:
    return max(1, places // 2)


def _count_down(counter: Counter[Hashable], tenant: Hashable) -> None:
    left = counter[tenant] - 1
    if left:
        counter[tenant] = left
    else:
        del counter[tenant]
