"""New deliveries of webhooks: made from the placements of the partners' feeds.

One process at a time makes them, in short transactions. A delivery has the body that each of its
attempts sends, so that sending reads no table of a business.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Final
from uuid import UUID

import orjson

from accounting.webhooks.endpoints import Endpoint
from persistence.engine.ids import new_id
from persistence.engine.pipeline import Connection, execute_pipeline
from persistence.engine.pool import Pool
from persistence.engine.sessions import COMMIT
from persistence.engine.sql import Query, Row
from persistence.engine.topology import BEGIN
from persistence.feed.events import COLUMNS, Event
from persistence.partners.event_placements import TENANT
from persistence.partners.webhook_endpoints import read_endpoint

MOST_PLACEMENTS: Final = 50
MOST_EVENTS: Final = 2_000
MOST_INSERTED: Final = 1_000


@dataclass(frozen=True, slots=True)
class BusinessNames:
    """The facts of a business that its events show."""

    external_id: str
    is_sandbox: bool


Render = Callable[[Event, BusinessNames], str]
"""A function that returns the body of the webhook of an event."""

_ONE_AT_A_TIME = "SELECT pg_try_advisory_xact_lock(hashtextextended('make deliveries', 0)) AS taken"
# Partners without an endpoint that takes events have nothing to make.
_SKIP = """
UPDATE webhook_feed f SET position = head.position
FROM webhook_feed w CROSS JOIN LATERAL (
  SELECT max(p.position) AS position FROM event_placement p WHERE p.partner_id = w.partner_id
) AS head
WHERE f.partner_id = w.partner_id AND head.position > f.position AND NOT EXISTS (
  SELECT FROM webhook_endpoint e WHERE e.partner_id = f.partner_id AND e.status <> 'off'
)
"""
# At most 50 placements of each partner and about 2,000 events of all, which partners take in turns.
_NEWS = """
WITH news AS (
  SELECT p.*, p.last_sequence - p.first_sequence + 1 AS events,
    row_number() OVER (PARTITION BY p.partner_id ORDER BY p.position) AS turn
  FROM webhook_feed f CROSS JOIN LATERAL (
    SELECT * FROM event_placement p
    WHERE p.partner_id = f.partner_id AND p.position > f.position
    ORDER BY p.position LIMIT %(placements)s
  ) AS p
), counted AS (
  SELECT n.*, sum(n.events) OVER (ORDER BY n.turn, n.partner_id) - n.events AS events_before
  FROM news n
)
SELECT partner_id, position, business_id, first_sequence, last_sequence
FROM counted WHERE events_before < %(events)s
ORDER BY partner_id, position
"""
_ENDPOINT = ", ".join(f"e.{each.name}" for each in fields(Endpoint))
_TAKERS = f"""
SELECT e.partner_id, h.after_position, {_ENDPOINT}
FROM webhook_endpoint e JOIN webhook_health h ON h.endpoint_id = e.id
WHERE e.partner_id = ANY(%(partners)s) AND e.status <> 'off'
"""
NAMES = """
SELECT external_id, sandbox IS NOT NULL AS is_sandbox FROM business
WHERE id = %(business_id)s AND partner_id = %(partner_id)s
"""
_EVENTS = f"""
SELECT {COLUMNS} FROM event
WHERE event.business_id = %(business_id)s
  AND sequence BETWEEN %(first_sequence)s AND %(last_sequence)s
ORDER BY sequence
"""
_INSERT = """
INSERT INTO webhook_delivery (
  id, endpoint_id, partner_id, business_id, sequence, event_id, event_type, body, created_at,
  status, attempts, next_attempt_at
)
SELECT r.id, r.endpoint_id, r.partner_id, r.business_id, r.sequence, r.event_id, r.event_type,
  r.body, statement_timestamp(), 'pending', 0, statement_timestamp()
FROM json_to_recordset(%(rows)s::json) AS r (
  id uuid, endpoint_id uuid, partner_id uuid, business_id uuid, sequence bigint, event_id uuid,
  event_type text, body text
)
"""
_ONCE = " ON CONFLICT (endpoint_id, business_id, sequence) DO NOTHING"
# One that is being sent stays as it is.
_AGAIN = """
ON CONFLICT (endpoint_id, business_id, sequence) DO UPDATE SET
  id = excluded.id, created_at = excluded.created_at,
  status = 'pending', attempts = 0, next_attempt_at = statement_timestamp(), held_by = NULL
