"""Detection of a pooler that assigns another session of PostgreSQL to each transaction.

Session state does not survive a transaction there, neither locks nor settings. Prepared statements
survive only if the pooler supports them (PgBouncer 1.21 or newer, `max_prepared_statements`).
"""

import asyncio
from contextlib import AsyncExitStack
from enum import Enum
from typing import NamedTuple
from uuid import uuid4

from psycopg import OperationalError, errors, generators
from psycopg.pq.abc import PGresult

from persistence.engine.connections import readable
from persistence.engine.database_errors import DatabaseAway, UnusableDatabase, first_line
from persistence.engine.pipeline import MOST_PREPARED, Connection, execute_pipeline, refuse_error
from persistence.engine.pool import plain_connection
from persistence.engine.sql import Query
from persistence.engine.topology import BEGIN

LOOKING_SECONDS = 5.0
LOOKS = 10  # Tries behind a pooler: another client may use the session in question.


class PoolingMode(Enum):
    """The pooling mode that a connection meets."""

    A_SESSION = "one session for as long as it is open"
    TRANSACTIONS = "another session for each transaction"
    FORGETFUL = "the same, and what was prepared is lost"


class PooledConnections(NamedTuple):
    """The pooling mode, and the number of prepared statements that a session keeps.

    A pooler prepares a dropped statement again: results are right, but PostgreSQL plans it again.
    """

    lending: PoolingMode
    kept: int


def lending_of(url: str) -> PooledConnections:
    """Return the pooling mode, found by an experiment over two connections.

    Raises DatabaseAway if the connections cannot be made, and UnusableDatabase if the pooler allows
    no transactions.
    """
    return asyncio.run(_look(readable(url)))


def refuse_transaction_pooler(url: str) -> None:
    """Raise UnusableDatabase if transactions of one connection may run in several sessions."""
    if lending_of(url).lending is not PoolingMode.A_SESSION:
        raise UnusableDatabase(
            "Migrations hold a lock of their session, and a pooler is in the way that lends each"
            " transaction another one (PgBouncer's pool_mode = transaction): let"
            " ACCOUNTING_ADMIN_DATABASE_URL name PostgreSQL itself."
        )


async def _look(where: str) -> PooledConnections:
    try:
        async with AsyncExitStack() as stack:
            first, second = [await _connected(where, stack) for _ in range(2)]
            async with asyncio.timeout(LOOKING_SECONDS):
                if await _has_its_own(first, second):
                    return PooledConnections(PoolingMode.A_SESSION, MOST_PREPARED)
                return PooledConnections(PoolingMode.TRANSACTIONS, await _count_kept(first))
    except TimeoutError:
        raise DatabaseAway(
            f"No second connection to the database is lent within {LOOKING_SECONDS:.0f} s: a pooler"
            " must have two at least for each login (PgBouncer's default_pool_size)."
        ) from None
    except errors.InvalidSqlStatementName:
        return PooledConnections(PoolingMode.FORGETFUL, 0)
    except OperationalError as error:
        raise DatabaseAway(f"The database cannot be reached: {first_line(error)}") from error


async def _connected(where: str, stack: AsyncExitStack) -> Connection:
    connection = await plain_connection(where)
    stack.push_async_callback(connection.close)
    return connection


async def _count_kept(connection: Connection) -> int:
    """Count the prepared statements that a session keeps, up to MOST_PREPARED."""
    # The texts differ, because a pooler shares statements of one text. One transaction is one
    # session.
    different = [Query(f"SELECT {number}", {}) for number in range(MOST_PREPARED)]
    count = Query("SELECT count(*) AS kept FROM pg_prepared_statements", {}, once=True)
    [*_, counted] = await execute_pipeline(connection, [BEGIN, *different, count])
    return min(int(counted.rows[0]["kept"]), MOST_PREPARED)


async def _has_its_own(first: Connection, second: Connection) -> bool:
    """Return whether the first connection keeps its session while the second one is busy.

    A statement is prepared over the first connection and used again while a transaction is open
    over the second.
    """
    name = uuid4().hex.encode()  # Unique: a pooled session may have statements of earlier runs.
    first.pgconn.send_prepare(name, b"SELECT pg_backend_pid()")
    await _results(first)
    session = await _session(first, name)
    for _ in range(1 if session == first.pgconn.backend_pid else LOOKS):
        await _begin(second)
        found, session = session, await _session(first, name)
        await second.rollback()
        if session != found:
            return False
    return True


async def _session(connection: Connection, name: bytes) -> int:
    """Return the process id of the session that runs the prepared statement of this name."""
    connection.pgconn.send_query_prepared(name, None)
    [result] = await _results(connection)
    return int(result.get_value(0, 0) or 0)


async def _begin(connection: Connection) -> None:
    try:
        await connection.execute("BEGIN")
        await connection.execute("SELECT 1")
    except errors.ProtocolViolation as error:
        raise UnusableDatabase(
            f"The pooler takes no transactions: {first_line(error)}. It must lend its connections"
            " by transaction or by session (PgBouncer's pool_mode)."
        ) from error


async def _results(connection: Connection) -> list[PGresult]:
    results: list[PGresult] = await connection.wait(generators.execute(connection.pgconn))
    refuse_error(results)
    return results
