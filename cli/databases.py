"""The database of a command: the one that DATABASE_URL names, or the bundled PostgreSQL."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeVar

from cli.named_records import NONE, NamedRecords
from libraries.embedded.postgres import EmbeddedPostgres
from persistence.engine.connections import connect
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


class NoBooks(Exception):
    """A command needs a database, and there is none; the message says what to do."""


@contextmanager
def opened(
    settings: StoreSettings,
    begin: Begin = unheard,
    *,
    as_it_is: bool = False,
    must_exist: bool = False,
    named: NamedRecords = NONE,
) -> Iterator[Database]:
    """Open the database for the duration of a command.

    The bundled PostgreSQL is started and its schema migrated, unless `as_it_is` is true. A database
    that the settings name is not migrated. `begin` is called with the name of each step that may
    take long. With `must_exist`, or if records are `named`, no new database is made: raises NoBooks
    if there is none, and UnknownRecord before a migration if a named record does not exist.
    """
    logs.configure(settings.log_format, settings.log_level)
    if settings.database_url is not None:
        admin_url = settings.admin_database_url or settings.database_url
        yield Database(settings.database_url, admin_url)
        return
    # Workers import this module, too.
    from persistence.database.checks import refuse_empty
    from persistence.database.migrate import migrate

    bundled = EmbeddedPostgres(settings.data_dir / "postgres")
    if (must_exist or named) and not bundled.has_data:
        raise NoBooks(
            f"There are no books in {settings.data_dir}: set DATABASE_URL or ACCOUNTING_DATA_DIR"
            " to where they are."
        )
    begin("Starting PostgreSQL")
    with bundled as postgres:
        postgres.create_database()
        url = postgres.url()
        if named:
            with connect(url) as connection:
                refuse_empty(connection)
            run(url, named.refuse_unknown)
        if not as_it_is:
            begin("Bringing the database to the newest schema")
            migrate(url)
        yield Database(url, url)


@contextmanager
def ready(
    settings: StoreSettings,
    begin: Begin = unheard,
    *,
    named: NamedRecords = NONE,
    must_exist: bool = False,
) -> Iterator[Database]:
    """Open a database and check that it can be used and has the named records.

    Raises UnusableDatabase, UnsafeDatabase, NoBooks or UnknownRecord.
    """
    from persistence.database.checks import refuse_unusable

    with opened(settings, begin, named=named, must_exist=must_exist) as database:
        refuse_unusable(database.url, durable=False)  # Only a server needs durability.
        if named and settings.database_url is not None:
            run(database.url, named.refuse_unknown)
        yield database


def run(url: str, work: Callable[[Pool], Awaitable[T]]) -> T:
    """Run `work` in a database, with a pool of one connection, and return its result."""

    async def connected() -> T:
        async with make_pool(url, size=1) as pool:
            return await work(pool)

    return asyncio.run(connected())
