"""The context of a store: the business, the moment and the transaction of its request."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol
from uuid import UUID

from sqlalchemy import Table

from accounting.errors import Stale
from persistence.engine.fetches import Fetch
from persistence.engine.memory import Memory
from persistence.engine.sessions import Reading, Writing
from persistence.engine.sql import Row
from persistence.engine.staging import Staging
from persistence.engine.tenants import BusinessTenant


class Versioned(Protocol):
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
    """A business in one transaction, with the versions that were read and the rows locked."""

    __slots__ = (
        "_last_lock",
        "_precondition",
        "_tags",
        "_tenant",
        "_versions",
        "business_id",
        "memory",
        "now",
        "session",
    )

    def __init__(
        self,
        session: Reading | Writing,
        tenant: BusinessTenant,
        now: datetime,
        memory: Memory,
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
        self._last_lock: tuple[int, UUID] | None = None

    @property
    def facts(self) -> Row:
        """The facts of the business in the database; known after the first answer."""
        return self._tenant.facts

    @property
    def staging(self) -> Staging:
        """The unit of work with the changes of a writing."""
        assert isinstance(self.session, Writing), "a reading changes nothing"
        return self.session.staging

    @property
    def runs_again(self) -> bool:
        """Return whether the handler runs again where its data has changed: a writing does."""
        return isinstance(self.session, Writing)

    @property
    def reads_in_steps(self) -> bool:
        """Return whether optional rows are read only once they are known to exist.

        A reading on a cluster does so; a writing has no snapshot for several rounds.
        """
        session = self.session
        return isinstance(session, Reading) and session.connection.machines.planning_is_dear

    async def fetch(self, *fetches: Fetch[Any]) -> list[Any]:
        """Send several fetches in one round trip and return their results in order."""
        return await self.session.fetch(*fetches)

    def pin_snapshot(self) -> None:
        """Read all later fetches from one snapshot; a writing has its locks instead."""
        if isinstance(self.session, Reading):
            self.session.pin_snapshot()

    def run_alone(self) -> None:
        """Run this writing with no other writing of the business beside it.

        Call this before the first fetch: a writing that has passed the gate cannot wait there.
        """
        assert isinstance(self.session, Writing), "a reading closes nothing"
        assert not self.session.is_open, "too late"
        self._tenant.alone = True

    def stage(self, table: Table, id_: UUID, row: Row) -> None:
        """Stage a row of a store: as a change where it was loaded, else as new."""
        loaded = self._versions.get(id_)
        if loaded is None:
            self.staging.insert(table, {**row, "version": 1})
        else:
            self.staging.update(table, {**row, "version": loaded})

    def note_version(self, id_: UUID, version: int) -> None:
        """Note the version that a row was loaded with."""
        self._versions[id_] = version

    def note_tags(self, id_: UUID, tags: Any) -> None:
        """Note the tags that a document was loaded with."""
        self._tags[id_] = tags

    def has_tags(self, id_: UUID, tags: Any) -> bool:
        """Return whether a document was loaded with these tags; False where none were noted."""
        return id_ in self._tags and (self._tags[id_] or ()) == (tags or ())

    def etag(self, id_: UUID) -> int:
        """Return the version of a row after the commit of this transaction."""
        loaded = self._versions.get(id_)
        if loaded is None:
            return 1
        changed = isinstance(self.session, Writing) and self.staging.holds_change(id_)
        return loaded + 1 if changed else loaded

    def check_precondition(self, value: Versioned, *, again: bool = False) -> None:
        """Compare If-Match with the first row that is locked, which is the one of the path.

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
