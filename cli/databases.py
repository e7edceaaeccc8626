"""Which database a command works on: the one that is named, or the PostgreSQL that comes along."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from embedded.postgres import EmbeddedPostgres
from server.settings import StoreSettings


@dataclass(frozen=True, slots=True)
class Database:
    """An open database; `postgres_home` is the folder of the PostgreSQL that comes along."""

    url: str
    admin_url: str
    postgres_home: Path | None


@contextmanager
def opened(settings: StoreSettings) -> Iterator[Database]:
    """Lend the database for the time of a command; one that comes along is migrated at once."""
    if settings.database_url is not None:
        admin_url = settings.admin_database_url or settings.database_url
        yield Database(settings.database_url, admin_url, None)
        return
    from persistence.migrate import migrate  # Every worker imports this module, too.

    with EmbeddedPostgres(settings.data_dir / "postgres") as postgres:
        postgres.create_database()
        url = postgres.url()
        migrate(url)
        yield Database(url, url, postgres.home)


@contextmanager
def ready(settings: StoreSettings) -> Iterator[Database]:
    """Lend a database that can be worked on; raises UnusableDatabase or UnsafeDatabase."""
    from persistence.fitness import refuse_unfit

    with opened(settings) as database:
        refuse_unfit(database.url, durable=False)  # Serving asks for more.
        yield database
