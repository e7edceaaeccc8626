"""Marks in an answer: the database puts the numbers there that the server does."""

import asyncio
from uuid import UUID

import pytest

from accounting.books.numbers import Pending
from persistence import tables
from persistence.engine.machines import OneMachine
from persistence.engine.pipeline import exchange
from persistence.engine.pool import make_pool
from persistence.engine.sql import Query, Row
from persistence.engine.staging import Staging
from tests.api_server import ApiServer
from tests.partner import Business, Partner
from tests.persistence.test_staging import entry_row


@pytest.fixture
def shop(acme: Partner) -> Business:
    return acme.business()


@pytest.fixture
def staging(shop: Business) -> Staging:
    return Staging(UUID(shop.id))


def last_rows(api_server: ApiServer, staging: Staging) -> list[Row]:
    """Flush into a transaction that is rolled back; return what its last statement brought."""

    async def go() -> list[Row]:
        async with (
            make_pool(api_server.database_url, size=1) as pool,
            pool.connection() as connection,
        ):
            assert staging.business_id is not None
            await connection.execute("BEGIN")
            results = await exchange(
                connection, [OneMachine().set_tenant(staging.business_id), *staging.queries()]
            )
            for result in results:
                staging.learn(result.rows)
            await connection.rollback()
            return results[-1].rows

    return asyncio.run(go())


class TestMarks:
    def test_the_database_writes_the_answer_that_the_server_does(
        self, api_server: ApiServer, shop: Business, staging: Staging
    ) -> None:
        staging.raise_series("INV", 999_998)
        for place in range(2):
            number = staging.take_number("JE-2031")
            row = entry_row(number, reference=Pending("INV", place))
            staging.insert(tables.journal_entry, row)
        named = (Pending("INV", 1), number, Pending("INV"))
        a, b, c = (staging.marks.mark(each) for each in named)
        body = f'{{"é \\" \\u0000": "{a}", "b": "entry {b}{c}"}}'.encode()
        filled = staging.marks.filled(body, staging.taken)
        assert filled is not None
        whole = Query(f"SELECT {filled.text} AS body", {**filled.parameters, "owner": shop.id})
        staging.follow_with(whole)
        [kept] = last_rows(api_server, staging)
        told = '{"é \\" \\u0000": "INV-1000000", "b": "entry JE-2031-000002INV-999999"}'
        assert staging.marks.fill(body, staging.number) == told.encode()
        assert bytes(kept["body"]) == told.encode()

    def test_an_answer_that_names_none_is_kept_as_it_is(self, staging: Staging) -> None:
        assert staging.marks.filled(b"{}", {}) is None
        assert staging.marks.fill(b"\xff", staging.number) == b"\xff"
