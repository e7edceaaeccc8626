"""The scope of a store: the business, the moment and the transaction of its request."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol
from uuid import UUID

from sqlalchemy import Table

from accounting.errors import Stale
from accounting.trade.parties import CreatedParty
from persistence.engine.caches import Caches
from persistence.engine.sessions import ReadSession, WriteSession
from persistence.engine.sql import Fetch, Query, Row
from persistence.engine.tenants import BusinessTenant
from persistence.engine.unit_of_work import UnitOfWork


class VersionedValue(Protocol):
    """A value that is stored as one row; its version is the ETag."""

    @property
    def id(self) -> UUID: ...

    @property
    def version(self) -> int: ...


@dataclass(frozen=True, slots=True)
class Precondition:
    """If-Match: the versions of the requested resource that the caller accepts."""

    versions: frozenset[int] | None  # None: any version.

    def refuse_stale(self, version: int) -> None:
        """Raise Stale where the resource has another version."""
        if self.versions is not None and version not in self.versions:
            raise Stale(
                "precondition_failed",
                "The resource has changed since you read it. Read it again and repeat the change.",
                current_etag=f'"{version}"',
            )


class Scope:
    """A business in one transaction, with the values that were read and the rows locked.

    It is the part of `Books` that stores use. All state of a request is here: a store has none.
    """

    def __init__(
        self,
        session: ReadSession | WriteSession,
        tenant: BusinessTenant,
        now: datetime,
        memory: Caches,
        precondition: Precondition | None = None,
    ) -> None:
        self.session = session
        self.business_id = tenant.business_id
        self.now = now
        self.memory = memory
        self._tenant = tenant
        self._precondition = precondition
        self._versions: dict[UUID, int] = {}
        self._tags: dict[UUID, Any] = {}
        self._loaded: dict[UUID, Any] = {}
        self.changes: dict[UUID, tuple[str, VersionedValue | None]] = {}
        self.imports: list[tuple[VersionedValue, Mapping[str, int]]] = []
        self.locks_period = False
        self._last_lock: tuple[int, UUID] | None = None
        self.created_parties: list[CreatedParty] = []

    @property
    def facts(self) -> Row:
        """The facts of the business in the database; known after the first answer."""
        return self._tenant.facts

    @property
    def partner_id(self) -> UUID:
        """The partner that the business belongs to, which is that of the caller."""
        return self._tenant.caller.partner_id

    @property
    def cause(self) -> Row:
        """The columns of events that name this request and its caller."""
        return self._tenant.audited.cause(self._tenant.caller)

    @property
    def staging(self) -> UnitOfWork:
        """The unit of work with the changes of a writing."""
        assert isinstance(self.session, WriteSession), "a reading changes nothing"
        return self.session.staging

    @property
    def runs_again(self) -> bool:
        """Return whether the handler runs again where its data has changed: a writing does."""
        return isinstance(self.session, WriteSession)

    @property
    def reads_in_steps(self) -> bool:
        """Return whether optional rows are read only once they are known to exist.

        A reading on a cluster does so; a writing has no snapshot for several rounds.
        """
        session = self.session
        return isinstance(session, ReadSession) and session.connection.machines.planning_is_dear

    async def fetch(self, *fetches: Fetch[Any]) -> list[Any]:
        """Send several fetches in one round trip and return their results in order."""
        return await self.session.fetch(*fetches)

    @property
    def timezone(self) -> str:
        """The time zone of the business; known after the first answer."""
        timezone: str = self.facts["timezone"]
        return timezone

    async def learn_facts(self) -> None:
        """Read the facts of the business now, where no answer has brought them yet."""
        if not self.facts:
            await self.session.fetch()

    def pin_snapshot(self) -> None:
        """Make later fetches read one snapshot; no effect on a writing, which has its locks."""
        if isinstance(self.session, ReadSession):
            self.session.pin_snapshot()

    def run_alone(self) -> None:
        """Make this writing wait for all others of the business, and run alone.

        Call it before the first fetch: a writing that has passed the gate cannot wait there.
        A batch runs alone already, and so do its items.
        """
        assert isinstance(self.session, WriteSession), "a reading closes nothing"
        assert not self.session.is_open, "too late"
        self._tenant.alone = True

    def stage(self, table: Table, value: VersionedValue, row: Row) -> None:
        """Stage the row of a value that partners can read, and note the value for its event."""
        self.stage_part(table, value.id, row)
        self.note_saved(table, value)

    def note_saved(self, table: Table, value: VersionedValue) -> None:
        """Note a value whose row is staged, for its event."""
        self.changes[value.id] = (table.info["object_type"], value)

    def note_import(self, into: VersionedValue, counts: Mapping[str, int]) -> None:
        """Note how many lines were imported into a bank account, for the one event of all."""
        self.imports.append((into, counts))

    def note_deleted(self, table: Table, value: VersionedValue) -> None:
        """Note a value whose deletion is staged, for its event."""
        self._loaded[value.id] = value
        self.changes[value.id] = (table.info["object_type"], None)

    def unseen(self, query: Query, word: str, *changed: str) -> tuple[Query, ...]:
        """Return a statement with others around it, so that triggers write the events of its rows.

        Only the database knows the rows that the statement changes. `word` is that of their events,
        and `changed` lists the fields of answers that it changes.
        """
        machines, audited = self.session.connection.machines, self._tenant.audited
        caller = self._tenant.caller
        before = machines.announce(audited.unwritten(caller, word, changed, self.now))
        return before, query, machines.announce(audited.by(caller))

    def stage_part(self, table: Table, id_: UUID, row: Row) -> None:
        """Stage a row that is a part of another: as a change where it was loaded, else as new."""
        loaded = self._versions.get(id_)
        if loaded is None:
            self.staging.insert(table, {**row, "version": 1})
        else:
            self.staging.update(table, {**row, "version": loaded})

    def staged_rows(self, table: Table) -> list[Row]:
        """Return the new rows of a table that are staged so far; a reading has none."""
        session = self.session
        if not isinstance(session, WriteSession):
            return []
        return session.staging.inserted.get(table.name, [])

    def note_version(self, id_: UUID, version: int) -> None:
        """Note the version that a row was loaded with."""
        self._versions[id_] = version

    def note_tags(self, id_: UUID, tags: Any) -> None:
        """Note the tags that a document was loaded with."""
        self._tags[id_] = tags

    def has_tags(self, id_: UUID, tags: Any) -> bool:
        """Return whether a document was loaded with these tags; False where none were noted."""
        return id_ in self._tags and (self._tags[id_] or ()) == (tags or ())

    def note_loaded(self, values: Iterable[VersionedValue]) -> None:
        """Note values as they were loaded, for the comparison with what is saved."""
        for each in values:
            self._loaded[each.id] = each
            self._versions[each.id] = each.version

    def loaded_version(self, id_: UUID) -> int:
        """Return the version that a row was loaded with; 1 for a row that was not read."""
        return self._versions.get(id_, 1)

    def loaded(self, id_: UUID) -> Any:
        """Return a value as it was loaded; None where none was noted."""
        return self._loaded.get(id_)

    def all_loaded(self) -> Iterable[Any]:
        """Return all values as they were loaded."""
        return self._loaded.values()

    def etag(self, id_: UUID) -> int:
        """Return the version of a row after the commit of this transaction."""
        loaded = self._versions.get(id_)
        if loaded is None:
            return 1
        return loaded + 1 if self.session.holds_change(id_) else loaded

    def check_precondition(self, value: VersionedValue, *, again: bool = False) -> None:
        """Compare If-Match with the first row that is locked, the one of the path; raises Stale.

        A row that is read before its lock is compared `again` once it is locked.
        """
        if self._precondition is not None:
            self._precondition.refuse_stale(value.version)
            if not again:
                self._precondition = None

    def note_locks(self, rank: int, ids: Sequence[UUID]) -> None:
        """Assert the one order of locks of all transactions, which prevents deadlocks."""
        for id_ in ids:
            here = (rank, id_)
            assert self._last_lock is None or self._last_lock < here, "locks out of order"
            self._last_lock = here
