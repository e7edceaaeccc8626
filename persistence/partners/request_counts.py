"""Request counts per minute, shared between all workers for the rate limits.

A worker writes its own rows and reads those of the others in one statement. The table is unlogged:
its rows have no use after the minute or after a crash.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from uuid import uuid4

from persistence.engine.pipeline import execute_pipeline
from persistence.engine.pool import Pool
from persistence.engine.sql import Query

# The row with the empty name marks a worker as active.
_REPORT = """
WITH reported AS (
  INSERT INTO request_count (minute, name, worker, counted)
  SELECT %(minute)s, own.name, %(worker)s, own.counted
  FROM unnest(%(names)s::text[], %(counts)s::bigint[]) AS own (name, counted)
  ON CONFLICT (minute, name, worker) DO UPDATE SET counted = excluded.counted
)
SELECT name, sum(counted)::bigint AS counted FROM request_count
WHERE minute = %(minute)s AND name = ANY(%(names)s) AND name <> '' AND worker <> %(worker)s
GROUP BY name
UNION ALL
SELECT '', count(DISTINCT worker) FROM request_count
WHERE minute IN (%(minute)s, %(minute)s - 1) AND name = '' AND worker <> %(worker)s
"""
# Old rows of this worker, and those of workers that have ended.
_FORGET = """
DELETE FROM request_count
WHERE minute < %(minute)s - 1 AND worker = %(worker)s OR minute < %(minute)s - 10
"""


@dataclass(frozen=True, slots=True)
class OthersCounts:
    """The number of workers, including this one, and the others' counts by name."""

    workers: int
    counts: Mapping[str, int]


class RequestCounts:
    """The exchange of counts between one worker and the others."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._worker = uuid4()
        self._minute = 0

    async def report(self, minute: int, counts: Mapping[str, int]) -> OthersCounts:
        """Publish this worker's counts by name, and return those of the others.

        `minute` is the number of minutes since 1970. The first call in a minute deletes older rows.
        Errors of psycopg and of the pool are passed on.
        """
        own = {"": 0, **counts}
        values = {
            "minute": minute,
            "worker": self._worker,
            "names": list(own),
            "counts": list(own.values()),
        }
        queries = [Query(_REPORT, values)]
        if minute != self._minute:
            queries.append(Query(_FORGET, {"minute": minute, "worker": self._worker}))
        async with self._pool.connection("request counts") as connection:
            rows = (await execute_pipeline(connection, queries))[0].rows
        self._minute = minute
        others = {row["name"]: row["counted"] for row in rows}
        return OthersCounts(others.pop("", 0) + 1, others)
