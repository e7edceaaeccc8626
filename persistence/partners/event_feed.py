"""The feed of a partner: the events of all its businesses, in the order of their placements."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from persistence.engine.sql import Fetch, Query, Row
from persistence.feed.events import COLUMNS, IN_ORDER, OF_TYPES, Event
from persistence.partners.event_placements import place_events
from persistence.partners.registry import Registry

MOST_PLACEMENTS: Final = 100
_PLACEMENTS = """
SELECT p.position, p.business_id, p.first_sequence, p.last_sequence,
       b.external_id, b.sandbox IS NOT NULL AS is_sandbox
FROM event_placement p JOIN business b ON b.id = p.business_id
WHERE p.partner_id = %(partner_id)s
  AND (p.position > %(position)s OR p.position = %(position)s AND p.last_sequence > %(sequence)s)
ORDER BY p.position LIMIT %(most)s"""
_MATCHING = f"""
FROM event
WHERE event.business_id = %(business_id)s AND sequence BETWEEN %(first)s AND %(last)s
  AND {OF_TYPES}"""
_COUNT = f"SELECT count(*) AS count {_MATCHING}"
_EVENTS = f"SELECT {COLUMNS} {_MATCHING}{IN_ORDER}"
_NEWEST = """
SELECT max(position) AS position FROM event_placement WHERE partner_id = %(partner_id)s"""


class Place(NamedTuple):
    """A place in the feed of a partner: a placement, and the last event of it that was read."""

    position: int = 0
    sequence: int = 0

    def __str__(self) -> str:
        return f"{self.position}-{self.sequence}"

    @classmethod
    def parse(cls, text: str | None) -> "Place":
        """Read a place from the cursor of an answer."""
        return cls(*map(int, text.split("-"))) if text else cls()


@dataclass(frozen=True, slots=True)
class PartnerEvent:
    """An event with the facts of its business that are shown with it."""

    event: Event
    business_external_id: str
    is_sandbox: bool


@dataclass(frozen=True, slots=True)
class PartnerFeedPage:
    """Events after a place, and the place up to which the feed was read."""

    events: Sequence[PartnerEvent]
    place: Place
    has_more: bool


async def newest_position(registry: Registry) -> int:
    """Place new events, and return the last position in the feed of a partner; 0 if it has none."""
    await place_events(registry.session)
    query = Query(_NEWEST, {"partner_id": registry.partner_id})
    return await Fetch(registry.session, (query,), lambda answers: answers[0][0]["position"] or 0)


async def partner_events(
    registry: Registry, after: Place, most: int, types: Sequence[str], groups: Sequence[str]
) -> PartnerFeedPage:
    """Load events of a partner's businesses after a place.

    With types there may be fewer than `most`, or none, although there are more later.
    """
    await place_events(registry.session)
    asked = {
        **after._asdict(),
        "partner_id": registry.partner_id,
        "most": MOST_PLACEMENTS + 1,
    }
    found: list[Row] = await Fetch(
        registry.session, (Query(_PLACEMENTS, asked),), lambda answers: answers[0]
    )
    of_types: Row = {"types": list(types), "groups": list(groups)}
    placements = [_unread(each, after) | of_types for each in found[:MOST_PLACEMENTS]]
    counts = [each["last"] - each["first"] + 1 for each in placements]
    if types or groups:
        counts = [rows[0]["count"] for rows in await _each(registry, _COUNT, placements)]
    chosen = _chosen(placements, counts, most)
    answers = await _each(registry, _EVENTS, chosen)
    events: list[PartnerEvent] = []
    place = after
    for placement, rows in zip(chosen, answers, strict=True):
        told = placement["external_id"], placement["is_sandbox"]
        events += [PartnerEvent(Event(**row), *told) for row in rows]
        # The events of a sandbox may have been deleted since the placements were read.
        is_read = placement["is_whole"] or not rows
        end = placement["last"] if is_read else rows[-1]["sequence"]
        place = Place(placement["position"], end)
    is_whole = len(chosen) == len(found) and all(each["is_whole"] for each in chosen)
    return PartnerFeedPage(events, place, has_more=not is_whole)


def _unread(placement: Row, after: Place) -> Row:
    """Return a placement with its `first` and `last` sequence after a place."""
    begun = placement["position"] == after.position
    first = max(placement["first_sequence"], after.sequence + 1 if begun else 0)
    return {**placement, "first": first, "last": placement["last_sequence"]}


def _chosen(placements: Sequence[Row], counts: Sequence[int], most: int) -> list[Row]:
    """Return the placements of a page, each with the number of events to read from it.

    With 300 and 400 events and a page of 500, the page has 300 and 200.
    """
    chosen: list[Row] = []
    for placement, count in zip(placements, counts, strict=True):
        taken = min(count, most)
        if count and not taken:
            break
        chosen.append({**placement, "most": taken, "is_whole": taken == count})
        most -= taken
        if taken < count:
            break
    return chosen


async def _each(registry: Registry, text: str, placements: Sequence[Row]) -> list[list[Row]]:
    """Execute a statement for each placement, in its business, and return the rows of each."""
    confine = registry.session.connection.machines.set_tenant
    queries = [
        query for each in placements for query in (confine(each["business_id"]), Query(text, each))
    ]
    if not queries:
        return []
    return await Fetch(registry.session, tuple(queries), lambda answers: [*answers[1::2]])
