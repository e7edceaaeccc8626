"""Begin, commit and retry: the only module that opens a session or ends a transaction.

A writing runs its whole handler again after a deadlock, a serialization failure or a row that
changed meanwhile. It runs once more after a race for each external id that it names (the next run
finds the row of the winner).
"""

import asyncio
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from time import monotonic
from typing import Any, Protocol, TypeVar
from uuid import UUID

import psycopg
from psycopg import InterfaceError, OperationalError
from psycopg.errors import DeadlockDetected, SerializationFailure, UniqueViolation

from accounting.errors import (
    ApiError,
    Conflict,
    NotAllowed,
    NotFound,
    RuleViolation,
    Stale,
    UnsupportedFile,
    ValidationError,
)
from persistence.engine.database_errors import (
    RETRIED,
    StaleRow,
    broken_constraint,
    external_id_raced_for,
    refusal_of,
    unavailable,
)
from persistence.engine.idempotency import Claim, Outcome
from persistence.engine.joint_reads import run_side_by_side
from persistence.engine.observer import observer
from persistence.engine.pipeline import Connection
from persistence.engine.pool import Pool
from persistence.engine.replica import READ_POSITION, LogPosition, Replica, Unfit
from persistence.engine.sessions import Busy, ReadSession, Replay, WriteSession
from persistence.engine.sql import Fetch
from persistence.engine.tenants import StartsOver, Tenant
from persistence.engine.unit_of_work import UnitOfWork
from persistence.tables import UniqueKey, unique_key

MOST_RUNS = 5
WAIT_FOR_KEY_SECONDS = 3.0
KEPT_REFUSALS = (NotFound, Conflict, RuleViolation)
REFUSALS_OF_ITEMS = (*KEPT_REFUSALS, NotAllowed, Stale, UnsupportedFile, ValidationError)

S = TypeVar("S", bound=Tenant)
T = TypeVar("T")


class Contents(Protocol):
    """A store of the contents of files, by their keys."""

    async def put(self, contents: Mapping[str, bytes]) -> None: ...

    async def drop(self, contents: Mapping[str, bytes]) -> None: ...


@dataclass(frozen=True, slots=True)
class Work:
    """The writing of one request.

    Each run calls `handle` with a new session of a new `tenant`. It returns the function that
    renders the answer, once the numbers that are taken are known. `contents` stores the staged
    files.
    """

    tenant: Callable[[], Tenant]
    now: datetime
    business_id: UUID | None
    claim: Claim | None
    preview: bool
    handle: Callable[[WriteSession], Awaitable[Callable[[], Outcome]]]
    render_refusal: Callable[[ApiError], Outcome]
    contents: Contents | None = None


class OutcomeUnknown(Exception):
    """A connection that was lost during COMMIT: the work may be stored or not."""


class KeptRefusal(Exception):
    """An API error that was stored under its key: its outcome is the answer."""

    def __init__(self, outcome: Outcome) -> None:
        super().__init__("refused")
        self.outcome = outcome


@asynccontextmanager
async def reading(pool: Pool, tenant: Tenant) -> AsyncIterator[ReadSession]:
    """Yield a session that only reads; raise Unavailable where the database is away."""
    try:
        async with pool.connection(tenant.id) as connection:
            with observer.get().in_package("persistence"):
                yield ReadSession(connection, tenant)
    except psycopg.Error as error:
        raise refusal_of(error) or error from error


async def reading_eventually(
    pool: Pool,
    replica: Replica,
    tenant: Callable[[], S],
    read: Callable[[ReadSession, S], Awaitable[T]],
) -> tuple[T, datetime | None]:
    """Read from the replica where it is recent enough, else from the primary.

    Returns the answer with the moment up to which it is complete; None where the primary was read.
    The primary admits the caller each time. Where the replica refuses or fails, the primary is read
    instead: its data may be newer.
    """
    mark = await _admit_on_primary(pool, tenant(), replica) if replica.may_be_asked() else None
    if mark is not None:
        try:
            admitted = tenant()
            async with replica.connection(admitted.id, mark) as (connection, as_of):
                answer = await read(ReadSession(connection, admitted), admitted)
            observer.get().read_from("standby")
            return answer, as_of
        except (ApiError, StartsOver, psycopg.Error, TimeoutError, Unfit):
            pass
    admitted = tenant()
    observer.get().read_from("primary")
    async with reading(pool, admitted) as session:
        return await read(session, admitted), None


