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
from persistence.engine.revisions import HEAD, SCHEMA, why_not_served

_ONE_AT_A_TIME = 7_236_501_148  # Any number, as long as nobody else locks on it.


def migrate(url: str) -> str:
    """Run every migration that is missing and return the revision that the database stands at.

    That is a newer one where a release to come has migrated it, and serves this one as well. Raises
    UnusableDatabase where the database cannot be reached, is too old or too new, or lets this login
    change nothing.
    """
    connect(url).close()
    engine = create_engine(make_url(url).set(drivername="postgresql+psycopg"))
    try:
        with engine.connect() as connection:
            connection.execute(text(f"SELECT pg_advisory_lock({_ONE_AT_A_TIME})"))
            connection.commit()
            if (newer := _newer(url)) is not None:
                return newer
            config = _config(connection)
            config.attributes["serves_from"] = serves_from()
            command.upgrade(config, "head")
            connection.commit()
            with connect(url) as machines:
                if is_distributed(machines):
                    complete(machines)
            connection.execute(text(f"SELECT pg_advisory_unlock({_ONE_AT_A_TIME})"))
            connection.commit()
            return HEAD
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


def serves_from() -> str:
    """Return the revision of the oldest server that all migrations together leave alive.

    One that does not say so serves no server before its own.
    """
    scripts = ScriptDirectory.from_config(_config(None)).walk_revisions()
    return max(getattr(each.module, "serves_from", each.revision) for each in scripts)


def _newer(url: str) -> str | None:
    with connect(url) as connection:
        if connection.execute("SELECT to_regclass('alembic_version')").fetchone() == (None,):
            return None
        found = connection.execute(SCHEMA).fetchone()
    if found is None or found[0] <= HEAD:
        return None
    if (fault := why_not_served(*found)) is not None:
        raise UnusableDatabase(fault)
    return str(found[0])


def _config(connection: Connection | None) -> Config:
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parents[1] / "migrations"))
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    return config
