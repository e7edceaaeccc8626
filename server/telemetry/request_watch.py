"""Observation of requests: their round trips to the database, counts, log lines and traces."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractContextManager, asynccontextmanager, nullcontext
from time import perf_counter
from types import MappingProxyType
from typing import Any, Final, Protocol

import structlog

from persistence.engine.observer import observer
from persistence.engine.pool import Occupancy
from persistence.engine.sql import Query

Lines = Sequence[tuple[bytes, bytes]]

NO_OPERATION: Final = "none"
"""The operation of a request outside the contract: a page, a health check, a 404."""

HUNG_UP: Final = 499
"""The status under which a request is counted whose caller disconnected before the answer."""

BEAT_SECONDS: Final = 1.0
STATEMENT_CHARACTERS: Final = 300

# The cause of a 503 by the name of the exception behind it, those of psycopg included.
CAUSES_OF_503: Final[Mapping[str, str]] = MappingProxyType(
    {
        "TimeoutError": "deadline",
        "CancelledError": "deadline",
        "LockNotAvailable": "lock_timeout",
        "QueryCanceled": "statement_timeout",
        "DeadlockDetected": "deadlock",
        "SerializationFailure": "serialization",
        "StaleRow": "stale",
        "OutcomeUnknown": "outcome_unknown",
        "ReadOnlySqlTransaction": "read_only",
        "OperationalError": "database_away",
        "InterfaceError": "database_away",
        "AdminShutdown": "database_away",
        "CrashShutdown": "database_away",
        "CannotConnectNow": "database_away",
        "TooManyConnections": "too_many_connections",
        "StorageUnavailable": "file_store",
        "OSError": "file_store",
    }
)
CROWD: Final = "crowd"
OTHER_CAUSE: Final = "other"


class Counts(Protocol):
    """The counters of one worker."""

    def request(self, operation: str, status: int, seconds: float, /) -> None:
        """Count a request that was answered or abandoned, with its duration."""

    def refusal(self, code: str, /) -> None:
        """Count a refusal by its error code."""

    def unavailable(self, cause: str, /) -> None:
        """Count a 503 by its cause."""

    def waited(self, seconds: float, /) -> None:
        """Count a wait for a connection."""

    def runs_again(self, cause: str, /) -> None:
        """Count a retry of a writing by its cause."""

    def replayed(self) -> None:
        """Count a replayed answer."""

    def read_from(self, source: str, /) -> None:
        """Count a reading that a standby may answer, by the database that answered."""

    def beat(self, in_flight: int, occupancy: Occupancy, late_seconds: float, /) -> None:
        """Set the gauges of this worker."""


class NoCounts:
    """Counters that count nothing."""

    def request(self, _operation: str, _status: int, _seconds: float) -> None:
        """Ignore it."""

    def refusal(self, _code: str) -> None:
        """Ignore it."""

    def unavailable(self, _cause: str) -> None:
        """Ignore it."""

    def waited(self, _seconds: float) -> None:
        """Ignore it."""

    def runs_again(self, _cause: str) -> None:
        """Ignore it."""

    def replayed(self) -> None:
        """Ignore it."""

    def read_from(self, _source: str) -> None:
        """Ignore it."""

    def beat(self, _in_flight: int, _occupancy: Occupancy, _late_seconds: float) -> None:
        """Ignore it."""


class NoDeliveryCounts:
    """Counters of deliveries that count nothing."""

    def webhook(self, _outcome: str, _seconds: float | None) -> None:
        """Ignore it."""

    def beat(self, _in_flight: int) -> None:
        """Ignore it."""


class Trace(Protocol):
    """The spans of one request."""

    def in_package(self, name: str, /) -> AbstractContextManager[object]:
        """Open a span for a block, below the span that is open."""

    def asked(self, queries: Sequence[Query], seconds: float, /) -> None:
        """Add the span of a round trip that has just ended."""

    def end(self, operation: str, status: int, facts: Mapping[str, Any], /) -> None:
        """End the span of the whole request."""


class Traces(Protocol):
    """The traces of one worker."""

    def begin(self, request_id: str, lines: Lines, /) -> Trace:
        """Begin the trace of a request, below the span that its header lines name."""

    def close(self) -> None:
        """Send the remaining spans; blocks for some seconds at most."""


_NO_SPAN: Final = nullcontext()


class WatchedRequest:
    """The observer of one request: it adds up its cost and reports to the counters."""

    __slots__ = ("_watch", "database_seconds", "statements", "waited_seconds")

    def __init__(self, watch: "Watch") -> None:
        self._watch = watch
        self.statements = 0
        self.database_seconds = 0.0
        self.waited_seconds = 0.0

    def asked(self, queries: Sequence[Query], seconds: float) -> None:
        """Add a round trip to the cost."""
        self.statements += len(queries)
        self.database_seconds += seconds

    def waited(self, seconds: float) -> None:
        """Add a wait for a connection to the cost, and count it."""
        self.waited_seconds += seconds
        self._watch.counts.waited(seconds)

    def runs_again(self, cause: str) -> None:
        """Count a retry."""
        self._watch.counts.runs_again(cause)

    def replayed(self) -> None:
        """Count a replayed answer."""
        self._watch.counts.replayed()

    def read_from(self, source: str) -> None:
        """Count a reading that a standby may answer."""
        self._watch.counts.read_from(source)

    def in_package(self, _name: str) -> AbstractContextManager[object]:
        """Ignore the entry of a package."""
        return _NO_SPAN

    @property
    def cost(self) -> dict[str, Any]:
        """The cost at the database for the log: milliseconds and number of statements."""
        cost: dict[str, Any] = {}
        if self.statements:
            cost["database_ms"] = round(self.database_seconds * 1000, 2)
            cost["statements"] = self.statements
        if self.waited_seconds:
            cost["waited_ms"] = round(self.waited_seconds * 1000, 2)
        return cost

    def end(self, operation: str | None, status: int | None, seconds: float) -> None:
        """Count the request; without a status, its caller disconnected."""
        self._watch.in_flight -= 1
        self._watch.counts.request(operation or NO_OPERATION, status or HUNG_UP, seconds)

    def refused(self, code: str, failure: BaseException | None, status: int | None) -> None:
        """Count a refusal, and the cause of a 503."""
        self._watch.counts.refusal(code)
        if status == 503:
            self._watch.counts.unavailable(cause_of_503(failure))


class FollowedRequest(WatchedRequest):
    """The observer of a request that is traced, or whose statements are logged."""

    __slots__ = ("_trace",)

    def __init__(self, watch: "Watch", trace: Trace | None) -> None:
        super().__init__(watch)
        self._trace = trace

    def asked(self, queries: Sequence[Query], seconds: float) -> None:
        """Trace and log the round trip, too: the texts of statements hold no values."""
        super().asked(queries, seconds)
        if self._trace is not None:
            self._trace.asked(queries, seconds)
        if self._watch.tells_statements:
            shapes = [shape_of(query) for query in queries]
            self._watch.log.debug(
                "round_trip", duration_ms=round(seconds * 1000, 2), statements=shapes
            )

    def in_package(self, name: str) -> AbstractContextManager[object]:
        """Open a span for a package."""
        return _NO_SPAN if self._trace is None else self._trace.in_package(name)

    def end(self, operation: str | None, status: int | None, seconds: float) -> None:
        """Count the request and end its trace."""
        super().end(operation, status, seconds)
        if self._trace is not None:
            self._trace.end(operation or NO_OPERATION, status or HUNG_UP, self.cost)


class Watch:
    """The observation of all requests of one worker."""

    def __init__(
        self,
        counts: Counts | None = None,
        traces: Traces | None = None,
        *,
        tells_statements: bool = False,
    ) -> None:
        self.counts: Counts = counts or NoCounts()
        self.tells_statements = tells_statements
        self.in_flight = 0
        self.log = structlog.get_logger("accounting.statements")
        self._traces = traces

    def begin(self, request_id: str, lines: Lines) -> WatchedRequest:
        """Begin to observe the request that the current task serves."""
        self.in_flight += 1
        if self._traces is not None:
            watched: WatchedRequest = FollowedRequest(self, self._traces.begin(request_id, lines))
        elif self.tells_statements:
            watched = FollowedRequest(self, None)
        else:
            watched = WatchedRequest(self)
        observer.set(watched)
        return watched

    @asynccontextmanager
    async def beating(self, occupancy: Callable[[], Occupancy]) -> AsyncIterator[None]:
        """Set the gauges every second for the time of a block.

        At its end, the remaining spans are sent.
        """
        beat = asyncio.create_task(self._beat(occupancy))
        try:
            yield
        finally:
            beat.cancel()
            if self._traces is not None:
                await asyncio.to_thread(self._traces.close)

    async def _beat(self, occupancy: Callable[[], Occupancy]) -> None:
        late_seconds = 0.0
        while True:
            self.counts.beat(self.in_flight, occupancy(), late_seconds)
            began = perf_counter()
            await asyncio.sleep(BEAT_SECONDS)
            late_seconds = max(perf_counter() - began - BEAT_SECONDS, 0.0)


def cause_of_503(failure: BaseException | None) -> str:
    """Return the cause of a 503, by the exception from which the refusal was raised.

    A refusal without such an exception is `crowd`, unless its own name is listed.
    """
    if failure is None:
        return OTHER_CAUSE
    behind = failure.__cause__
    if behind is None:
        return CAUSES_OF_503.get(type(failure).__name__, CROWD)
    for kind in type(behind).__mro__:
        if kind.__name__ in CAUSES_OF_503:
            return CAUSES_OF_503[kind.__name__]
    return OTHER_CAUSE


def shape_of(query: Query) -> str:
    """Return the text of a statement in one line, shortened, with placeholders for values."""
    return " ".join(query.text.split())[:STATEMENT_CHARACTERS]
