import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any
from uuid import UUID

import psycopg
import pytest
from psycopg import errors

from persistence.engine import pipeline
from persistence.engine.pipeline import Connection, execute_pipeline, numbered
from persistence.engine.pool import make_pool
from persistence.engine.sql import Query
from tests.api_server import Databases
from tests.partner import PATIENCE_SECONDS, within

Work = Callable[[Connection], Awaitable[Any]]


@pytest.fixture(scope="module")
def url(databases: Databases) -> str:
    return databases.clone(f"pipeline_{os.getpid()}")


@pytest.fixture(scope="module")
def run(url: str) -> Callable[[Work], Any]:
    async def with_connection(work: Work) -> Any:
        async with opened(url) as connection:
            return await work(connection)

    return lambda work: asyncio.run(with_connection(work))


@asynccontextmanager
async def opened(url: str) -> AsyncIterator[Connection]:
    async with make_pool(url, size=1) as pool, pool.connection() as connection:
        yield connection


def query(text: str, **parameters: Any) -> Query:
    return Query(text, parameters)


async def prepared(connection: Connection) -> int:
    counting = query("SELECT count(*) AS n FROM pg_prepared_statements")
    [found] = await execute_pipeline(connection, [counting])
    return int(found.rows[0]["n"])


class TestNumbered:
    def test_a_name_that_is_given_twice_has_one_place(self) -> None:
        assert numbered("a = %(x)s OR b = %(y)s OR c = %(x)s") == (
            b"a = $1 OR b = $2 OR c = $1",
            ("x", "y"),
        )

    def test_a_doubled_percent_sign_is_one(self) -> None:
        assert numbered("a LIKE '%%' || %(x)s || '%%'")[0] == b"a LIKE '%' || $1 || '%'"


