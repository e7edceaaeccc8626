"""Whose turn it is: places that tenants share fairly, and lines that have an end.

A tenant whose requests wait for a lock, or come all at once, would hold every connection there is
and keep all others waiting. So no tenant holds more than half of them; those who wait stand in one
line for each tenant, and the lines are served in turn. Where a line is as long as it may be,
whoever comes is refused at once: waiting for longer than anybody listens helps nobody.
"""

import asyncio
from collections import Counter, deque
from collections.abc import Hashable
from time import perf_counter

from persistence.engine.faults import unavailable
from persistence.engine.observing import observer

# All who wait are served within a request's time where the database does a hundred things a second.
MOST_WAITING = 1_000

Line = deque[asyncio.Future[None]]


class Turns:
    """`places` to be held, by each tenant at most half of them."""

    def __init__(self, places: int) -> None:
        self._free = places
        self._share = max(1, places // 2)
        self._held = Counter[Hashable]()
        self._lines: dict[Hashable, Line] = {}  # The one that is served next comes first.
        self._waiting = 0

    @property
    def waiting(self) -> int:
        """How many wait for a place."""
        return self._waiting

    @property
    def held(self) -> int:
        """How many places are held."""
        return self._held.total()

    async def take(self, tenant: Hashable) -> None:
        """Return when the tenant may hold one more; Unavailable where too many wait already."""
        if self._free and self._held[tenant] < self._share:
            self._give(tenant)
            return
        self.refuse_crowd(tenant)
        await self._wait(tenant)

    def refuse_crowd(self, tenant: Hashable) -> None:
        """Raise Unavailable where nobody more of this tenant may wait."""
        line = self._lines.get(tenant, ())
        if self._waiting >= MOST_WAITING or len(line) >= MOST_WAITING // 2:
            raise unavailable()

    def give_back(self, tenant: Hashable) -> None:
        """Hand the place on to whoever is next."""
        self._held[tenant] -= 1
        if not self._held[tenant]:
            del self._held[tenant]
        self._free += 1
        self._serve()

    def refuse_all(self) -> None:
        """Tell everybody who waits that there is nothing to wait for."""
        for line in self._lines.values():
            for turn in line:
                if not turn.done():
                    turn.set_exception(unavailable())
        self._lines.clear()
        self._waiting = 0

    def _give(self, tenant: Hashable) -> None:
        self._free -= 1
        self._held[tenant] += 1

    async def _wait(self, tenant: Hashable) -> None:
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._lines.setdefault(tenant, deque()).append(turn)
        self._waiting += 1
        began = perf_counter()
        try:
            await turn
        except asyncio.CancelledError:
            if turn.cancelled():
                self._leave(tenant, turn)
            elif turn.exception() is None:
                self.give_back(tenant)  # It came in the moment in which it was given up.
            raise
        finally:
            observer.get().waited(perf_counter() - began)

    def _leave(self, tenant: Hashable, turn: asyncio.Future[None]) -> None:
        line = self._lines.get(tenant)
        if line is not None and turn in line:
            line.remove(turn)
            self._waiting -= 1
            if not line:
                del self._lines[tenant]

    def _serve(self) -> None:
        """Give what is free to the lines in turn; at most two tenants have all that they may."""
        while self._free:
            for tenant in self._lines:
                if self._held[tenant] < self._share:
                    break
            else:
                return
            turn = self._next_of(tenant)
            if not turn.done():
                self._give(tenant)
                turn.set_result(None)

    def _next_of(self, tenant: Hashable) -> asyncio.Future[None]:
        """Take the first out of a line; the others are last in turn now."""
        line = self._lines.pop(tenant)
        turn = line.popleft()
        self._waiting -= 1
        if line:
            self._lines[tenant] = line
        return turn
