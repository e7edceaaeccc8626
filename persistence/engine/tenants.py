"""Tenants: the statements that open their sessions, and the checks of their callers."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, Protocol
from uuid import UUID

import orjson

from access.links import SignedLink
from access.principal import Caller
from accounting.books.businesses import refuse_archived_business
from accounting.errors import NotAllowed
from persistence.engine.admission import refuse_unadmitted
from persistence.engine.sql import Query, Row
from persistence.engine.topology import Entrant, Topology

WRITES_EVENTS: Final = {"events": "written"}
"""The setting by which triggers recognise a session that writes its events itself."""


@dataclass(frozen=True, slots=True)
class AuditedAction:
    """An operation and its request, as the audit trail names them.

    The caller performs it, or an operator on the command line for the partner.
    """

    action: str = ""
    request_id: str = ""
    by_operator: bool = False

    def by(self, caller: Caller) -> str:
        """Return the JSON that the database stores for this action of a caller."""
        return self._announced(caller, **WRITES_EVENTS)

    def unwritten(self, caller: Caller, word: str, changed: Sequence[str], at: datetime) -> str:
        """Return the same for changes whose events triggers write, with their word and fields.

        `at` is the moment of the request by the clock of the business.
        """
        return self._announced(caller, word=word, changed=[*changed], at=at)

    def cause(self, caller: Caller) -> Row:
        """Return the columns of an event that name this action and its caller."""
        return {
            "operation": self.action or None,
            "request_id": self.request_id or None,
            "actor_kind": "operator" if self.by_operator else caller.kind.value,
            "key_id": caller.key_id,
        }

    def _announced(self, caller: Caller, **more: Any) -> str:
        cause = self.cause(caller)
        said = {
            "action": cause["operation"],
            "kind": cause["actor_kind"],
            "partner_id": caller.partner_id,
            "key_id": cause["key_id"],
            "request_id": cause["request_id"],
            **more,
        }
        return orjson.dumps(said).decode()


def entrant(caller: Caller) -> Entrant:
    """Return the facts of a caller that the database needs to admit it."""
    return Entrant(caller.partner_id, caller.token_id, caller.business_id)


class StartsOver(Exception):
    """A request that releases its connection, does what the exception says, and starts over."""


class MovedClock(StartsOver):
    """A sandbox clock that differs from the clock of the work, by `seconds_ahead` of real time."""

    def __init__(self, seconds_ahead: int) -> None:
        super().__init__(f"the clock is {seconds_ahead} s ahead")
        self.seconds_ahead = seconds_ahead


class Tenant(Protocol):
    """The owner of the data that a session can reach: a business or a partner."""

    @property
    def id(self) -> UUID:
        """The id of that business or partner; each id has its share of the connections."""

    def reading(self, machines: Topology, /) -> tuple[Query, ...]:
        """Return the statements that open each round of a reading."""

    def writing(self, machines: Topology, /) -> tuple[Query, ...]:
        """Return the statements that open a writing, after BEGIN."""

    def admit(self, opened: Sequence[list[Row]]) -> None:
        """Check the rows of the opening statements; the last rows decide about the caller.

        Raises an ApiError where the caller is not admitted.
        """

    def refuse_writes(self) -> None:
        """Raise an ApiError where the tenant is read-only."""


@dataclass(slots=True)
class BusinessTenant:
    """A business, for a caller of its own or of its partner.

    `seconds_ahead` is how far the clock of the work is ahead of real time, as in a sandbox.
    """

    caller: Caller
    business_id: UUID
    audited: AuditedAction = AuditedAction()
    seconds_ahead: int = 0
    facts: Row = field(default_factory=dict)
    alone: bool = False  # No other writing of the business runs beside this one.
    in_batch: bool = False  # An item of a batch, which has opened the transaction and runs alone.

    @property
    def id(self) -> UUID:
        return self.business_id

    def reading(self, machines: Topology) -> tuple[Query, ...]:
        return machines.read_business(self.business_id, entrant(self.caller))

    def writing(self, machines: Topology) -> tuple[Query, ...]:
        caller = self.audited.by(self.caller)
        if self.in_batch:
            return machines.write_item(self.business_id, entrant(self.caller), caller)
        return machines.write_business(
            self.business_id, entrant(self.caller), caller, alone=self.alone
        )

    def admit(self, opened: Sequence[list[Row]]) -> None:
        """Store the facts of the business; raise where the caller is refused, or MovedClock."""
        found = opened[-1]
        refuse_unadmitted(found[0] if found else None, self.caller)
        self.facts = found[0]
        ahead = self.facts["clock_seconds_ahead"] or 0
        if ahead != self.seconds_ahead:
            raise MovedClock(ahead)

    def refuse_writes(self) -> None:
        """Raise for an archived business."""
        refuse_archived_business(self.facts["archived_at"])


@dataclass(slots=True)
class PartnerTenant:
    """A partner with the list of its businesses."""

    caller: Caller
    audited: AuditedAction = AuditedAction()

    @property
    def id(self) -> UUID:
        return self.caller.partner_id

    def reading(self, machines: Topology) -> tuple[Query, ...]:
        return machines.read_partner(entrant(self.caller))

    def writing(self, machines: Topology) -> tuple[Query, ...]:
        return machines.write_partner(entrant(self.caller), self.audited.by(self.caller))

    def admit(self, opened: Sequence[list[Row]]) -> None:
        """Raise for a disabled partner or a revoked token."""
        found = opened[-1]
        refuse_unadmitted(found[0] if found else None, self.caller)

    def refuse_writes(self) -> None:
        """Allow every write: the list of businesses of a partner is never read-only."""


@dataclass(slots=True)
class LinkTenant:
    """A business for a signed link: read-only, and without a caller."""

    link: SignedLink

    @property
    def id(self) -> UUID:
        return self.link.business_id

    def reading(self, machines: Topology) -> tuple[Query, ...]:
        return machines.read_linked(self.link.business_id)

    def writing(self, _machines: Topology) -> tuple[Query, ...]:
        raise AssertionError("a link writes nothing")

    def admit(self, opened: Sequence[list[Row]]) -> None:
        """Raise for the link of a disabled partner, or from before the tokens were revoked."""
        found = opened[-1]
        revoked = found and found[0]["valid_from"] > self.link.signed_at
        if revoked or (found and found[0]["partner_disabled_at"] is not None):
            raise NotAllowed("permission_denied", "This link was revoked. Ask for a new one.")

    def refuse_writes(self) -> None:
        raise AssertionError("a link writes nothing")
