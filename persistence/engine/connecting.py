"""A first connection to a database: what keeps us out of it, in the words of an operator."""

from contextlib import suppress

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.pq import PGconn, Ping

from embedded.binaries import OLDEST_MAJOR
from persistence.engine.faults import DatabaseAway, UnusableDatabase, first_line

CONNECT_SECONDS = 5


def connect(url: str) -> psycopg.Connection:
    """Connect once, to look around.

    Raises DatabaseAway where nobody listens yet, it is still starting, or what answers can only be
    read, as a standby that may be the primary in a moment; and UnusableDatabase where waiting would
    not help: it turns this login or this database down, or is too old.
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
        _refuse_standbys(where)
        if may_come:
            raise DatabaseAway(f"The database cannot be reached: {first_line(error)}") from error
        raise UnusableDatabase(f"The database cannot be used: {first_line(error)}") from error
    _refuse_older(connection)
    _refuse_read_only(connection)
    return connection


def _refuse_standbys(where: str) -> None:
    """Raise DatabaseAway where the address asks for a primary, and only standbys answer there."""
    if conninfo_to_dict(where).get("target_session_attrs") in (None, "any"):
        return
    anybody = make_conninfo(where, target_session_attrs="any")
    with suppress(psycopg.OperationalError), psycopg.connect(anybody) as found:
        _refuse_read_only(found)


def _refuse_read_only(connection: psycopg.Connection) -> None:
    found = connection.execute("SELECT current_setting('transaction_read_only')").fetchone()
    if found == ("on",):
        connection.close()
        raise DatabaseAway(
            "The database can only be read: it is a standby, or was set read-only. Name the primary"
            " in its address, or all its servers with target_session_attrs=read-write."
        )


def _refuse_older(connection: psycopg.Connection) -> None:
    if connection.info.server_version < OLDEST_MAJOR * 10_000:
        found = connection.info.parameter_status("server_version")
        connection.close()
        raise UnusableDatabase(
            f"The database is PostgreSQL {found}; {OLDEST_MAJOR} or newer is needed."
        )
