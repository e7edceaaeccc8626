"""The rows of upkeep: the lease of the one worker that does it, and the answers that it deletes.

One row is the lease: it has the worker, the end of the lease, and the last business done. If the
worker dies, another one takes over and continues from there. An advisory lock would not do: behind
a pooler it ends with its transaction, and no transaction may last while files are listed.
"""

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from uuid import UUID, uuid4

from persistence.engine.idempotency import MOST_FORGOTTEN, forgetting, forgetting_of_partners
from persistence.engine.pipeline import execute_pipeline
from persistence.engine.pool import Pool
from persistence.engine.sessions import COMMIT
from persistence.engine.sql import Query, Row
from persistence.engine.topology import BEGIN

# The longest lease of a worker, which renews it after each business: the limit for one business.
LONGEST_SILENCE = timedelta(minutes=1)
MOST_LISTED = 100

# The clock of the database, since those of servers differ. An unfinished round is continued.
_TAKE = """
UPDATE upkeep SET
  held_by = %(worker)s, held_until = clock_timestamp() + %(length)s, ended_at = NULL,
  begun_at = CASE WHEN ended_at IS NULL THEN begun_at ELSE clock_timestamp() END,
  after_id = CASE WHEN ended_at IS NULL THEN after_id END,
  businesses = CASE WHEN ended_at IS NULL THEN businesses ELSE 0 END,
  answers = CASE WHEN ended_at IS NULL THEN answers ELSE 0 END,
  files = CASE WHEN ended_at IS NULL THEN files ELSE 0 END,
  records = CASE WHEN ended_at IS NULL THEN records ELSE 0 END,
  failures = CASE WHEN ended_at IS NULL THEN failures ELSE 0 END
WHERE (held_by = %(worker)s OR held_until < clock_timestamp())
  AND (ended_at IS NULL OR ended_at + %(every)s <= clock_timestamp())
RETURNING after_id
"""
_RENEW = """
UPDATE upkeep SET
  held_until = clock_timestamp() + %(length)s, after_id = %(after_id)s,
  businesses = businesses + 1, answers = answers + %(answers)s, files = files + %(files)s,
  records = records + %(records)s, failures = failures + %(failures)s
WHERE held_by = %(worker)s AND ended_at IS NULL RETURNING after_id
"""
_END = """
UPDATE upkeep SET
  ended_at = clock_timestamp(), held_until = clock_timestamp(), answers = answers + %(answers)s
WHERE held_by = %(worker)s AND ended_at IS NULL
RETURNING businesses, answers, files, records, failures,
          extract(epoch FROM ended_at - begun_at)::float8 AS seconds
"""
_NEXT = """
SELECT id FROM business WHERE %(after_id)s::uuid IS NULL OR id > %(after_id)s::uuid
ORDER BY id LIMIT %(most)s
"""


class LeaseLost(Exception):
    """The lease of this worker has expired, and another worker has taken over."""


@dataclass(frozen=True, slots=True)
class UpkeepRound:
    """A round to be done; `after_id` is the last business done by a worker that died."""

    after_id: UUID | None


@dataclass(frozen=True, slots=True)
class UpkeepLease:
    """The lease of one worker on the upkeep of all servers, which is due after each `every`."""

    pool: Pool
    every: timedelta
    worker: UUID = field(default_factory=uuid4)

    @property
    def length(self) -> timedelta:
        """The time after which another worker takes over, unless the lease is renewed."""
        return min(self.every, LONGEST_SILENCE)

    async def take(self) -> UpkeepRound | None:
        """Take the lease if a round is due or unfinished, and no other worker has it."""
        row = await self._execute(_TAKE, every=self.every)
        return None if row is None else UpkeepRound(row["after_id"])

    async def renew(
        self, after_id: UUID, *, answers: int, files: int, records: int, failures: int
    ) -> None:
        """Record that a business is done, with its counts, and renew the lease.

        Raises LeaseLost.
        """
        counts = {"answers": answers, "files": files, "records": records, "failures": failures}
        if await self._execute(_RENEW, after_id=after_id, **counts) is None:
            raise LeaseLost

    async def end(self, *, answers: int) -> Row:
        """End the round and the lease, and return the counts of the round; raises LeaseLost."""
        counts = await self._execute(_END, answers=answers)
        if counts is None:
            raise LeaseLost
        return counts

    async def _execute(self, text: str, **parameters: object) -> Row | None:
        query = Query(text, {"worker": self.worker, "length": self.length, **parameters})
        async with self.pool.connection() as connection:
            [result] = await execute_pipeline(connection, [query])
        return result.rows[0] if result.rows else None


async def every_business(pool: Pool, after_id: UUID | None = None) -> AsyncIterator[UUID]:
    """Yield the ids of all businesses in ascending order, or of those after an id."""
    while True:
        async with pool.connection() as connection:
            query = Query(_NEXT, {"after_id": after_id, "most": MOST_LISTED})
            [found] = await execute_pipeline(connection, [query])
        for row in found.rows:
            yield row["id"]
        if len(found.rows) < MOST_LISTED:
            return
        after_id = found.rows[-1]["id"]


async def delete_expired_answers(pool: Pool, business_id: UUID, now: datetime) -> int:
    """Delete the expired answers of a business, in several transactions; return their number."""
    count = 0
    while True:
        async with pool.connection() as connection:
            confined = connection.machines.set_tenant(business_id)
            steps = [BEGIN, confined, forgetting(business_id, now), COMMIT]
            results = await execute_pipeline(connection, steps)
        count += results[2].affected
        if results[2].affected < MOST_FORGOTTEN:
            return count


async def delete_expired_answers_of_partners(pool: Pool, now: datetime) -> int:
    """Delete the expired answers of requests at partner level; return their number."""
    async with pool.connection() as connection:
        [result] = await execute_pipeline(connection, [forgetting_of_partners(now)])
    return result.affected
