"""Whose rows a session reaches: the statements that open it, and who is refused there."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from uuid import UUID

from access.links import SignedLink
from access.principal import Caller
from accounting.books.businesses import refuse_archived_business
from accounting.errors import NotAllowed
from persistence.engine.admission import refuse_unadmitted
from persistence.engine.sql import Query, Row

# The tenant's setting and its facts in one statement: an unknown business sets nothing, and row
# security then shows nothing.
_READ_BUSINESS = """
SELECT set_config('app.business_id', b.id::text, true), b.country, b.base_currency,
       b.accounting_method, b.fiscal_year_end, b.lock_date, b.archived_at, b.tokens_valid_from,
       p.disabled_at AS partner_disabled_at, p.tokens_valid_from AS partner_tokens_valid_from
FROM business b JOIN partner p ON p.id = b.partner_id
WHERE b.id = %(business_id)s AND b.partner_id = %(partner_id)s
"""
# The lock keeps archiving and a change of the lock date out until this transaction has ended. The
# partner is read by a statement of its own: one that waits for a lock must not look elsewhere.
_LOCK_BUSINESS = """
SELECT country, base_currency, accounting_method, fiscal_year_end, lock_date, archived_at,
       tokens_valid_from
FROM business WHERE id = %(business_id)s AND partner_id = %(partner_id)s FOR KEY SHARE
"""
_READ_PARTNER = """
SELECT disabled_at AS partner_disabled_at, tokens_valid_from AS partner_tokens_valid_from
FROM partner WHERE id = %(partner_id)s
"""
# A link says which business, and nothing of its partner.
_READ_LINKED = """
SELECT set_config('app.business_id', b.id::text, true), p.disabled_at AS partner_disabled_at,
       greatest(b.tokens_valid_from, p.tokens_valid_from) AS valid_from
FROM business b JOIN partner p ON p.id = b.partner_id
WHERE b.id = %(business_id)s
"""
_SET_TENANT = "SELECT set_config('app.business_id', %(business_id)s::text, true)"
# Who does what, for the audit trail: the database writes it beside each row that is changed.
_ANNOUNCE = """
       set_config('app.action', %(action)s, true), set_config('app.actor_kind', %(kind)s, true),
       set_config('app.partner_id', %(partner_id)s::text, true),
       set_config('app.key_id', %(key_id)s, true),
       set_config('app.request_id', %(request_id)s, true)"""
# Every writing of a business passes its gate. Whoever closes something (the lock date, a customer,
# all of it) waits there, and those who come later wait behind it: a lock on the row alone would be
# joined by one posting after the other, and whoever wants it for itself would never get it.
_GATE = "hashtextextended('gate ' || %(business_id)s::text, 0)"
# A writing finds its rows by their keys, whatever these are: PostgreSQL would plan half of its
# statements anew each time, which costs more than to run them.
_PLAN_ONCE = "set_config('plan_cache_mode', 'force_generic_plan', true)"
_OPEN = f"{_SET_TENANT}, {_PLAN_ONCE}"
_PASS_GATE = f"{_OPEN}, pg_advisory_xact_lock_shared({_GATE}),{_ANNOUNCE}"
_PASS_GATE_ALONE = f"{_OPEN}, pg_advisory_xact_lock({_GATE}),{_ANNOUNCE}"
CLOSE_GATE = f"SELECT pg_advisory_xact_lock({_GATE})"
_READ_PARTNER_AND_ANNOUNCE = _READ_PARTNER.replace("\nFROM", f",{_ANNOUNCE}\nFROM", 1)


@dataclass(frozen=True, slots=True)
class AuditedAction:
    """What is done: the operation and the request, as the audit trail names them."""

    action: str = ""
    request_id: str = ""

    def by(self, caller: Caller) -> Row:
        """The parameters that announce it to the database; they end with the transaction."""
        return {
            "action": self.action,
            "kind": caller.kind.value,
            "partner_id": caller.partner_id,
            "key_id": caller.key_id or "",
            "request_id": self.request_id,
        }


def set_tenant(business_id: UUID) -> Query:
    """Confine the rest of this transaction to one business."""
    return Query(_SET_TENANT, {"business_id": business_id})


@dataclass(slots=True)
class BusinessTenant:
    """One business, as its own caller or its partner reaches it."""

    caller: Caller
    business_id: UUID
    audited: AuditedAction = AuditedAction()
    facts: Row = field(default_factory=dict)
    alone: bool = False  # No other writing of the business is under way beside this one.

    def reading(self) -> tuple[Query, ...]:
        return (Query(_READ_BUSINESS, self._parameters()),)

    def writing(self) -> tuple[Query, ...]:
        announced = {"business_id": self.business_id, **self.audited.by(self.caller)}
        return (
            Query(_PASS_GATE_ALONE if self.alone else _PASS_GATE, announced),
            Query(_LOCK_BUSINESS, self._parameters()),
            Query(_READ_PARTNER, self._parameters()),
        )

    def admit(self, opened: Sequence[list[Row]]) -> None:
        """Keep the business's facts; refuse whoever may not enter."""
        facts: Row = {}
        for rows in opened:
            facts |= rows[0] if rows else {}
        refuse_unadmitted(facts if "base_currency" in facts else None, self.caller)
        self.facts = facts

    def refuse_writes(self) -> None:
        """Refuse to write to an archived business."""
        refuse_archived_business(self.facts["archived_at"])

    def _parameters(self) -> Row:
        return {"business_id": self.business_id, "partner_id": self.caller.partner_id}


@dataclass(slots=True)
class PartnerTenant:
    """One partner and the list of its businesses."""

    caller: Caller
    audited: AuditedAction = AuditedAction()

    def reading(self) -> tuple[Query, ...]:
        return (Query(_READ_PARTNER, {"partner_id": self.caller.partner_id}),)

    def writing(self) -> tuple[Query, ...]:
        return (Query(_READ_PARTNER_AND_ANNOUNCE, self.audited.by(self.caller)),)

    def admit(self, opened: Sequence[list[Row]]) -> None:
        """Refuse a disabled partner and a revoked token."""
        [found] = opened
        refuse_unadmitted(found[0] if found else None, self.caller)

    def refuse_writes(self) -> None:
        """A partner's list of businesses can always be written to."""


@dataclass(slots=True)
class LinkTenant:
    """One business, as a signed link reaches it: only to read, and without a caller."""

    link: SignedLink

    def reading(self) -> tuple[Query, ...]:
        return (Query(_READ_LINKED, {"business_id": self.link.business_id}),)

    def writing(self) -> tuple[Query, ...]:
        raise AssertionError("a link writes nothing")

    def admit(self, opened: Sequence[list[Row]]) -> None:
        """Refuse links of a disabled partner, and those signed before its tokens were revoked."""
        [found] = opened
        revoked = found and found[0]["valid_from"] > self.link.signed_at
        if revoked or (found and found[0]["partner_disabled_at"] is not None):
            raise NotAllowed("permission_denied", "This link was revoked. Ask for a new one.")

    def refuse_writes(self) -> None:
        raise AssertionError("a link writes nothing")
