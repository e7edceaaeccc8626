"""Webhook endpoints: what a partner may configure, and which events an endpoint takes."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final, Literal
from uuid import UUID

from accounting.absent import Absent, or_else
from accounting.errors import Conflict, RuleViolation

MOST_ENDPOINTS: Final = 20
"""The most endpoints of one partner."""

OLD_SECRET_SIGNS: Final = timedelta(hours=24)
"""The time after a rotation for which the old secret signs as well."""

OffReason = Literal["gone", "failing"]


class EndpointStatus(StrEnum):
    """The status of an endpoint.

    Deliveries of a paused endpoint wait. An endpoint that is off gets no new ones.
    """

    ACTIVE = "active"
    PAUSED = "paused"
    OFF = "off"


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """An endpoint of a partner; `types` and `business_ids` are None for all."""

    id: UUID
    version: int
    created_at: datetime
    updated_at: datetime
    url: str
    types: Sequence[str] | None
    business_ids: Sequence[UUID] | None
    ordered: bool
    description: str | None
    status: EndpointStatus = EndpointStatus.ACTIVE
    off_reason: OffReason | None = None
    off_at: datetime | None = None

    def takes(self, event_type: str, business_id: UUID) -> bool:
        """Return whether an event of a business is delivered to this endpoint.

        `invoice.paid` is taken by `invoice.paid`, by `invoice.*` and by all types.
        """
        if self.business_ids is not None and business_id not in self.business_ids:
            return False
        if self.types is None:
            return True
        return event_type in self.types or f"{event_type.partition('.')[0]}.*" in self.types


@dataclass(frozen=True, slots=True)
class CreateEndpoint:
    """A new endpoint, as its partner requests it."""

    url: str
    types: Sequence[str] | None
    business_ids: Sequence[UUID] | None
    ordered: bool
    description: str | None


@dataclass(frozen=True, slots=True)
class ChangeEndpoint:
    """Changes of an endpoint; a field that was not sent is ABSENT."""

    url: str | Absent
    types: Sequence[str] | Absent | None
    business_ids: Sequence[UUID] | Absent | None
    ordered: bool | Absent
    description: str | Absent | None
    is_active: bool | Absent


@dataclass(frozen=True, slots=True)
class ReplayEvents:
    """The events of a business after a sequence, up to `until` or to the newest."""

    business_id: UUID
    after: int
    until: int | None


def refuse_another(count: int) -> None:
    """Raise Conflict `webhook_endpoint_limit` if a partner has 20 endpoints already."""
    if count >= MOST_ENDPOINTS:
        raise Conflict(
            "webhook_endpoint_limit",
            f"A partner has at most {MOST_ENDPOINTS} webhook endpoints. Delete one first.",
            limit=MOST_ENDPOINTS,
        )


def unknown_business(business_id: UUID) -> RuleViolation:
    """Return the error for a request that names a business that the partner does not have."""
    return RuleViolation(
        "reference_not_found",
        "The request names a business that you do not have.",
        resource="business",
        reference=str(business_id),
    )


def changed(endpoint: Endpoint, command: ChangeEndpoint, now: datetime) -> Endpoint:
    """Return the changed endpoint, or the same one where nothing differs.

    An endpoint that is switched on again after it was off begins without its old failures.
    """
    after = replace(
        endpoint,
        url=or_else(command.url, endpoint.url),
        types=or_else(command.types, endpoint.types),
        business_ids=or_else(command.business_ids, endpoint.business_ids),
        ordered=or_else(command.ordered, endpoint.ordered),
        description=or_else(command.description, endpoint.description),
    )
    if command.is_active is True:
        after = replace(after, status=EndpointStatus.ACTIVE, off_reason=None, off_at=None)
    if command.is_active is False and endpoint.status is EndpointStatus.ACTIVE:
        after = replace(after, status=EndpointStatus.PAUSED)
    return endpoint if after == endpoint else replace(after, updated_at=now)


def starts_anew(before: Endpoint, after: Endpoint) -> bool:
    """Return whether an endpoint was off and is on again."""
    return before.status is EndpointStatus.OFF and after.status is not EndpointStatus.OFF
