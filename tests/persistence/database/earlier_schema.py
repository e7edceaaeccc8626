"""Databases at an earlier revision of the schema."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest

from persistence.database import migrate as migrations
from persistence.database.revisions import HEAD
from tests.api_server import Databases

Connection = psycopg.Connection[Any]


def migrate_to(url: str, revision: str) -> None:
    """Migrate a database to a revision before the last one."""
    upgrade = migrations.command.upgrade
    with pytest.MonkeyPatch.context() as earlier:
        earlier.setattr(migrations.command, "upgrade", lambda config, _: upgrade(config, revision))
        migrations.migrate(url)


@contextmanager
def migrated_from(
    databases: Databases, revision: str, fill: Callable[[Connection], None]
) -> Iterator[Connection]:
    """Fill a database at a revision, migrate it to the last one, and connect to it."""
    name = f"from_{revision}_{os.getpid()}"
    databases.postgres.create_database(name)
    url = databases.postgres.url(name)
    migrate_to(url, revision)
    with psycopg.connect(url, cursor_factory=psycopg.ClientCursor) as connection:
        fill(connection)
    assert migrations.migrate(url) == HEAD
    with psycopg.connect(url) as connection:
        yield connection
