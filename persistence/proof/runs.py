"""Stored results of the integrity checks over all books."""

from datetime import datetime

from sqlalchemy import insert

from persistence.engine.identifiers import new_id
from persistence.engine.pipeline import exchange
from persistence.engine.pool import Pool
from persistence.engine.sql import Query, compiled, given
from persistence.tables import proof_run

_KEEP = compiled(
    insert(proof_run).values({c.name: given(c.name, c.type) for c in proof_run.columns})
)


async def keep_run(
    pool: Pool,
    *,
    began_at: datetime,
    ended_at: datetime,
    businesses: int,
    faulty: int,
    checked: int,
    holds: bool,
) -> None:
    """Store the result of one run of `accounting check-books`."""
    row = {
        "id": new_id(),
        "began_at": began_at,
        "ended_at": ended_at,
        "businesses": businesses,
        "faulty": faulty,
        "checked": checked,
        "holds": holds,
    }
    async with pool.connection() as connection:
        await exchange(connection, [Query(_KEEP, row)])
