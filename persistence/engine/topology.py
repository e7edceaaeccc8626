"""The first statements of a transaction, on a single node and on a Citus cluster.

A single node receives the tenant in a statement that is sent in any case, so that a reading is one
implicit transaction. The other nodes of a cluster receive nothing but `SET LOCAL`, in an open one.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Protocol
from uuid import UUID

from psycopg.sql import Literal

from persistence.engine.sql import Query

BEGIN = Query("BEGIN", {})
SNAPSHOT = Query("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", {})

# Whether `accounting distribute` was run. It sets this, since nothing below works without it.
ARE_THERE_MANY = "SELECT current_setting('citus.propagate_set_commands', true) = 'local'"

# The token of the caller where it alone is revoked, else null.
_REVOKED = "(SELECT id FROM revoked_token WHERE id = %(token_id)s) AS revoked_token"
_FACTS = f"""b.country, b.base_currency, b.accounting_method, b.fiscal_year_end, b.lock_date,
       b.archived_at, b.tokens_valid_from, b.clock_seconds_ahead, b.matching_tolerance_cents,
       b.timezone, b.unknown_parties, b.version, b.external_id,
       b.sandbox IS NOT NULL AS is_sandbox,
       p.disabled_at AS partner_disabled_at,
       p.tokens_valid_from AS partner_tokens_valid_from,
       {_REVOKED}
FROM business b JOIN partner p ON p.id = b.partner_id
WHERE b.id = %(business_id)s AND b.partner_id = %(partner_id)s"""
# No account is archived beside a writing that has passed the gate. So most postings need not make
# their accounts active again. On a cluster that statement costs less than this question.
_ARCHIVES_ACCOUNTS = """EXISTS (
         SELECT FROM account WHERE business_id = %(business_id)s AND archived_at IS NOT NULL
       )"""
_FACTS_TO_WRITE = f"SELECT {_ARCHIVES_ACCOUNTS} AS may_have_archived_accounts, {_FACTS}"
_FACTS_TO_WRITE_ON_MANY = f"SELECT true AS may_have_archived_accounts, {_FACTS}"
# The token of a business may read that business as the token of its partner may.
_PARTNER = f"""disabled_at AS partner_disabled_at, tokens_valid_from AS partner_tokens_valid_from,
       (SELECT tokens_valid_from FROM business WHERE id = %(of_business)s) AS tokens_valid_from,
       {_REVOKED}
FROM partner WHERE id = %(partner_id)s"""
# A link names the business, and not the partner.
_LINKED = """p.disabled_at AS partner_disabled_at,
       greatest(b.tokens_valid_from, p.tokens_valid_from) AS valid_from
