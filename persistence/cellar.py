"""The cellar as one process holds it: its connections, its gate, and what it remembers."""

from collections.abc import Callable
from dataclasses import dataclass

from persistence.accounts import RoleMemory
from persistence.gate import Gate
from persistence.pool import Pool, make_pool, refuse_unsafe


@dataclass(frozen=True, slots=True)
class Cellar:
    """What the door is given of the database; open it inside the event loop."""

    pool: Pool
    gate: Gate
    roles: RoleMemory

    async def open(self, *, durable: bool) -> None:
        """Connect; raises UnsafeDatabase where promises could not be kept."""
        await self.pool.open(wait=True, timeout=30)
        await refuse_unsafe(self.pool, durable=durable)

    async def close(self) -> None:
        """Let every connection go."""
        await self.pool.close()

    async def ping(self) -> None:
        """Ask the database for anything at all; raises what psycopg raises."""
        async with self.pool.connection() as connection:
            await connection.execute("SELECT 1")


def furnish(url: str, *, size: int, key_matches: Callable[[str, bytes], bool]) -> Cellar:
    """Prepare a cellar of `size` connections; `key_matches` compares an API key and a digest."""
    pool = make_pool(url, size=size)
    return Cellar(pool, Gate(pool, key_matches), RoleMemory())