async def _admit_on_primary(pool: Pool, tenant: Tenant, replica: Replica) -> LogPosition | None:
    """Check the caller on the primary; return the end of its log.

    None where the primary does not return it: then no replica can be read.
    """
    mark = replica.recent_mark()
    try:
        async with reading(pool, tenant) as session:
            if mark is not None:
                await session.fetch()
            else:
                mark = await Fetch(
                    session, (READ_POSITION,), lambda rows: LogPosition(**rows[0][0])
                )
                replica.keep(mark)
    except psycopg.Error as error:
        replica.leave(error)
        return None
    return mark


async def writing(pool: Pool, work: Work) -> tuple[Outcome, bool]:
    """Run one writing; return its outcome and whether it is the replay of an earlier one."""
    deadline = monotonic() + WAIT_FOR_KEY_SECONDS
    runs, pause, raced = 0, 0.05, frozenset[str]()
    while True:
        try:
            tenant = work.tenant()
            async with pool.connection(tenant.id, writes=True) as connection:
                with observer.get().in_package("persistence"):
                    return await _run(connection, tenant, work, raced), False
        except KeptRefusal as refused:
            return refused.outcome, False
        except Replay as replay:
            observer.get().replayed()
            return replay.outcome, True
        except StartsOver:
            raise
        except Busy:
            if monotonic() + pause > deadline:
                raise _in_progress() from None
            observer.get().runs_again("key_busy")
            await asyncio.sleep(pause)
            pause = min(pause * 2, 0.4)
        except Exception as error:
            runs += 1
            raced = _may_run_again(error, work, runs, raced)
            observer.get().runs_again(_CAUSES.get(type(error), "raced"))
            await asyncio.sleep(random.uniform(0, 0.02) * runs)


_CAUSES: Mapping[type[Exception], str] = {
    StaleRow: "stale",
    OutcomeUnknown: "outcome_unknown",
    SerializationFailure: "serialization",
    DeadlockDetected: "deadlock",
}


def _may_run_again(
    error: Exception, work: Work, runs: int, raced: frozenset[str]
) -> frozenset[str]:
    """Return the constraints with a race so far, where the handler may run again; else raise."""
    if isinstance(error, (StaleRow, *RETRIED)) and runs < MOST_RUNS:
        return raced
    key = external_id_raced_for(error)
    if key is not None and key not in raced:
        return raced | {key}
    # With a key the next run finds the stored answer, or finds that there is none.
    if isinstance(error, OutcomeUnknown) and work.claim is not None and runs < MOST_RUNS:
        return raced
    if isinstance(error, (StaleRow, OutcomeUnknown, *RETRIED)):
        raise unavailable() from error
    raise refusal_of(error) or error from error


async def _run(
    connection: Connection, tenant: Tenant, work: Work, raced: frozenset[str]
) -> Outcome:
    key = work.claim.key if work.claim else None
    staging = UnitOfWork(work.business_id)
    session = WriteSession(connection, tenant, work.now, work.claim, staging, key)
    try:
        return await _work(session, work)
    except KEPT_REFUSALS as refusal:
        await _keep(session, work, refusal)
        raise
    except (Replay, Busy, KeptRefusal, ApiError, StaleRow, StartsOver):
        await connection.rollback()
        raise
    except psycopg.Error as error:
        said, constraint = refusal_of(error), external_id_raced_for(error)
        if not isinstance(said, KEPT_REFUSALS) or (constraint and constraint not in raced):
            raise
        await _tell_taken(session, error, said)
        await _keep(session, work, said)
        raise said from error


Handle = Callable[[WriteSession], Coroutine[Any, Any, Callable[[], Outcome]]]
"""The handler of an item; it returns the function that renders the answer after the flush."""


