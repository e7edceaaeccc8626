"""The connections of one process, each in the role that may not rewrite history."""

import asyncio
from collections.abc import AsyncIterator, Hashable
from contextlib import asynccontextmanager, suppress
from select import POLLIN, poll
from time import monotonic
from types import TracebackType
from typing import NamedTuple, Self

import orjson
from psycopg import Error, OperationalError, errors
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.pq import TransactionStatus
from psycopg.rows import dict_row
from psycopg.types.json import set_json_dumps, set_json_loads

from persistence.engine.connections import LACKED, LEAVES_A_HOST_SECONDS, hosts_in, put_on
from persistence.engine.database_errors import ReadOnly
from persistence.engine.fair_semaphore import FairSemaphore, Permit
from persistence.engine.liveness import Liveness, NoAnswer
from persistence.engine.pipeline import Connection
from persistence.engine.sql import Row
from persistence.engine.topology import ARE_THERE_MANY, Cluster, SingleNode

# The time limit of a new connection, for each host of the address: a database that restarts answers
# again by then.
CONNECT_SECONDS = 2.0
PAUSE_SECONDS = 0.05

# PostgreSQL caches for each connection the facts of every table that it has ever used.
LIFETIME_SECONDS = 3600.0

IS_READ_ONLY = "SELECT current_setting('transaction_read_only') = 'on' AS read_only"


class Occupancy(NamedTuple):
    """The counts of a pool: connections allowed, in use (`lent`) and idle, and requests waiting."""

    size: int
    lent: int
    idle: int
    waiting: int