WHERE webhook_delivery.held_by IS NULL OR webhook_delivery.next_attempt_at <= statement_timestamp()
"""
REPLAY = _INSERT + _AGAIN
_ADVANCE = """
UPDATE webhook_feed f SET position = n.position
FROM unnest(%(partners)s::uuid[], %(positions)s::bigint[]) AS n (partner_id, position)
WHERE f.partner_id = n.partner_id
"""


@dataclass(frozen=True, slots=True)
class Taker:
    """An endpoint of a partner, and the position after which it takes events."""

    partner_id: UUID
    after_position: int
    endpoint: Endpoint


async def make_deliveries(pool: Pool, render: Render) -> int:
    """Make the deliveries of new placements; return how many placements were done.

    One process does so at a time. 0 means that there is nothing new, or that another one is at it.
    """
    async with pool.connection(TENANT) as connection:
        lock = (await execute_pipeline(connection, [BEGIN, Query(_ONE_AT_A_TIME, {})]))[-1]
        news = await _read_news(connection) if lock.rows[0]["taken"] else []
        rows = await _rows_of(connection, news, render) if news else []
        for first in range(0, len(rows), MOST_INSERTED):
            piece = as_json(rows[first : first + MOST_INSERTED])
            await execute_pipeline(connection, [Query(_INSERT + _ONCE, piece)])
        await execute_pipeline(connection, [*_advances(news), COMMIT])
    return len(news)


async def _read_news(connection: Connection) -> list[Row]:
    told = {"placements": MOST_PLACEMENTS, "events": MOST_EVENTS}
    results = await execute_pipeline(connection, [Query(_SKIP, {}), Query(_NEWS, told)])
    return results[-1].rows


async def _rows_of(connection: Connection, news: Sequence[Row], render: Render) -> list[Row]:
    partners = sorted({row["partner_id"] for row in news})
    found = await execute_pipeline(connection, [Query(_TAKERS, {"partners": partners})])
    takers = [_taker(row) for row in found[0].rows]
    rows: list[Row] = []
    for placement, names, events in await _read_events(connection, news):
        mine = [
            each.endpoint
            for each in takers
            if each.partner_id == placement["partner_id"]
            and each.after_position < placement["position"]
        ]
        for event in events:
            takes = [each for each in mine if each.takes(event.type, event.business_id)]
            if takes:
                body = render(event, names)
                rows += [
                    delivery_row(each.id, placement["partner_id"], event, body) for each in takes
                ]
    return rows


async def _read_events(
    connection: Connection, news: Sequence[Row]
) -> list[tuple[Row, BusinessNames, list[Event]]]:
    """Read the events of each placement, each as the business that they belong to.

    A business that is gone has none.
    """
    asked: list[Query] = []
    for row in news:
        tenant = connection.machines.set_tenant(row["business_id"])
        asked += [tenant, Query(NAMES, row), Query(_EVENTS, row)]
    results = await execute_pipeline(connection, asked)
    read = []
    for place, row in enumerate(news):
        names, events = (results[3 * place + each].rows for each in (1, 2))
        if names:
            read.append((row, BusinessNames(**names[0]), [Event(**each) for each in events]))
    return read


def delivery_row(endpoint_id: UUID, partner_id: UUID, event: Event, body: str) -> Row:
    """Return the row of a new delivery."""
    return {
        "id": new_id(),
        "endpoint_id": endpoint_id,
        "partner_id": partner_id,
        "business_id": event.business_id,
        "sequence": event.sequence,
        "event_id": event.id,
        "event_type": event.type,
        "body": body,
    }


def as_json(rows: Collection[Row]) -> Mapping[str, Any]:
    """Return rows as the parameter of an insertion."""
    return {"rows": orjson.dumps(rows).decode()}


def _advances(news: Sequence[Row]) -> list[Query]:
    if not news:
        return []
    last = {row["partner_id"]: row["position"] for row in news}
    return [Query(_ADVANCE, {"partners": list(last), "positions": list(last.values())})]


def _taker(row: Row) -> Taker:
    told = dict(row)
    partner_id, position = told.pop("partner_id"), told.pop("after_position")
    return Taker(partner_id, position, read_endpoint(told))
