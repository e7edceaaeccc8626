"""What each worker has let through in a minute: written for the others, and read from them.

One statement for all that a worker has to say at a time, about rows that nobody else writes. The
table is not logged: what is in it is worth nothing after the minute, nor after a crash.
"""

from collections.abc import Mapping
from uuid import uuid4

from accounting.values import dataclass
from persistence.engine.pipeline import exchange
from persistence.engine.pool import Pool
from persistence.engine.sql import Query

# Under no name a worker says that it is there.
_TELL = """
WITH told AS (
  INSERT INTO request_count (minute, name, worker, counted)
  SELECT %(minute)s, said.name, %(worker)s, said.counted
  FROM unnest(%(names)s::text[], %(counts)s::bigint[]) AS said (name, counted)
  ON CONFLICT (minute, name, worker) DO UPDATE SET counted = excluded.counted
)
SELECT name, sum(counted)::bigint AS counted FROM request_count
WHERE minute = %(minute)s AND name = ANY(%(names)s) AND name <> '' AND worker <> %(worker)s
GROUP BY name
UNION ALL
SELECT '', count(DISTINCT worker) FROM request_count
WHERE minute IN (%(minute)s, %(minute)s - 1) AND name = '' AND worker <> %(worker)s
"""
# Its own; and those of workers that are gone.
_FORGET = """
DELETE FROM request_count
WHERE minute < %(minute)s - 1 AND worker = %(worker)s OR minute < %(minute)s - 10
"""


@dataclass(frozen=True, slots=True)
class OthersCounts:
    """How many workers there are, this one too, and what the others have counted by name."""

    workers: int
    counts: Mapping[str, int]


class RequestCounts:
    """One worker's word with the others."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._worker = uuid4()
        self._minute = 0

    async def tell(self, minute: int, counts: Mapping[str, int]) -> OthersCounts:
        """Say what this worker has counted by name; raises what psycopg and the pool raise.

        `minute` is that since 1970; with the first word in one, what is older is forgotten.
        """
        said = {"": 0, **counts}
        told = {
            "minute": minute,
            "worker": self._worker,
            "names": list(said),
            "counts": list(said.values()),
        }
        asked = [Query(_TELL, told)]
        if minute != self._minute:
            asked.append(Query(_FORGET, {"minute": minute, "worker": self._worker}))
        async with self._pool.connection("request counts") as connection:
            rows = (await exchange(connection, asked))[0].rows
        self._minute = minute
        heard = {row["name"]: row["counted"] for row in rows}
        return OthersCounts(heard.pop("", 0) + 1, heard)
