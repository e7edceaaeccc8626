"""Proving the books of businesses under test, and planting faults in them as the owner."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from uuid import UUID

import psycopg

from persistence import tables
from persistence.engine.pool import make_pool
from persistence.proof.integrity import Advance, BooksToProve, Check, all_books, prove
from tests.api_server import ApiServer
from tests.partner import Business


def checks_of(
    api_server: ApiServer, business_id: UUID | str, advance: Advance = lambda _: None
) -> list[Check]:
    async def audit() -> list[Check]:
        async with make_pool(api_server.database_url, size=1) as pool:
            [books] = [each for each in await all_books(pool) if str(each.id) == str(business_id)]
            return await prove(pool, books, advance)

    return asyncio.run(audit())


def faults_of(api_server: ApiServer, business_id: UUID | str) -> list[Check]:
    return [check for check in checks_of(api_server, business_id) if not check.ok]


def faults_in(api_server: ApiServer, business: Business) -> set[str]:
    return {check.name for check in faults_of(api_server, business.id)}


def books_in(api_server: ApiServer) -> list[BooksToProve]:
    async def listed() -> list[BooksToProve]:
        async with make_pool(api_server.database_url, size=1) as pool:
            return await all_books(pool)

    return asyncio.run(listed())


def tamper(api_server: ApiServer, statement: str, *parameters: Any) -> None:
    """Change rows as their owner, with no trigger and no foreign key looking."""
    with psycopg.connect(api_server.database_url) as connection:
        connection.execute("SET session_replication_role = replica")
        affected = connection.execute(statement, parameters).rowcount
        assert affected > 0, "the fault was not planted"


@contextmanager
def remembered(api_server: ApiServer, business: Business) -> Iterator[Callable[[], None]]:
    """Remember every row of a business, and give what puts them back, as often as it is called."""
    mine = {"business": business.id}
    with psycopg.connect(api_server.database_url) as connection:
        connection.execute("SET session_replication_role = replica")
        for name, columns in _KEPT.items():
            chosen = f"SELECT {columns} FROM {name} WHERE business_id = %(business)s"
            connection.execute(f"CREATE TEMP TABLE kept_{name} AS {chosen}", mine)
        connection.commit()

        def put_back() -> None:
            with connection.pipeline(), connection.transaction():
                for name, columns in _KEPT.items():
                    connection.execute(f"DELETE FROM {name} WHERE business_id = %(business)s", mine)
                    connection.execute(f"INSERT INTO {name} ({columns}) SELECT * FROM kept_{name}")

        yield put_back


_KEPT = {
    table.name: ", ".join(f'"{column.name}"' for column in table.columns if not column.computed)
    for table in tables.metadata.sorted_tables
    if table.info.get("tenant")
}
