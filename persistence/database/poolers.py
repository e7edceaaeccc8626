"""Whether a pooler stands between us and PostgreSQL that lends each transaction another session.

Nothing that belongs to a session lasts there: no lock, nothing that is set. Only what was prepared
does, where the pooler sees to it (PgBouncer 1.21 or newer, with `max_prepared_statements`).
"""

import asyncio
from contextlib import AsyncExitStack
from enum import Enum
from uuid import uuid4

from psycopg import OperationalError, errors, generators
from psycopg.pq.abc import PGresult

from persistence.engine.connecting import readable
from persistence.engine.faults import DatabaseAway, UnusableDatabase, first_line
from persistence.engine.pipeline import Connection, refuse_error
from persistence.engine.pool import plain_connection

LOOKING_SECONDS = 5.0
LOOKS = 10  # Where something stands between: others may be lent the session that is looked for.


class Lending(Enum):
    """What a connection of ours is lent, and for how long."""

    A_SESSION = "one session for as long as it is open"
    TRANSACTIONS = "another session for each transaction"
    FORGETFUL = "the same, and what was prepared is lost"


def lending_of(url: str) -> Lending:
    """Find out by trying, over two connections.

    Raises DatabaseAway where there are none to be had, and UnusableDatabase where a transaction
    cannot be had.
    """
    return asyncio.run(_look(readable(url)))


def refuse_transaction_pooler(url: str) -> None:
    """Raise UnusableDatabase where what we do in one session would be done in several."""
    if lending_of(url) is not Lending.A_SESSION:
        raise UnusableDatabase(
            "Migrations hold a lock of their session, and a pooler is in the way that lends each"
            " transaction another one (PgBouncer's pool_mode = transaction): let"
            " ACCOUNTING_ADMIN_DATABASE_URL name PostgreSQL itself."
        )


async def _look(where: str) -> Lending:
    try:
        async with AsyncExitStack() as stack:
            first, second = [await _connected(where, stack) for _ in range(2)]
            async with asyncio.timeout(LOOKING_SECONDS):
                return await _compared(first, second)
    except TimeoutError:
        raise DatabaseAway(
            f"No second connection to the database is lent within {LOOKING_SECONDS:.0f} s: a pooler"
            " must have two at least for each login (PgBouncer's default_pool_size)."
        ) from None
    except errors.InvalidSqlStatementName:
        return Lending.FORGETFUL
    except OperationalError as error:
        raise DatabaseAway(f"The database cannot be reached: {first_line(error)}") from error


async def _connected(where: str, stack: AsyncExitStack) -> Connection:
    connection = await plain_connection(where)
    stack.push_async_callback(connection.close)
    return connection


async def _compared(first: Connection, second: Connection) -> Lending:
    """Prepare over the first, keep its session busy by the second, then use it over the first."""
    name = uuid4().hex.encode()  # What an earlier look has left behind would be found again.
    first.pgconn.send_prepare(name, b"SELECT pg_backend_pid()")
    await _results(first)
    session = await _session(first, name)
    for _ in range(1 if session == first.pgconn.backend_pid else LOOKS):
        await _begin(second)
        found, session = session, await _session(first, name)
        await second.rollback()
        if session != found:
            return Lending.TRANSACTIONS
    return Lending.A_SESSION


async def _session(connection: Connection, name: bytes) -> int:
    """Tell which session runs what was prepared by this name."""
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
