"""One request under watch: what it asks of the database, and whoever wants to know of it."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractContextManager, asynccontextmanager, nullcontext
from time import perf_counter
from types import MappingProxyType
from typing import Any, Final, Protocol

import structlog

from persistence.engine.observing import observer
from persistence.engine.pool import Occupancy
from persistence.engine.sql import Query

Lines = Sequence[tuple[bytes, bytes]]

NO_OPERATION: Final = "none"
"""The operation of a request that none of the contract answers: a page, a health check, a 404."""

HUNG_UP: Final = 499
"""How a request is counted whose caller went away before it was answered."""

BEAT_SECONDS: Final = 1.0
STATEMENT_CHARACTERS: Final = 300

# What stands behind a 503, by what was raised: the names of exceptions, also those of psycopg.
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
    """Counts what happens in one worker."""

    def request(self, operation: str, status: int, seconds: float, /) -> None:
        """Count a request that was answered, or given up."""

    def refusal(self, code: str, /) -> None:
        """Count what was refused, by its error code."""

    def unavailable(self, cause: str, /) -> None:
        """Count a 503, by what stands behind it."""

    def waited(self, seconds: float, /) -> None:
        """Count a wait for a connection."""

    def runs_again(self, cause: str, /) -> None:
        """Count a writing that begins anew."""

    def replayed(self) -> None:
        """Count an answer that is given again."""

    def read_from(self, source: str, /) -> None:
        """Count a reading that a standby may answer, by who did."""

    def beat(self, in_flight: int, occupancy: Occupancy, late_seconds: float, /) -> None:
        """Take down how the worker stands at this moment."""


class NoCounts:
    """Counts nothing."""

    def request(self, _operation: str, _status: int, _seconds: float) -> None:
        """Let it pass."""

    def refusal(self, _code: str) -> None:
        """Let it pass."""

    def unavailable(self, _cause: str) -> None:
        """Let it pass."""

    def waited(self, _seconds: float) -> None:
        """Let it pass."""

    def runs_again(self, _cause: str) -> None:
        """Let it pass."""

    def replayed(self) -> None:
        """Let it pass."""

    def read_from(self, _source: str) -> None:
        """Let it pass."""

    def beat(self, _in_flight: int, _occupancy: Occupancy, _late_seconds: float) -> None:
        """Let it pass."""


class Trace(Protocol):
    """The spans of one request."""

    def room(self, name: str, /) -> AbstractContextManager[object]:
        """Make a span of a block, below the one that is open."""

    def asked(self, queries: Sequence[Query], seconds: float, /) -> None:
        """Make a span of a round trip that has just ended."""

    def end(self, operation: str, status: int, facts: Mapping[str, Any], /) -> None:
        """Close the span of the whole request."""


class Traces(Protocol):
    """The traces of one worker."""

    def begin(self, request_id: str, lines: Lines, /) -> Trace:
        """Begin that of a request, below whatever its header lines name."""

    def close(self) -> None:
        """Send what is not sent yet; may take a moment."""


_NO_ROOM: Final = nullcontext()


class WatchedRequest:
    """Listens to one request."""

    __slots__ = ("_watch", "database_seconds", "statements", "waited_seconds")

    def __init__(self, watch: "Watch") -> None:
        self._watch = watch
        self.statements = 0
        self.database_seconds = 0.0
        self.waited_seconds = 0.0

    def asked(self, queries: Sequence[Query], seconds: float) -> None:
        """Add up a round trip."""
        self.statements += len(queries)
        self.database_seconds += seconds

    def waited(self, seconds: float) -> None:
        """Add up a wait."""
        self.waited_seconds += seconds
        self._watch.counts.waited(seconds)

    def runs_again(self, cause: str) -> None:
        """Count a run more."""
        self._watch.counts.runs_again(cause)

    def replayed(self) -> None:
        """Count it."""
        self._watch.counts.replayed()

    def read_from(self, source: str) -> None:
        """Count it."""
        self._watch.counts.read_from(source)

    def room(self, _name: str) -> AbstractContextManager[object]:
        """Take no notice of rooms."""
        return _NO_ROOM

    @property
    def cost(self) -> dict[str, Any]:
        """What it took of the database, for the log."""
        cost: dict[str, Any] = {}
        if self.statements:
            cost["database_ms"] = round(self.database_seconds * 1000, 2)
            cost["statements"] = self.statements
        if self.waited_seconds:
            cost["waited_ms"] = round(self.waited_seconds * 1000, 2)
        return cost

    def end(self, operation: str | None, status: int | None, seconds: float) -> None:
        """Count it; a request without a status has lost its caller."""
        self._watch.in_flight -= 1
        self._watch.counts.request(operation or NO_OPERATION, status or HUNG_UP, seconds)

    def refused(self, code: str, failure: BaseException | None, status: int | None) -> None:
        """Count a refusal, and of a 503 what stands behind it."""
        self._watch.counts.refusal(code)
        if status == 503:
            self._watch.counts.unavailable(cause_of_503(failure))


class FollowedRequest(WatchedRequest):
    """Listens to one request that is traced, or of which each statement is told in the log."""

    __slots__ = ("_trace",)

    def __init__(self, watch: "Watch", trace: Trace | None) -> None:
        super().__init__(watch)
        self._trace = trace

    def asked(self, queries: Sequence[Query], seconds: float) -> None:
        """Tell of it, too: of each statement its text, in which no value stands."""
        super().asked(queries, seconds)
        if self._trace is not None:
            self._trace.asked(queries, seconds)
        if self._watch.tells_statements:
            shapes = [shape_of(query) for query in queries]
            self._watch.log.debug(
                "round_trip", duration_ms=round(seconds * 1000, 2), statements=shapes
            )

    def room(self, name: str) -> AbstractContextManager[object]:
        """Make a span of it."""
        return _NO_ROOM if self._trace is None else self._trace.room(name)

    def end(self, operation: str | None, status: int | None, seconds: float) -> None:
        """Close its trace as well."""
        super().end(operation, status, seconds)
        if self._trace is not None:
            self._trace.end(operation or NO_OPERATION, status or HUNG_UP, self.cost)


class Watch:
    """Watches the requests of one worker."""

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
        """Listen to the request that this task serves from now on."""
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
        """Take down every second how the worker stands, for the time of a block.

        What is still to be sent of traces goes out at its end.
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
    """Name what stands behind a 503; a refusal that nothing was raised before is of a crowd."""
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
    """Write a statement in one line, with the names of its values in their places."""
    return " ".join(query.text.split())[:STATEMENT_CHARACTERS]