FROM business b JOIN partner p ON p.id = b.partner_id
WHERE b.id = %(business_id)s"""

# Every writing of a business passes its gate. A writing that closes a period, a customer or the
# whole business waits there, and later writings wait behind it. Without a gate, one posting after
# the other would join a shared lock on the row, and a writing that needs it alone would never get
# it. The next statement reads the row: this one sees the state from before its wait.
_GATE = "hashtextextended('gate ' || %(business_id)s::text, 0)"
_PASS = f"pg_advisory_xact_lock_shared({_GATE})"
_PASS_ALONE = f"pg_advisory_xact_lock({_GATE})"
PASS_GATE = f"SELECT {_PASS}"
CLOSE_GATE = f"SELECT {_PASS_ALONE}"

# The setting of the tenant and its facts in one statement: an unknown business sets nothing, and
# row security then shows no rows. It shows all partners until one is set, since admission has to
# look up the partner first.
_SET_FOUND_TENANT = (
    "set_config('app.business_id', b.id::text, true),"
    " set_config('app.partner_id', b.partner_id::text, true)"
)
_SET_FOUND_PARTNER = "set_config('app.partner_id', id::text, true)"
_SET_TENANT = "SELECT set_config('app.business_id', %(business_id)s::text, true)"
# The caller and action for the audit trail: the database stores them with each changed row.
_ANNOUNCE = "set_config('app.caller', %(caller)s, true)"
# The best plan of most statements is the same for all values. PostgreSQL would plan half of them
# again each time, which costs more than to run them. Citus cannot use generic plans.
_GENERIC = "set_config('plan_cache_mode', 'force_generic_plan', true)"
_OPEN = (
    f"{_SET_TENANT}, set_config('app.partner_id', %(partner_id)s::text, true), {_GENERIC},"
    f" {_ANNOUNCE}"
)


class Entrant(NamedTuple):
    """The partner of a caller, its token, and the business that the token is bound to."""

    partner_id: UUID
    token_id: UUID | None
    of_business: UUID | None


def _told_of(entrant: Entrant) -> dict[str, Any]:
    return entrant._asdict()


class Topology(Protocol):
    """The differences between a single node and a cluster that a session depends on."""

    @property
    def rows_as_json(self) -> bool:
        """Return whether new rows are sent as one JSON parameter, and not as values."""

    @property
    def planning_is_dear(self) -> bool:
        """Return whether tables that a statement could omit cost more than a round trip."""

    def generic(self) -> "Topology":
        """Return the same for a reading whose statements use generic plans."""

    def begin_reading(self, *, one_snapshot: bool) -> tuple[Query, ...]:
        """Return the first statements of a reading; none where each statement is a transaction."""

    def set_tenant(self, business_id: UUID) -> Query:
        """Return the statement that restricts the rest of an open transaction to one business."""

    def read_business(self, business_id: UUID, entrant: Entrant) -> tuple[Query, ...]:
        """Return the statements that restrict a reading to a business, and read its facts."""

    def read_linked(self, business_id: UUID) -> tuple[Query, ...]:
        """Return the statements that restrict a reading to the business of a signed link."""

    def read_partner(self, entrant: Entrant) -> tuple[Query, ...]:
        """Return the statements that restrict a reading to a partner, and read its row."""

    def write_business(
        self, business_id: UUID, entrant: Entrant, caller: str, *, alone: bool
    ) -> tuple[Query, ...]:
        """Return the statements that open a writing of a business.

        They restrict it to the business, set its caller for the audit trail, pass the gate (or
        close it where the writing runs `alone`), and then read the facts of the business.
        """

    def write_item(self, business_id: UUID, entrant: Entrant, caller: str) -> tuple[Query, ...]:
        """Return the statements that open an item of a batch, in the transaction of the batch.

        They set the caller of the item for the audit trail, and read the facts of the business
        again, which earlier items may have changed.
        """

    def write_partner(self, entrant: Entrant, caller: str) -> tuple[Query, ...]:
        """Return the statements that open a writing above businesses: caller and partner."""

    def announce(self, caller: str) -> Query:
        """Return the statement that sets another caller for the rest of an open transaction."""


@dataclass(frozen=True, slots=True)
class SingleNode:
    """PostgreSQL on a single node; `planning` sets generic plans together with the tenant."""

    planning: str = ""
    rows_as_json: ClassVar = True
    planning_is_dear: ClassVar = False

    def generic(self) -> "SingleNode":
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

    def write_item(self, business_id: UUID, entrant: Entrant, caller: str) -> tuple[Query, ...]:
        told = {"business_id": business_id, "caller": caller, **_told_of(entrant)}
        return Query(f"SELECT {_ANNOUNCE}", told), Query(_FACTS_TO_WRITE, told)

    def write_partner(self, entrant: Entrant, caller: str) -> tuple[Query, ...]:
        told = {"caller": caller, **_told_of(entrant)}
        return (Query(f"SELECT {_SET_FOUND_PARTNER}, {_ANNOUNCE}, {_PARTNER}", told),)

    def announce(self, caller: str) -> Query:
        return Query(f"SELECT {_ANNOUNCE}", {"caller": caller})


_GENERIC_READINGS = SingleNode(planning=f", {_GENERIC}")


class Cluster:
    """A Citus cluster, as its coordinator sees it.

    The tenant is set before it is known to be the caller's. A caller that is not admitted is
    refused before any row is shown.
    """

    rows_as_json = False
    planning_is_dear = True

    def generic(self) -> "Cluster":
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

    def write_item(self, business_id: UUID, entrant: Entrant, caller: str) -> tuple[Query, ...]:
        told = {"business_id": business_id, **_told_of(entrant)}
        return *_set({"app.caller": caller}), Query(_FACTS_TO_WRITE_ON_MANY, told)

    def write_partner(self, entrant: Entrant, caller: str) -> tuple[Query, ...]:
        return self._partner(entrant, {"app.caller": caller})

    def announce(self, caller: str) -> Query:
        [setting] = _set({"app.caller": caller})
        return setting

    def _partner(self, entrant: Entrant, settings: Mapping[str, str]) -> tuple[Query, ...]:
        confined = _set({"app.partner_id": str(entrant.partner_id), **settings})
        return *confined, Query(f"SELECT {_PARTNER}", _told_of(entrant))


def _set(settings: Mapping[str, str]) -> tuple[Query, ...]:
    # The value is part of the text, so preparing such a statement would gain nothing.
    return tuple(
        Query(f"SET LOCAL {name} = {Literal(value).as_string()}".replace("%", "%%"), {}, once=True)
        for name, value in settings.items()
    )
