"""Tenants: the statements that open their sessions, and the checks of their callers."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from uuid import UUID

import orjson

from access.links import SignedLink
from access.principal import Caller
from accounting.books.businesses import refuse_archived_business
from accounting.errors import NotAllowed
from persistence.engine.admission import refuse_unadmitted
from persistence.engine.machines import Entrant, Machines
from persistence.engine.sql import Query, Row


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
        said = {
            "action": self.action or None,
            "kind": "operator" if self.by_operator else caller.kind.value,
            "partner_id": caller.partner_id,
            "key_id": caller.key_id,
            "request_id": self.request_id or None,
        }
        return orjson.dumps(said).decode()


def entrant(caller: Caller) -> Entrant:
    """Return the facts of a caller that the database needs to admit it."""
    return Entrant(caller.partner_id, caller.token_id, caller.business_id)


class MovedClock(Exception):
    """A sandbox clock that differs from the clock of the work, by `seconds_ahead` of real time."""

    def __init__(self, seconds_ahead: int) -> None:
        super().__init__(f"the clock is {seconds_ahead} s ahead")
        self.seconds_ahead = seconds_ahead


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

    @property
    def id(self) -> UUID:
        return self.business_id

    def reading(self, machines: Machines) -> tuple[Query, ...]:
        return machines.read_business(self.business_id, entrant(self.caller))

    def writing(self, machines: Machines) -> tuple[Query, ...]:
        caller = self.audited.by(self.caller)
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

    def reading(self, machines: Machines) -> tuple[Query, ...]:
        return machines.read_partner(entrant(self.caller))

    def writing(self, machines: Machines) -> tuple[Query, ...]:
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

    def reading(self, machines: Machines) -> tuple[Query, ...]:
        return machines.read_linked(self.link.business_id)

    def writing(self, _machines: Machines) -> tuple[Query, ...]:
        raise AssertionError("a link writes nothing")

    def admit(self, opened: Sequence[list[Row]]) -> None:
        """Raise for the link of a disabled partner, or from before the tokens were revoked."""
        found = opened[-1]
        revoked = found and found[0]["valid_from"] > self.link.signed_at
        if revoked or (found and found[0]["partner_disabled_at"] is not None):
            raise NotAllowed("permission_denied", "This link was revoked. Ask for a new one.")

    def refuse_writes(self) -> None:
        raise AssertionError("a link writes nothing")
