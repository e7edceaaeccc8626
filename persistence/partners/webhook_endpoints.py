"""Webhook endpoints of one partner: their rows, their sealed secrets, and their deliveries."""

from collections.abc import Callable, Mapping, MutableMapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from datetime import datetime
from typing import Any, TypeVar
from uuid import UUID

from sqlalchemy import Text, Uuid, func, select

from access.webhook_secrets import SealedSecret
from accounting.errors import NotFound
from accounting.webhooks.endpoints import Endpoint, EndpointStatus, unknown_business
from persistence.engine.ids import new_id
from persistence.engine.listings import Filter, Listing, created_filters
from persistence.engine.pages import Page, PageRequest
from persistence.engine.sessions import ReadSession, WriteSession
from persistence.engine.sql import Answers, Fetch, Query, Row, compiled, given
from persistence.engine.unit_of_work import UnitOfWork
from persistence.partners.event_placements import PLACE
from persistence.scope import Precondition
from persistence.tables import Moment, webhook_delivery, webhook_endpoint

T = TypeVar("T")

_ENDPOINT = webhook_endpoint.c
_COLUMNS = [_ENDPOINT[each.name] for each in fields(Endpoint)]
_MINE = _ENDPOINT.partner_id == given("partner_id", Uuid)
_BY_ID = compiled(select(*_COLUMNS).where(_MINE, _ENDPOINT.id == given("id", Uuid)))
_LOCKED = f"{_BY_ID} FOR UPDATE"

# Creations of one partner wait for each other, so that their number is right.
_COUNT = (
    "SELECT pg_advisory_xact_lock(hashtextextended('webhooks ' || %(partner_id)s::text, 0))",
    "SELECT count(*) AS count FROM webhook_endpoint WHERE partner_id = %(partner_id)s",
)
_KNOWN = "SELECT id FROM business WHERE partner_id = %(partner_id)s AND id = ANY(%(ids)s)"

_HEAD = """
coalesce((SELECT max(position) FROM event_placement WHERE partner_id = %(partner_id)s), 0)
"""
_OPEN_FEED = f"""
INSERT INTO webhook_feed (partner_id, position) VALUES (%(partner_id)s, {_HEAD})
ON CONFLICT (partner_id) DO NOTHING
"""
_ADD_HEALTH = f"""
INSERT INTO webhook_health (endpoint_id, partner_id, after_position)
VALUES (%(id)s, %(partner_id)s, {_HEAD})
"""
_START_ANEW = f"""
UPDATE webhook_health SET after_position = {_HEAD}, failing_since = NULL, slow_until = NULL
WHERE endpoint_id = %(id)s AND partner_id = %(partner_id)s
"""
_ADD_SECRET = """
INSERT INTO webhook_secret (id, endpoint_id, partner_id, created_at, key_name, sealed)
VALUES (%(secret_id)s, %(id)s, %(partner_id)s, %(now)s, %(key_name)s, %(sealed)s)
"""
# Of the old ones, the newest signs until it ends.
_DROP_OLD_SECRETS = """
DELETE FROM webhook_secret
WHERE endpoint_id = %(id)s AND partner_id = %(partner_id)s AND expires_at IS NOT NULL
"""
_END_SECRET = """
UPDATE webhook_secret SET expires_at = %(ends_at)s
WHERE endpoint_id = %(id)s AND partner_id = %(partner_id)s AND expires_at IS NULL
"""
_SECRETS = """
SELECT key_name, sealed FROM webhook_secret
WHERE endpoint_id = %(id)s AND partner_id = %(partner_id)s
  AND (expires_at IS NULL OR expires_at > %(now)s)
ORDER BY created_at DESC, id DESC
"""
_DELETE = (
    "DELETE FROM webhook_secret WHERE endpoint_id = %(id)s AND partner_id = %(partner_id)s",
    "DELETE FROM webhook_health WHERE endpoint_id = %(id)s AND partner_id = %(partner_id)s",
    "DELETE FROM webhook_endpoint WHERE id = %(id)s AND partner_id = %(partner_id)s",
)
_AUDIT = "SELECT audit_partner(%(partner_id)s)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """An event for one endpoint, and the last attempt to deliver it.

    The process `held_by` sends it, until `next_attempt_at` at the latest.
    """

    id: UUID
    created_at: datetime
    business_id: UUID
    sequence: int
    event_id: UUID
    event_type: str
    status: str
    attempts: int
    next_attempt_at: datetime | None
    held_by: UUID | None
    last_attempt_at: datetime | None
    status_code: int | None
    milliseconds: int | None
    answer: str | None
    error: str | None


_DELIVERY = webhook_delivery.c
_DELIVERY_COLUMNS = [_DELIVERY[each.name] for each in fields(Delivery)]
_OF_ENDPOINT = (
    _DELIVERY.partner_id == given("partner_id", Uuid),
    _DELIVERY.endpoint_id == given("endpoint_id", Uuid),
)
_DELIVERY_BY_ID = compiled(
    select(*_DELIVERY_COLUMNS)
    .where(*_OF_ENDPOINT, _DELIVERY.id == given("delivery_id", Uuid))
    .with_for_update()
)
_RETRY = """
UPDATE webhook_delivery SET status = %(status)s, attempts = %(attempts)s,
  next_attempt_at = %(next_attempt_at)s, held_by = NULL
