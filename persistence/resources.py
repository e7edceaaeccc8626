"""What one process holds open: connections, admission, files, and what it remembers."""

import asyncio
from collections.abc import Callable
from datetime import timedelta
from time import monotonic

from psycopg import OperationalError

from accounting.values import dataclass
from persistence.database.checks import refuse_unsafe, why_schema_not_served
from persistence.engine.admission import Admission
from persistence.engine.memory import Memory
from persistence.engine.pool import Pool, make_pool, refuse_read_only
from persistence.engine.replica import Replica
from persistence.files.blobs import Blobs, BlobStorage

OPENING_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class Resources:
    """What the server is given of the database and the files; open them inside the event loop."""

    pool: Pool
    replica: Replica | None
    admission: Admission
    memory: Memory
    blobs: Blobs

    async def open(self, *, durable: bool) -> None:
        """Connect; raises UnsafeDatabase where promises could not be kept.

        A worker that takes the place of another may do so while the database is away for a moment.
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
        """Let every connection go."""
        await self.pool.close()
        if self.replica is not None:
            await self.replica.close()

    async def ping(self) -> str | None:
        """Return why the schema of the database cannot be served, None where it can.

        Raises ReadOnly where nothing can be written, and what else psycopg raises.
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
    """Prepare `size` connections and the rest; `key_matches` compares an API key and a digest.

    `storage` is where the contents of files lie. To a standby, which need not be there, lead as
    many connections; it is read as long as it is at most so many seconds behind.
    """
    pool, replica = make_pool(url, size=size), None
    if read_url is not None:
        standby = make_pool(read_url, size=size, to_primary=False)
        replica = Replica(standby, most_behind=timedelta(seconds=read_lag_seconds))
    return Resources(pool, replica, Admission(pool, key_matches), Memory(), Blobs(storage))
