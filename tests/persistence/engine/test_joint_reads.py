"""Handlers side by side: shared round trips, results in order, and the end of all at an error."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import psycopg
import pytest

from persistence.engine import joint_reads
from persistence.engine.joint_reads import JointRead, run_side_by_side
from persistence.engine.pool import make_pool
from persistence.engine.sql import Query
from tests.api_server import ApiServer

Handler = Coroutine[Any, Any, Any]


@pytest.fixture
def run(api_server: ApiServer) -> Callable[..., list[Any]]:
    """Run handlers on a connection; return their results."""

    def run(*handlers: Handler) -> list[Any]:
        async def go() -> list[Any]:
            async with (
                make_pool(api_server.database_url, size=1) as pool,
                pool.connection() as connection,
            ):
                return await run_side_by_side(connection, handlers)

        return asyncio.run(go())

    return run


def number(value: int) -> Query:
    return Query("SELECT %(value)s::integer AS value", {"value": value})


async def reader(*rounds: list[int]) -> list[list[int]]:
    """Read the numbers of each round; return those that the database returned."""
    found = []
    for numbers in rounds:
        results = await JointRead([number(each) for each in numbers])
        found.append([result.rows[0]["value"] for result in results])
    return found


class TestHandlers:
    def test_each_has_its_own_results_in_as_few_round_trips_as_the_longest(
        self, run: Callable[..., list[Any]], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        sent = []

        async def counted(connection: Any, queries: Any) -> Any:
            sent.append(len(queries))
            return await execute(connection, queries)

        execute = joint_reads.execute_pipeline
        monkeypatch.setattr(joint_reads, "execute_pipeline", counted)
        read = [[[1], [2, 3], [4]], [], [[5, 6]], [[], [7]]]
        assert run(*(reader(*rounds) for rounds in read)) == read
        assert sent == [3, 3, 1, 0]

    def test_an_error_of_one_ends_all(self, run: Callable[..., list[Any]]) -> None:
        ended = []

        async def waits() -> None:
            try:
                await reader([1], [2])
            finally:
                ended.append("waits")

        async def fails() -> None:
            await reader([1])
            raise ValueError("wrong")

        with pytest.raises(ValueError, match="wrong"):
            run(waits(), fails(), waits())
        assert ended == ["waits", "waits"]

    def test_an_error_of_the_database_ends_all(self, run: Callable[..., list[Any]]) -> None:
        async def fails() -> None:
            await JointRead([Query("SELECT 1 / 0 AS value", {})])

        with pytest.raises(psycopg.errors.DivisionByZero):
            run(reader([1]), fails())
