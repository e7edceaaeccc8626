"""The sweep: contents that no record names are taken away.

A file is put before its record is committed, so one may be left behind where the outcome of that
commit was never known, or where a machine died between the two. No writing lasts an hour: what is
older and still has no record will never have one. Only businesses that this very database has are
looked at, so that a wrong database cannot empty a storage.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice
from typing import TypeVar
from uuid import UUID

from sqlalchemy import ARRAY, Text, any_, select

from persistence.engine.machines import SNAPSHOT
from persistence.engine.pipeline import exchange
from persistence.engine.pool import Pool
from persistence.engine.sessions import COMMIT
from persistence.engine.sql import Query, compiled, given
from persistence.files.blobs import Blobs, key_in
from persistence.store import in_business
from persistence.tables import stored_document

T = TypeVar("T")

LEFT_BEHIND_AFTER = timedelta(hours=1)
BATCH = 1_000

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


async def sweep(pool: Pool, blobs: Blobs, now: datetime, *, only_look: bool = False) -> Swept:
    """Take away what is left behind in every business; raises Unavailable."""
    seen, removed = 0, list[str]()
    for business_id in await _businesses(pool):
        keys = await blobs.under(str(business_id))
        seen += len(keys)
        old = [key for key, put_at in keys if put_at < now - LEFT_BEHIND_AFTER]
        for some in _batches(old):
            for key in await _unnamed(pool, business_id, some):
                if not only_look:
                    await blobs.delete(key)
                removed.append(key)
    return Swept(seen, tuple(removed))


async def _businesses(pool: Pool) -> list[UUID]:
    async with pool.connection() as connection:
        found = await connection.execute("SELECT id FROM business ORDER BY id")
        return [row["id"] for row in await found.fetchall()]


async def _unnamed(pool: Pool, business_id: UUID, keys: Sequence[str]) -> list[str]:
    by_name = {key.rpartition("/")[2]: key for key in keys}
    asked = Query(NAMED, {"business_id": business_id, "keys": list(by_name)})
    async with pool.connection() as connection:
        confined = connection.machines.set_tenant(business_id)
        results = await exchange(connection, [SNAPSHOT, confined, asked, COMMIT])
    named = {key_in(business_id, row["storage_key"]) for row in results[2].rows}
    return [key for key in keys if key not in named]


def _batches(items: Sequence[T]) -> Iterator[list[T]]:
    left = iter(items)
    while some := list(islice(left, BATCH)):
        yield some
