"""PostgreSQL's execution of one statement of the server, as EXPLAIN reports it."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from uuid import UUID

import psycopg
from psycopg import ClientCursor
from psycopg.rows import dict_row

from persistence.engine.connections import SERVER_ROLE
from persistence.engine.pipeline import numbered
from persistence.engine.sql import Query, Row

Connection = psycopg.Connection[Row]
Explained = dict[str, Any]
"""The JSON of EXPLAIN: `Plan`, and the times of planning and of execution in ms."""


def be_server(connection: Connection, business_id: UUID) -> None:
    """Switch to the server's role, with row-level security for a business."""
    connection.execute("SELECT set_config('app.business_id', %s, false)", [str(business_id)])
    connection.execute(f"SET ROLE {SERVER_ROLE}")


@contextmanager
def prepared(connection: Connection, query: Query) -> Iterator[Callable[[str], Explained]]:
    """Prepare a statement as a server does: with a generic plan, or with a plan for its values.

    Yields a function that takes options of EXPLAIN, runs the statement and returns its plan.
    """
    mode = "auto" if query.once else "force_generic_plan"
    connection.execute(f"SET plan_cache_mode = {mode}".encode())
    text, names = numbered(query.text)
    connection.execute(b"PREPARE asked AS " + text)
    run = "EXECUTE asked" + (f"({', '.join('%s' for _ in names)})" if names else "")
    values = [query.parameters[name] for name in names]
    with ClientCursor(connection, row_factory=dict_row) as cursor:

        def explain(options: str) -> Explained:
            cursor.execute(f"EXPLAIN ({options}FORMAT JSON) {run}", values)
            row = cursor.fetchone()
            assert row is not None
            told: Explained = row["QUERY PLAN"][0]
            return told

        try:
            yield explain
        finally:
            cursor.execute("DEALLOCATE asked")
