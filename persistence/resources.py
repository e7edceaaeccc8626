"""Resources of one process: connections, admission, files and caches."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from time import monotonic

from psycopg import OperationalError

from persistence.database.checks import refuse_unsafe, why_schema_not_served
from persistence.engine.admission import Admission
from persistence.engine.caches import Caches
from persistence.engine.pool import Pool, make_pool, refuse_read_only
from persistence.engine.replica import Replica
from persistence.files.blobs import Blobs, BlobStorage

OPENING_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class Resources:
    """The database and file resources of a server; open them inside the event loop."""

    pool: Pool
    replica: Replica | None
    admission: Admission
    memory: Caches
    blobs: Blobs

    async def open(self, *, durable: bool) -> None:
        """Connect; raises UnsafeDatabase if writes could be lost or history changed.

        It retries for 30 seconds, since a worker may be replaced during a short outage of the
        database.
        """
        deadline = monotonic() + OPENING_SECONDS
        while True:
            try:
                return await refuse_unsafe(self.pool, durable=durable)
            except OperationalError:
                if monotonic() > deadline:
                    raise
                await asyncio.sleep(0.1)

    async def close(self) -> None:
        """Close all connections."""
        await self.pool.close()
        if self.replica is not None:
            await self.replica.close()

    async def ping(self) -> str | None:
        """Return why this server cannot use the schema of the database, or None.

        Raises ReadOnly if the database is read-only. Errors of psycopg are passed on.
        """
        async with self.pool.connection() as connection:
            await refuse_read_only(connection)
        return await why_schema_not_served(self.pool)


def make_resources(
    url: str,
    *,
    size: int,
    key_matches: Callable[[str, bytes], bool],
    storage: BlobStorage,
    read_url: str | None = None,
    read_lag_seconds: int = 10,
) -> Resources:
    """Create the resources with `size` connections; `key_matches` compares a key and a digest.

    `storage` has the contents of files. `read_url` names an optional standby, with the same number
    of connections, which is read while it is at most `read_lag_seconds` behind.
    """
    pool, replica = make_pool(url, size=size), None
    if read_url is not None:
        standby = make_pool(read_url, size=size, to_primary=False)
        replica = Replica(standby, most_behind=timedelta(seconds=read_lag_seconds))
    return Resources(pool, replica, Admission(pool, key_matches), Caches(), Blobs(storage))
