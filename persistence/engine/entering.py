"""The role and the limits of a connection: settings of its login, or set when it is made.

The settings of a login hold for each of its connections, behind a pooler as well. A pooler that
assigns a session to each transaction (PgBouncer's transaction mode) mixes up what SET has changed:
there the login must have all of them (docs/decisions/0040).
"""

from collections.abc import Sequence

from psycopg.sql import SQL, Composed, Identifier, Literal

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
