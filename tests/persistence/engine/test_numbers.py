"""Numbers of a series: the database renders them into rows, the server into answers."""

import asyncio
from uuid import UUID

import pytest

from accounting.books.numbers import PendingNumber
from persistence import tables
from persistence.engine.pipeline import execute_pipeline
from persistence.engine.pool import make_pool
from persistence.engine.sql import Query, Row
from persistence.engine.topology import SingleNode
from persistence.engine.unit_of_work import UnitOfWork
from tests.api_server import ApiServer
from tests.partner import Business, Partner
from tests.persistence.engine.test_unit_of_work import entry_row


@pytest.fixture
def shop(acme: Partner) -> Business:
    return acme.business()


@pytest.fixture
def staging(shop: Business) -> UnitOfWork:
    return UnitOfWork(UUID(shop.id))


def last_rows(api_server: ApiServer, staging: UnitOfWork) -> list[Row]:
    """Flush into a transaction that is rolled back; return what its last statement brought."""

    async def go() -> list[Row]:
        async with (
            make_pool(api_server.database_url, size=1) as pool,
            pool.connection() as connection,
        ):
            assert staging.business_id is not None
            await connection.execute("BEGIN")
            results = await execute_pipeline(
                connection, [SingleNode().set_tenant(staging.business_id), *staging.queries()]
            )
            for result in results:
                staging.learn(result.rows)
            await connection.rollback()
            return results[-1].rows

    return asyncio.run(go())


class TestNumbers:
    def test_the_database_renders_numbers_as_the_server_does(
        self, api_server: ApiServer, shop: Business, staging: UnitOfWork
    ) -> None:
        staging.raise_series("INV", 999_998)
        for place in range(2):
            number = staging.take_number("JE-2031")
            row = entry_row(number, reference=PendingNumber("INV", place))
            staging.insert(tables.journal_entry, row)
        staging.follow_with(
            Query(
                "SELECT array_agg(sequence_number || ' ' || reference ORDER BY sequence_number)"
                " AS numbers FROM journal_entry WHERE business_id = %(business_id)s",
                {"business_id": staging.business_id},
            )
        )
        [stored] = last_rows(api_server, staging)
        named = [
            (PendingNumber("JE-2031", place), PendingNumber("INV", place)) for place in range(2)
        ]
        rendered = [f"{staging.number(entry)} {staging.number(other)}" for entry, other in named]
        assert rendered == ["JE-2031-000001 INV-999999", "JE-2031-000002 INV-1000000"]
        assert stored["numbers"] == rendered
