"""The cellar as one process holds it: connections, gate, files, and what it remembers."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic

from psycopg import OperationalError
from psycopg_pool import PoolTimeout

from persistence.accounts import RoleMemory
from persistence.blobs import Blobs, Shelf
from persistence.gate import Gate
from persistence.pool import Pool, make_pool, refuse_unsafe

OPENING_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class Cellar:
    """What the door is given of the database and of the files; open it inside the event loop."""

    pool: Pool
    gate: Gate
    roles: RoleMemory
    blobs: Blobs

    async def open(self, *, durable: bool) -> None:
        """Connect; raises UnsafeDatabase where promises could not be kept.

        A worker that takes the place of another may do so while the database is away for a moment.
        """
        deadline = monotonic() + OPENING_SECONDS
        await self.pool.open()
        while True:
            try:
                return await refuse_unsafe(self.pool, durable=durable)
            except (OperationalError, PoolTimeout):
                if monotonic() > deadline:
                    raise
                await asyncio.sleep(0.1)

    async def close(self) -> None:
        """Let every connection go."""
        await self.pool.close()

    async def ping(self) -> None:
        """Ask the database for anything at all; raises what psycopg raises."""
        async with self.pool.connection() as connection:
            await connection.execute("SELECT 1")


def furnish(
    url: str, *, size: int, key_matches: Callable[[str, bytes], bool], shelf: Shelf
) -> Cellar:
    """Prepare a cellar of `size` connections; `key_matches` compares an API key and a digest.

    `shelf` is where the contents of documents lie.
    """
    pool = make_pool(url, size=size)
    return Cellar(pool, Gate(pool, key_matches), RoleMemory(), Blobs(shelf))
