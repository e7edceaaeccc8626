"""Bring a database to the newest schema, under one lock."""

from collections.abc import Callable
from pathlib import Path

import psycopg
from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, Engine, create_engine, text
from sqlalchemy.exc import DBAPIError

from persistence.database import distribution, expected_rows, row_security
from persistence.database.poolers import refuse_transaction_pooler
from persistence.database.revisions import HEAD, SCHEMA, why_not_served
from persistence.database.rights import grant, make_roles
from persistence.engine.connecting import connect, readable
from persistence.engine.faults import UnusableDatabase, first_line

_ONE_AT_A_TIME = 7_236_501_148  # Any number, as long as nobody else locks on it.


def migrate(url: str, tell: Callable[[str], None] = lambda _: None) -> str:
    """Run every migration that is missing, then make what is missing of roles and rights.

    Returns the revision that the database stands at: a newer one where a release to come has
    migrated it, and serves this one as well. Tells what logins got, or could not get, in words.
    Raises UnusableDatabase where the database cannot be reached, is too old or too new, or lets
    this login change nothing, and where a pooler is in the way.
    """
    connect(url).close()
    refuse_transaction_pooler(url)
    engine = _engine(url)
    try:
        with engine.connect() as connection, connect(url) as owner:
            connection.execute(text(f"SELECT pg_advisory_lock({_ONE_AT_A_TIME})"))
            connection.commit()
            if (newer := _newer(owner)) is not None:
                return newer
            make_roles(owner)
            config = _config(connection)
            config.attributes["serves_from"] = serves_from()
            command.upgrade(config, "head")
            connection.commit()
            _complete(owner, tell)
            connection.execute(text(f"SELECT pg_advisory_unlock({_ONE_AT_A_TIME})"))
            connection.commit()
            return HEAD
    except (DBAPIError, psycopg.Error) as error:
        why = error.orig if isinstance(error, DBAPIError) else error
        if isinstance(why, psycopg.errors.InsufficientPrivilege):
            raise UnusableDatabase(
                f"The database cannot be migrated: {first_line(why)}. What an administrator has to"
                " do first is printed by `accounting migrate --print-roles`."
            ) from error
        if isinstance(why, psycopg.OperationalError | psycopg.errors.ReadOnlySqlTransaction):
            raise UnusableDatabase(f"The database cannot be migrated: {first_line(why)}") from error
        raise
    finally:
        engine.dispose()


def _complete(owner: psycopg.Connection, tell: Callable[[str], None]) -> None:
    """Make what is no migration's: a dump that was restored elsewhere may lack it, too."""
    grant(owner, tell)
    if distribution.is_distributed(owner):
        distribution.complete(owner)
    else:  # Citus refuses it.
        expected_rows.complete(owner)
    row_security.complete(owner)


def check(url: str) -> None:
    """Raise where the tables of a migrated database differ from `tables.py`."""
    engine = _engine(url)
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


def _newer(connection: psycopg.Connection) -> str | None:
    if connection.execute("SELECT to_regclass('alembic_version')").fetchone() == (None,):
        return None
    found = connection.execute(SCHEMA).fetchone()
    if found is None or found[0] <= HEAD:
        return None
    if (fault := why_not_served(*found)) is not None:
        raise UnusableDatabase(fault)
    return str(found[0])


def _engine(url: str) -> Engine:
    # libpq reads the address: SQLAlchemy takes no more than one host.
    where = readable(url)
    return create_engine("postgresql+psycopg://", creator=lambda: psycopg.connect(where))


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
