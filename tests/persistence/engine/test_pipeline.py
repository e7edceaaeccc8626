"""Statements sent together: results, errors, prepared statements, and sessions that end."""

import asyncio
import os
from collections.abc import Iterator
from contextlib import AsyncExitStack
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

Rows = list[dict[str, Any]]


@pytest.fixture(scope="module")
def url(databases: Databases) -> str:
    return databases.clone(f"pipeline_{os.getpid()}")


class Session:
    """A connection of a pool, and its event loop."""

    def __init__(self, runner: asyncio.Runner, connection: Connection) -> None:
        self.runner = runner
        self.connection = connection

    def exchange(self, *queries: Query) -> list[Any]:
        """Send statements in one exchange; return their results."""
        return self.runner.run(execute_pipeline(self.connection, queries))

    def rows(self, text: str, **parameters: Any) -> Rows:
        """Send one statement; return its rows."""
        [result] = self.exchange(query(text, **parameters))
        rows: Rows = result.rows
        return rows

    def prepared(self) -> int:
        """Return how many statements are prepared in the session."""
        [row] = self.rows("SELECT count(*) AS n FROM pg_prepared_statements")
        return int(row["n"])


@pytest.fixture
def session(url: str) -> Iterator[Session]:
    stack = AsyncExitStack()

    async def connect() -> Connection:
        pool = await stack.enter_async_context(make_pool(url, size=1))
        return await stack.enter_async_context(pool.connection())

    with asyncio.Runner() as runner:
        yield Session(runner, runner.run(connect()))
        runner.run(stack.aclose())


def query(text: str, **parameters: Any) -> Query:
    return Query(text, parameters)


async def have_asleep(url: str, count: int) -> bool:
    """Wait until so many sessions execute `pg_sleep`; return whether they do."""

    def asleep() -> bool:
        with psycopg.connect(url) as owner:
            sessions = "SELECT FROM pg_stat_activity WHERE wait_event = 'PgSleep'"
            found = owner.execute(f"{sessions} AND datname = current_database()")
            return found.rowcount == count

    return await asyncio.to_thread(within, PATIENCE_SECONDS, asleep)


class TestNumbered:
    def test_a_name_that_is_given_twice_has_one_place(self) -> None:
        assert numbered("a = %(x)s OR b = %(y)s OR c = %(x)s") == (
            b"a = $1 OR b = $2 OR c = $1",
            ("x", "y"),
        )

    def test_a_doubled_percent_sign_is_one(self) -> None:
        assert numbered("a LIKE '%%' || %(x)s || '%%'")[0] == b"a LIKE '%' || $1 || '%'"


