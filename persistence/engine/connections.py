"""The first connection to a database, with errors in the words of an operator.

An address may name several hosts, and with `target_session_attrs` the kind of host to use.
"""

from collections.abc import Sequence

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.pq import Conninfo, PGconn, Ping
from psycopg.sql import SQL, Composed, Identifier, Literal

from libraries.embedded.binaries import OLDEST_MAJOR
from persistence.engine.database_errors import DatabaseAway, UnusableDatabase, first_line

CONNECT_SECONDS = 5
LEAVES_A_HOST_SECONDS = 2  # For a silent host of several; libpq accepts no smaller value.

Owner = psycopg.Connection
"""A connection as the login that owns the schema."""


def connect(url: str) -> psycopg.Connection:
    """Connect once, for the checks before a start.

    Raises DatabaseAway where no server listens yet, the server is still starting, or no host is of
    the wanted kind. Raises UnusableDatabase where waiting would not help: the server refuses this
    login or database, or is too old.
    """
    where = readable(url)
    # A refused connection has no SQLSTATE, and its message is in the server's own language. A ping
    # needs no login and shows first whether the server accepts connections at all.
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
    """Return an address as libpq reads it, with a time limit to connect where it names none.

    Raises UnusableDatabase where libpq cannot read it.
    """
    try:
        limit = LEAVES_A_HOST_SECONDS if hosts_in(url) > 1 else CONNECT_SECONDS
        timeout = conninfo_to_dict(url).get("connect_timeout", limit)
        return make_conninfo(url, connect_timeout=timeout, application_name="accounting check")
    except psycopg.ProgrammingError:
        # The message of libpq may repeat a part of the password.
        raise UnusableDatabase(
            "The address of the database cannot be read: write it as"
            " postgresql://user:password@host:port/name."
        ) from None


def hosts_in(url: str) -> int:
    """Count the hosts that an address names: 2 for postgresql://one,two/books."""
    told = conninfo_to_dict(url)
    return max(len(str(told.get(name, "")).split(",")) for name in ("host", "hostaddr"))


def login_of(url: str) -> str:
    """Return the login of an address; the default is the user of this process."""
    named = conninfo_to_dict(readable(url)).get("user")
    default = {each.keyword: each.val for each in Conninfo.get_defaults()}[b"user"] or b""
    return str(named or default.decode())


def _connected(where: str) -> psycopg.Connection:
    # No statement is prepared: a pooler in between may lose it.
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


# The role and the limits of a connection: settings of its login, or set when it is made.


SERVER_ROLE = "accounting_server"

# No wait is endless. The last limit is how soon PostgreSQL releases the locks of a connection that
# was closed during a statement: without it, PostgreSQL notices at the end of the statement.
LIMITS = {
    "statement_timeout": "10s",
    "lock_timeout": "5s",
    "idle_in_transaction_session_timeout": "15s",
    "client_connection_check_interval": "1s",
}
LONGEST = "5min"  # A login may have other limits, up to the longest time of an answer.

_LACKED = ", ".join(
    [
        f"CASE WHEN current_user <> '{SERVER_ROLE}' THEN 'role' END",
        *(
            f"CASE WHEN current_setting('{name}')::interval NOT BETWEEN '1ms' AND '{LONGEST}'"
            f" THEN '{name}' END"
            for name in LIMITS
        ),
    ]
)
# The names of the settings that a session lacks.
LACKED = f"array_remove(ARRAY[{_LACKED}], NULL)"


def put_on(names: Sequence[str]) -> Composed:
    """Set the settings that a session lacks, in one text."""
    return SQL("; ").join(SQL("SET {}").format(each) for each in _assignments(names))


def keep_for(login: str, names: Sequence[str]) -> list[Composed]:
    """Return the statements that give these settings to a login from now on."""
    statement = SQL("ALTER ROLE {} SET {}")
    return [statement.format(Identifier(login), each) for each in _assignments(names)]


def _assignments(names: Sequence[str]) -> list[Composed]:
    wanted = {"role": SERVER_ROLE, **LIMITS}
    return [SQL("{} = {}").format(Identifier(name), Literal(wanted[name])) for name in names]
