"""Handlers that run side by side, so that their reads share round trips."""

from collections.abc import Coroutine, Generator, Sequence
from itertools import islice
from typing import Any, TypeVar

from persistence.engine.pipeline import Connection, Result, execute_pipeline
from persistence.engine.sql import Query

T = TypeVar("T")


class JointRead:
    """The reads of one handler that wait for those of the handlers beside it."""

    def __init__(self, queries: list[Query]) -> None:
        self.queries = queries

    def __await__(self) -> Generator["JointRead", list[Result], list[Result]]:
        return (yield self)


async def run_side_by_side(
    connection: Connection, handlers: Sequence[Coroutine[Any, Any, T]]
) -> list[T]:
    """Run handlers whose sessions are `side_by_side`; return their results in order.

    All wait for their reads, which are one round trip; then all go on, in their order. They await
    nothing else. The first error ends all.
    """
    ended: dict[int, T] = {}
    found: dict[int, list[Result] | None] = dict.fromkeys(range(len(handlers)))
    try:
        while found:
            asked: dict[int, list[Query]] = {}
            for place, results in found.items():
                try:
                    asked[place] = handlers[place].send(results).queries
                except StopIteration as end:
                    ended[place] = end.value
            sent = [query for queries in asked.values() for query in queries]
            left = iter(await execute_pipeline(connection, sent))
            found = {place: [*islice(left, len(asked[place]))] for place in asked}
    finally:
        for each in handlers:
            each.close()
    return [ended[place] for place in range(len(handlers))]
