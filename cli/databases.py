"""Which database a command works on: the one that is named, or the PostgreSQL that comes along."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeVar

from embedded.postgres import EmbeddedPostgres
from persistence.engine.pool import Pool, make_pool
from server import logs
from server.process.database import Begin
from server.settings import StoreSettings

T = TypeVar("T")


def unheard(_step: str) -> None:
    """Tell nobody of a step."""


@dataclass(frozen=True, slots=True)
class Database:
    """An open database, and the same with the login that owns the schema."""

    url: str
    admin_url: str


@contextmanager
def opened(
    settings: StoreSettings, begin: Begin = unheard, *, as_it_is: bool = False
) -> Iterator[Database]:
    """Lend the database for the time of a command; one that comes along is migrated at once.

    `begin` is told of each step that may take a while; `as_it_is`: nothing is migrated.
    """
    logs.configure(settings.log_format, settings.log_level)
    if settings.database_url is not None:
        admin_url = settings.admin_database_url or settings.database_url
        yield Database(settings.database_url, admin_url)
        return
    from persistence.database.migrate import migrate  # Every worker imports this module, too.

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
    """Lend a database that can be worked on; raises UnusableDatabase or UnsafeDatabase."""
    from persistence.database.checks import refuse_unusable

    with opened(settings, begin) as database:
        refuse_unusable(database.url, durable=False)  # Serving asks for more.
        yield database


def run(url: str, work: Callable[[Pool], Awaitable[T]]) -> T:
    """Do work in a database, over one connection."""

    async def connected() -> T:
        async with make_pool(url, size=1) as pool:
            return await work(pool)

    return asyncio.run(connected())
