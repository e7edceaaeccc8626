"""A first connection to a database: what keeps us out of it, in the words of an operator.

An address may name several hosts, and with `target_session_attrs` which of them is wanted.
"""

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.pq import Conninfo, PGconn, Ping

from embedded.binaries import OLDEST_MAJOR
from persistence.engine.faults import DatabaseAway, UnusableDatabase, first_line

CONNECT_SECONDS = 5
LEAVES_A_HOST_SECONDS = 2  # One that is silent, where there are others; libpq takes no less.

Owner = psycopg.Connection
"""A connection as the login that owns the schema."""


def connect(url: str) -> psycopg.Connection:
    """Connect once, to look around.

    Raises DatabaseAway where nobody listens yet, it is still starting, or none of its hosts is the
    one that is wanted, and UnusableDatabase where waiting would not help: it turns this login or
    this database down, or is too old.
    """
    where = readable(url)
    # A refused connection has no SQLSTATE, and its words are in the server's own language. So it is
    # asked first whether it takes connections at all; no login is needed for that.
    may_come = PGconn.ping(where.encode()) in (Ping.REJECT, Ping.NO_RESPONSE)
    try:
        connection = _connected(where)
    except psycopg.OperationalError as error:
        if may_come or _lets_in(make_conninfo(where, target_session_attrs="any")):
            raise DatabaseAway(f"The database cannot be reached: {first_line(error)}") from error
        raise UnusableDatabase(f"The database cannot be used: {first_line(error)}") from error
    _refuse_older(connection)
    return connection


def readable(url: str) -> str:
    """Return an address as libpq reads it, with a limit to waiting where it names none.

    Raises UnusableDatabase where it is none.
    """
    try:
        limit = LEAVES_A_HOST_SECONDS if hosts_in(url) > 1 else CONNECT_SECONDS
        timeout = conninfo_to_dict(url).get("connect_timeout", limit)
        return make_conninfo(url, connect_timeout=timeout, application_name="accounting check")
    except psycopg.ProgrammingError:
        # What libpq says may repeat a part of the password.
        raise UnusableDatabase(
            "The address of the database cannot be read: write it as"
            " postgresql://user:password@host:port/name."
        ) from None


def hosts_in(url: str) -> int:
    """Tell how many hosts an address names: 2 for postgresql://one,two/books."""
    told = conninfo_to_dict(url)
    return max(len(str(told.get(name, "")).split(",")) for name in ("host", "hostaddr"))


def login_of(url: str) -> str:
    """Tell as whom an address logs in, by default as the user of this process."""
    named = conninfo_to_dict(readable(url)).get("user")
    default = {each.keyword: each.val for each in Conninfo.get_defaults()}[b"user"] or b""
    return str(named or default.decode())


def _connected(where: str) -> psycopg.Connection:
    # Nothing is prepared: whatever stands between may lose that.
    return psycopg.connect(where, autocommit=True, prepare_threshold=None)


def _lets_in(where: str) -> bool:
    try:
        _connected(where).close()
    except psycopg.OperationalError:
        return False
    return True


def _refuse_older(connection: psycopg.Connection) -> None:
    if connection.info.server_version < OLDEST_MAJOR * 10_000:
        found = connection.info.parameter_status("server_version")
        connection.close()
        raise UnusableDatabase(
            f"The database is PostgreSQL {found}; {OLDEST_MAJOR} or newer is needed."
        )