class TestExchange:
    def test_results_come_in_the_order_of_their_statements(self, run: Any) -> None:
        async def work(connection: Connection) -> Any:
            return await execute_pipeline(
                connection,
                [
                    query("SELECT %(a)s::int AS a, NULL::text AS b", a=1),
                    query("SET LOCAL lock_timeout = 0"),
                    query("SELECT unnest(%(ids)s::uuid[]) AS id", ids=[UUID(int=1), UUID(int=2)]),
                ],
            )

        first, second, third = run(work)
        assert first.rows == [{"a": 1, "b": None}]
        assert second.rows == []
        assert third.rows == [{"id": UUID(int=1)}, {"id": UUID(int=2)}]
        assert third.affected == 2

    def test_the_second_time_reads_the_same(self, run: Any) -> None:
        async def work(connection: Connection) -> Any:
            asked = [query("SELECT %(a)s::text AS a", a="ö%")]
            return [(await execute_pipeline(connection, asked))[0].rows for _ in range(3)]

        assert run(work) == [[{"a": "ö%"}]] * 3

    def test_a_change_tells_how_many_rows_it_touched(self, run: Any) -> None:
        async def work(connection: Connection) -> Any:
            made = query("CREATE TEMP TABLE t AS SELECT generate_series(1, 7) AS n")
            changed = query("UPDATE t SET n = n + 1 WHERE n > %(least)s", least=3)
            await execute_pipeline(connection, [made])
            return await execute_pipeline(connection, [changed])

        assert run(work)[0].affected == 4

    def test_without_begin_the_statements_share_one_transaction(self, run: Any) -> None:
        async def work(connection: Connection) -> Any:
            setting = query("SELECT set_config('app.business_id', 'x', true)")
            reading = query("SELECT current_setting('app.business_id', true) AS value")
            inside = await execute_pipeline(connection, [setting, reading])
            after = await execute_pipeline(connection, [reading])
            return inside[1].rows, after[0].rows

        assert run(work) == ([{"value": "x"}], [{"value": ""}])

    def test_the_first_error_is_raised_and_nothing_of_it_is_kept(self, run: Any) -> None:
        async def work(connection: Connection) -> Any:
            await execute_pipeline(
                connection, [query("CREATE TEMP TABLE kept (n int PRIMARY KEY)")]
            )
            insert = query("INSERT INTO kept VALUES (%(n)s::int)", n=1)
            with pytest.raises(errors.UniqueViolation) as raised:
                await execute_pipeline(connection, [insert, insert, query("SELECT 1 / 0")])
            [left] = await execute_pipeline(connection, [query("SELECT count(*) AS n FROM kept")])
            return raised.value.diag.constraint_name, left.rows

        assert run(work) == ("kept_pkey", [{"n": 0}])

    def test_a_statement_that_cannot_be_prepared_is_tried_anew(self, run: Any) -> None:
        async def work(connection: Connection) -> Any:
            late = query("SELECT n FROM late")
            for _ in range(2):
                with pytest.raises(errors.UndefinedTable):
                    await execute_pipeline(connection, [late, query("SELECT 'never prepared'")])
            await execute_pipeline(connection, [query("CREATE TEMP TABLE late AS SELECT 5 AS n")])
            return await execute_pipeline(
                connection, [late, query("SELECT 'never prepared' AS word")]
            )

        first, second = run(work)
        assert (first.rows, second.rows) == ([{"n": 5}], [{"word": "never prepared"}])

    def test_a_failed_transaction_goes_back_to_its_savepoint(self, run: Any) -> None:
        async def work(connection: Connection) -> Any:
            begin = [query("BEGIN"), query("SELECT 1 AS n"), query("SAVEPOINT s")]
            await execute_pipeline(connection, begin)
            with pytest.raises(errors.DivisionByZero):
                await execute_pipeline(connection, [query("SELECT 1 / 0")])
            back = [query("ROLLBACK TO SAVEPOINT s"), query("SELECT 2 AS n"), query("COMMIT")]
            return (await execute_pipeline(connection, back))[1].rows

        assert run(work) == [{"n": 2}]

    def test_a_prepared_statement_outlives_a_rollback(self, run: Any) -> None:
        async def work(connection: Connection) -> Any:
            await execute_pipeline(connection, [query("BEGIN"), query("SELECT 1")])
            before = await prepared(connection)
            await connection.rollback()
            return before, await prepared(connection)

        assert run(work) == (3, 3)

    def test_values_of_different_types_are_prepared_apart(self, run: Any) -> None:
        async def work(connection: Connection) -> Any:
            asked = "SELECT %(n)s AS n"
            values = [1, 2**40, None, "one"]
            return [
                (await execute_pipeline(connection, [query(asked, n=value)]))[0].rows[0]["n"]
                for value in values
            ]

        assert run(work) == [1, 2**40, None, "one"]

    def test_the_least_used_statement_makes_room(
        self, run: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(pipeline, "MOST_PREPARED", 5)

        async def work(connection: Connection) -> Any:
            for place in range(20):
                [found] = await execute_pipeline(connection, [query(f"SELECT {place} AS n")])
                assert found.rows == [{"n": place}]
            await execute_pipeline(
                connection, [query(f"SELECT {place} AS n") for place in range(20)]
            )
            await prepared(connection)
            return await prepared(connection)

        assert run(work) == 5

    def test_a_value_that_cannot_be_sent_leaves_the_connection_as_it_was(self, run: Any) -> None:
        async def work(connection: Connection) -> Any:
            with pytest.raises(psycopg.DataError):
                await execute_pipeline(connection, [query("BEGIN"), query("SELECT %(a)s", a="\0")])
            return (await execute_pipeline(connection, [query("SELECT 1 AS n")]))[0].rows

        assert run(work) == [{"n": 1}]

    def test_megabytes_travel_both_ways_at_once(self, run: Any) -> None:
        async def work(connection: Connection) -> Any:
            text = "x" * 3_000_000
            asked = [query("SELECT %(a)s::text AS a", a=text)] * 4
            return [len(found.rows[0]["a"]) for found in await execute_pipeline(connection, asked)]

        assert run(work) == [3_000_000] * 4

    def test_a_session_that_is_ended_says_why(self, run: Any, url: str) -> None:
        def asks() -> bool:
            with psycopg.connect(url) as owner:
                sleeping = "SELECT FROM pg_stat_activity WHERE wait_event = 'PgSleep'"
                found = owner.execute(f"{sleeping} AND datname = current_database()")
                return found.rowcount == 1

        def end_sessions() -> None:
            with psycopg.connect(url) as owner:
                owner.execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                    " WHERE datname = current_database() AND pid <> pg_backend_pid()"
                )

        async def work(connection: Connection) -> Any:
            asked = execute_pipeline(connection, [query("SELECT pg_sleep(30)"), query("SELECT 1")])
            waiting = asyncio.create_task(asked)
            assert await asyncio.to_thread(within, PATIENCE_SECONDS, asks)
            await asyncio.to_thread(end_sessions)
            with pytest.raises(errors.AdminShutdown):
                await waiting
            with pytest.raises(psycopg.OperationalError):
                await execute_pipeline(connection, [query("SELECT 1")])
            return connection.broken

        assert run(work)

    def test_a_cancelled_exchange_closes_the_connection_immediately(
        self, run: Any, url: str
    ) -> None:
        def sessions() -> int:
            with psycopg.connect(url) as owner:
                asleep = "SELECT FROM pg_stat_activity WHERE wait_event = 'PgSleep'"
                return owner.execute(f"{asleep} AND datname = current_database()").rowcount

        async def work(connection: Connection) -> Any:
            sleeping = asyncio.create_task(
                execute_pipeline(connection, [query("SELECT pg_sleep(600)")])
            )
            assert await asyncio.to_thread(within, PATIENCE_SECONDS, lambda: sessions() == 1)
            sleeping.cancel()
            await asyncio.wait([sleeping])
            assert connection.closed
            # The server notices, although the statement has not ended.
            return await asyncio.to_thread(within, PATIENCE_SECONDS, lambda: sessions() == 0)

        assert run(work)

    def test_the_loop_watches_no_socket_that_is_closed(self, run: Any) -> None:
        async def work(connection: Connection) -> Any:
            await execute_pipeline(connection, [query("SELECT 1")])
            socket = connection.fileno()
            await connection.close()
            return asyncio.get_running_loop().remove_reader(socket)

        assert run(work) is False
