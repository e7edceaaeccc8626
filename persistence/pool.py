"""The connections of one process, and the proof that they may not rewrite history."""

from select import POLLIN, poll
from typing import Any

import orjson
from psycopg import OperationalError
from psycopg.conninfo import make_conninfo
from psycopg.rows import dict_row
from psycopg.types.json import set_json_dumps, set_json_loads
from psycopg_pool import AsyncConnectionPool

from persistence.pipeline import Connection

SERVER_ROLE = "accounting_server"

# A role's own settings count only for whoever logs in as it; we put the role on (`-c role=`).
LIMITS = "-c statement_timeout=10s -c lock_timeout=5s -c idle_in_transaction_session_timeout=15s"

# The pool waits longer after each attempt that failed, up to this; later ones are made when a
# request needs them. A database that is back after an hour is so found within a second.
RECONNECT_SECONDS = 1.0

Pool = AsyncConnectionPool[Connection]

FITNESS = """
SELECT current_user AS role, r.rolsuper OR r.rolbypassrls AS unbound,
       has_table_privilege('journal_line', 'UPDATE')
       OR has_table_privilege('journal_line', 'DELETE')
       OR has_table_privilege('journal_entry', 'UPDATE')
       OR has_table_privilege('journal_entry', 'DELETE') AS rewrites,
       has_table_privilege('audit_record', 'INSERT, UPDATE, DELETE') AS forges,
       current_setting('fsync') = 'on' AND current_setting('full_page_writes') = 'on'
       AND current_setting('synchronous_commit') <> 'off' AS durable
FROM pg_roles r WHERE r.rolname = current_user
"""


class UnsafeDatabase(Exception):
    """The database would let this server lose or rewrite what it has promised to keep."""


class UnusableDatabase(Exception):
    """The database cannot be reached, or stands at no schema of ours."""


class DatabaseAway(UnusableDatabase):
    """Nobody lets us in where the database should be; that may pass."""


def make_pool(url: str, *, size: int, wait_seconds: float = 2.0) -> Pool:
    """Prepare a pool of `size` connections, each in the server's role; open it in the loop."""
    set_json_dumps(orjson.dumps)
    set_json_loads(orjson.loads)

    async def check(connection: Connection) -> None:
        try:
            refuse_broken(connection)
        except OperationalError:
            await pool.drain()  # The others broke in the same moment.
            raise

    pool = AsyncConnectionPool(
        make_conninfo(
            url, options=f"-c role={SERVER_ROLE} {LIMITS}", application_name="accounting"
        ),
        connection_class=Connection,
        # What psycopg prepares by itself it drops after a rollback, and all of the pipeline's too.
        kwargs={"autocommit": True, "row_factory": dict_row, "prepare_threshold": None},
        min_size=size,
        max_size=size,
        timeout=wait_seconds,
        reconnect_timeout=RECONNECT_SECONDS,
        check=check,
        open=False,
    )
    return pool


def refuse_broken(connection: Connection) -> None:
    """Raise OperationalError where the other end has closed an idle connection.

    It asks the kernel whether there is anything to read, a microsecond instead of a round trip.
    """
    watch = poll()
    watch.register(connection.fileno(), POLLIN)
    while watch.poll(0):
        connection.pgconn.consume_input()  # A last word may come before the end.


async def refuse_unsafe(pool: Pool, *, durable: bool = True) -> None:
    """Raise UnsafeDatabase where the role may rewrite history or a commit may be lost."""
    async with pool.connection() as connection:
        row: dict[str, Any] | None = await (await connection.execute(FITNESS)).fetchone()
    refuse_unsafe_row(row, durable=durable)


def refuse_unsafe_row(row: dict[str, Any] | None, *, durable: bool) -> None:
    """Judge what FITNESS brought."""
    if row is None or row["unbound"] or row["rewrites"] or row["forges"]:
        raise UnsafeDatabase(
            f"The database role {row['role'] if row else '?'} may change posted lines, write to the"
            f" audit trail or ignore row security. The server must run as {SERVER_ROLE}; run"
            " `accounting migrate` first."
        )
    if durable and not row["durable"]:
        raise UnsafeDatabase(
            "fsync, full_page_writes and synchronous_commit must be on: without them an"
            " acknowledged write can be lost."
        )