class Pool:
    """A pool of at most `size` connections, made on demand; the last one used is leased first.

    That connection, and its process, are likely to be in the processor's caches. Writings have half
    of the connections. Quick writings of one business have few at a time: they wait for each other
    at their end in any case, and each process that PostgreSQL runs slows down the others. Where the
    pool is `to_primary`, a standby at the address counts as away.
    """

    def __init__(self, conninfo: str, *, size: int, to_primary: bool = True) -> None:
        self._conninfo = conninfo
        self._to_primary = to_primary
        self._size = size
        self._all = FairSemaphore(size)
        self._writers = FairSemaphore(max(1, size // 2), quick=True)
        self._idle: list[Connection] = []
        self._leased: set[Connection] = set()
        self._liveness = Liveness(self._is_awaited, self._try, self._end_waits)
        self._closed = False
        self._none_before = 0.0  # Older connections may lead to a server that is no primary.

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        await self.close()

    def connection(self, tenant: Hashable = None, *, writes: bool = False) -> "_Lease":
        """Return a lease of a connection; a transaction that its block leaves open is rolled back.

        Raises Unavailable where too many wait, and OperationalError where no server can be reached.
        """
        return _Lease(self, tenant, (self._writers, self._all) if writes else (self._all,))

    async def acquire(self) -> Connection:
        """Return an idle or new connection for the holder of a permit."""
        connection = await self._idle_one() or await self._new_one()
        self._leased.add(connection)
        self._liveness.watch()
        return connection

    async def release(self, connection: Connection, failure: type[BaseException] | None) -> None:
        """Return a connection to the pool, or close it where its work has left it unusable."""
        self._leased.discard(connection)
        if failure is not None and issubclass(failure, asyncio.CancelledError):
            await connection.close()  # There is no time to wait for a rollback.
        elif failure is not None and issubclass(failure, _LEADS_ASTRAY):
            await self._start_over()  # There may be another primary by now.
        await self._keep(connection)

    @property
    def occupancy(self) -> Occupancy:
        """The counts of the pool at this moment."""
        return Occupancy(self._size, self._all.held, len(self._idle), self._waiting)

    @property
    def _waiting(self) -> int:
        return self._all.waiting + self._writers.waiting

    def refuse_crowd(self, tenant: Hashable) -> None:
        """Raise Unavailable where so many wait that this tenant may not wait as well."""
        self._all.refuse_crowd(tenant)
        self._writers.refuse_crowd(tenant)

    def refuse_away(self) -> None:
        """Raise NoAnswer while the database is away."""
        if self._liveness.away:
            raise NoAnswer

    def _is_awaited(self) -> bool | None:
        return any(each.watch.waits for each in self._leased) if self._leased else None

    async def _try(self) -> None:
        async with asyncio.timeout(CONNECT_SECONDS * hosts_in(self._conninfo)):
            await (await self._connect()).close()

    def _end_waits(self) -> None:
        """End each request that waits, for an answer or for a permit."""
        self._none_before = monotonic()
        for connection in self._leased:
            connection.watch.end_wait()
        self._refuse_all()

    def _refuse_all(self) -> None:
        self._all.refuse_all()
        self._writers.refuse_all()

    async def close(self) -> None:
        """Close all idle connections now, and each leased connection when it returns."""
        self._closed = True
        self._liveness.stop()
        while self._idle:
            await self._idle.pop().close()

    async def _start_over(self) -> None:
        """Close all idle connections now, and each connection in use when it returns."""
        self._none_before = monotonic()
        while self._idle:
            await self._idle.pop().close()

    async def _idle_one(self) -> Connection | None:
        while self._idle:
            connection = self._idle.pop()
            oldest = max(self._none_before, monotonic() - LIFETIME_SECONDS)
            if connection.made_at > oldest and not is_broken(connection):
                return connection
            await connection.close()
        return None

    async def _new_one(self) -> Connection:
        """Connect; where that fails, raise Unavailable in all that wait.

        A primary is tried repeatedly, a replica once: reads can go without it.
        """
        failure = OperationalError("the database does not answer")
        try:
            async with asyncio.timeout(CONNECT_SECONDS * hosts_in(self._conninfo)):
                while True:
                    try:
                        return await self._connect()
                    except OperationalError as error:
                        failure = error
                    if not self._to_primary:
                        break
                    await asyncio.sleep(PAUSE_SECONDS)
        except TimeoutError:
            pass
        self._refuse_all()
        raise failure

    async def _connect(self) -> Connection:
        connection = await plain_connection(self._conninfo)
        connection.watch.liveness = self._liveness
        try:
            await _enter(connection, to_write=self._to_primary)
        except BaseException:
            await connection.close()
            raise
        return connection

    async def _keep(self, connection: Connection) -> None:
        if connection.pgconn.transaction_status in _OPEN:
            with suppress(OperationalError):
                await connection.rollback()
        idle = connection.pgconn.transaction_status == TransactionStatus.IDLE
        if idle and not self._closed and connection.made_at > self._none_before:
            self._idle.append(connection)
        else:
            await connection.close()


_OPEN = (TransactionStatus.INTRANS, TransactionStatus.INERROR)
_LEADS_ASTRAY = (errors.ReadOnlySqlTransaction, ReadOnly)


class _Lease:
    """A connection for the time of a block, under a permit of the tenant for each limit.

    Each request takes a lease, so this is a class: a generator costs more.
    """

    __slots__ = ("_connection", "_permits", "_pool", "_semaphores", "_tenant")

    def __init__(self, pool: Pool, tenant: Hashable, semaphores: tuple[FairSemaphore, ...]) -> None:
        self._pool = pool
        self._tenant = tenant
        self._semaphores = semaphores
        self._permits: list[Permit] = []

    async def __aenter__(self) -> Connection:
        self._pool.refuse_away()
        try:
            for semaphore in self._semaphores:
                self._permits.append(await semaphore.acquire(self._tenant))
            self._connection = await self._pool.acquire()
        except BaseException:
            self._release_permits()
            raise
        return self._connection

    async def __aexit__(self, kind: type[BaseException] | None, *_: object) -> None:
        try:
            await self._pool.release(self._connection, kind)
        finally:
            self._release_permits()

    def _release_permits(self) -> None:
        for semaphore, permit in zip(self._semaphores, self._permits, strict=False):
            semaphore.release(permit)


def make_pool(url: str, *, size: int, to_primary: bool = True) -> Pool:
    """Create a pool of at most `size` connections, each in the role of the server."""
    set_json_dumps(orjson.dumps)
    set_json_loads(orjson.loads)
    timeout = conninfo_to_dict(url).get("connect_timeout", LEAVES_A_HOST_SECONDS)
    return Pool(
        make_conninfo(url, connect_timeout=timeout, application_name="accounting"),
        size=size,
        to_primary=to_primary,
    )


async def plain_connection(conninfo: str) -> Connection:
    """Connect as the login of the address, with nothing but its own settings."""
    # Where psycopg prepares statements by itself, a rollback drops them and those of our pipeline.
    return await Connection.connect(
        conninfo, autocommit=True, row_factory=dict_row, prepare_threshold=None
    )


_ENTERING = f"SELECT ({ARE_THERE_MANY}) AS many, {LACKED} AS lacked, ({IS_READ_ONLY}) AS read_only"


async def _enter(connection: Connection, *, to_write: bool) -> None:
    """Detect a cluster, and set the role and limits that the login lacks.

    Raises ReadOnly for a connection `to_write` where the database accepts no writes.
    """
    found = await _look(connection)
    if to_write:
        _refuse_read_only(found["read_only"])
    if found["lacked"]:
        try:
            await connection.execute(put_on(found["lacked"]))
        except Error as error:  # The login may no longer act in the role of the server.
            raise OperationalError(str(error)) from error


async def _look(connection: Connection) -> Row:
    found = await (await connection.execute(_ENTERING)).fetchone()
    assert found is not None
    connection.machines = Cluster() if found["many"] else SingleNode()
    return found


async def refuse_read_only(connection: Connection) -> None:
    """Raise ReadOnly where the database accepts no writes: a standby, or one that was set so."""
    found = await (await connection.execute(IS_READ_ONLY)).fetchone()
    _refuse_read_only(found is None or found["read_only"])


def _refuse_read_only(read_only: bool) -> None:
    if read_only:
        raise ReadOnly("the database can only be read: it is a standby, or was set so")


@asynccontextmanager
async def owners_connection(url: str) -> AsyncIterator[Connection]:
    """Connect as the owner of the schema, without a role; close the connection after the block."""
    set_json_dumps(orjson.dumps)
    set_json_loads(orjson.loads)
    connection = await plain_connection(make_conninfo(url, application_name="accounting owner"))
    try:
        await _look(connection)
        yield connection
    finally:
        await connection.close()


def is_broken(connection: Connection) -> bool:
    """Return whether the server has closed an idle connection.

    The kernel knows whether there is anything to read: this takes a microsecond, not a round trip.
    """
    watch = poll()
    watch.register(connection.fileno(), POLLIN)
    try:
        while watch.poll(0):
            connection.pgconn.consume_input()  # A last message may come before the end.
    except OperationalError:
        return True
    return False
