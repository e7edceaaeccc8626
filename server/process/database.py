"""The database of a server: the master process prepares it and keeps it running."""

import multiprocessing
import time
import traceback
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Final, Protocol, TypeVar

import structlog

from libraries.embedded import places, reaper
from libraries.embedded.postgres import EmbeddedPostgres
from server.config.settings import StoreSettings

T = TypeVar("T")

WAIT_SECONDS = 60.0
TELL_SECONDS = 5.0
LOOK_SECONDS = 0.5

SPAWNS: Final = multiprocessing.get_context("spawn")

GivenUp = Callable[[], bool]
"""Returns whether the server was told to stop."""

Begin = Callable[[str], None]
"""Called at the start of each step, with a text for an operator."""


class Database(Protocol):
    """A database, used by one thread at a time.

    `home` is None where the database is not the embedded one.
    """

    @property
    def url(self) -> str:
        """The address, known before the database is ready."""

    @property
    def home(self) -> Path | None:
        """The folder of the embedded PostgreSQL; each worker registers there as a user of it."""

    def probe(self) -> None:
        """Raise an error with a message for an operator where no waiting would help.

        Quick: it runs while the first modules of the workers are loaded.
        """

    def prepare(self, given_up: GivenUp, begin: Begin, /) -> None:
        """Return when the database can be served, or when the start was given up.

        Raises errors with a message for an operator.
        """

    def revive(self) -> None:
        """Start the database again if it is gone; called regularly."""

    def release(self) -> None:
        """Release the database at the end of the server."""


class EmbeddedDatabase:
    """The embedded PostgreSQL: started, migrated, and started again when it dies."""

    def __init__(self, home: Path) -> None:
        self.postgres = EmbeddedPostgres(home)
        self.home = self.postgres.home
        self.url = self.postgres.url()

    def probe(self) -> None:
        """Ignore it: the database is started here."""

    def prepare(self, given_up: GivenUp, begin: Begin) -> None:
        """Start, migrate and check the database."""
        begin("Starting PostgreSQL")
        self.postgres.start()
        if given_up():
            return
        begin("Bringing the database to the newest schema")
        self.postgres.create_database()
        in_own_process(migrate_and_prove, self.url)

    def revive(self) -> None:
        """Start PostgreSQL again when none of its processes is alive."""
        if not reaper.is_down(self.home):
            return
        log = structlog.get_logger("accounting.database")
        if not places.server_lock(self.home).exists():
            # The folder was removed: an empty database in its place would be worse than none.
            log.error("data_folder_gone", folder=str(self.home))
            return
        log.error("postgres_gone")
        self.postgres.start()
        log.info("postgres_back")

    def release(self) -> None:
        """Stop PostgreSQL, unless another process uses it."""
        self.postgres.stop()


class NamedDatabase:
    """The PostgreSQL that DATABASE_URL names: checked here, and operated by others."""

    home = None

    def __init__(self, url: str) -> None:
        self.url = url
        self._away: Exception | None = None

    def probe(self) -> None:
        """Connect once; raises UnusableDatabase for a wrong password or a missing database."""
        self._away = in_own_process(reach, self.url)

    def prepare(self, given_up: GivenUp, begin: Begin) -> None:
        """Check the database, and wait for it up to `WAIT_SECONDS`.

        It may be starting at the same time as the server. The reason is logged every
        `TELL_SECONDS`.
        """
        begin("Checking the database")
        log = structlog.get_logger("accounting.database")
        deadline = time.monotonic() + WAIT_SECONDS
        tell_at = time.monotonic()
        found = self._away or in_own_process(prove, self.url)
        while isinstance(found, Exception):
            now = time.monotonic()
            if given_up():
                return
            if now > deadline:
                raise found
            if now >= tell_at:
                log.warning("waiting", reason=str(found), seconds_left=round(deadline - now))
                tell_at = now + TELL_SECONDS
            time.sleep(LOOK_SECONDS)
            found = in_own_process(reach, self.url) or in_own_process(prove, self.url)
        if found is not None:
            log.warning(found)

    def revive(self) -> None:
        """Ignore it: connections are opened again on their own."""

    def release(self) -> None:
        """Ignore it: others operate the database."""


def migrate_and_prove(url: str) -> None:
    """Migrate a database to the newest schema; raises where it cannot be served."""
    from persistence.database.checks import refuse_unusable
    from persistence.database.migrate import migrate

    migrate(url)
    refuse_unusable(url)


def reach(url: str) -> Exception | None:
    """Connect to a database; return a DatabaseAway where a later try may succeed, else None.

    It loads the driver alone. Raises UnusableDatabase where waiting would not help.
    """
    from persistence.engine.connections import connect
    from persistence.engine.database_errors import DatabaseAway

    try:
        connect(url).close()
    except DatabaseAway as away:
        return away
    return None


def prove(url: str) -> Exception | str | None:
    """Check a database; raises where it cannot be served.

    Returns a DatabaseAway where a later check may succeed. Otherwise returns a warning for an
    operator, or None.
    """
    from persistence.database.checks import refuse_unusable
    from persistence.engine.database_errors import DatabaseAway

    try:
        return refuse_unusable(url)
    except DatabaseAway as away:
        return away


def in_own_process(work: Callable[[str], T], url: str) -> T:
    """Call `work` in a process of its own; return its result or raise its error.

    The modules that it loads take 30 MB, which the end of that process frees. Raises
    ChildProcessError where that process is killed.
    """
    ours, theirs = SPAWNS.Pipe(duplex=False)
    process = SPAWNS.Process(target=answer, args=(theirs, work, url))
    process.start()
    theirs.close()
    try:
        value, error = ours.recv()
    except EOFError:
        value, error = None, ChildProcessError("The process that checks the database was killed.")
    process.join()
    if error is not None:
        raise error
    returned: T = value
    return returned


def answer(asking: Connection, work: Callable[[str], object], url: str) -> None:
    """Run `work` in that process, and send its result or its error."""
    try:
        asking.send((work(url), None))
    except Exception as error:
        error.add_note(traceback.format_exc())
        asking.send((None, error))


def database_of(settings: StoreSettings) -> Database:
    """Return the database that these settings name, or else the embedded one."""
    if settings.database_url is not None:
        return NamedDatabase(settings.database_url)
    return EmbeddedDatabase(settings.data_dir / "postgres")
