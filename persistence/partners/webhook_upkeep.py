"""Upkeep of webhooks: secrets are sealed under the newest key, and old deliveries are deleted."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from access.webhook_secrets import SealedSecret
from persistence.engine.pool import Pool
from persistence.engine.sql import Query
from persistence.partners.event_placements import execute
from persistence.partners.webhook_endpoints import sealed_secret

_OLDER_KEYS = """
SELECT id, endpoint_id, key_name, sealed FROM webhook_secret
WHERE key_name <> %(newest)s AND (expires_at IS NULL OR expires_at > statement_timestamp())
ORDER BY id
"""
_SEAL_AGAIN = """
UPDATE webhook_secret SET key_name = %(key_name)s, sealed = %(sealed)s
WHERE id = %(id)s AND key_name = %(old_name)s
"""
KEPT: Final = timedelta(days=30)
_MOST_DELETED = 1_000
# Ids are ordered by time: the first 48 bits are the milliseconds since 1970. A pending delivery is
# deleted once it has been due for as long: its endpoint is paused or off.
_DELETE_OLD = f"""
DELETE FROM webhook_delivery WHERE id = ANY (ARRAY(
  SELECT d.id FROM webhook_delivery d
  WHERE d.id < %(before)s
    AND (d.status <> 'pending' OR d.next_attempt_at < %(due_before)s)
  ORDER BY d.id LIMIT {_MOST_DELETED}
))
"""
# The endpoints are found one by one in the index, since there are few of them and many deliveries.
_DELETE_ORPHANS = f"""
WITH RECURSIVE named AS (
  (SELECT endpoint_id FROM webhook_delivery ORDER BY endpoint_id LIMIT 1)
  UNION ALL
  SELECT (
    SELECT d.endpoint_id FROM webhook_delivery d
    WHERE d.endpoint_id > n.endpoint_id ORDER BY d.endpoint_id LIMIT 1
  )
  FROM named n WHERE n.endpoint_id IS NOT NULL
)
DELETE FROM webhook_delivery WHERE id = ANY (ARRAY(
  SELECT d.id FROM named n JOIN webhook_delivery d ON d.endpoint_id = n.endpoint_id
  WHERE NOT EXISTS (SELECT FROM webhook_endpoint e WHERE e.id = n.endpoint_id)
  LIMIT {_MOST_DELETED}
))
"""
_DELETE_SECRETS = "DELETE FROM webhook_secret WHERE expires_at <= %(now)s"


@dataclass(frozen=True, slots=True)
class StoredSecret:
    """A sealed secret in its row."""

    id: UUID
    endpoint_id: UUID
    sealed: SealedSecret


async def secrets_under_older_keys(pool: Pool, newest: str) -> list[StoredSecret]:
    """Return the secrets that are not sealed under the newest master secret."""
    found = await execute(pool, Query(_OLDER_KEYS, {"newest": newest}))
    return [StoredSecret(row["id"], row["endpoint_id"], sealed_secret(row)) for row in found.rows]


async def replace_seal(pool: Pool, old: StoredSecret, new: SealedSecret) -> None:
    """Store a secret as it was sealed again, unless another process has done so."""
    told = {"id": old.id, "old_name": old.sealed.key_name}
    told |= {"key_name": new.key_name, "sealed": new.sealed}
    await execute(pool, Query(_SEAL_AGAIN, told))


async def delete_old_deliveries(pool: Pool, now: datetime) -> int:
    """Delete deliveries older than 30 days or without an endpoint, and ended secrets.

    Returns the number of deliveries. Each statement deletes at most a thousand.
    """
    due_before = now - KEPT
    before = UUID(int=int(due_before.timestamp() * 1000) << 80)
    count = 0
    old = Query(_DELETE_OLD, {"before": before, "due_before": due_before})
    for query in (old, Query(_DELETE_ORPHANS, {})):
        deleted = _MOST_DELETED
        while deleted == _MOST_DELETED:
            deleted = (await execute(pool, query)).affected
            count += deleted
    await execute(pool, Query(_DELETE_SECRETS, {"now": now}))
    return count
