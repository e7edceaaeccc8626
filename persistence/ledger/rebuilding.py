"""Rolling up the balances of a business anew: `accounting rebuild-balances`."""

from uuid import UUID

from persistence.engine.machines import BEGIN
from persistence.engine.pipeline import exchange
from persistence.engine.pool import Pool
from persistence.engine.sessions import COMMIT
from persistence.engine.sql import Query
from persistence.ledger import tags
from persistence.ledger.balances import rebuilding

# All lines of a business may take longer than any request may. Where PostgreSQL knows little of the
# tables yet it expects few rows, and would join them one by one.
_NO_HURRY = Query(
    "SELECT set_config('statement_timeout', '0', true), set_config('enable_nestloop', 'off', true)",
    {},
)


async def rebuild(pool: Pool, business_id: UUID) -> int:
    """Roll up all that was posted in a business; return how many months of accounts that makes.

    Lines by tag are written anew, too. The business waits meanwhile: nothing is written to it.
    """
    mine = {"business_id": business_id}
    queries = [Query(text, mine) for text in (*rebuilding(), tags.OF_ALL)]
    async with pool.connection() as connection:
        try:
            opened = [BEGIN, _NO_HURRY, connection.machines.set_tenant(business_id)]
            results = await exchange(connection, [*opened, *queries])
            documents = [row["id"] for row in results[-1].rows]
            await exchange(connection, [tags.writing(business_id, documents), COMMIT])
        except BaseException:
            await connection.rollback()
            raise
    *_, added_up, _, _ = results
    return added_up.affected
