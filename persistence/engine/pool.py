"""The connections of one process, each in the role that may not rewrite history."""

import asyncio
from collections.abc import AsyncIterator, Hashable
from contextlib import asynccontextmanager, suppress
from select import POLLIN, poll
from time import monotonic
from types import TracebackType
from typing import NamedTuple, Self

import orjson
from psycopg import OperationalError
from psycopg.conninfo import make_conninfo
from psycopg.pq import TransactionStatus
from psycopg.rows import dict_row
from psycopg.types.json import set_json_dumps, set_json_loads

from persistence.engine.machines import ARE_THERE_MANY, Machines, ManyMachines, OneMachine
from persistence.engine.pipeline import Connection
from persistence.engine.turns import Turns

SERVER_ROLE = "accounting_server"

# A role's own settings count only for whoever logs in as it; we put the role on (`-c role=`).
LIMITS = "-c statement_timeout=10s -c lock_timeout=5s -c idle_in_transaction_session_timeout=15s"

# How soon PostgreSQL lets go of the locks of a connection that was closed while it worked for it.
# Without this it would find that out at the end of the statement.
NOTICES_THE_END = "-c client_connection_check_interval=1s"

# For so long a new connection is tried for: a database that starts anew is there again by then.
CONNECT_SECONDS = 2.0
PAUSE_SECONDS = 0.05

# PostgreSQL keeps for each connection what it knows of every table that this has ever used.
LIFETIME_SECONDS = 3600.0


class Occupancy(NamedTuple):
    """How many connections there may be, are lent and are idle, and how many wait for one."""

    size: int
    lent: int
    idle: int
    waiting: int


class Pool:
    """At most `size` connections, made when they are needed; the one used last is lent first.

    That one is likely to be in the processor's caches, with the process behind it.
    """

    def __init__(self, conninfo: str, *, size: int) -> None:
        self._conninfo = conninfo
        self._size = size
        self._turns = Turns(size)
        self._idle: list[Connection] = []
        self._machines: Machines | None = None
        self._closed = False

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        await self.close()

    @asynccontextmanager
    async def connection(self, tenant: Hashable = None) -> AsyncIterator[Connection]:
        """Lend a connection to a tenant, when it is its turn; what it leaves open is rolled back.

        Raises Unavailable where too many wait, and OperationalError where nothing can be reached.
        """
        await self._turns.take(tenant)
        try:
            connection = await self._idle_one() or await self._new_one()
            try:
                yield connection
            except asyncio.CancelledError:
                await connection.close()  # Nobody has the time to wait for a rollback.
                raise
            finally:
                await self._take_back(connection)
        finally:
            self._turns.give_back(tenant)

    @property
    def occupancy(self) -> Occupancy:
        """What is lent at this moment."""
        return Occupancy(self._size, self._turns.held, len(self._idle), self._turns.waiting)

    def refuse_crowd(self, tenant: Hashable) -> None:
        """Raise Unavailable where so many wait that this tenant would be turned away."""
        self._turns.refuse_crowd(tenant)

    async def close(self) -> None:
        """Close all of them; those that are lent, when they come back."""
        self._closed = True
        while self._idle:
            await self._idle.pop().close()

    async def _idle_one(self) -> Connection | None:
        while self._idle:
            connection = self._idle.pop()
            if monotonic() < connection.made_at + LIFETIME_SECONDS and not is_broken(connection):
                return connection
            await connection.close()
        return None

    async def _new_one(self) -> Connection:
        """Connect; where that cannot be done, all who wait are told so."""
        failure = OperationalError("the database does not answer")
        try:
            async with asyncio.timeout(CONNECT_SECONDS):
                while True:
                    try:
                        return await self._connect()
                    except OperationalError as error:
                        failure = error
                    await asyncio.sleep(PAUSE_SECONDS)
        except TimeoutError:
            self._turns.refuse_all()
            raise failure from None

    async def _connect(self) -> Connection:
        # What psycopg prepares by itself it drops after a rollback, and all of the pipeline's too.
        connection = await Connection.connect(
            self._conninfo, autocommit=True, row_factory=dict_row, prepare_threshold=None
        )
        if self._machines is None:  # Tables are spread while no server is at work.
            self._machines = await machines_behind(connection)
        connection.machines = self._machines
        return connection

    async def _take_back(self, connection: Connection) -> None:
        if connection.pgconn.transaction_status in _OPEN:
            with suppress(OperationalError):
                await connection.rollback()
        if connection.pgconn.transaction_status == TransactionStatus.IDLE and not self._closed:
            self._idle.append(connection)
        else:
            await connection.close()


_OPEN = (TransactionStatus.INTRANS, TransactionStatus.INERROR)


def make_pool(url: str, *, size: int) -> Pool:
    """Prepare at most `size` connections, each in the server's role."""
    set_json_dumps(orjson.dumps)
    set_json_loads(orjson.loads)
    return Pool(
        make_conninfo(
            url,
            options=f"-c role={SERVER_ROLE} {LIMITS} {NOTICES_THE_END}",
            application_name="accounting",
        ),
        size=size,
    )


async def machines_behind(connection: Connection) -> Machines:
    """Ask the database once whether its tables are spread over many machines."""
    found = await (await connection.execute(ARE_THERE_MANY)).fetchone()
    return ManyMachines() if found is not None and found["many"] else OneMachine()


def is_broken(connection: Connection) -> bool:
    """Tell whether the other end has closed an idle connection.

    It asks the kernel whether there is anything to read, a microsecond instead of a round trip.
    """
    watch = poll()
    watch.register(connection.fileno(), POLLIN)
    try:
        while watch.poll(0):
            connection.pgconn.consume_input()  # A last word may come before the end.
    except OperationalError:
        return True
    return False