WHERE id = %(id)s AND endpoint_id = %(endpoint_id)s AND partner_id = %(partner_id)s
"""

ENDPOINTS = Listing(
    source=webhook_endpoint,
    key=_ENDPOINT.id,
    scope=_MINE,
    columns=_COLUMNS,
    filters=created_filters(webhook_endpoint),
    sorts={"created_at": _ENDPOINT.created_at, "updated_at": _ENDPOINT.updated_at},
    default_sort="-created_at",
)
_CHANGED_AT = func.greatest(_DELIVERY.created_at, _DELIVERY.last_attempt_at, type_=Moment)
DELIVERIES = Listing(
    source=webhook_delivery,
    key=_DELIVERY.id,
    scope=_OF_ENDPOINT[0] & _OF_ENDPOINT[1],
    columns=_DELIVERY_COLUMNS,
    filters={
        **created_filters(webhook_delivery, _CHANGED_AT),
        "status": Filter(_DELIVERY.status == given("status", Text), varies=True),
        "business_id": Filter(_DELIVERY.business_id == given("business_id", Uuid), varies=True),
        "event_id": Filter(_DELIVERY.event_id == given("event_id", Uuid)),
    },
    sorts={"created_at": _DELIVERY.created_at},
    default_sort="-created_at",
)


class WebhookEndpoints:
    """The endpoints of one partner, in one transaction.

    `versions` are those of the records that the transaction has read.
    """

    def __init__(
        self,
        session: ReadSession | WriteSession,
        partner_id: UUID,
        now: datetime,
        versions: MutableMapping[UUID, int],
        precondition: Precondition | None,
    ) -> None:
        self._session = session
        self._partner_id = partner_id
        self._now = now
        self._versions = versions
        self._precondition = precondition

    def count(self) -> Fetch[int]:
        """Return the number of endpoints; other creations wait until this transaction ends."""
        return self._fetch(_COUNT, {}, lambda answers: int(answers[-1][0]["count"]))

    def check_businesses(self, ids: Sequence[UUID]) -> Fetch[None]:
        """Check that the partner has the businesses; raises RuleViolation `reference_not_found`."""

        def answer(answers: Answers) -> None:
            known = {row["id"] for row in answers[-1]}
            for each in ids:
                if each not in known:
                    raise unknown_business(each)

        return self._fetch((_KNOWN,), {"ids": list(ids)}, answer)

    def page(self, wanted: PageRequest) -> Fetch[Page[Endpoint]]:
        """List one page of the endpoints."""
        return ENDPOINTS.fetch(self._session, wanted, self._mine, read_endpoint)

    def get(self, endpoint_id: UUID) -> Fetch[Endpoint]:
        """Find an endpoint; raises NotFound."""
        return self._fetch((_BY_ID,), {"id": endpoint_id}, self._only)

    def lock(self, endpoint_id: UUID) -> Fetch[Endpoint]:
        """Lock an endpoint; raises NotFound, and Stale if If-Match names an older version."""

        def answer(answers: Answers) -> Endpoint:
            found = self._only(answers)
            if self._precondition is not None:
                self._precondition.refuse_stale(found.version)
            return found

        return self._fetch((_LOCKED,), {"id": endpoint_id}, answer)

    def add(self, endpoint: Endpoint, secret: SealedSecret) -> None:
        """Stage a new endpoint with its secret; it takes events from now on."""
        self._staging.insert(webhook_endpoint, self._row(endpoint))
        self._staging.follow_with(PLACE)  # What is committed by now is from before the endpoint.
        for text in (_OPEN_FEED, _ADD_HEALTH):
            self._follow(text, id=endpoint.id)
        self._add_secret(endpoint.id, secret)
        self._follow(_AUDIT)

    def save(self, endpoint: Endpoint, *, starts_anew: bool = False) -> None:
        """Stage a changed endpoint; one that starts anew takes events from now on."""
        row = {**self._row(endpoint), "version": self._versions[endpoint.id]}
        self._staging.update(webhook_endpoint, row)
        if starts_anew:
            self._staging.follow_with(PLACE)
            self._follow(_START_ANEW, id=endpoint.id)
        self._follow(_AUDIT)

    def rotate(self, endpoint: Endpoint, secret: SealedSecret, ends_at: datetime) -> None:
        """Stage a new secret; the one before it signs as well until `ends_at`."""
        self._follow(_DROP_OLD_SECRETS, id=endpoint.id)
        self._follow(_END_SECRET, id=endpoint.id, ends_at=ends_at)
        self._add_secret(endpoint.id, secret)
        self.save(endpoint)

    def delete(self, endpoint_id: UUID) -> None:
        """Stage the deletion of an endpoint; upkeep deletes its deliveries later."""
        for text in _DELETE:
            self._follow(text, id=endpoint_id)

    def secrets(self, endpoint_id: UUID) -> Fetch[list[SealedSecret]]:
        """Return the secrets that sign now, newest first."""
        return self._fetch(
            (_SECRETS,),
            {"id": endpoint_id, "now": self._now},
            lambda answers: [sealed_secret(row) for row in answers[-1]],
        )

    def deliveries(self, endpoint_id: UUID, wanted: PageRequest) -> Fetch[Page[Delivery]]:
        """List one page of the deliveries of an endpoint."""
        scope = {**self._mine, "endpoint_id": endpoint_id}
        return DELIVERIES.fetch(self._session, wanted, scope, lambda row: Delivery(**row))

    def delivery(self, endpoint_id: UUID, delivery_id: UUID) -> Fetch[Delivery]:
        """Lock a delivery; raises NotFound."""

        def answer(answers: Answers) -> Delivery:
            if not answers[-1]:
                raise NotFound("webhook_delivery_not_found", "There is no such delivery.")
            return Delivery(**answers[-1][0])

        named = {"endpoint_id": endpoint_id, "delivery_id": delivery_id}
        return self._fetch((_DELIVERY_BY_ID,), named, answer)

    def retry(self, endpoint_id: UUID, found: Delivery) -> Delivery:
        """Stage that a delivery is due now, with all of its attempts ahead, and return it.

        One that is being sent stays as it is.
        """
        if found.held_by and found.next_attempt_at and found.next_attempt_at > self._now:
            return found
        due = replace(found, status="pending", attempts=0, next_attempt_at=self._now, held_by=None)
        self._follow(
            _RETRY,
            id=due.id,
            endpoint_id=endpoint_id,
            status=due.status,
            attempts=due.attempts,
            next_attempt_at=due.next_attempt_at,
        )
        return due

    @property
    def _mine(self) -> Row:
        return {"partner_id": self._partner_id}

    @property
    def _staging(self) -> UnitOfWork:
        assert isinstance(self._session, WriteSession), "a reading changes nothing"
        return self._session.staging

    def _fetch(
        self, texts: Sequence[str], named: Mapping[str, Any], answer: Callable[[Answers], T]
    ) -> Fetch[T]:
        queries = tuple(Query(text, {**named, **self._mine}) for text in texts)
        return Fetch(self._session, queries, answer)

    def _follow(self, text: str, **named: Any) -> None:
        self._staging.follow_with(Query(text, {**named, **self._mine}))

    def _add_secret(self, endpoint_id: UUID, secret: SealedSecret) -> None:
        self._follow(
            _ADD_SECRET, id=endpoint_id, secret_id=new_id(), now=self._now, **asdict(secret)
        )

    def _row(self, endpoint: Endpoint) -> Row:
        return {**asdict(endpoint), "partner_id": self._partner_id}

    def _only(self, answers: Answers) -> Endpoint:
        if not answers[-1]:
            raise NotFound("webhook_endpoint_not_found", "There is no such webhook endpoint.")
        found = read_endpoint(answers[-1][0])
        self._versions[found.id] = found.version
        return found


def sealed_secret(row: Row) -> SealedSecret:
    """Read a secret from its row."""
    return SealedSecret(row["key_name"], bytes(row["sealed"]))


def read_endpoint(row: Row) -> Endpoint:
    """Read an endpoint from its row."""
    businesses = row["business_ids"]
    named = None if businesses is None else [UUID(each) for each in businesses]
    return Endpoint(**{**row, "status": EndpointStatus(row["status"]), "business_ids": named})
