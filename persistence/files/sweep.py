"""The sweep: deletion of stored contents that have no record.

A file is stored before its record is committed, so a crash or an unknown outcome of the commit may
leave a file without a record. No write lasts an hour: an older file without a record will never
have one. The sweep covers only businesses of this database, so that a wrong database cannot empty
a storage.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from sqlalchemy import ARRAY, Text, any_, select

from persistence.engine.pipeline import execute_pipeline
from persistence.engine.pool import Pool
from persistence.engine.sessions import COMMIT
from persistence.engine.sql import Query, compiled, given
from persistence.engine.topology import SNAPSHOT
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
class SweepResult:
    """The result of a sweep: the number of contents, and the keys of those without a record."""

    seen: int
    left_behind: tuple[str, ...]


async def sweep(
    pool: Pool, blobs: Blobs, business_id: UUID, now: datetime, *, only_look: bool = False
) -> SweepResult:
    """Delete the contents of a business that are older than an hour and have no record.

    With `only_look`, nothing is deleted. Raises Unavailable.
    """
    seen, removed = 0, list[str]()
    async for keys in blobs.under(str(business_id)):
        seen += len(keys)
        old = [key for key, put_at in keys if put_at < now - LEFT_BEHIND_AFTER]
        for key in await _unnamed(pool, business_id, old):
            if not only_look:
                await blobs.delete(key)
            removed.append(key)
    return SweepResult(seen, tuple(removed))


async def _unnamed(pool: Pool, business_id: UUID, keys: Sequence[str]) -> list[str]:
    if not keys:
        return []
    by_name = {key.rpartition("/")[2]: key for key in keys}
    asked = Query(NAMED, {"business_id": business_id, "keys": list(by_name)})
    async with pool.connection() as connection:
        confined = connection.machines.set_tenant(business_id)
        results = await execute_pipeline(connection, [SNAPSHOT, confined, asked, COMMIT])
    named = {key_in(business_id, row["storage_key"]) for row in results[2].rows}
    return [key for key in keys if key not in named]