async def run_together(
    batch: WriteSession, tenant: Tenant, handles: Sequence[Handle]
) -> list[Outcome] | None:
    """Run items that only insert rows, and send all their rows in one flush.

    The items do not see one another. Where one of them is refused or does more, all are undone, and
    the answer is None: they have to run one by one.
    """
    whole = batch.item(tenant, apart=True)
    await whole.open()
    parts = [whole.part() for _ in handles]
    running = [handle(part) for handle, part in zip(handles, parts, strict=True)]
    try:
        renders = await run_side_by_side(batch.connection, running)
        if all(whole.staging.absorb(part.staging) for part in parts):
            await whole.end_item()
            batch.learn_from(whole)
            return [render() for render in renders]
    except REFUSALS_OF_ITEMS:
        pass
    except psycopg.Error as error:
        if not isinstance(refusal_of(error), REFUSALS_OF_ITEMS):
            raise
    await whole.undo_item()
    return None


async def run_item(
    batch: WriteSession,
    tenant: Tenant,
    handle: Handle,
    *,
    apart: bool,
) -> Outcome:
    """Run one item of a batch in its transaction; raise the ApiError that refuses the item.

    The refusal undoes an item that runs `apart`; else the whole batch has to be undone. The batch
    runs alone in its business, so no other request races for an external id.
    """
    session = batch.item(tenant, apart=apart)
    try:
        render = await handle(session)
        await session.end_item()
    except REFUSALS_OF_ITEMS:
        await session.undo_item()
        raise
    except psycopg.Error as error:
        said = refusal_of(error)
        if not isinstance(said, REFUSALS_OF_ITEMS):
            raise
        await _tell_taken(session, error, said)
        await session.undo_item()
        raise said from error
    batch.learn_from(session)
    return render()


async def _work(session: WriteSession, work: Work) -> Outcome:
    render = await work.handle(session)
    await session.open()
    if work.preview:
        await session.flush()
        await session.check_constraints()
        await session.connection.rollback()
        return render()
    if session.staging.contents:
        assert work.contents is not None, "somebody keeps what is staged"
        return await _commit_with_contents(session, work.contents, render)
    return await _commit(session, render)


async def _commit_with_contents(
    session: WriteSession, contents: Contents, render: Callable[[], Outcome]
) -> Outcome:
    """Store the files, then commit the rows that name them: no row is ever without its file.

    Where certainly nothing was committed, the files are removed again. Where that is unknown, they
    stay: a row may name them, and otherwise the sweep removes them.
    """
    await contents.put(session.staging.contents)
    try:
        return await _commit(session, render)
    except (psycopg.Error, StaleRow):
        await contents.drop(session.staging.contents)
        raise


async def _commit(session: WriteSession, render: Callable[[], Outcome]) -> Outcome:
    try:
        return await session.commit(render)
    except (OperationalError, InterfaceError) as error:
        if session.connection.closed:  # Otherwise the database has reported a failure.
            raise OutcomeUnknown from error
        raise


async def _tell_taken(session: WriteSession, error: psycopg.Error, said: ApiError) -> None:
    """Add the record that has a unique value of the work to the API error for it."""
    if isinstance(error, UniqueViolation):
        said.detail.update(await _taken(session, unique_key(broken_constraint(error))))


async def _taken(session: WriteSession, key: UniqueKey) -> dict[str, str]:
    """Return the id of the row that has the unique value of the work, and the external id.

    There is no such row where the work itself has the value twice.
    """
    wanted = session.staging.wanted(key)
    holders = await session.holders(key)
    told = {"id": str(holders[0]["id"])} if holders else {}
    if key.columns == ("external_id",):
        names = [row["external_id"] for row in holders or wanted]
        told["external_id"] = max(names, key=names.count)
    return told


async def _keep(session: WriteSession, work: Work, refusal: ApiError) -> None:
    """Store an error under its key and raise KeptRefusal; without a key only roll back."""
    if session.claim is None or not session.is_open:
        await session.connection.rollback()
        return
    outcome = work.render_refusal(refusal)
    await session.keep_refusal(outcome)
    raise KeptRefusal(outcome) from refusal


def _in_progress() -> Conflict:
    return Conflict(
        "idempotency_in_progress",
        "A request with this Idempotency-Key is still in progress. Repeat it in a moment.",
        retry_after_seconds=1,
    )
