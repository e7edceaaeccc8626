"""Sessions of one request with the database: a reading or a writing of one tenant.

A reading sends each round of queries with the setting of the tenant in one implicit transaction. A
writing opens its transaction with the first round of queries and commits with its rows. So a
handler that loads, decides and saves costs two round trips: open and load, then all changes. With
an idempotency key, a posting takes a third: its answer is stored once its numbers are known.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from typing import Any, Protocol
from uuid import UUID

import orjson
from psycopg.errors import LockNotAvailable
from sqlalchemy import ARRAY, Uuid, all_, any_, select

from access.links import SignedLink
from access.principal import Caller
from accounting.books.businesses import refuse_archived_business
from accounting.errors import NotAllowed
from persistence.engine.admission import refuse_unadmitted
from persistence.engine.database_errors import STALE, StaleRow, broken_constraint
from persistence.engine.idempotency import BUSY, Claim, Outcome, used_for_another
from persistence.engine.pipeline import Connection, Result, execute_pipeline
from persistence.engine.sql import Fetch, Query, Row, compiled, given
from persistence.engine.topology import BEGIN, Entrant, Topology
from persistence.engine.unit_of_work import UnitOfWork
from persistence.tables import UniqueKey

# Tenants: the statements that open their sessions, and the checks of their callers.


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

    def reading(self, machines: Topology) -> tuple[Query, ...]:
        return machines.read_business(self.business_id, entrant(self.caller))

    def writing(self, machines: Topology) -> tuple[Query, ...]:
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


COMMIT = Query("COMMIT", {})
SAVEPOINT = Query("SAVEPOINT before_flush", {})
BACK_TO_SAVEPOINT = Query("ROLLBACK TO SAVEPOINT before_flush", {})
CHECK_NOW = Query("SET CONSTRAINTS ALL IMMEDIATE", {})


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


class Replay(Exception):
    """A request that was answered before: its answer is the same bytes."""

    def __init__(self, outcome: Outcome) -> None:
        super().__init__("answered before")
        self.outcome = outcome


class Busy(Exception):
    """An idempotency key that another request is using now."""


@dataclass(slots=True)
class ReadSession:
    """A reading of one tenant.

    A round of one statement is an implicit transaction. The statements of one round share a
    snapshot, and so do all later rounds once `pin_snapshot` was called.
    """

    connection: Connection
    tenant: Tenant
    one_snapshot: bool = False
    is_open: bool = False

    def pin_snapshot(self) -> None:
        """Read all later rounds from one snapshot."""
        self.one_snapshot = True

    async def fetch(self, *fetches: Fetch[Any]) -> list[Any]:
        """Send all fetches in one round trip and return their results in order."""
        asked = _queries(fetches)
        if self.is_open:
            return _answers(fetches, await execute_pipeline(self.connection, asked))
        machines = self.connection.machines
        begin = machines.begin_reading(one_snapshot=self.one_snapshot or len(asked) > 1)
        opening = self.tenant.reading(machines.generic() if self._is_generic(asked) else machines)
        end = (COMMIT,) if begin and not self.one_snapshot else ()
        results = await execute_pipeline(self.connection, [*begin, *opening, *asked, *end])
        self.is_open = self.one_snapshot
        first = len(begin)
        last = first + len(opening)
        self.tenant.admit([result.rows for result in results[first:last]])
        return _answers(fetches, results[last : last + len(asked)])

    def _is_generic(self, asked: Sequence[Query]) -> bool:
        """Return whether no plan depends on values; the later rounds of a snapshot are unknown."""
        return not self.one_snapshot and not any(each.once for each in asked)


@dataclass(slots=True)
class WriteSession:
    """A writing of one tenant: one transaction, opened with its first queries."""

    connection: Connection
    tenant: Tenant
    now: datetime
    claim: Claim | None
    staging: UnitOfWork
    is_open: bool = False
    is_flushed: bool = False
    at_savepoint: bool = False

    async def fetch(self, *fetches: Fetch[Any]) -> list[Any]:
        """Send all fetches in one round trip and return their results in order."""
        if self.is_open:
            return _answers(fetches, await execute_pipeline(self.connection, _queries(fetches)))
        opening = self.tenant.writing(self.connection.machines)
        claiming = self.claim.queries() if self.claim else ()
        results = await self._begin([BEGIN, *opening, *claiming, *_queries(fetches)])
        self.is_open = True
        rows = [result.rows for result in results[1:]]
        self.tenant.admit(rows[: len(opening)])
        if self.claim:  # An earlier answer is repeated, whatever has happened since.
            self._settle_claim(self.claim, rows[len(opening) : len(opening) + len(claiming)])
        self.tenant.refuse_writes()
        return _answers(fetches, results[1 + len(opening) + len(claiming) :])

    async def _begin(self, queries: Sequence[Query]) -> list[Result]:
        try:
            return await execute_pipeline(self.connection, queries)
        except LockNotAvailable as error:
            if broken_constraint(error) == BUSY:
                raise Busy from None
            raise

    def _settle_claim(self, claim: Claim, rows: Sequence[list[Row]]) -> None:
        _, found = rows
        if not found:
            return
        if bytes(found[0]["fingerprint"]) != claim.fingerprint:
            self.claim = None  # The error must not be stored under the key of the other request.
            raise used_for_another(found[0])
        raise Replay(Outcome.kept(found[0]))

    async def open(self) -> None:
        """Begin the transaction where nothing was fetched yet."""
        if not self.is_open:
            await self.fetch()

    async def flush(self) -> None:
        """Send the staged rows; raise StaleRow where a row has changed since it was loaded."""
        await self._send(())

    async def commit(self, render: Callable[[], Outcome]) -> Outcome:
        """Send the staged rows and commit; store the outcome under the key of the request.

        Everything goes in one round trip, except where the stored outcome needs numbers: they are
        known only after the flush. Raises StaleRow.
        """
        if self.claim is None and self.staging.taken:
            await self._send([COMMIT])
            return render()
        if self.staging.taken:
            await self.flush()
        outcome = render()
        record = [self.claim.record(outcome, self.now)] if self.claim else []
        await self._send([*record, COMMIT])
        return outcome

    async def _send(self, ending: Sequence[Query]) -> None:
        """Send the rows that are not flushed yet, then `ending`."""
        staged = self._unsent()
        before = [SAVEPOINT] if self.claim and staged else []
        self.at_savepoint = self.at_savepoint or bool(before)
        try:
            results = await execute_pipeline(self.connection, [*before, *staged, *ending])
        except STALE:
            raise StaleRow from None
        for result in results[len(before) : len(before) + len(staged)]:
            self.staging.learn(result.rows)  # Numbers, where the statement took any.

    def _unsent(self) -> list[Query]:
        if self.is_flushed:
            return []
        self.is_flushed = True
        return [*self.staging.queries(as_json=self.connection.machines.rows_as_json)]

    async def holders(self, key: UniqueKey) -> list[Row]:
        """Undo the work, and return the stored rows that have the unique values of its rows.

        Only rows of the business; a table that is not of a business has none.
        """
        if "business_id" not in key.table.c:
            return []
        rows = self.staging.wanted(key)
        wanted = {name: [row[name] for row in rows] for name in ("id", *key.columns)}
        asked = Query(having(key), {**wanted, "business_id": self.staging.business_id})
        if self.at_savepoint:
            return (await execute_pipeline(self.connection, [BACK_TO_SAVEPOINT, asked]))[-1].rows
        await self.connection.rollback()
        opening = [BEGIN, *self.tenant.reading(self.connection.machines)]
        return (await execute_pipeline(self.connection, [*opening, asked, COMMIT]))[-2].rows

    async def check_constraints(self) -> None:
        """Check the deferred constraints now: a preview fails where a commit would."""
        await execute_pipeline(self.connection, [CHECK_NOW])

    async def keep_refusal(self, outcome: Outcome) -> None:
        """Undo the work, and store only the answer of an error under its key."""
        back = [BACK_TO_SAVEPOINT] if self.at_savepoint else []
        record = [self.claim.record(outcome, self.now)] if self.claim else []
        await execute_pipeline(self.connection, [*back, *record, COMMIT])


@cache
def having(key: UniqueKey) -> str:
    """Return the statement that finds other rows with the given values of a unique key."""
    row = key.table.c
    found = select(row.id, *(row[name] for name in key.columns)).where(
        row.business_id == given("business_id", Uuid),
        *(row[name] == any_(given(name, ARRAY(row[name].type))) for name in key.columns),
        row.id != all_(given("id", ARRAY(Uuid()))),
    )
    return compiled(found if key.where is None else found.where(key.where))


def _queries(fetches: Sequence[Fetch[Any]]) -> list[Query]:
    return [query for fetch in fetches for query in fetch.queries]


def _answers(fetches: Sequence[Fetch[Any]], results: Sequence[Result]) -> list[Any]:
    answers, place = [], 0
    for fetch in fetches:
        end = place + len(fetch.queries)
        answers.append(fetch.answer([result.rows for result in results[place:end]]))
        place = end
    return answers
