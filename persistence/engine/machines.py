"""How a transaction begins: on one machine, and on the many of a Citus cluster.

One machine is told whose rows are wanted by a statement that is sent anyway, so that a reading is
one implicit transaction. Other machines hear of nothing but `SET LOCAL` in an open one.
"""

from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple, Protocol
from uuid import UUID

from psycopg.sql import Literal

from accounting.values import dataclass
from persistence.engine.sql import Query

BEGIN = Query("BEGIN", {})
SNAPSHOT = Query("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", {})

# Whether `accounting distribute` was here. It sets this, since nothing below works without it.
ARE_THERE_MANY = "SELECT current_setting('citus.propagate_set_commands', true) = 'local'"

# The caller's token, where it is revoked by itself; null else.
_REVOKED = "(SELECT id FROM revoked_token WHERE id = %(token_id)s) AS revoked_token"
_FACTS = f"""b.country, b.base_currency, b.accounting_method, b.fiscal_year_end, b.lock_date,
       b.archived_at, b.tokens_valid_from, b.clock_seconds_ahead, b.matching_tolerance_cents,
       p.disabled_at AS partner_disabled_at,
       p.tokens_valid_from AS partner_tokens_valid_from,
       {_REVOKED}
FROM business b JOIN partner p ON p.id = b.partner_id
WHERE b.id = %(business_id)s AND b.partner_id = %(partner_id)s"""
# Nobody archives an account beside a writing that has passed the gate: most postings need not make
# theirs active again. On many machines that statement costs less than this question.
_ARCHIVES_ACCOUNTS = """EXISTS (
         SELECT FROM account WHERE business_id = %(business_id)s AND archived_at IS NOT NULL
       )"""
_FACTS_TO_WRITE = f"SELECT {_ARCHIVES_ACCOUNTS} AS may_have_archived_accounts, {_FACTS}"
_FACTS_TO_WRITE_ON_MANY = f"SELECT true AS may_have_archived_accounts, {_FACTS}"
# The token of a business may read that business as its partner does.
_PARTNER = f"""disabled_at AS partner_disabled_at, tokens_valid_from AS partner_tokens_valid_from,
       (SELECT tokens_valid_from FROM business WHERE id = %(of_business)s) AS tokens_valid_from,
       {_REVOKED}
FROM partner WHERE id = %(partner_id)s"""
# A link says which business, and nothing of its partner.
_LINKED = """p.disabled_at AS partner_disabled_at,
       greatest(b.tokens_valid_from, p.tokens_valid_from) AS valid_from
FROM business b JOIN partner p ON p.id = b.partner_id
WHERE b.id = %(business_id)s"""

# Every writing of a business passes its gate. Whoever closes something (the lock date, a customer,
# all of it) waits there, and those who come later wait behind it: a lock on the row alone would be
# joined by one posting after the other, and whoever wants it for itself would never get it. Behind
# the gate the row is read plainly, by the next statement: this one sees what was before the wait.
_GATE = "hashtextextended('gate ' || %(business_id)s::text, 0)"
_PASS = f"pg_advisory_xact_lock_shared({_GATE})"
_PASS_ALONE = f"pg_advisory_xact_lock({_GATE})"
PASS_GATE = f"SELECT {_PASS}"
CLOSE_GATE = f"SELECT {_PASS_ALONE}"

# The tenant's setting and its facts in one statement: an unknown business sets nothing, and row
# security then shows nothing. Of partners it shows all until one is set, since who is let in has to
# be looked up first.
_SET_FOUND_TENANT = (
    "set_config('app.business_id', b.id::text, true),"
    " set_config('app.partner_id', b.partner_id::text, true)"
)
_SET_FOUND_PARTNER = "set_config('app.partner_id', id::text, true)"
_SET_TENANT = "SELECT set_config('app.business_id', %(business_id)s::text, true)"
# Who does what, for the audit trail: the database writes it beside each row that is changed.
_ANNOUNCE = "set_config('app.caller', %(caller)s, true)"
# Most rows are found alike, whatever values are asked for: PostgreSQL would plan half of the
# statements anew each time, which costs more than to run them. Citus cannot plan them so.
_GENERIC = "set_config('plan_cache_mode', 'force_generic_plan', true)"
_OPEN = (
    f"{_SET_TENANT}, set_config('app.partner_id', %(partner_id)s::text, true), {_GENERIC},"
    f" {_ANNOUNCE}"
)


class Entrant(NamedTuple):
    """Who wants in: the token that it comes with, and the business that this is bound to."""

    partner_id: UUID
    token_id: UUID | None
    of_business: UUID | None


def _told_of(entrant: Entrant) -> dict[str, Any]:
    return entrant._asdict()


