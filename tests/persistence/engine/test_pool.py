"""Connections of the pool: which one is leased, and its state after its return."""

import asyncio
import os
from collections.abc import Iterator
from contextlib import AsyncExitStack, suppress

import psycopg
import pytest

from persistence.engine.pipeline import Connection, execute_pipeline
from persistence.engine.pool import Pool, make_pool
from persistence.engine.sql import Query
from tests.api_server import Databases

ONE = Query("SELECT 1", {})
SLEEP = Query("SELECT pg_sleep(600)", {})


@pytest.fixture(scope="module")
def url(databases: Databases) -> str:
    return databases.clone(f"pool_{os.getpid()}")


class Lender:
    """A pool of four connections, and its event loop."""

    def __init__(self, runner: asyncio.Runner, pool: Pool) -> None:
        self.runner = runner
        self.pool = pool

    def lend(self, count: int) -> list[int]:
        """Acquire so many connections concurrently, each for its own tenant; return their pids."""

        async def lend() -> list[int]:
            async with AsyncExitStack() as stack:
                numbers = range(count)
                lent = [await stack.enter_async_context(self.pool.connection(n)) for n in numbers]
                return [pid(connection) for connection in lent]

        return self.runner.run(lend())


@pytest.fixture
def lender(url: str) -> Iterator[Lender]:
    stack = AsyncExitStack()
    with asyncio.Runner() as runner:
        yield Lender(runner, runner.run(stack.enter_async_context(make_pool(url, size=4))))
        runner.run(stack.aclose())


def pid(connection: Connection) -> int:
    return connection.pgconn.backend_pid


class TestLending:
    def test_the_connection_used_last_is_lent_first(self, lender: Lender) -> None:
        first, *_ = lender.lend(3)  # They are returned in the opposite order.
        for _ in range(3):
            assert lender.lend(1) == [first]

    def test_the_pool_keeps_as_many_connections_as_were_needed_together(
        self, lender: Lender
    ) -> None:
        assert set(lender.lend(2)) == set(lender.lend(2))

    def test_a_terminated_connection_is_replaced(self, lender: Lender, url: str) -> None:
        ended = lender.lend(3)
        with psycopg.connect(url) as owner:
            waiting = "SELECT pg_terminate_backend(pid, 5000) FROM unnest(%s) AS pid"
            owner.execute(waiting, (ended,))
        assert not set(lender.lend(3)) & set(ended)

    def test_a_connection_beyond_its_lifetime_is_replaced(
        self, lender: Lender, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        [old] = lender.lend(1)
        monkeypatch.setattr("persistence.engine.pool.LIFETIME_SECONDS", 0.0)
        assert lender.lend(1) != [old]


class TestWriting:
    @pytest.mark.parametrize(
        ("tenants", "at_once"), [(("a",), 2), (("a", "b"), 4), (("a", "b", "c"), 4)]
    )
    def test_writings_have_half_of_the_connections_and_a_tenant_a_quarter(
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
                    pass  # A reading gets a connection beside the writings.
                busy -= 1

        async def all_at_once() -> None:
            async with make_pool(url, size=8) as pool:
                await asyncio.gather(*(write(pool, each) for each in tenants * 6))
                assert pool.occupancy.lent == pool.occupancy.waiting == 0

        asyncio.run(all_at_once())
        assert most == at_once


class TestReturning:
    @pytest.mark.parametrize("text", ["SELECT 1", "SELECT 1 / 0"])
    def test_an_open_transaction_is_rolled_back(self, lender: Lender, text: str) -> None:
        async def work() -> None:
            async with lender.pool.connection() as connection:
                await connection.execute("BEGIN")
                with suppress(psycopg.errors.DivisionByZero):
                    await connection.execute(text)
            async with lender.pool.connection() as again:
                assert again is connection
                assert again.info.transaction_status == psycopg.pq.TransactionStatus.IDLE

        lender.runner.run(work())

    def test_a_cancelled_caller_returns_its_permit_and_closes_its_connection(
        self, lender: Lender
    ) -> None:
        async def use(query: Query) -> int:
            async with lender.pool.connection("one") as connection:
                await execute_pipeline(connection, [query])
                return pid(connection)

        before = lender.runner.run(use(ONE))
        for _ in range(3):  # A tenant may hold fewer.
            with pytest.raises(TimeoutError):
                lender.runner.run(asyncio.wait_for(use(SLEEP), 0.2))
        assert lender.runner.run(use(ONE)) != before
