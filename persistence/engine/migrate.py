"""Bring a database to the newest schema, under one lock."""

from pathlib import Path

import psycopg
from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, create_engine, make_url, text
from sqlalchemy.exc import DBAPIError

from persistence.engine.connecting import connect
from persistence.engine.distribution import complete, is_distributed
from persistence.engine.faults import UnusableDatabase, first_line

_ONE_AT_A_TIME = 7_236_501_148  # Any number, as long as nobody else locks on it.


def migrate(url: str) -> str:
    """Run every migration that is missing and return the newest revision's name.

    Raises UnusableDatabase where the database cannot be reached, is too old, or lets this login
    change nothing.
    """
    connect(url).close()
    engine = create_engine(make_url(url).set(drivername="postgresql+psycopg"))
    try:
        with engine.connect() as connection:
            connection.execute(text(f"SELECT pg_advisory_lock({_ONE_AT_A_TIME})"))
            connection.commit()
            command.upgrade(_config(connection), "head")
            connection.commit()
            with connect(url) as machines:
                if is_distributed(machines):
                    complete(machines)
            connection.execute(text(f"SELECT pg_advisory_unlock({_ONE_AT_A_TIME})"))
            connection.commit()
            return head()
    except DBAPIError as error:
        why = error.orig
        if not isinstance(why, psycopg.OperationalError | psycopg.errors.InsufficientPrivilege):
            raise
        raise UnusableDatabase(f"The database cannot be migrated: {first_line(why)}") from error
    finally:
        engine.dispose()


def check(url: str) -> None:
    """Raise where the tables of a migrated database differ from `tables.py`."""
    engine = create_engine(make_url(url).set(drivername="postgresql+psycopg"))
    try:
        with engine.connect() as connection:
            command.check(_config(connection))
    finally:
        engine.dispose()


def head() -> str:
    """Return the newest revision there is."""
    newest = ScriptDirectory.from_config(_config(None)).get_current_head()
    assert newest is not None
    return newest


def knows(revision: str) -> bool:
    """Tell whether a revision is one of those that lead to the newest."""
    known = ScriptDirectory.from_config(_config(None)).walk_revisions()
    return any(each.revision == revision for each in known)


def _config(connection: Connection | None) -> Config:
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parents[1] / "migrations"))
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    return config
