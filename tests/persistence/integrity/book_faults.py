"""Planting of faults in the books of businesses under test, and the names of found faults."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import psycopg

from persistence import tables
from tests.api_server import ApiServer
from tests.partner import Business


def faults_in(api_server: ApiServer, business: Business) -> set[str]:
    return {check.name for check in api_server.prover.faults_of(business.id)}


def tamper(api_server: ApiServer, statement: str, *parameters: Any, url: str = "") -> None:
    """Change rows without triggers and foreign keys, as a superuser of `url` may."""
    with psycopg.connect(url or api_server.database_url) as connection:
        connection.execute("SET session_replication_role = replica")
        affected = connection.execute(statement, parameters).rowcount
        assert affected > 0, "the fault was not planted"


@contextmanager
def remembered(api_server: ApiServer, business: Business) -> Iterator[Callable[[], None]]:
    """Remember every row of a business; yield a function that restores them repeatedly.

    A table without changed rows is left alone: restored rows leave dead ones, and each proof would
    read the dead rows of all earlier restores.
    """
    mine = {"business": business.id}
    with psycopg.connect(api_server.database_url, autocommit=True) as connection:
        connection.execute("SET session_replication_role = replica")
        for name, columns in _KEPT.items():
            chosen = f"SELECT {columns} FROM {name} WHERE business_id = %(business)s"
            connection.execute(f"CREATE TEMP TABLE kept_{name} AS {chosen}", mine)

        def signs() -> dict[str, tuple[int, int]]:
            rows = connection.execute(_SIGNS, mine).fetchall()
            return {name: (count, written) for name, count, written in rows}

        known = signs()

        def put_back() -> None:
            found = signs()
            changed = [name for name in _KEPT if found[name] != known[name]]
            with connection.pipeline(), connection.transaction():
                for name in changed:
                    columns = _KEPT[name]
                    connection.execute(f"DELETE FROM {name} WHERE business_id = %(business)s", mine)
                    connection.execute(f"INSERT INTO {name} ({columns}) SELECT * FROM kept_{name}")
            known.update(signs())

        yield put_back


_KEPT = {
    table.name: ", ".join(f'"{column.name}"' for column in table.columns if not column.computed)
    for table in tables.metadata.sorted_tables
    if table.info.get("tenant")
}
# The number of rows, and the ids of their writing transactions: a later one has a higher id.
_SIGNS = " UNION ALL ".join(
    f"SELECT '{name}', count(*), coalesce(sum(xmin::text::bigint), 0)::bigint"
    f" FROM {name} WHERE business_id = %(business)s"
    for name in _KEPT
)
