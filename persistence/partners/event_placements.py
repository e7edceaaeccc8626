"""The order of a partner's events over all of its businesses.

Each transaction that makes events leaves a note of them. One step, under one lock for all servers,
moves all notes to `event_placement`: positions without gaps for each partner, in the order of the
sequence within each business. The feed of the partner and the deliveries of webhooks read only
that, so both have the same events, and a position that was read never gets another one before it.
Those of a sandbox are deleted with it.
"""

from typing import Final

from persistence.engine.pipeline import Result, execute_pipeline
from persistence.engine.pool import Pool
from persistence.engine.sql import Fetch, Fetches, Query

TENANT: Final = "webhooks"  # The share of the pool that webhooks have.
PLACE = Query("SELECT place_events() AS placed", {})


def place_events(session: Fetches) -> Fetch[None]:
    """Place all events that are committed by now.

    A reading awaits this alone, and reads the placements in its next round: with another statement
    it would be a snapshot, which writes nothing.
    """
    return Fetch(session, (PLACE,), lambda _: None)


async def place_all(pool: Pool) -> None:
    """Place all events that are committed by now, in a transaction of its own."""
    await execute(pool, PLACE)


async def execute(pool: Pool, query: Query) -> Result:
    """Execute one statement about webhooks, in a transaction of its own."""
    async with pool.connection(TENANT) as connection:
        [result] = await execute_pipeline(connection, [query])
    return result
