"""A standby for readings, and the moment up to which it is complete.

An admission reads the end of the primary's log from time to time. A standby that has replayed up to
there is complete. Any other standby is complete up to the last commit that it has replayed. So an
idle primary does not look like a lag, and a standby that receives nothing does not look current.
"""

import asyncio
from collections.abc import AsyncIterator, Hashable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from time import monotonic
from weakref import WeakKeyDictionary

import psycopg
import structlog
from psycopg.conninfo import make_conninfo
from psycopg.rows import dict_row

from persistence.engine.connections import CONNECT_SECONDS
from persistence.engine.pipeline import Connection, execute_pipeline
from persistence.engine.pool import Pool
from persistence.engine.sql import Query, Row
from persistence.engine.topology import Cluster

KEPT_SECONDS = 1.0  # How long a mark of the primary is used, and the state of a connection.
LEFT_SECONDS = 1.0  # How long a replica that failed is not read.
ANSWER_SECONDS = 1.0

# A commit that a client has seen is flushed. The time is read before the position.
READ_POSITION = Query(
    "SELECT clock_timestamp() AS at, pg_current_wal_flush_lsn()::text AS position,"
    " system_identifier AS cluster FROM pg_control_system()",
    {},
)
_REPLAYED = """
SELECT system_identifier AS cluster, pg_is_in_recovery() AS is_standby,
       pg_last_wal_replay_lsn() >= %(position)s::pg_lsn AS has_all,
       pg_last_xact_replay_timestamp() AS replayed_at
FROM pg_control_system()
"""


class Unfit(Exception):
    """A replica that cannot be read now: it lags too much, or is no standby of the primary."""


@dataclass(frozen=True, slots=True)
class LogPosition:
    """The end of the log of a primary at a moment."""

    cluster: int
    position: str
    at: datetime


@dataclass(frozen=True, slots=True)
class _StandbyState:
    as_of: datetime
    until: float


class Replica:
    """A standby that is read while its lag is at most `most_behind`; each process has its own."""

    def __init__(self, pool: Pool, *, most_behind: timedelta) -> None:
        self._pool = pool
        self._most_behind = most_behind
        self._seen: WeakKeyDictionary[Connection, _StandbyState] = WeakKeyDictionary()
        self._mark: tuple[LogPosition, float] | None = None
        self._left_until: float | None = None
        self._log = structlog.get_logger("accounting.replica")

    def may_be_asked(self) -> bool:
        """Return whether the last reading succeeded, or it is time for another attempt."""
        if self._left_until is None:
            return True
        now = monotonic()
        if now < self._left_until:
            return False
        self._left_until = now + LEFT_SECONDS  # One request tries, and no other waits for it.
        return True

    def recent_mark(self) -> LogPosition | None:
        """Return the last mark of the primary; None where a new one has to be read."""
        if self._mark is None or self._mark[1] < monotonic():
            return None
        return self._mark[0]

    def keep(self, mark: LogPosition) -> None:
        """Cache a mark for a moment."""
        self._mark = mark, monotonic() + KEPT_SECONDS

    def leave(self, error: Exception) -> None:
        """Stop reading the replica for a moment, because of an error."""
        if self._left_until is None:
            self._log.warning("replica_left", reason=str(error) or type(error).__name__)
        self._left_until = monotonic() + LEFT_SECONDS

    @asynccontextmanager
    async def connection(
        self, tenant: Hashable, mark: LogPosition
    ) -> AsyncIterator[tuple[Connection, datetime]]:
        """Yield a leased connection with the moment up to which its data is complete.

        Raises Unfit, Unavailable where too many wait, and the errors of psycopg.
        """
        async with AsyncExitStack() as stack:
            try:
                connection = await stack.enter_async_context(self._pool.connection(tenant))
                as_of = await self._as_of(connection, mark)
            except (psycopg.Error, TimeoutError, Unfit) as error:
                self.leave(error)
                raise
            self._return()
            yield connection, as_of

    async def close(self) -> None:
        """Close every connection."""
        await self._pool.close()

    async def _as_of(self, connection: Connection, mark: LogPosition) -> datetime:
        known = self._seen.get(connection)
        if known is not None and monotonic() < known.until:
            return known.as_of
        if isinstance(connection.machines, Cluster):
            raise Unfit("each of many machines has a log of its own")
        until = monotonic() + KEPT_SECONDS
        async with asyncio.timeout(ANSWER_SECONDS):
            asked = Query(_REPLAYED, {"position": mark.position})
            [replayed] = await execute_pipeline(connection, [asked])
        as_of = complete_up_to(replayed.rows[0], mark, known.as_of if known else None)
        if mark.at - as_of > self._most_behind:
            raise Unfit(f"it is {(mark.at - as_of).total_seconds():.1f} s behind")
        self._seen[connection] = _StandbyState(as_of, until)
        return as_of

    def _return(self) -> None:
        if self._left_until is not None:
            self._left_until = None
            self._log.info("replica_back")


@dataclass(slots=True)
class StandbyLook:
    """A check of the lag of the standby, from a process beside the workers."""

    url: str
    read_url: str
    _known: datetime | None = None

    def lag(self) -> timedelta:
        """Return the lag of the standby; raise Unfit or the errors of psycopg."""
        with _looking(self.url) as primary:
            mark = LogPosition(**_row(primary, READ_POSITION.text))
        with _looking(self.read_url) as standby:
            replayed = _row(standby, _REPLAYED, position=mark.position)
        self._known = complete_up_to(replayed, mark, self._known)
        return mark.at - self._known


def _looking(url: str) -> psycopg.Connection[Row]:
    where = make_conninfo(
        url, connect_timeout=CONNECT_SECONDS, application_name="accounting metrics"
    )
    return psycopg.connect(where, autocommit=True, row_factory=dict_row, prepare_threshold=None)


def _row(connection: psycopg.Connection[Row], text: str, **told: object) -> Row:
    found = connection.execute(text.encode(), told).fetchone()
    assert found is not None
    return found


def complete_up_to(replayed: Row, mark: LogPosition, known: datetime | None) -> datetime:
    """Return the moment up to which a standby is complete; `known` is the earlier one."""
    if not replayed["is_standby"]:
        raise Unfit("it is no standby")
    if replayed["cluster"] != mark.cluster:
        raise Unfit("it is a standby of another database")
    if replayed["has_all"]:
        return mark.at
    moments = [each for each in (known, replayed["replayed_at"]) if each is not None]
    if not moments:
        raise Unfit("it has not replayed anything yet")
    return min(max(moments), mark.at)
