"""Replays: events of a business that are delivered to an endpoint again, or for the first time."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from accounting.webhooks.endpoints import Endpoint, unknown_business
from persistence.engine.sessions import WriteSession
from persistence.engine.sql import Answers, Fetch, Query
from persistence.feed.events import COLUMNS, Event
from persistence.partners.new_deliveries import (
    NAMES,
    REPLAY,
    BusinessNames,
    Render,
    as_json,
    delivery_row,
)
from persistence.partners.registry import Registry

MOST_REPLAYED: Final = 1_000

_EVENTS = f"""
SELECT {COLUMNS} FROM event
WHERE event.business_id = %(business_id)s AND sequence > %(after)s::bigint
  AND sequence <= coalesce(%(until)s::bigint, sequence)
ORDER BY sequence LIMIT %(most)s
"""


@dataclass(frozen=True, slots=True)
class ReplayedEvents:
    """The events of a replay, at most 1,000; `has_more` if there are others up to the end."""

    names: BusinessNames
    events: Sequence[Event]
    has_more: bool


def events_to_replay(
    registry: Registry, business_id: UUID, after: int, until: int | None
) -> Fetch[ReplayedEvents]:
    """Load the events of a business after a sequence, up to another one.

    Raises RuleViolation `reference_not_found` for a business that the partner does not have.
    """
    told = {
        "business_id": business_id,
        "partner_id": registry.partner_id,
        "after": after,
        "until": until,
        "most": MOST_REPLAYED + 1,
    }
    tenant = registry.session.connection.machines.set_tenant(business_id)

    def answer(answers: Answers) -> ReplayedEvents:
        _, names, rows = answers
        if not names:
            raise unknown_business(business_id)
        events = [Event(**row) for row in rows[:MOST_REPLAYED]]
        return ReplayedEvents(BusinessNames(**names[0]), events, len(rows) > MOST_REPLAYED)

    return Fetch(registry.session, (tenant, Query(NAMES, told), Query(_EVENTS, told)), answer)


def replay(registry: Registry, endpoint: Endpoint, found: ReplayedEvents, render: Render) -> int:
    """Stage deliveries of the events that an endpoint takes, due now; return their number."""
    assert isinstance(registry.session, WriteSession), "a reading changes nothing"
    rows = [
        delivery_row(endpoint.id, registry.partner_id, event, render(event, found.names))
        for event in found.events
        if endpoint.takes(event.type, event.business_id)
    ]
    if rows:
        registry.session.staging.follow_with(Query(REPLAY, as_json(rows)))
    return len(rows)
