"""A first connection to a database: what keeps us out of it, in the words of an operator."""

import psycopg
from psycopg.conninfo import make_conninfo
from psycopg.pq import PGconn, Ping

from embedded.binaries import OLDEST_MAJOR
from persistence.engine.faults import DatabaseAway, UnusableDatabase, first_line

CONNECT_SECONDS = 5

Owner = psycopg.Connection
"""A connection as the login that owns the schema."""


def connect(url: str) -> psycopg.Connection:
    """Connect once, to look around.

    Raises DatabaseAway where nobody listens yet or it is still starting, and UnusableDatabase where
    waiting would not help: it turns this login or this database down, or is too old.
    """
    try:
        where = make_conninfo(
            url, connect_timeout=CONNECT_SECONDS, application_name="accounting check"
        )
    except psycopg.ProgrammingError:
        # What libpq says may repeat a part of the password.
        raise UnusableDatabase(
            "The address of the database cannot be read: write it as"
            " postgresql://user:password@host:port/name."
        ) from None
    # A refused connection has no SQLSTATE, and its words are in the server's own language. So it is
    # asked first whether it takes connections at all; no login is needed for that.
    may_come = PGconn.ping(where.encode()) in (Ping.REJECT, Ping.NO_RESPONSE)
    try:
        connection = psycopg.connect(where, autocommit=True)
    except psycopg.OperationalError as error:
        if may_come:
            raise DatabaseAway(f"The database cannot be reached: {first_line(error)}") from error
        raise UnusableDatabase(f"The database cannot be used: {first_line(error)}") from error
    _refuse_older(connection)
    return connection


def _refuse_older(connection: psycopg.Connection) -> None:
    if connection.info.server_version < OLDEST_MAJOR * 10_000:
        found = connection.info.parameter_status("server_version")
        connection.close()
        raise UnusableDatabase(
            f"The database is PostgreSQL {found}; {OLDEST_MAJOR} or newer is needed."
        )
