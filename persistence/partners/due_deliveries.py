"""Deliveries of webhooks that are due: a process claims and sends them, and records the attempts.

It holds a delivery by a lease, which it renews while it sends: when the process is killed, another
one takes over. Each function is one short transaction of its own.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from access.webhook_secrets import SealedSecret
from accounting.webhooks.attempts import Attempt, Outcome
from persistence.engine.pipeline import execute_pipeline
from persistence.engine.pool import Pool
from persistence.engine.sessions import COMMIT
from persistence.engine.sql import Query, Row
from persistence.engine.topology import BEGIN
from persistence.partners.event_placements import TENANT, execute
from persistence.partners.new_deliveries import as_json

LEASE: Final = timedelta(seconds=4)
MOST_CLAIMED_ENDPOINTS: Final = 500
MOST_AT_ONCE: Final = 10
MOST_AT_ONCE_FAILING: Final = 1


@dataclass(frozen=True, slots=True)
class ClaimedDelivery:
    """A delivery that this process sends, with its endpoint; `attempts` counts this one, too."""

    id: UUID
    endpoint_id: UUID
    event_id: UUID
    body: str
    attempts: int
    url: str
    failing_since: datetime | None
    secrets: tuple[SealedSecret, ...]


@dataclass(frozen=True, slots=True)
class FinishedAttempt:
    """An attempt that was made, and what follows from it."""

    delivery: ClaimedDelivery
    attempt: Attempt
    outcome: Outcome


# Their locks last for this transaction: two processes never count the places of one endpoint alike.
_LOCK_ENDPOINTS = """
SELECT h.endpoint_id, h.failing_since, e.url, (
  SELECT json_agg(json_build_array(s.key_name, encode(s.sealed, 'hex')) ORDER BY s.created_at DESC)
  FROM webhook_secret s
  WHERE s.endpoint_id = e.id
    AND (s.expires_at IS NULL OR s.expires_at > statement_timestamp())
) AS secrets
FROM webhook_endpoint e JOIN webhook_health h ON h.endpoint_id = e.id
WHERE e.status = 'active' AND NOT EXISTS (
    SELECT FROM partner p WHERE p.id = e.partner_id AND p.disabled_at IS NOT NULL
  )
  AND (h.slow_until IS NULL OR h.slow_until <= statement_timestamp())
  AND EXISTS (
    SELECT FROM webhook_delivery d
    WHERE d.endpoint_id = e.id AND d.status = 'pending'
      AND d.next_attempt_at <= statement_timestamp()
  )
ORDER BY random() LIMIT %(most)s
FOR NO KEY UPDATE OF h SKIP LOCKED
"""
# An ordered endpoint gets the first undelivered event of each business, if that one is due. The
# businesses are found one by one in the index: behind a failure there may be any number of events.
_CLAIM = """
WITH free AS (
  SELECT h.endpoint_id, e.ordered, greatest(0, CASE
    WHEN h.failing_since IS NULL THEN %(at_once)s::integer ELSE %(failing)s::integer
  END - (
    SELECT count(*) FROM webhook_delivery d
    WHERE d.endpoint_id = h.endpoint_id AND d.held_by IS NOT NULL
      AND d.next_attempt_at > statement_timestamp()
  )) AS places
  FROM webhook_health h JOIN webhook_endpoint e ON e.id = h.endpoint_id
  WHERE h.endpoint_id = ANY(%(endpoints)s)
), due AS (
  SELECT d.id FROM free f CROSS JOIN LATERAL (
    SELECT d.id FROM webhook_delivery d
    WHERE d.endpoint_id = f.endpoint_id AND d.status = 'pending'
      AND d.next_attempt_at <= statement_timestamp()
    ORDER BY d.next_attempt_at, d.id LIMIT f.places
  ) AS d
  WHERE NOT f.ordered
  UNION ALL
  SELECT d.id FROM free f CROSS JOIN LATERAL (
    WITH RECURSIVE waiting AS (
      (SELECT d.business_id FROM webhook_delivery d
       WHERE d.endpoint_id = f.endpoint_id AND d.status <> 'delivered'
       ORDER BY d.business_id LIMIT 1)
      UNION ALL
      SELECT (
        SELECT d.business_id FROM webhook_delivery d
        WHERE d.endpoint_id = f.endpoint_id AND d.status <> 'delivered'
          AND d.business_id > w.business_id
        ORDER BY d.business_id LIMIT 1
      )
      FROM waiting w WHERE w.business_id IS NOT NULL
    )
    SELECT first.id FROM waiting w CROSS JOIN LATERAL (
      SELECT d.id, d.status, d.next_attempt_at FROM webhook_delivery d
      WHERE d.endpoint_id = f.endpoint_id AND d.business_id = w.business_id
        AND d.status <> 'delivered'
      ORDER BY d.sequence LIMIT 1
    ) AS first
    WHERE first.status = 'pending' AND first.next_attempt_at <= statement_timestamp()
    ORDER BY first.next_attempt_at LIMIT f.places
  ) AS d
  WHERE f.ordered
)
UPDATE webhook_delivery d SET
  held_by = %(worker)s, attempts = d.attempts + 1, last_attempt_at = statement_timestamp(),
  next_attempt_at = statement_timestamp() + %(lease)s
