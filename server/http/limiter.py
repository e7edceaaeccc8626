"""Limits of requests and of failed logins per minute, over all workers of all servers.

Each worker counts for itself and reports its counts to the database, which returns the counts of
the other workers. It reports in the background when a fortieth of a limit, divided by the number of
workers, is unreported. A request waits for the report only when a twentieth, divided so, is
unreported. So all workers together let through the limit and about a twentieth more, and refuse
nothing before it. While the database is away, each worker counts alone. See docs/decisions/0044.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Hashable, Iterable, Mapping, Sequence
from contextvars import Context
from dataclasses import dataclass
from math import ceil
from typing import Final
from uuid import UUID

import structlog

from accounting.errors import TooMany, ValidationError
from persistence.partners.request_counts import OthersCounts
from server.http.errors import Headers

FAILED_LOGINS_PER_MINUTE: Final = 100
MINUTE_SECONDS: Final = 60
MOST_NAMES: Final = 20_000
# All workers together may let through this part of a limit unreported.
UNREPORTED_PART: Final = 20
# How long a request waits for a report, and how long none waits after a report has failed.
WAIT_SECONDS: Final = 0.25
RETRY_SECONDS: Final = 1.0

Report = Callable[[int, Mapping[str, int]], Awaitable[OthersCounts]]
"""Reports a minute, counted since 1970, and the counts of this worker in it by name."""


@dataclass(slots=True, eq=False)
class Count:
    """The requests of one name in this minute: let through by this worker, and by the others.

    The others know `reported` of this worker's `own`. `others` is as of the last report.
    """

    name: str
    own: int = 0
    reported: int = 0
    others: int = 0

    @property
    def unreported(self) -> int:
        """The requests of this worker that the others do not know."""
        return self.own - self.reported


class Limit:
    """The most requests of each name in a minute, for example of each partner."""

    def __init__(self, kind: str, most: int) -> None:
        self.kind = kind
        self.most = most
        self.share = 1
        self.policy = f'"{kind}";q={most};w={MINUTE_SECONDS}'
        self.counts: dict[Hashable, Count] = {}

    def divide(self, workers: int) -> None:
        """Set the share: how many requests each worker may let through unreported."""
        self.share = max(1, self.most // (UNREPORTED_PART * workers))

    def count_of(self, name: Hashable) -> Count:
        """Return the count of a name; beyond `MOST_NAMES`, the longest unused one is dropped."""
        counts = self.counts
        # It moves to the end: made-up names cannot displace the count of a name in use.
        counts[name] = count = counts.pop(name, None) or Count(f"{self.kind} {name}")
        if len(counts) > MOST_NAMES:
            del counts[next(iter(counts))]
        return count

    def left(self, count: Count) -> int:
        """Return how many more requests are let through, as far as this worker knows."""
        return max(0, self.most - count.own - count.others)


@dataclass(frozen=True, slots=True)
class Usage:
    """The counts of one request, and the limit that refuses it, if any."""

    counts: Sequence[tuple[Limit, Count]]
    exceeded: Limit | None
    seconds_left: int


class SharedCounts:
    """The counts of this worker, reported to the other workers."""

    def __init__(
        self, report: Report, *, workers: int, clock: Callable[[], float] = time.time
    ) -> None:
        """Start with an assumed number of workers; `clock` returns Unix seconds."""
        self._report = report
        self._workers = workers
        self._clock = clock
        self._limits: list[Limit] = []
        self._minute_ends = 0.0
        self._due: set[Count] = set()
        self._reporting: asyncio.Task[None] | None = None
        self._alone_until = 0.0

    def limit(self, kind: str, most: int) -> Limit:
        """Create a limit per minute whose counts are shared."""
        limit = Limit(kind, most)
        limit.divide(self._workers)
        self._limits.append(limit)
        return limit

    async def count(self, names: Sequence[tuple[Limit, Hashable]], amount: int = 1) -> Usage:
        """Count `amount` requests under each name, unless one of its limits refuses them."""
        while True:
            seconds_left = self._seconds_left()
            counts = [(limit, limit.count_of(name)) for limit, name in names]
            waiting = [count for limit, count in counts if count.unreported >= limit.share]
            if not waiting or time.monotonic() < self._alone_until:
                break
            await self._wait_for_report(waiting)
        exceeded = next((limit for limit, count in counts if limit.left(count) < amount), None)
        if exceeded is None:
            for limit, count in counts:
                self._add(limit, count, amount)
        return Usage(counts, exceeded, seconds_left)

    async def close(self) -> None:
        """Stop reporting."""
        if self._reporting is not None:
            self._reporting.cancel()
            await asyncio.wait([self._reporting])

    def _seconds_left(self) -> int:
        """Return the whole seconds of this minute that are left; a new one drops all counts."""
        now = self._clock()
        if not self._minute_ends - MINUTE_SECONDS <= now < self._minute_ends:
            self._minute_ends = (now // MINUTE_SECONDS + 1) * MINUTE_SECONDS
            for limit in self._limits:
                limit.counts.clear()
            self._due.clear()
            self._start_report()  # The others learn from it that this worker counts, too.
        return ceil(self._minute_ends - now)

    def _add(self, limit: Limit, count: Count, amount: int) -> None:
        count.own += amount
        # A name that comes once is not reported: it may be made up.
        if count.own > 1 and 2 * count.unreported >= limit.share:
            self._due.add(count)
            self._start_report()

    def _start_report(self) -> asyncio.Task[None]:
        if self._reporting is None:
            # A context of its own: the round trip is no part of the request that starts it.
            self._reporting = asyncio.get_running_loop().create_task(
                self._report_until_done(), context=Context()
            )
        return self._reporting

    async def _wait_for_report(self, waiting: Iterable[Count]) -> None:
        self._due.update(waiting)
        _, late = await asyncio.wait([self._start_report()], timeout=WAIT_SECONDS)
        if late:
            self._alone_until = time.monotonic() + RETRY_SECONDS

    async def _report_until_done(self) -> None:
        log = structlog.get_logger("accounting.server")
        failures = 0
        try:
            while (failure := await self._report_due()) is not None:
                failures += 1
                if failures == 1:
                    log.warning("limits_not_shared", reason=repr(failure))
                self._alone_until = time.monotonic() + RETRY_SECONDS
                await asyncio.sleep(RETRY_SECONDS)
        finally:
            self._reporting = None

    async def _report_due(self) -> Exception | None:
        """Report the due counts and read those of the others; return why that failed, or None."""
        due = {count: count.own for count in self._due}
        minute = int(self._minute_ends) // MINUTE_SECONDS - 1
        try:
            async with asyncio.timeout(RETRY_SECONDS):
                others = await self._report(minute, {each.name: own for each, own in due.items()})
        except Exception as error:
            return error
        self._workers = others.workers
        for limit in self._limits:
            limit.divide(others.workers)
        self._due.difference_update(due)
        for count, own in due.items():
            count.reported = own
            count.others = others.counts.get(count.name, 0)
        return None


# The limits over these counts.


class RequestLimits:
    """The limits of a partner and of each of its businesses; 0 is no limit."""

    def __init__(self, shared: SharedCounts, *, partner: int, business: int) -> None:
        self._shared = shared
        self._partner = shared.limit("partner", partner) if partner else None
        self._business = shared.limit("business", business) if business else None

    def refuse_batch(self, items: int) -> None:
        """Raise ValidationError for more items than a limit lets through in any minute."""
        limits = [limit for limit in (self._partner, self._business) if limit]
        tightest = min(limits, key=lambda limit: limit.most, default=None)
        if tightest is not None and items > tightest.most:
            raise ValidationError.fields(
                items=[
                    f"must have at most {tightest.most} items, since each is a request and the"
                    f" {tightest.kind} may make {tightest.most} in a minute"
                ]
            )

    async def take(
        self, partner_id: UUID, business_id: str | None, amount: int = 1
    ) -> tuple[Headers, TooMany | None]:
        """Count requests; return their RateLimit headers, and the refusal if they exceed a limit.

        The items of a batch are an `amount`, which is counted as a whole or not at all.
        """
        named = ((self._partner, partner_id), (self._business, business_id))
        names = [(limit, name) for limit, name in named if limit and name]
        if not names:
            return [], None
        usage = await self._shared.count(names, amount)
        left = ", ".join(
            [
                f'"{limit.kind}";r={limit.left(count)};t={usage.seconds_left}'
                for limit, count in usage.counts
            ]
        )
        policy = ", ".join([limit.policy for limit, _ in names])
        headers = [(b"ratelimit", left.encode()), (b"ratelimit-policy", policy.encode())]
        return headers, _refusal(usage, amount)


class FailedLogins:
    """The failures of each name: a partner or an address.

    Only failures are counted and only failures are refused. A right key passes, even if others have
    failed under the same partner: partner ids are no secret, and a lock would let anybody exclude a
    partner. The keys themselves are far too long to be guessed.
    """

    def __init__(self, shared: SharedCounts, *, most: int = FAILED_LOGINS_PER_MINUTE) -> None:
        self._shared = shared
        self._limit = shared.limit("failed login", most)

    async def note(self, names: Iterable[str]) -> None:
        """Count one failure under each name; raises TooMany if one of them is at its limit.

        With a limit of 100, the 101st failure of a minute is refused.
        """
        usage = await self._shared.count([(self._limit, name) for name in names])
        if usage.exceeded is not None:
            raise TooMany(
                "rate_limited",
                "Too many failed logins. Try again later.",
                retry_after_seconds=usage.seconds_left,
            )


def _refusal(usage: Usage, amount: int) -> TooMany | None:
    limit = usage.exceeded
    if limit is None:
        return None
    said = f"The {limit.kind} has used its {limit.most} requests of this minute."
    if amount > 1:
        said = f"Each item is a request, and the {limit.kind} may make {limit.most} in a minute."
    return TooMany(
        "rate_limited",
        f"{said} Wait until the next minute.",
        retry_after_seconds=usage.seconds_left,
    )
