"""As whom and with which limits a connection works: what its login has, and what is put on.

The settings of a login hold wherever it logs in, behind a pooler as well. One that lends each
transaction another session (PgBouncer's transaction mode) mixes up what is put on by SET: there the
login has to bring all of it along (docs/decisions/0040).
"""

from collections.abc import Sequence

from psycopg.sql import SQL, Composed, Identifier, Literal

SERVER_ROLE = "accounting_server"

# Nobody waits for ever. The last one is how soon PostgreSQL lets go of the locks of a connection
# that was closed while it worked for it: it would find that out at the end of the statement.
LIMITS = {
    "statement_timeout": "10s",
    "lock_timeout": "5s",
    "idle_in_transaction_session_timeout": "15s",
    "client_connection_check_interval": "1s",
}
LONGEST = "5min"  # A login may have others, up to what an answer may take at the longest.

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
# The names of the settings that a session does not have as it must.
LACKED = f"array_remove(ARRAY[{_LACKED}], NULL)"


def put_on(names: Sequence[str]) -> Composed:
    """Set what a session lacks, in one text."""
    return SQL("; ").join(SQL("SET {}").format(each) for each in _assignments(names))


def keep_for(login: str, names: Sequence[str]) -> list[Composed]:
    """The statements that let a login have these settings from now on."""
    statement = SQL("ALTER ROLE {} SET {}")
    return [statement.format(Identifier(login), each) for each in _assignments(names)]


def _assignments(names: Sequence[str]) -> list[Composed]:
    wanted = {"role": SERVER_ROLE, **LIMITS}
    return [SQL("{} = {}").format(Identifier(name), Literal(wanted[name])) for name in names]
