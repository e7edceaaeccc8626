"""The sweep: contents that no record names are taken away.

A file is put before its record is committed, so one may be left behind where the outcome of that
commit was never known, or where a machine died between the two. No writing lasts an hour: what is
older and still has no record will never have one. Only businesses that this very database has are
looked at, so that a wrong database cannot empty a storage.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from uuid import UUID

from sqlalchemy import ARRAY, Text, any_, select

from accounting.values import dataclass
from persistence.engine.machines import SNAPSHOT
from persistence.engine.pipeline import exchange
from persistence.engine.pool import Pool
from persistence.engine.sessions import COMMIT
from persistence.engine.sql import Query, compiled, given
from persistence.files.blobs import Blobs, key_in
from persistence.store import in_business
from persistence.tables import stored_document

LEFT_BEHIND_AFTER = timedelta(hours=1)

NAMED = compiled(
    select(stored_document.c.storage_key).where(
        in_business(stored_document),
        stored_document.c.storage_key == any_(given("keys", ARRAY(Text))),
    )
)


@dataclass(frozen=True, slots=True)
class Swept:
    """What a sweep found: how many contents there are, and which of them nobody names."""

    seen: int
    left_behind: tuple[str, ...]


async def sweep(
    pool: Pool, blobs: Blobs, business_id: UUID, now: datetime, *, only_look: bool = False
) -> Swept:
    """Take away what is left behind in a business; raises Unavailable."""
    seen, removed = 0, list[str]()
    async for keys in blobs.under(str(business_id)):
        seen += len(keys)
        old = [key for key, put_at in keys if put_at < now - LEFT_BEHIND_AFTER]
        for key in await _unnamed(pool, business_id, old):
            if not only_look:
                await blobs.delete(key)
            removed.append(key)
    return Swept(seen, tuple(removed))


async def _unnamed(pool: Pool, business_id: UUID, keys: Sequence[str]) -> list[str]:
    if not keys:
        return []
    by_name = {key.rpartition("/")[2]: key for key in keys}
    asked = Query(NAMED, {"business_id": business_id, "keys": list(by_name)})
    async with pool.connection() as connection:
        confined = connection.machines.set_tenant(business_id)
        results = await exchange(connection, [SNAPSHOT, confined, asked, COMMIT])
    named = {key_in(business_id, row["storage_key"]) for row in results[2].rows}
    return [key for key in keys if key not in named]
