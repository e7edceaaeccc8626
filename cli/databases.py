"""The database of a command: the one that DATABASE_URL names, or the bundled PostgreSQL."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeVar

from libraries.embedded.postgres import EmbeddedPostgres
from persistence.engine.pool import Pool, make_pool
from server.config.settings import StoreSettings
from server.process.database import Begin
from server.telemetry import logs

T = TypeVar("T")


def unheard(_step: str) -> None:
    """Ignore the name of a step."""


@dataclass(frozen=True, slots=True)
class Database:
    """The URL of an open database, and its URL for the login that owns the schema."""

    url: str
    admin_url: str


@contextmanager
def opened(
    settings: StoreSettings, begin: Begin = unheard, *, as_it_is: bool = False
) -> Iterator[Database]:
    """Open the database for the duration of a command.

    The bundled PostgreSQL is started and its schema migrated, unless `as_it_is` is true. A database
    that the settings name is not migrated. `begin` is called with the name of each step that may
    take long.
    """
    logs.configure(settings.log_format, settings.log_level)
    if settings.database_url is not None:
        admin_url = settings.admin_database_url or settings.database_url
        yield Database(settings.database_url, admin_url)
        return
    from persistence.database.migrate import migrate  # Workers import this module, too.

    begin("Starting PostgreSQL")
    with EmbeddedPostgres(settings.data_dir / "postgres") as postgres:
        postgres.create_database()
        url = postgres.url()
        if not as_it_is:
            begin("Bringing the database to the newest schema")
            migrate(url)
        yield Database(url, url)


@contextmanager
def ready(settings: StoreSettings, begin: Begin = unheard) -> Iterator[Database]:
    """Open a database and check that it can be used; raises UnusableDatabase or UnsafeDatabase."""
    from persistence.database.checks import refuse_unusable

    with opened(settings, begin) as database:
        refuse_unusable(database.url, durable=False)  # Only a server needs durability.
        yield database


def run(url: str, work: Callable[[Pool], Awaitable[T]]) -> T:
    """Run `work` in a database, with a pool of one connection, and return its result."""

    async def connected() -> T:
        async with make_pool(url, size=1) as pool:
            return await work(pool)

    return asyncio.run(connected())