FROM (SELECT due.id FROM due ORDER BY random() LIMIT %(most)s) AS taken WHERE d.id = taken.id
RETURNING d.id, d.endpoint_id, d.event_id, d.body, d.attempts
"""
_RENEW = """
UPDATE webhook_delivery SET next_attempt_at = statement_timestamp() + %(lease)s
WHERE id = ANY(%(ids)s) AND held_by = %(worker)s
"""
_RELEASE = """
UPDATE webhook_delivery SET
  held_by = NULL, attempts = attempts - 1, next_attempt_at = statement_timestamp()
WHERE id = ANY(%(ids)s) AND held_by = %(worker)s
"""
_LOCK_HEALTH = """
SELECT endpoint_id FROM webhook_health WHERE endpoint_id = ANY(%(endpoints)s)
ORDER BY endpoint_id FOR NO KEY UPDATE
"""
_SUCCEED = """
UPDATE webhook_health SET failing_since = NULL, slow_until = NULL
WHERE endpoint_id = ANY(%(endpoints)s)
"""
_FAIL = """
UPDATE webhook_health h SET
  failing_since = CASE WHEN r.blamed THEN coalesce(h.failing_since, statement_timestamp())
    ELSE h.failing_since END,
  slow_until = greatest(h.slow_until, r.slow_until)
FROM unnest(%(endpoints)s::uuid[], %(blamed)s::boolean[], %(slow)s::timestamptz[])
  AS r (endpoint_id, blamed, slow_until)
WHERE h.endpoint_id = r.endpoint_id
  AND (r.blamed AND h.failing_since IS NULL OR r.slow_until IS NOT NULL)
"""
_ANNOUNCE = (
    "SELECT set_config('app.caller',"
    " jsonb_build_object('action', 'switch_off_webhook_endpoint')::text, true)"
)
# Only while the endpoint is as it was at the attempt: the same URL, and no success since.
_SWITCH_OFF = """
UPDATE webhook_endpoint e SET
  status = 'off', off_reason = r.reason, off_at = statement_timestamp(),
  updated_at = statement_timestamp(), version = e.version + 1
FROM unnest(
  %(endpoints)s::uuid[], %(reasons)s::text[], %(urls)s::text[], %(since)s::timestamptz[]
) AS r (endpoint_id, reason, url, failing_since)
JOIN webhook_health h ON h.endpoint_id = r.endpoint_id
WHERE e.id = r.endpoint_id AND e.status = 'active' AND e.url = r.url
  AND (r.reason = 'gone' OR h.failing_since = r.failing_since)
RETURNING e.id, e.off_reason
"""
# A delivery that another process has taken over stays as it is.
_RECORD = """
UPDATE webhook_delivery d SET
  status = r.status, attempts = r.attempts, next_attempt_at = r.next_attempt_at, held_by = NULL,
  status_code = r.status_code, milliseconds = r.milliseconds, answer = r.answer, error = r.error
