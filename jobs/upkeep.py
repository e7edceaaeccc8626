"""Upkeep: periodic background work, done by one worker for all servers.

It deletes expired answers, old deliveries of webhooks and files without a record, seals audit
trails, and writes the events of overdue documents, one business after the other, in short
transactions of the server's own role. The worker has a lease, which also says how far the round is
(`persistence/partners/upkeep_rows.py`).
"""

import asyncio
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from random import uniform
from time import monotonic
from uuid import UUID

import structlog

from persistence.engine.pool import Pool
from persistence.engine.sql import Row
from persistence.feed.overdue import record_overdue
from persistence.files.blobs import Blobs
from persistence.files.sweep import sweep
from persistence.integrity.seals import seal
from persistence.partners.upkeep_rows import (
    LeaseLost,
    UpkeepLease,
    delete_expired_answers,
    delete_expired_answers_of_partners,
    every_business,
)
from persistence.partners.webhook_upkeep import delete_old_deliveries

LONGEST_PAUSE_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class UpkeepResult:
    """The result of upkeep in a business.

    `answers` is the number of deleted answers, `seen` the number of stored contents, `files` the
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
    if not only_look:
        await record_overdue(pool, business_id, now)
    answers = 0 if only_look else await delete_expired_answers(pool, business_id, now)
    records = 0 if only_look else await seal(pool, business_id)
    swept = await sweep(pool, blobs, business_id, now, only_look=only_look)
    return UpkeepResult(answers, swept.seen, swept.left_behind, records)


class Upkeep:
    """The upkeep in one worker: it checks periodically whether a round is due, and runs it."""

    def __init__(self, pool: Pool, blobs: Blobs, every: timedelta) -> None:
        self.pool = pool
        self.blobs = blobs
        self.lease = UpkeepLease(pool, every)
        self.rounds = 0  # The number of completed rounds.

    async def run(self) -> None:
        """Run due rounds until the task is cancelled."""
        log = structlog.get_logger("accounting.upkeep")
        while True:
            await asyncio.sleep(self.lease.length.total_seconds() * uniform(0.5, 1))
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

        Raises LeaseLost.
        """
        taken = await self.lease.take()
        if taken is None:
            return None
        async for business_id in every_business(self.pool, taken.after_id):
            began = monotonic()
            await self._go_on(business_id)
            # Requests have priority: upkeep works at most half of the time.
            await asyncio.sleep(min(monotonic() - began, LONGEST_PAUSE_SECONDS))
        now = datetime.now(UTC)
        answers = await delete_expired_answers_of_partners(self.pool, now)
        await delete_old_deliveries(self.pool, now)
        done = await self.lease.end(answers=answers)
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
        await self.lease.renew(
            business_id,
            answers=tidied.answers,
            files=len(tidied.files),
            records=tidied.records,
            failures=failures,
        )
