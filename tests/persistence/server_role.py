"""The database in the server's role, with and without a business set."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
from psycopg.conninfo import make_conninfo

from persistence.engine.connections import SERVER_ROLE
from tests.api_server import ApiServer


@contextmanager
def as_server(
    api_server: ApiServer, business_id: str | None = None
) -> Iterator[psycopg.Connection[tuple[Any, ...]]]:
    """Open a transaction in the server's role; it is rolled back unless the caller commits."""
    with psycopg.connect(
        make_conninfo(api_server.database_url, options=f"-c role={SERVER_ROLE}")
    ) as connection:
        if business_id is not None:
            connection.execute("SELECT set_config('app.business_id', %s, true)", (business_id,))
        yield connection
        connection.rollback()
