"""Upkeep: periodic background work, done by one worker for all servers.

It deletes expired replies and files without a record, and seals audit trails, one business after
the other, in short transactions of the server's own role. One row is a lease: it has the worker,
the end of the lease, and the last business done. If the worker dies, another one takes over and
continues from there. An advisory lock would not do: behind a pooler it ends with its transaction,
and no transaction may last while files are listed.
"""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from random import uniform
from time import monotonic
from uuid import UUID, uuid4

import structlog

from persistence.engine.idempotency import MOST_FORGOTTEN, forgetting, forgetting_of_partners
from persistence.engine.pipeline import execute_pipeline
from persistence.engine.pool import Pool
from persistence.engine.sessions import COMMIT
from persistence.engine.sql import Query, Row
from persistence.engine.topology import BEGIN
from persistence.files.blobs import Blobs
from persistence.files.sweep import sweep
from persistence.integrity.seals import seal

# The longest lease of a worker, which renews it after each business: the limit for one business.
LONGEST_SILENCE = timedelta(minutes=1)
MOST_LISTED = 100
LONGEST_PAUSE_SECONDS = 1.0

# The clock of the database, since those of servers differ. An unfinished round is continued.
_TAKE = """
UPDATE upkeep SET
  held_by = %(me)s, held_until = clock_timestamp() + %(silence)s, ended_at = NULL,
  begun_at = CASE WHEN ended_at IS NULL THEN begun_at ELSE clock_timestamp() END,
  after_id = CASE WHEN ended_at IS NULL THEN after_id END,
  businesses = CASE WHEN ended_at IS NULL THEN businesses ELSE 0 END,
  answers = CASE WHEN ended_at IS NULL THEN answers ELSE 0 END,
  files = CASE WHEN ended_at IS NULL THEN files ELSE 0 END,
  records = CASE WHEN ended_at IS NULL THEN records ELSE 0 END,
  failures = CASE WHEN ended_at IS NULL THEN failures ELSE 0 END
WHERE (held_by = %(me)s OR held_until < clock_timestamp())
  AND (ended_at IS NULL OR ended_at + %(every)s <= clock_timestamp())
RETURNING after_id
"""
_GO_ON = """
UPDATE upkeep SET
  held_until = clock_timestamp() + %(silence)s, after_id = %(after_id)s,
  businesses = businesses + 1, answers = answers + %(answers)s, files = files + %(files)s,
  records = records + %(records)s, failures = failures + %(failures)s
WHERE held_by = %(me)s AND ended_at IS NULL RETURNING after_id
"""
_END = """
UPDATE upkeep SET
  ended_at = clock_timestamp(), held_until = clock_timestamp(), answers = answers + %(answers)s
WHERE held_by = %(me)s AND ended_at IS NULL
RETURNING businesses, answers, files, records, failures,
          extract(epoch FROM ended_at - begun_at)::float8 AS seconds
"""
_NEXT = """
SELECT id FROM business WHERE %(after_id)s::uuid IS NULL OR id > %(after_id)s::uuid
ORDER BY id LIMIT %(most)s
"""


@dataclass(frozen=True, slots=True)
class UpkeepResult:
    """The result of upkeep in a business.

    `answers` is the number of deleted replies, `seen` the number of stored contents, `files` the
    keys of those without a record, and `records` the number of sealed audit records.
    """

    answers: int = 0
    seen: int = 0
    files: tuple[str, ...] = ()
    records: int = 0


async def tidy(
    pool: Pool, blobs: Blobs, business_id: UUID, now: datetime, *, only_look: bool = False
) -> UpkeepResult:
    """Run the upkeep of one business; raises Unavailable if its files are unreachable.

    With `only_look`, it only lists files without a record.
    """
    answers = 0 if only_look else await _forget(pool, business_id, now)
    records = 0 if only_look else await seal(pool, business_id)
    swept = await sweep(pool, blobs, business_id, now, only_look=only_look)
    return UpkeepResult(answers, swept.seen, swept.left_behind, records)


