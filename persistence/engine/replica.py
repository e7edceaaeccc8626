"""A standby that readings may go to, and how far it is known to be.

The primary tells now and then, when it lets somebody in, where its log ends. A standby that has
replayed up to there has all of it; another one has what was committed up to the last commit that it
replayed. So neither an idle primary looks like a lag, nor a standby that hears of nothing any more
like a fresh one.
"""

import asyncio
from collections.abc import AsyncIterator, Hashable
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import datetime, timedelta
from time import monotonic
from weakref import WeakKeyDictionary

import psycopg
import structlog
from psycopg.conninfo import make_conninfo
from psycopg.rows import dict_row

from accounting.values import dataclass
from persistence.engine.connecting import CONNECT_SECONDS
from persistence.engine.machines import ManyMachines
from persistence.engine.pipeline import Connection, exchange
from persistence.engine.pool import Pool
from persistence.engine.sql import Query, Row

KEPT_SECONDS = 1.0  # For so long holds what the primary tells, and what a connection says of it.
LEFT_SECONDS = 1.0  # For so long nobody asks one that could not be read.
ANSWER_SECONDS = 1.0

# A commit that anybody has seen is in what is flushed; and first comes the time, then the place.
MARK = Query(
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
    """A replica cannot be read now: it lags too much, or is no standby of the primary."""


@dataclass(frozen=True, slots=True)
class Mark:
    """Where the log of a primary ended at a moment."""

    cluster: int
    position: str
    at: datetime


@dataclass(frozen=True, slots=True)
class _Seen:
    as_of: datetime
    until: float


class Replica:
    """A standby, read as long as it is at most `most_behind`; its memory belongs to one process."""

    def __init__(self, pool: Pool, *, most_behind: timedelta) -> None:
        self._pool = pool
        self._most_behind = most_behind
        self._seen: WeakKeyDictionary[Connection, _Seen] = WeakKeyDictionary()
        self._mark: tuple[Mark, float] | None = None
        self._left_until: float | None = None
        self._log = structlog.get_logger("accounting.replica")

    def may_be_asked(self) -> bool:
        """Whether it could be read the last time, or it is time to try it again."""
        if self._left_until is None:
            return True
        now = monotonic()
        if now < self._left_until:
            return False
        self._left_until = now + LEFT_SECONDS  # One tries, and nobody waits for it.
        return True

    def recent_mark(self) -> Mark | None:
        """What the primary has told just now; None where it is to be asked."""
        if self._mark is None or self._mark[1] < monotonic():
            return None
        return self._mark[0]

    def keep(self, mark: Mark) -> None:
        """Remember it for a moment."""
        self._mark = mark, monotonic() + KEPT_SECONDS

    def leave(self, error: Exception) -> None:
        """Read it no more for a moment, for this reason."""
        if self._left_until is None:
            self._log.warning("replica_left", reason=str(error) or type(error).__name__)
        self._left_until = monotonic() + LEFT_SECONDS

    @asynccontextmanager
    async def connection(
        self, tenant: Hashable, mark: Mark
    ) -> AsyncIterator[tuple[Connection, datetime]]:
        """Lend a connection, and tell up to when whatever is read there is complete.

        Raises Unfit, Unavailable where too many wait, and what psycopg raises.
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
        """Let every connection go."""
        await self._pool.close()

    async def _as_of(self, connection: Connection, mark: Mark) -> datetime:
        known = self._seen.get(connection)
        if known is not None and monotonic() < known.until:
            return known.as_of
        if isinstance(connection.machines, ManyMachines):
            raise Unfit("each of many machines has a log of its own")
        until = monotonic() + KEPT_SECONDS
        async with asyncio.timeout(ANSWER_SECONDS):
            asked = Query(_REPLAYED, {"position": mark.position})
            [replayed] = await exchange(connection, [asked])
        as_of = complete_up_to(replayed.rows[0], mark, known.as_of if known else None)
        if mark.at - as_of > self._most_behind:
            raise Unfit(f"it is {(mark.at - as_of).total_seconds():.1f} s behind")
        self._seen[connection] = _Seen(as_of, until)
        return as_of

    def _return(self) -> None:
        if self._left_until is not None:
            self._left_until = None
            self._log.info("replica_back")


@dataclass(slots=True)
class StandbyLook:
    """Looks now and then at the standby that is read, from beside the workers."""

    url: str
    read_url: str
    _known: datetime | None = None

    def lag(self) -> timedelta:
        """Tell how far it is behind; raises Unfit, or what psycopg raises."""
        with _looking(self.url) as primary:
            mark = Mark(**_row(primary, MARK.text))
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


def complete_up_to(replayed: Row, mark: Mark, known: datetime | None) -> datetime:
    """Tell up to which moment a standby has everything; `known` is what it had before."""
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
