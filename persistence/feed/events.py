"""The feed of events of one business, in the order of their sequence."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any
from uuid import UUID

from accounting.books.numbers import EVENTS
from persistence.engine.sql import Fetch, Query, Row
from persistence.scope import Scope


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """A change of an object, as it was recorded with the change."""

    business_id: UUID
    sequence: int
    id: UUID
    occurred_at: datetime
    type: str
    change: str
    object_type: str
    object_id: UUID
    external_id: str | None
    holder_id: UUID | None
    version: int
    previous_status: str | None
    status: str | None
    changed: list[str] | None
    journal_entry_ids: list[str] | None
    counts: dict[str, int] | None
    operation: str | None
    request_id: str | None
    actor_kind: str
    key_id: str | None


@dataclass(frozen=True, slots=True)
class FeedPage:
    """Events after a place in the feed; `head` is the sequence of the newest event of all."""

    events: Sequence[Event]
    head: int
    has_more: bool


@dataclass(frozen=True, slots=True)
class WantedEvents:
    """The events to read: of some `types`, or of all types of some `groups` (`invoice.*`)."""

    after: int
    most: int
    types: Sequence[str] = ()
    groups: Sequence[str] = ()
    object_id: UUID | None = None


COLUMNS = ", ".join(f"event.{each.name}" for each in fields(Event))
HEAD = f"""
SELECT last FROM number_series
WHERE number_series.business_id = %(business_id)s AND series = '{EVENTS}'"""
_ANY_TYPE = "cardinality(%(types)s::text[]) + cardinality(%(groups)s::text[]) = 0"
_IN_GROUP = "split_part(type, '.', 1) = ANY(%(groups)s::text[])"
OF_TYPES = f"({_ANY_TYPE} OR type = ANY(%(types)s::text[]) OR {_IN_GROUP})"
IN_ORDER = " ORDER BY sequence LIMIT %(most)s"
_AFTER = f"""
SELECT {COLUMNS} FROM event
WHERE event.business_id = %(business_id)s AND sequence > %(after)s AND {OF_TYPES}"""
OF_ALL = _AFTER + IN_ORDER
OF_ONE = f"{_AFTER} AND object_id = %(object_id)s{IN_ORDER}"


def newest(scope: Scope) -> Fetch[int]:
    """Load the sequence of the newest event of a business; 0 if there is none."""
    head = Query(HEAD, {"business_id": scope.business_id})
    return Fetch(scope.session, (head,), lambda answers: _last(answers[0]))


def events(scope: Scope, wanted: WantedEvents) -> Fetch[FeedPage]:
    """Load the events of a business after a sequence, and the newest sequence.

    The newest is read first: an event that is committed meanwhile may be on the page, and is then
    the newest.
    """
    asked = {
        "business_id": scope.business_id,
        "after": wanted.after,
        "most": wanted.most + 1,
        "types": list(wanted.types),
        "groups": list(wanted.groups),
        **({} if wanted.object_id is None else {"object_id": wanted.object_id}),
    }
    found = Query(OF_ALL if wanted.object_id is None else OF_ONE, asked)
    head = Query(HEAD, {"business_id": scope.business_id})

    def answer(answers: Any) -> FeedPage:
        last, rows = answers
        page = [Event(**row) for row in rows[: wanted.most]]
        newest = max([_last(last), *(each.sequence for each in page)])
        return FeedPage(page, newest, len(rows) > wanted.most)

    return Fetch(scope.session, (head, found), answer)


def _last(rows: Sequence[Row]) -> int:
    return rows[0]["last"] if rows else 0
