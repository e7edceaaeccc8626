"""Requests that wait for an event: few of one feed, and none on a server that stops."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from time import monotonic
from typing import Any, Final
from uuid import UUID

from starlette.requests import ClientDisconnect
from starlette.types import Scope

from persistence.books import Books
from persistence.feed.events import newest
from persistence.partners.event_feed import newest_position
from persistence.partners.registry import Registry

MOST_WAITING: Final = 20
"""The most requests of one feed that wait in a worker; the others are answered immediately."""
LOOK_AGAIN_SECONDS: Final = 0.3
MOST_LOOKS_PER_SECOND: Final = 200

Opened = Books | Registry
Work = Callable[[Opened], Awaitable[Any]]
InReading = Callable[[Work], Awaitable[Any]]
"""A function that calls another one in a reading of its own, and returns its result."""


class FeedWaits:
    """The requests of one worker that wait for an event, counted by feed."""

    def __init__(self) -> None:
        self._waiting: Counter[UUID] = Counter()

    async def read(
        self, scope: Scope, feed: UUID, seconds: float, in_reading: InReading, answer: Work
    ) -> tuple[Opened, Any]:
        """Read the answer about a feed; one without events again once the feed has grown.

        Its request waits for `seconds` at most, and holds no connection meanwhile. Raises
        ClientDisconnect once the client is gone.
        """
        until = monotonic() + seconds
        extend_deadline(scope, seconds)

        async def first_newest(opened: Opened) -> tuple[int, Opened, Any]:
            return await newest_in_feed(opened), *await answer(opened)

        while True:
            seen, opened, found = await in_reading(first_newest)
            if found["results"] or found["has_more"]:
                return opened, found
            if not await self._wait(scope, feed, until, in_reading, seen):
                return opened, found

    async def _wait(
        self, scope: Scope, feed: UUID, until: float, in_reading: InReading, seen: int
    ) -> bool:
        """Wait until a feed has more than was seen; return whether it has.

        The wait ends early where the server stops, and does not begin where too many others wait.
        """
        if self._waiting[feed] >= MOST_WAITING:
            return False
        stops, hung_up = scope.get("stops", _no), scope.get("hung_up", _no)
        self._waiting[feed] += 1
        try:
            while not stops() and (left := until - monotonic()) > 0:
                await asyncio.sleep(min(left, self._pause_seconds()))
                if hung_up():
                    raise ClientDisconnect
                if await in_reading(newest_in_feed) > seen:
                    return True
            return False
        finally:
            self._waiting[feed] -= 1
            if not self._waiting[feed]:
                del self._waiting[feed]

    def _pause_seconds(self) -> float:
        """Return the pause between two looks: 0.3 s, but 1 s with 200 requests that wait."""
        return max(LOOK_AGAIN_SECONDS, self._waiting.total() / MOST_LOOKS_PER_SECOND)


def extend_deadline(scope: Scope, seconds: float) -> None:
    """Allow a request that many seconds more to be answered."""
    deadline: asyncio.Timeout = scope["deadline"]
    if (due := deadline.when()) is not None:
        deadline.reschedule(due + seconds)


async def newest_in_feed(opened: Opened) -> int:
    """Return how far the feed of a business or of a partner has grown."""
    return await (newest(opened) if isinstance(opened, Books) else newest_position(opened))


def _no() -> bool:
    """Return False, for a server whose connections offer neither `stops` nor `hung_up`."""
    return False