class Machines(Protocol):
    """What a session has to know of where its tables lie."""

    @property
    def rows_as_json(self) -> bool:
        """Whether new rows are sent as one parameter; else they are values."""

    @property
    def planning_is_dear(self) -> bool:
        """Whether tables that a statement could do without cost more than a round trip."""

    def generic(self) -> "Machines":
        """The same, for a reading whose statements are planned once, for whatever values."""

    def begin_reading(self, *, one_snapshot: bool) -> tuple[Query, ...]:
        """What a reading begins with; nothing where each statement is a transaction."""

    def set_tenant(self, business_id: UUID) -> Query:
        """Confine the rest of an open transaction to one business."""

    def read_business(self, business_id: UUID, entrant: Entrant) -> tuple[Query, ...]:
        """Confine a reading to a business of a partner, and read what is known of both."""

    def read_linked(self, business_id: UUID) -> tuple[Query, ...]:
        """The same for the business of a link."""

    def read_partner(self, entrant: Entrant) -> tuple[Query, ...]:
        """Confine a reading to a partner and its businesses, and read what is known of it."""

    def write_business(
        self, business_id: UUID, entrant: Entrant, caller: str, *, alone: bool
    ) -> tuple[Query, ...]:
        """Confine a writing to a business, announce its caller, pass the gate, then read."""

    def write_partner(self, entrant: Entrant, caller: str) -> tuple[Query, ...]:
        """Announce the caller of what is written above businesses, and read its partner."""


@dataclass(frozen=True, slots=True)
class OneMachine:
    """PostgreSQL alone; that a reading is planned once is set beside its tenant."""

    planning: str = ""
    rows_as_json: ClassVar = True
    planning_is_dear: ClassVar = False

    def generic(self) -> "OneMachine":
        return _GENERIC_READINGS

    def begin_reading(self, *, one_snapshot: bool) -> tuple[Query, ...]:
        return (SNAPSHOT,) if one_snapshot else ()

    def set_tenant(self, business_id: UUID) -> Query:
        return Query(_SET_TENANT, {"business_id": business_id})

    def read_business(self, business_id: UUID, entrant: Entrant) -> tuple[Query, ...]:
        told = {"business_id": business_id, **_told_of(entrant)}
        return (Query(f"SELECT {_SET_FOUND_TENANT}{self.planning}, {_FACTS}", told),)

    def read_linked(self, business_id: UUID) -> tuple[Query, ...]:
        text = f"SELECT {_SET_FOUND_TENANT}{self.planning}, {_LINKED}"
        return (Query(text, {"business_id": business_id}),)

    def read_partner(self, entrant: Entrant) -> tuple[Query, ...]:
        text = f"SELECT {_SET_FOUND_PARTNER}{self.planning}, {_PARTNER}"
        return (Query(text, _told_of(entrant)),)

    def write_business(
        self, business_id: UUID, entrant: Entrant, caller: str, *, alone: bool
    ) -> tuple[Query, ...]:
        told = {"business_id": business_id, "caller": caller, **_told_of(entrant)}
        gate = _PASS_ALONE if alone else _PASS
        return Query(f"{_OPEN}, {gate}", told), Query(_FACTS_TO_WRITE, told)

    def write_partner(self, entrant: Entrant, caller: str) -> tuple[Query, ...]:
        told = {"caller": caller, **_told_of(entrant)}
        return (Query(f"SELECT {_SET_FOUND_PARTNER}, {_ANNOUNCE}, {_PARTNER}", told),)


_GENERIC_READINGS = OneMachine(planning=f", {_GENERIC}")


class ManyMachines:
    """A Citus cluster, seen from its coordinator.

    The tenant is set before it is known to be the caller's; whoever is not let in is refused
    before anything is shown.
    """

    rows_as_json = False
    planning_is_dear = True

    def generic(self) -> "ManyMachines":
        return self

    def begin_reading(self, *, one_snapshot: bool) -> tuple[Query, ...]:
        return (SNAPSHOT if one_snapshot else BEGIN,)

    def set_tenant(self, business_id: UUID) -> Query:
        [setting] = _set({"app.business_id": str(business_id)})
        return setting

    def read_business(self, business_id: UUID, entrant: Entrant) -> tuple[Query, ...]:
        told = {"business_id": business_id, **_told_of(entrant)}
        confined = {"app.business_id": str(business_id), "app.partner_id": str(entrant.partner_id)}
        return *_set(confined), Query(f"SELECT {_FACTS}", told)

    def read_linked(self, business_id: UUID) -> tuple[Query, ...]:
        linked = Query(f"SELECT {_LINKED}", {"business_id": business_id})
        return self.set_tenant(business_id), linked

    def read_partner(self, entrant: Entrant) -> tuple[Query, ...]:
        return self._partner(entrant, {})

    def write_business(
        self, business_id: UUID, entrant: Entrant, caller: str, *, alone: bool
    ) -> tuple[Query, ...]:
        told = {"business_id": business_id, **_told_of(entrant)}
        return (
            *_set(
                {
                    "app.business_id": str(business_id),
                    "app.partner_id": str(entrant.partner_id),
                    "app.caller": caller,
                }
            ),
            Query(CLOSE_GATE if alone else PASS_GATE, told),
            Query(_FACTS_TO_WRITE_ON_MANY, told),
        )

    def write_partner(self, entrant: Entrant, caller: str) -> tuple[Query, ...]:
        return self._partner(entrant, {"app.caller": caller})

    def _partner(self, entrant: Entrant, settings: Mapping[str, str]) -> tuple[Query, ...]:
        confined = _set({"app.partner_id": str(entrant.partner_id), **settings})
        return *confined, Query(f"SELECT {_PARTNER}", _told_of(entrant))


def _set(settings: Mapping[str, str]) -> tuple[Query, ...]:
    # The value is part of the text, so that none is worth preparing.
    return tuple(
        Query(f"SET LOCAL {name} = {Literal(value).as_string()}".replace("%", "%%"), {}, once=True)
        for name, value in settings.items()
    )
