"""The connections of one process, each in the role that may not rewrite history."""

import logging
from select import POLLIN, poll

import orjson
from psycopg import OperationalError
from psycopg.conninfo import make_conninfo
from psycopg.rows import dict_row
from psycopg.types.json import set_json_dumps, set_json_loads
from psycopg_pool import AsyncConnectionPool

from persistence.engine.pipeline import Connection

SERVER_ROLE = "accounting_server"

# A role's own settings count only for whoever logs in as it; we put the role on (`-c role=`).
LIMITS = "-c statement_timeout=10s -c lock_timeout=5s -c idle_in_transaction_session_timeout=15s"

# How long a request waits for a connection before its caller is told to come back.
WAIT_SECONDS = 2.0

# The pool waits longer after each attempt that failed, up to this; later ones are made when a
# request needs them. A database that is back after an hour is so found within a second.
RECONNECT_SECONDS = 1.0

Pool = AsyncConnectionPool[Connection]

# A server has a log that takes the pool's warnings in. A command has none, and tells them itself.
logging.getLogger("psycopg.pool").addHandler(logging.NullHandler())


def make_pool(url: str, *, size: int) -> Pool:
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
        timeout=WAIT_SECONDS,
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
