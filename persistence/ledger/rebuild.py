"""Rebuild of the balances of a business: `accounting rebuild-balances`."""

from collections.abc import Sequence
from uuid import UUID

from persistence.engine.pipeline import execute_pipeline
from persistence.engine.pool import Pool
from persistence.engine.sessions import COMMIT
from persistence.engine.sql import Query
from persistence.engine.topology import BEGIN, CLOSE_GATE
from persistence.ledger import tags
from persistence.ledger.balances import ADDED_UP, EVERY_SUM, LINES, TAX_ADDED_UP, TAX_KEY, TAX_SUMS

# Reading all lines of a business may exceed the statement time-out of requests. Without statistics
# PostgreSQL expects few rows and would choose a nested loop.
_NO_HURRY = Query(
    "SELECT set_config('statement_timeout', '0', true), set_config('enable_nestloop', 'off', true)",
    {},
)

# No month is ever deleted; a month without lines stays, with all sums 0.
_ALL_POSTED = f"""
FROM ({LINES}) AS line
JOIN number_series ON number_series.business_id = %(business_id)s
  AND number_series.series = line.series AND line.place <= number_series.last
WHERE number_series.business_id = %(business_id)s"""
_EMPTY = """
UPDATE {table} SET {sums} WHERE business_id = %(business_id)s"""
_ADD_UP = f"""
INSERT INTO account_month (business_id, account_id, month, {", ".join(EVERY_SUM)})
SELECT line.business_id, line.account_id, line.month, {ADDED_UP} {_ALL_POSTED}
GROUP BY 1, 2, 3
ON CONFLICT (business_id, account_id, month) DO UPDATE SET
  {", ".join(f"{name} = excluded.{name}" for name in EVERY_SUM)}"""
_ADD_UP_TAX = f"""
INSERT INTO tax_month (business_id, month, {", ".join((*TAX_KEY, *TAX_SUMS))})
SELECT line.business_id, line.month, {", ".join(f"line.{name}" for name in TAX_KEY)},
       {TAX_ADDED_UP} {_ALL_POSTED} AND line.is_coded
GROUP BY 1, 2, 3, 4, 5
ON CONFLICT (business_id, month, {", ".join(TAX_KEY)}) DO UPDATE SET
  {", ".join(f"{name} = excluded.{name}" for name in TAX_SUMS)}"""
_MARK = """
UPDATE number_series SET rolled_up = last
WHERE business_id = %(business_id)s AND series LIKE 'JE-%%'
"""


def _emptied(table: str, sums: Sequence[str]) -> str:
    return _EMPTY.format(table=table, sums=", ".join(f"{name} = 0" for name in sums))


_ROLLING_UP = (
    CLOSE_GATE,
    _emptied("account_month", EVERY_SUM),
    _emptied("tax_month", TAX_SUMS),
    _ADD_UP_TAX,
    _ADD_UP,
    _MARK,
)
"""The statements that rebuild all months, in one transaction of the business."""


async def rebuild(pool: Pool, business_id: UUID) -> int:
    """Rebuild the months of a business; return the number of account months written.

    Tagged lines are rewritten, too. Writes to the business wait meanwhile.
    """
    mine = {"business_id": business_id}
    queries = [Query(text, mine) for text in (*_ROLLING_UP, tags.OF_ALL)]
    async with pool.connection() as connection:
        try:
            opened = [BEGIN, _NO_HURRY, connection.machines.set_tenant(business_id)]
            results = await execute_pipeline(connection, [*opened, *queries])
            documents = [row["id"] for row in results[-1].rows]
            await execute_pipeline(connection, [tags.writing(business_id, documents), COMMIT])
        except BaseException:
            await connection.rollback()
            raise
    *_, added_up, _, _ = results
    return added_up.affected
