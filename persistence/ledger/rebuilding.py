"""Rolling up the balances of a business anew: `accounting rebuild-balances`."""

from uuid import UUID

from persistence.engine.machines import BEGIN
from persistence.engine.pipeline import exchange
from persistence.engine.pool import Pool
from persistence.engine.sessions import COMMIT
from persistence.engine.sql import Query
from persistence.ledger.balances import rebuilding

# All lines of a business may take longer than any request may. Where PostgreSQL knows little of the
# tables yet it expects few rows, and would join them one by one.
_NO_HURRY = Query(
    "SELECT set_config('statement_timeout', '0', true), set_config('enable_nestloop', 'off', true)",
    {},
)


async def rebuild(pool: Pool, business_id: UUID) -> int:
    """Roll up all that was posted in a business; return how many months of accounts that makes.

    The business waits meanwhile: nothing is written to it.
    """
    mine = {"business_id": business_id}
    queries = [Query(text, mine) for text in rebuilding()]
    async with pool.connection() as connection:
        try:
            opened = [BEGIN, _NO_HURRY, connection.machines.set_tenant(business_id)]
            results = await exchange(connection, [*opened, *queries])
            await exchange(connection, [COMMIT])
        except BaseException:
            await connection.rollback()
            raise
    *_, added_up, _ = results
    return added_up.affected
