"""Which connection is lent, and in which state it comes back."""

import asyncio
import os
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack, suppress
from typing import Any

import psycopg
import pytest

from persistence.engine.pipeline import Connection, execute_pipeline
from persistence.engine.pool import Pool, make_pool
from persistence.engine.sql import Query
from tests.api_server import Databases

Work = Callable[[Pool], Awaitable[Any]]
SLEEP = Query("SELECT pg_sleep(600)", {})


@pytest.fixture(scope="module")
def url(databases: Databases) -> str:
    return databases.clone(f"pool_{os.getpid()}")


@pytest.fixture
def run(url: str) -> Callable[[Work], Any]:
    async def with_pool(work: Work) -> Any:
        async with make_pool(url, size=4) as pool:
            return await work(pool)

    return lambda work: asyncio.run(with_pool(work))


async def lent(pool: Pool, count: int) -> list[int]:
    """Lend so many at once, each to a tenant of its own, and tell which they are."""
    async with AsyncExitStack() as stack:
        connections = [
            await stack.enter_async_context(pool.connection(number)) for number in range(count)
        ]
        return [pid(connection) for connection in connections]


def pid(connection: Connection) -> int:
    return connection.pgconn.backend_pid


class TestLending:
    def test_the_one_used_last_comes_first(self, run: Any) -> None:
        async def work(pool: Pool) -> None:
            first, *_ = await lent(pool, 3)  # They come back in the opposite order.
            for _ in range(3):
                assert await lent(pool, 1) == [first]

        run(work)

    def test_the_pool_keeps_as_many_connections_as_were_needed_together(self, run: Any) -> None:
        async def work(pool: Pool) -> None:
            assert set(await lent(pool, 2)) == set(await lent(pool, 2))

        run(work)

    def test_a_terminated_connection_is_replaced(self, run: Any, url: str) -> None:
        async def work(pool: Pool) -> None:
            ended = await lent(pool, 3)
            with psycopg.connect(url) as owner:
                waiting = "SELECT pg_terminate_backend(pid, 5000) FROM unnest(%s) AS pid"
                owner.execute(waiting, (ended,))
            assert not set(await lent(pool, 3)) & set(ended)

        run(work)

    def test_a_connection_beyond_its_lifetime_is_replaced(
        self, run: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        async def work(pool: Pool) -> None:
            [old] = await lent(pool, 1)
            monkeypatch.setattr("persistence.engine.pool.LIFETIME_SECONDS", 0.0)
            assert await lent(pool, 1) != [old]

        run(work)


class TestWriting:
    @pytest.mark.parametrize(
        ("tenants", "at_once"), [(("a",), 2), (("a", "b"), 4), (("a", "b", "c"), 4)]
    )
    def test_writings_have_half_of_them_and_those_of_one_tenant_a_quarter(
        self, url: str, tenants: tuple[str, ...], at_once: int
    ) -> None:
        busy, most = 0, 0

        async def write(pool: Pool, tenant: str) -> None:
            nonlocal busy, most
            async with pool.connection(tenant, writes=True):
                busy += 1
                most = max(most, busy)
                await asyncio.sleep(0.02)
                async with asyncio.timeout(5), pool.connection(tenant):
                    pass  # Whoever reads is let in beside those who write.
                busy -= 1

        async def all_at_once() -> None:
            async with make_pool(url, size=8) as pool:
                await asyncio.gather(*(write(pool, each) for each in tenants * 6))
                assert pool.occupancy.lent == pool.occupancy.waiting == 0

        asyncio.run(all_at_once())
        assert most == at_once


class TestGivingBack:
    @pytest.mark.parametrize("text", ["SELECT 1", "SELECT 1 / 0"])
    def test_an_open_transaction_is_rolled_back(self, run: Any, text: str) -> None:
        async def work(pool: Pool) -> None:
            async with pool.connection() as connection:
                await connection.execute("BEGIN")
                with suppress(psycopg.errors.DivisionByZero):
                    await connection.execute(text)
            async with pool.connection() as again:
                assert again is connection
                assert again.info.transaction_status == psycopg.pq.TransactionStatus.IDLE

        run(work)

    def test_a_cancelled_caller_returns_its_permit_and_closes_its_connection(
        self, run: Any
    ) -> None:
        async def work(pool: Pool) -> None:
            async def asking(query: Query) -> int:
                async with pool.connection("one") as connection:
                    await execute_pipeline(connection, [query])
                    return pid(connection)

            before = await asking(Query("SELECT 1", {}))
            for _ in range(3):  # More than one tenant may hold at once.
                with pytest.raises(TimeoutError):
                    await asyncio.wait_for(asking(SLEEP), 0.2)
            assert await asking(Query("SELECT 1", {})) != before

        run(work)
