"""Planting faults in the books of businesses under test, and the names of those that are found."""

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
    """Change rows with no trigger and no foreign key looking, as a superuser (by `url`) may."""
    with psycopg.connect(url or api_server.database_url) as connection:
        connection.execute("SET session_replication_role = replica")
        affected = connection.execute(statement, parameters).rowcount
        assert affected > 0, "the fault was not planted"


@contextmanager
def remembered(api_server: ApiServer, business: Business) -> Iterator[Callable[[], None]]:
    """Remember every row of a business, and give what puts them back, as often as it is called.

    A table in which no row has come, gone or changed is left alone: rows that are put back leave
    dead ones, and each proof would read those of all the times before.
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
# How many rows, and by which transactions they were written: a later one has a higher number.
_SIGNS = " UNION ALL ".join(
    f"SELECT '{name}', count(*), coalesce(sum(xmin::text::bigint), 0)::bigint"
    f" FROM {name} WHERE business_id = %(business)s"
    for name in _KEPT
)