FROM json_to_recordset(%(rows)s::json) AS r (
  id uuid, attempts integer, status text, next_attempt_at timestamptz, status_code integer,
  milliseconds integer, answer text, error text
)
WHERE d.id = r.id AND d.held_by = %(worker)s
"""


async def claim(pool: Pool, worker: UUID, most: int) -> list[ClaimedDelivery]:
    """Take the leases of due deliveries, at most 10 of each endpoint on all servers together.

    An endpoint that fails gets one at a time. `most` is the largest number of leases.
    """
    async with pool.connection(TENANT) as connection:
        lock = Query(_LOCK_ENDPOINTS, {"most": MOST_CLAIMED_ENDPOINTS})
        locked = (await execute_pipeline(connection, [BEGIN, lock]))[-1].rows
        by_id = {row["endpoint_id"]: row for row in locked}
        told = {
            "endpoints": list(by_id),
            "worker": worker,
            "lease": LEASE,
            "at_once": MOST_AT_ONCE,
            "failing": MOST_AT_ONCE_FAILING,
            "most": most,
        }
        claims = [Query(_CLAIM, told)] if by_id else []
        results = await execute_pipeline(connection, [*claims, COMMIT])
    rows = results[0].rows if claims else []
    return [_claimed(row, by_id[row["endpoint_id"]]) for row in rows]


def _claimed(row: Row, endpoint: Row) -> ClaimedDelivery:
    secrets = endpoint["secrets"] or []
    return ClaimedDelivery(
        row["id"],
        row["endpoint_id"],
        row["event_id"],
        row["body"],
        row["attempts"],
        endpoint["url"],
        endpoint["failing_since"],
        tuple(SealedSecret(name, bytes.fromhex(sealed)) for name, sealed in secrets),
    )


async def renew(pool: Pool, worker: UUID, ids: Collection[UUID]) -> None:
    """Renew the leases of deliveries that are still being sent."""
    await execute(pool, Query(_RENEW, {"ids": list(ids), "worker": worker, "lease": LEASE}))


async def release(pool: Pool, worker: UUID, ids: Collection[UUID]) -> None:
    """Release deliveries whose attempt was broken off: they are due now, for any process."""
    await execute(pool, Query(_RELEASE, {"ids": list(ids), "worker": worker}))


async def record(
    pool: Pool, worker: UUID, finished: Sequence[FinishedAttempt]
) -> list[tuple[UUID, str]]:
    """Record attempts; return the endpoints that were switched off, each with the reason."""
    failed = _failures(finished)
    recovered = [
        each.delivery.endpoint_id
        for each in finished
        if each.attempt.succeeded and each.delivery.failing_since is not None
    ]
    off = {
        each.delivery.endpoint_id: each
        for each in finished
        if each.outcome.off_reason is not None and each.delivery.endpoint_id not in recovered
    }
    touched = sorted({*failed, *recovered})
    queries = [BEGIN]
    if touched:  # In the order in which every process locks them, and before the deliveries.
        queries.append(Query(_LOCK_HEALTH, {"endpoints": touched}))
    if recovered:
        queries.append(Query(_SUCCEED, {"endpoints": recovered}))
    if failed:
        blamed, slow = zip(*failed.values(), strict=True)
        parameters = {"endpoints": list(failed), "blamed": list(blamed), "slow": list(slow)}
        queries.append(Query(_FAIL, parameters))
    if off:
        judged = {
            "endpoints": list(off),
            "reasons": [each.outcome.off_reason for each in off.values()],
            "urls": [each.delivery.url for each in off.values()],
            "since": [each.delivery.failing_since for each in off.values()],
        }
        queries += [Query(_ANNOUNCE, {}), Query(_SWITCH_OFF, judged)]
    switch = len(queries) - 1
    rows = [_finished_row(each) for each in finished]
    queries += [Query(_RECORD, {**as_json(rows), "worker": worker}), COMMIT]
    async with pool.connection(TENANT) as connection:
        results = await execute_pipeline(connection, queries)
    return [(row["id"], row["off_reason"]) for row in results[switch].rows] if off else []


def _failures(finished: Sequence[FinishedAttempt]) -> dict[UUID, tuple[bool, datetime | None]]:
    """Return each endpoint of a failed attempt: whether it is blamed, and until when it is slow."""
    failed: dict[UUID, tuple[bool, datetime | None]] = {}
    for each in finished:
        if not each.attempt.succeeded:
            endpoint_id, outcome = each.delivery.endpoint_id, each.outcome
            blamed, slow = failed.get(endpoint_id, (False, None))
            latest = max(filter(None, (slow, outcome.slow_until)), default=None)
            failed[endpoint_id] = blamed or outcome.blamed, latest
    return failed


def _finished_row(finished: FinishedAttempt) -> Row:
    attempt, outcome = finished.attempt, finished.outcome
    return {
        "id": finished.delivery.id,
        "attempts": finished.delivery.attempts - (0 if outcome.counts else 1),
        "status": outcome.status,
        "next_attempt_at": outcome.next_attempt_at,
        "status_code": attempt.status_code,
        "milliseconds": attempt.milliseconds,
        "answer": attempt.answer,
        "error": attempt.error,
    }
