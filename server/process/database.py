"""The database, as the master process gets it ready and looks after it."""

import multiprocessing
import time
import traceback
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Final, Protocol, TypeVar

import structlog

from embedded import places, reaper
from embedded.postgres import EmbeddedPostgres
from server.settings import StoreSettings

T = TypeVar("T")

WAIT_SECONDS = 20.0
LOOK_SECONDS = 0.5

SPAWNS: Final = multiprocessing.get_context("spawn")

GivenUp = Callable[[], bool]
"""Tells whether the server is no longer wanted."""

Begin = Callable[[str], None]
"""Told of each step when it begins, in words for an operator."""


class Database(Protocol):
    """One under the care of one thread at a time; `home` is set where it came along."""

    @property
    def url(self) -> str:
        """Where it is; known before it is ready."""

    @property
    def home(self) -> Path | None:
        """The folder whose users the workers are counted among."""

    def prepare(self, given_up: GivenUp, begin: Begin, /) -> None:
        """Return when it can be served, or is no longer needed; raises what an operator is told."""

    def revive(self) -> None:
        """Bring it back where it has gone away; called now and then."""

    def release(self) -> None:
        """Need it no longer."""


class EmbeddedDatabase:
    """The PostgreSQL that comes along: started, migrated, and started again when it dies."""

    def __init__(self, home: Path) -> None:
        self.postgres = EmbeddedPostgres(home)
        self.home = self.postgres.home
        self.url = self.postgres.url()

    def prepare(self, given_up: GivenUp, begin: Begin) -> None:
        """Start, migrate and prove it."""
        begin("Starting PostgreSQL")
        self.postgres.start()
        if given_up():
            return
        begin("Bringing the database to the newest schema")
        self.postgres.create_database()
        in_own_process(migrate_and_prove, self.url)

    def revive(self) -> None:
        """Start it again when none of its processes lives."""
        if not reaper.is_down(self.home):
            return
        log = structlog.get_logger("accounting.database")
        if not places.server_lock(self.home).exists():
            # An empty database in place of a folder that was taken away would be worse than none.
            log.error("data_folder_gone", folder=str(self.home))
            return
        log.error("postgres_gone")
        self.postgres.start()
        log.info("postgres_back")

    def release(self) -> None:
        """Stop it, unless somebody else uses it."""
        self.postgres.stop()


class NamedDatabase:
    """The PostgreSQL that DATABASE_URL names: proved, and looked after by others."""

    home = None

    def __init__(self, url: str) -> None:
        self.url = url

    def prepare(self, given_up: GivenUp, begin: Begin) -> None:
        """Wait a while for it, since the two may be starting at the same time, and prove it."""
        begin("Checking the database")
        deadline = time.monotonic() + WAIT_SECONDS
        told = False
        while (away := in_own_process(prove, self.url)) is not None:
            if given_up():
                return
            if time.monotonic() > deadline:
                raise away
            if not told:
                structlog.get_logger("accounting.database").warning("waiting", reason=str(away))
            told = True
            time.sleep(LOOK_SECONDS)

    def revive(self) -> None:
        """Do nothing: connections are made anew by themselves."""

    def release(self) -> None:
        """Do nothing."""


def migrate_and_prove(url: str) -> None:
    """Bring a database to the newest schema; raises where it cannot be served."""
    from persistence.database.checks import refuse_unusable
    from persistence.database.migrate import migrate

    migrate(url)
    refuse_unusable(url)


def prove(url: str) -> Exception | None:
    """Raise where a database cannot be served; return a DatabaseAway where that may pass."""
    from persistence.database.checks import refuse_unusable
    from persistence.engine.faults import DatabaseAway

    try:
        refuse_unusable(url)
    except DatabaseAway as away:
        return away
    return None


def in_own_process(work: Callable[[str], T], url: str) -> T:
    """Return what some work returns, or raise what it raises.

    What it loads takes 30 MB, and goes with the process that does it. Raises ChildProcessError
    where that is killed.
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
    """Be that process."""
    try:
        asking.send((work(url), None))
    except Exception as error:
        error.add_note(traceback.format_exc())
        asking.send((None, error))


def database_of(settings: StoreSettings) -> Database:
    """Return the database that these settings name, else the one that comes along."""
    if settings.database_url is not None:
        return NamedDatabase(settings.database_url)
    return EmbeddedDatabase(settings.data_dir / "postgres")
