"""What the house stands on: the database, as the master process readies it and looks after it."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

import structlog

from embedded import places, reaper
from embedded.postgres import EmbeddedPostgres
from server.settings import StoreSettings

WAIT_SECONDS = 20.0
LOOK_SECONDS = 0.5


class Ground(Protocol):
    """A database under the care of one thread at a time; `home` is set where it came along."""

    @property
    def url(self) -> str:
        """Where it is; known before it is ready."""

    @property
    def home(self) -> Path | None:
        """The folder whose users the workers are counted among."""

    def lay(self, given_up: Callable[[], bool], /) -> None:
        """Return when it can be served, or is no longer needed; raises what an operator is told."""

    def mend(self) -> None:
        """Bring it back where it has gone away; called now and then."""

    def leave(self) -> None:
        """Need it no longer."""


class OwnGround:
    """The PostgreSQL that comes along: started, migrated, and started again when it dies."""

    def __init__(self, home: Path) -> None:
        self.postgres = EmbeddedPostgres(home)
        self.home = self.postgres.home
        self.url = self.postgres.url()

    def lay(self, given_up: Callable[[], bool]) -> None:
        """Start, migrate and prove it."""
        self.postgres.start()
        if given_up():
            return
        self.postgres.create_database()
        # Imported while PostgreSQL's programs and the workers are loading, too.
        from persistence.fitness import refuse_unfit
        from persistence.migrate import migrate

        migrate(self.url)
        refuse_unfit(self.url)

    def mend(self) -> None:
        """Start it again when none of its processes lives."""
        if not reaper.is_down(self.home):
            return
        log = structlog.get_logger("accounting.ground")
        if not places.server_lock(self.home).exists():
            # An empty database in place of a folder that was taken away would be worse than none.
            log.error("data_folder_gone", folder=str(self.home))
            return
        log.error("postgres_gone")
        self.postgres.start()
        log.info("postgres_back")

    def leave(self) -> None:
        """Stop it, unless somebody else uses it."""
        self.postgres.stop()


class NamedGround:
    """The PostgreSQL that DATABASE_URL names: proved, and looked after by others."""

    home = None

    def __init__(self, url: str) -> None:
        self.url = url

    def lay(self, given_up: Callable[[], bool]) -> None:
        """Wait a while for it, since the two may be starting at the same time, and prove it."""
        from persistence.fitness import refuse_unfit
        from persistence.pool import DatabaseAway

        deadline = time.monotonic() + WAIT_SECONDS
        told = False
        while True:
            try:
                refuse_unfit(self.url)
                return
            except DatabaseAway as away:
                if given_up():
                    return
                if time.monotonic() > deadline:
                    raise
                if not told:
                    structlog.get_logger("accounting.ground").warning("waiting", reason=str(away))
                told = True
                time.sleep(LOOK_SECONDS)

    def mend(self) -> None:
        """Do nothing: connections are made anew by themselves."""

    def leave(self) -> None:
        """Do nothing."""


def ground_of(settings: StoreSettings) -> Ground:
    """Return what these settings let the house stand on."""
    if settings.database_url is not None:
        return NamedGround(settings.database_url)
    return OwnGround(settings.data_dir / "postgres")
