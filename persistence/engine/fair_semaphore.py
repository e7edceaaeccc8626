"""A fair semaphore: permits that tenants share, with a queue of limited length for each tenant."""

import asyncio
from collections import Counter, deque
from collections.abc import Hashable
from dataclasses import dataclass
from time import perf_counter

from persistence.engine.database_errors import unavailable
from persistence.engine.observer import observer

# At a hundred requests a second, all that wait are served within the deadline of a request.
MOST_WAITING = 1_000
# A posting takes a few milliseconds; work that takes so long waits for a lock, or is large.
QUICK_SECONDS = 0.02


@dataclass(slots=True, eq=False)
class Permit:
    """A permit that a tenant holds; while its timer runs, the work is new."""

    tenant: Hashable
    timer: asyncio.TimerHandle | None = None


Queue = deque[asyncio.Future[Permit]]


class FairSemaphore:
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
        self._queues: dict[Hashable, Queue] = {}  # The queue that is served next is the first.
        self._waiting = 0

    @property
    def waiting(self) -> int:
        """The number of requests that wait for a permit."""
        return self._waiting

    @property
    def held(self) -> int:
        """The number of permits that are held."""
        return self._held.total()

    async def acquire(self, tenant: Hashable) -> Permit:
        """Wait for a permit of a tenant; raise Unavailable where too many requests wait already."""
        if self._free and self._may_hold(tenant):
            return self._grant(tenant)
        self.refuse_crowd(tenant)
        return await self._wait(tenant)

    def refuse_crowd(self, tenant: Hashable) -> None:
        """Raise Unavailable where no further request of this tenant may wait."""
        queue = self._queues.get(tenant, ())
        if self._waiting >= MOST_WAITING or len(queue) >= MOST_WAITING // 2:
            raise unavailable()

    def release(self, permit: Permit) -> None:
        """Release a permit to the next request that may have it."""
        if permit.timer is not None:
            permit.timer.cancel()
            _count_down(self._new, permit.tenant)
        _count_down(self._held, permit.tenant)
        self._free += 1
        self._serve()

    def refuse_all(self) -> None:
        """Raise Unavailable in every request that waits."""
        for queue in self._queues.values():
            for coming in queue:
                if not coming.done():
                    coming.set_exception(unavailable())
        self._queues.clear()
        self._waiting = 0

    def _may_hold(self, tenant: Hashable) -> bool:
        return self._held[tenant] < self._share and self._new[tenant] < self._share_of_new

    def _grant(self, tenant: Hashable) -> Permit:
        self._free -= 1
        self._held[tenant] += 1
        permit = Permit(tenant)
        if self._quick:
            self._new[tenant] += 1
            permit.timer = asyncio.get_running_loop().call_later(
                QUICK_SECONDS, self._grow_old, permit
            )
        return permit

    def _grow_old(self, permit: Permit) -> None:
        permit.timer = None
        _count_down(self._new, permit.tenant)
        self._serve()

    async def _wait(self, tenant: Hashable) -> Permit:
        coming: asyncio.Future[Permit] = asyncio.get_running_loop().create_future()
        self._queues.setdefault(tenant, deque()).append(coming)
        self._waiting += 1
        began = perf_counter()
        try:
            return await coming
        except asyncio.CancelledError:
            if coming.cancelled():
                self._leave(tenant, coming)
            elif coming.exception() is None:
                self.release(coming.result())  # It came as the wait was cancelled.
            raise
        finally:
            observer.get().waited(perf_counter() - began)

    def _leave(self, tenant: Hashable, coming: asyncio.Future[Permit]) -> None:
        queue = self._queues.get(tenant)
        if queue is not None and coming in queue:
            queue.remove(coming)
            self._waiting -= 1
            if not queue:
                del self._queues[tenant]

    def _serve(self) -> None:
        """Assign the free permits to the queues in rotation; skip tenants with a full share."""
        while self._free:
            for tenant in self._queues:
                if self._may_hold(tenant):
                    break
            else:
                return
            coming = self._next_of(tenant)
            if not coming.done():
                coming.set_result(self._grant(tenant))

    def _next_of(self, tenant: Hashable) -> asyncio.Future[Permit]:
        """Remove the first request of a queue, and move the queue to the end of the rotation."""
        queue = self._queues.pop(tenant)
        coming = queue.popleft()
        self._waiting -= 1
        if queue:
            self._queues[tenant] = queue
        return coming


def _half(places: int) -> int:
    return max(1, places // 2)


def _count_down(counter: Counter[Hashable], tenant: Hashable) -> None:
    left = counter[tenant] - 1
    if left:
        counter[tenant] = left
    else:
        del counter[tenant]