class TestExchange:
    def test_results_come_in_the_order_of_their_statements(self, session: Session) -> None:
        first, second, third = session.exchange(
            query("SELECT %(a)s::int AS a, NULL::text AS b", a=1),
            query("SET LOCAL lock_timeout = 0"),
            query("SELECT unnest(%(ids)s::uuid[]) AS id", ids=[UUID(int=1), UUID(int=2)]),
        )
        assert first.rows == [{"a": 1, "b": None}]
        assert second.rows == []
        assert third.rows == [{"id": UUID(int=1)}, {"id": UUID(int=2)}]
        assert third.affected == 2

    def test_a_repeated_statement_reads_the_same(self, session: Session) -> None:
        read = [session.rows("SELECT %(a)s::text AS a", a="ö%") for _ in range(3)]
        assert read == [[{"a": "ö%"}]] * 3

    def test_a_change_returns_the_number_of_its_rows(self, session: Session) -> None:
        session.rows("CREATE TEMP TABLE t AS SELECT generate_series(1, 7) AS n")
        [changed] = session.exchange(query("UPDATE t SET n = n + 1 WHERE n > %(least)s", least=3))
        assert changed.affected == 4

    def test_statements_without_begin_share_one_transaction(self, session: Session) -> None:
        setting = query("SELECT set_config('app.business_id', 'x', true)")
        reading = query("SELECT current_setting('app.business_id', true) AS value")
        inside = session.exchange(setting, reading)
        after = session.exchange(reading)
        assert (inside[1].rows, after[0].rows) == ([{"value": "x"}], [{"value": ""}])

    def test_the_first_error_is_raised_and_nothing_is_kept(self, session: Session) -> None:
        session.rows("CREATE TEMP TABLE kept (n int PRIMARY KEY)")
        insert = query("INSERT INTO kept VALUES (%(n)s::int)", n=1)
        with pytest.raises(errors.UniqueViolation) as raised:
            session.exchange(insert, insert, query("SELECT 1 / 0"))
        assert raised.value.diag.constraint_name == "kept_pkey"
        assert session.rows("SELECT count(*) AS n FROM kept") == [{"n": 0}]

    def test_a_statement_that_cannot_be_prepared_is_tried_again(self, session: Session) -> None:
        late = query("SELECT n FROM late")
        for _ in range(2):
            with pytest.raises(errors.UndefinedTable):
                session.exchange(late, query("SELECT 'never prepared'"))
        session.rows("CREATE TEMP TABLE late AS SELECT 5 AS n")
        first, second = session.exchange(late, query("SELECT 'never prepared' AS word"))
        assert (first.rows, second.rows) == ([{"n": 5}], [{"word": "never prepared"}])

    def test_a_failed_transaction_goes_back_to_its_savepoint(self, session: Session) -> None:
        session.exchange(query("BEGIN"), query("SELECT 1 AS n"), query("SAVEPOINT s"))
        with pytest.raises(errors.DivisionByZero):
            session.rows("SELECT 1 / 0")
        back = query("ROLLBACK TO SAVEPOINT s"), query("SELECT 2 AS n"), query("COMMIT")
        assert session.exchange(*back)[1].rows == [{"n": 2}]

    def test_a_prepared_statement_outlives_a_rollback(self, session: Session) -> None:
        session.exchange(query("BEGIN"), query("SELECT 1"))
        before = session.prepared()
        session.runner.run(session.connection.rollback())
        assert (before, session.prepared()) == (3, 3)

    def test_values_of_different_types_are_prepared_apart(self, session: Session) -> None:
        values = [1, 2**40, None, "one"]
        read = [session.rows("SELECT %(n)s AS n", n=value) for value in values]
        assert read == [[{"n": value}] for value in values]

    def test_the_least_used_statement_is_dropped(
        self, session: Session, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(pipeline, "MOST_PREPARED", 5)
        for number in range(20):
            assert session.rows(f"SELECT {number} AS n") == [{"n": number}]
        session.exchange(*(query(f"SELECT {number} AS n") for number in range(20)))
        session.prepared()
        assert session.prepared() == 5

    def test_a_value_that_cannot_be_sent_leaves_the_connection_as_it_was(
        self, session: Session
    ) -> None:
        with pytest.raises(psycopg.DataError):
            session.exchange(query("BEGIN"), query("SELECT %(a)s", a="\0"))
        assert session.rows("SELECT 1 AS n") == [{"n": 1}]

    def test_megabytes_travel_both_ways_at_once(self, session: Session) -> None:
        results = session.exchange(*[query("SELECT %(a)s::text AS a", a="x" * 3_000_000)] * 4)
        assert [len(each.rows[0]["a"]) for each in results] == [3_000_000] * 4

    def test_a_terminated_session_raises_its_error(self, session: Session, url: str) -> None:
        def end_sessions() -> None:
            with psycopg.connect(url) as owner:
                owner.execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                    " WHERE datname = current_database() AND pid <> pg_backend_pid()"
                )

        async def terminated() -> None:
            asked = [query("SELECT pg_sleep(30)"), query("SELECT 1")]
            waiting = asyncio.create_task(execute_pipeline(session.connection, asked))
            assert await have_asleep(url, 1)
            await asyncio.to_thread(end_sessions)
            await waiting

        with pytest.raises(errors.AdminShutdown):
            session.runner.run(terminated())
        with pytest.raises(psycopg.OperationalError):
            session.rows("SELECT 1")
        assert session.connection.broken

    def test_a_cancelled_exchange_closes_the_connection_immediately(
        self, session: Session, url: str
    ) -> None:
        async def cancelled() -> bool:
            asked = [query("SELECT pg_sleep(600)")]
            sleeping = asyncio.create_task(execute_pipeline(session.connection, asked))
            assert await have_asleep(url, 1)
            sleeping.cancel()
            await asyncio.wait([sleeping])
            assert session.connection.closed
            # The server notices, although the statement has not ended.
            return await have_asleep(url, 0)

        assert session.runner.run(cancelled())

    def test_the_loop_watches_no_socket_that_is_closed(self, session: Session) -> None:
        session.rows("SELECT 1")
        socket = session.connection.fileno()
        session.runner.run(session.connection.close())
        assert session.runner.get_loop().remove_reader(socket) is False