async def forget_of_partners(pool: Pool, now: datetime) -> int:
    """Delete the expired replies of requests at partner level; return their number."""
    async with pool.connection() as connection:
        [result] = await execute_pipeline(connection, [forgetting_of_partners(now)])
    return result.affected


async def every_business(pool: Pool, after_id: UUID | None = None) -> AsyncIterator[UUID]:
    """Yield the ids of all businesses in ascending order, or of those after an id."""
    while True:
        async with pool.connection() as connection:
            asked = Query(_NEXT, {"after_id": after_id, "most": MOST_LISTED})
            [found] = await execute_pipeline(connection, [asked])
        for row in found.rows:
            yield row["id"]
        if len(found.rows) < MOST_LISTED:
            return
        after_id = found.rows[-1]["id"]


async def _forget(pool: Pool, business_id: UUID, now: datetime) -> int:
    """Delete the expired replies of a business, in several transactions; return their number."""
    count = 0
    while True:
        async with pool.connection() as connection:
            confined = connection.machines.set_tenant(business_id)
            steps = [BEGIN, confined, forgetting(business_id, now), COMMIT]
            results = await execute_pipeline(connection, steps)
        count += results[2].affected
        if results[2].affected < MOST_FORGOTTEN:
            return count


class LeaseLost(Exception):
    """The lease of this worker has expired, and another worker has taken over."""


@dataclass(slots=True)
class Upkeep:
    """The upkeep in one worker: it checks periodically whether a round is due, and runs it."""

    pool: Pool
    blobs: Blobs
    every: timedelta
    me: UUID = field(default_factory=uuid4)
    rounds: int = 0  # The number of completed rounds.

    async def run(self) -> None:
        """Run due rounds until the task is cancelled."""
        log = structlog.get_logger("accounting.upkeep")
        while True:
            await asyncio.sleep(self._silence.total_seconds() * uniform(0.5, 1))
            try:
                done = await self.look()
            except LeaseLost:
                log.warning("upkeep_followed")
            except Exception as error:  # The next try continues, here or elsewhere.
                log.error("upkeep_interrupted", reason=f"{type(error).__name__}: {error}"[:500])
            else:
                if done is not None:
                    log.info("upkeep_done", **done)

    async def look(self) -> Row | None:
        """Run a round that is due or unfinished, and return its counts; None if there is none.

        Raises Followed.
        """
        taken = await self._ask(_TAKE, every=self.every)
        if taken is None:
            return None
        async for business_id in every_business(self.pool, taken["after_id"]):
            began = monotonic()
            await self._go_on(business_id)
            # Requests have priority: upkeep works at most half of the time.
            await asyncio.sleep(min(monotonic() - began, LONGEST_PAUSE_SECONDS))
        answers = await forget_of_partners(self.pool, datetime.now(UTC))
        done = await self._ask(_END, answers=answers)
        if done is None:
            raise LeaseLost
        self.rounds += 1
        return done

    async def _go_on(self, business_id: UUID) -> None:
        """Run one business and renew the lease; a failure is logged and counted, not raised."""
        tidied, failures = UpkeepResult(), 0
        try:
            tidied = await tidy(self.pool, self.blobs, business_id, datetime.now(UTC))
        except Exception as error:
            failures = 1
            structlog.get_logger("accounting.upkeep").error(
                "upkeep_failed",
                business_id=str(business_id),
                reason=f"{type(error).__name__}: {error}"[:500],
            )
        told = await self._ask(
            _GO_ON,
            after_id=business_id,
            answers=tidied.answers,
            files=len(tidied.files),
            records=tidied.records,
            failures=failures,
        )
        if told is None:
            raise LeaseLost

    async def _ask(self, text: str, **told: object) -> Row | None:
        query = Query(text, {"me": self.me, "silence": self._silence, **told})
        async with self.pool.connection() as connection:
            [result] = await execute_pipeline(connection, [query])
        return result.rows[0] if result.rows else None

    @property
    def _silence(self) -> timedelta:
        return min(self.every, LONGEST_SILENCE)
