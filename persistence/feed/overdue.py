"""Events of documents that became overdue: the day makes them so, and no request changes them."""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final
from uuid import UUID

from accounting.books.time_zones import day_of, start_of
from accounting.events.changes import Change
from accounting.trade.documents import status_when_late
from accounting.trade.sides import PAYABLE, RECEIVABLE
from persistence.engine.pipeline import Connection, execute_pipeline
from persistence.engine.pool import Pool
from persistence.engine.sessions import COMMIT
from persistence.engine.sql import Query, Row
from persistence.engine.topology import BEGIN, CLOSE_GATE
from persistence.engine.unit_of_work import UnitOfWork
from persistence.feed.staged_events import ChangedObject, stage_changes

MOST: Final = 1000
"""The number of documents that are read in one statement, and whose events one flush sends."""

_BUSINESS = """
SELECT timezone, coalesce(clock_seconds_ahead, 0) AS seconds_ahead, archived_at FROM business
WHERE id = %(business_id)s"""
_OVERDUE = """
SELECT id, external_id, version, due_at, listed_status AS status,
       (SELECT max(e.occurred_at) FROM event e WHERE e.business_id = %(business_id)s
          AND e.object_id = d.id AND e.type = %(type)s) AS told_at,
       (SELECT s.occurred_at FROM event s WHERE s.business_id = %(business_id)s
          AND s.sequence = 0) AS feed_began_at
FROM <documents> AS d
WHERE d.business_id = %(business_id)s AND state = 'open' AND outstanding > 0
  AND due_at < %(today)s
  AND (due_at, id) > (%(after_due_at)s::timestamptz, %(after_id)s::uuid)
ORDER BY due_at, id LIMIT %(most)s"""
_CAUSE: Final[Row] = {
    "operation": None,
    "request_id": None,
    "actor_kind": "operator",
    "key_id": None,
}

Read = Callable[[Query], Awaitable[list[Row]]]
"""A function that sends a statement in the scope of the business and returns its rows."""


@dataclass(frozen=True, slots=True)
class OverduePage:
    """The overdue documents of one side that a statement reads, up to `MOST` of them."""

    kind: str
    timezone: str
    query: Query

    def untold(self, rows: Sequence[Row]) -> list[ChangedObject]:
        """Return the changes of the documents of a result that have no event for their due date."""
        return [self._changed(row) for row in rows if not _is_told(row, self.timezone)]

    def _changed(self, row: Row) -> ChangedObject:
        timely = row["status"]
        status = status_when_late(timely)
        fields = ("is_overdue",) if status == timely else ("is_overdue", "status")
        change = Change(f"{self.kind}.overdue", "updated", timely, status, fields)
        return ChangedObject(self.kind, row["id"], row["external_id"], row["version"], change)


async def pages(
    business_id: UUID, now: datetime, timezone: str, read: Read
) -> AsyncIterator[tuple[OverduePage, list[ChangedObject]]]:
    """Yield each page of overdue documents that lacks events, with the changes to report."""
    today = start_of(day_of(now, timezone), timezone)
    for side in (RECEIVABLE, PAYABLE):
        kind = side.document_source
        asked: Row = {
            **{"business_id": business_id, "type": f"{kind}.overdue", "today": today},
            **{"after_due_at": datetime.min.replace(tzinfo=UTC), "after_id": UUID(int=0)},
            "most": MOST,
        }
        while True:
            page = OverduePage(kind, timezone, Query(_OVERDUE.replace("<documents>", kind), asked))
            rows = await read(page.query)
            if changed := page.untold(rows):
                yield page, changed
            if len(rows) < MOST:
                break
            asked = {**asked, "after_due_at": rows[-1]["due_at"], "after_id": rows[-1]["id"]}


def _is_told(row: Row, timezone: str) -> bool:
    """Return whether the feed has an overdue document as such for its due date.

    An event of 2 July does not count for a due date of 2 July, which passes on 3 July. A document
    whose due date had passed when the feed began has no event of it.
    """
    since = row["told_at"] or row["feed_began_at"]
    return since is not None and row["due_at"] < start_of(day_of(since, timezone), timezone)


async def record_overdue(pool: Pool, business_id: UUID, now: datetime) -> int:
    """Write an event for each document that became overdue; return their number.

    It reads each page first, and again behind the closed gate, so that no payment comes in between.
    """
    async with pool.connection() as connection:

        async def read(query: Query) -> list[Row]:
            confined = connection.machines.set_tenant(business_id)
            rows = (await execute_pipeline(connection, [BEGIN, confined, query, COMMIT]))[-2].rows
            return list(rows)

        try:
            business = next(iter(await read(Query(_BUSINESS, {"business_id": business_id}))), None)
            if business is None or business["archived_at"] is not None:
                return 0
            moment = now + timedelta(seconds=business["seconds_ahead"])
            told = 0
            async for page, _ in pages(business_id, moment, business["timezone"], read):
                told += await _record(connection, business_id, moment, page)
            return told
        finally:
            await connection.rollback()


async def _record(
    connection: Connection, business_id: UUID, now: datetime, page: OverduePage
) -> int:
    machines = connection.machines
    gate = Query(CLOSE_GATE, {"business_id": business_id})
    opening = [BEGIN, machines.set_tenant(business_id), gate]
    told = page.untold((await execute_pipeline(connection, [*opening, page.query]))[-1].rows)
    staging = UnitOfWork(business_id)
    stage_changes(staging, now, _CAUSE, told)
    await execute_pipeline(connection, [*staging.queries(as_json=machines.rows_as_json), COMMIT])
    return len(told)
