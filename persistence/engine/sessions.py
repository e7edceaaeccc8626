"""Sessions of one request with the database: a reading or a writing of one tenant.

A reading sends each round of queries with the setting of the tenant in one implicit transaction. A
writing opens its transaction with the first round of queries and commits with its rows. So a
handler that loads, decides and saves costs two round trips: open and load, then all changes. With
an idempotency key, a posting takes a third: its answer is stored once its numbers are known.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any
from uuid import UUID

from psycopg.errors import LockNotAvailable
from sqlalchemy import ARRAY, Uuid, all_, any_, select

from persistence.engine.database_errors import STALE, StaleRow, broken_constraint
from persistence.engine.idempotency import BUSY, Claim, Outcome, used_for_another
from persistence.engine.joint_reads import JointRead
from persistence.engine.pipeline import Connection, Result, execute_pipeline
from persistence.engine.sql import Fetch, Query, Row, compiled, given
from persistence.engine.tenants import Tenant
from persistence.engine.topology import BEGIN
from persistence.engine.unit_of_work import UnitOfWork
from persistence.tables import UniqueKey

COMMIT = Query("COMMIT", {})
SAVEPOINT = Query("SAVEPOINT before_flush", {})
BACK_TO_SAVEPOINT = Query("ROLLBACK TO SAVEPOINT before_flush", {})
RELEASE_SAVEPOINT = Query("RELEASE SAVEPOINT before_flush", {})
CHECK_NOW = Query("SET CONSTRAINTS ALL IMMEDIATE", {})


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

    def holds_change(self, _id: UUID) -> bool:
        """Return False: a reading changes nothing."""
        return False

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
    """A writing of one tenant: one transaction, opened with its first queries.

    The items of a batch have a session each in the transaction of the batch. `begin` is the first
    statement of a session, and `key` the idempotency key of its request. Sessions `side_by_side`
    send their reads together (`run_side_by_side`).
    """

    connection: Connection
    tenant: Tenant
    now: datetime
    claim: Claim | None
    staging: UnitOfWork
    key: str | None
    begin: tuple[Query, ...] = (BEGIN,)
    side_by_side: bool = False
    is_begun: bool = False
    is_open: bool = False
    is_flushed: bool = False
    at_savepoint: bool = False

    def holds_change(self, id_: UUID) -> bool:
        """Return whether a change of a row is staged."""
        return self.staging.holds_change(id_)

    async def fetch(self, *fetches: Fetch[Any]) -> list[Any]:
        """Send all fetches in one round trip and return their results in order."""
        if self.side_by_side:
            return _answers(fetches, await JointRead(_queries(fetches)))
        if self.is_open:
            return _answers(fetches, await execute_pipeline(self.connection, _queries(fetches)))
        opening = self.tenant.writing(self.connection.machines)
        claiming = self.claim.queries() if self.claim else ()
        results = await self._begin([*self.begin, *opening, *claiming, *_queries(fetches)])
        self.is_open = True
        rows = [result.rows for result in results[len(self.begin) :]]
        self.tenant.admit(rows[: len(opening)])
        if self.claim:  # An earlier answer is repeated, whatever has happened since.
            self._settle_claim(self.claim, rows[len(opening) : len(opening) + len(claiming)])
        self.tenant.refuse_writes()
        return _answers(fetches, results[len(self.begin) + len(opening) + len(claiming) :])

    async def _begin(self, queries: Sequence[Query]) -> list[Result]:
        self.is_begun = True
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
        known only after the flush. The sequence of the last event is stored beside the outcome.
        Raises StaleRow.
        """
        if self.claim is None and self.staging.numbers_are_shown:
            await self._send([COMMIT])
            return render().after_event(self.staging.last_event)
        if self.staging.numbers_are_shown:
            await self.flush()
        outcome = render()
        record = [self.claim.record(outcome, self.now)] if self.claim else []
        await self._send([*record, COMMIT])
        return outcome.after_event(self.staging.last_event)

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

    async def begin_batch(self) -> None:
        """Begin the transaction of a batch, to whose state a refusal of the batch returns."""
        await Fetch(self, (SAVEPOINT,), lambda _: None)
        self.at_savepoint = True

    def item(self, tenant: Tenant, *, apart: bool) -> "WriteSession":
        """Return a session for one item of this batch, with rows of its own.

        An item that runs `apart` can be undone without the items before it.
        """
        staging = UnitOfWork(self.staging.business_id)
        begin = (SAVEPOINT,) if apart else ()
        return WriteSession(
            self.connection, tenant, self.now, None, staging, self.key, begin, at_savepoint=True
        )

    def part(self) -> "WriteSession":
        """Return a session for one of several items that are sent together; this one is open."""
        staging = UnitOfWork(self.staging.business_id)
        return WriteSession(
            self.connection,
            self.tenant,
            self.now,
            None,
            staging,
            self.key,
            side_by_side=True,
            is_open=True,
        )

    async def end_item(self) -> None:
        """Send the staged rows of an item: the next item sees them."""
        await self.open()
        await self._send([RELEASE_SAVEPOINT] if self.begin else [])

    def learn_from(self, item: "WriteSession") -> None:
        """Take over the files of an item that is sent, and the sequence of its last event."""
        self.staging.contents |= item.staging.contents
        self.staging.last |= item.staging.last

    async def undo_item(self) -> None:
        """Undo an item that runs apart."""
        if self.begin and self.is_begun:
            await execute_pipeline(self.connection, [BACK_TO_SAVEPOINT, RELEASE_SAVEPOINT])

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
