"""Migration of a database to the newest schema, under one advisory lock."""

from collections.abc import Callable
from pathlib import Path

import psycopg
from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from psycopg.sql import SQL, Identifier
from sqlalchemy import Connection, Engine, create_engine, text
from sqlalchemy.exc import DBAPIError

from persistence.database import distribution, rights
from persistence.database.poolers import refuse_transaction_pooler
from persistence.database.revisions import HEAD, SCHEMA, why_not_served
from persistence.database.rights import grant, make_roles
from persistence.engine.connections import connect, readable
from persistence.engine.database_errors import UnusableDatabase, first_line
from persistence.tables import metadata

# Planner statistics: PostgreSQL expects as many rows of each business as a large one has.


# As if there were two businesses; PostgreSQL never expects more rows than the largest one has. It
# applies from the next ANALYZE on, including that of autovacuum.
_TOLD = "n_distinct=2"
# Every business has about the same number of these rows. There is no largest one, so PostgreSQL
# would expect half of the table and scan all of it.
ALIKE = frozenset({"account", "tax_code"})

_TELLS = """
SELECT c.relname, %s = ANY(coalesce(a.attoptions, '{}'))
FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
WHERE c.relnamespace = 'public'::regnamespace AND c.relname = ANY(%s)
  AND a.attname = 'business_id'
ORDER BY c.relname
"""


def complete(connection: psycopg.Connection) -> None:
    """Set the statistics of each tenant table, and reset those of the tables in `ALIKE`."""
    names = [table.name for table in metadata.sorted_tables if table.info.get("tenant")]
    for name, told in connection.execute(_TELLS, (_TOLD, names)).fetchall():
        wanted = name not in ALIKE
        if told != wanted:
            change = f"SET ({_TOLD})" if wanted else "RESET (n_distinct)"
            connection.execute(
                SQL(f"ALTER TABLE {{}} ALTER COLUMN business_id {change}").format(Identifier(name))
            )


_ONE_AT_A_TIME = 7_236_501_148  # Any number that no other advisory lock uses.


def migrate(url: str, tell: Callable[[str], None] = lambda _: None) -> str:
    """Run all missing migrations, then create missing roles, privileges and policies.

    Returns the revision of the database. It is newer than `HEAD` if a later release has migrated
    the database and still serves this one. `tell` receives what was set for logins, or refused.
    Raises UnusableDatabase if the database is out of reach, if PostgreSQL is too old or the schema
    too new, if this login may not change it, or if a transaction pooler is in between; DatabaseAway
    if waiting may help.
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
    """Create what migrations do not create, or what a restored dump may lack."""
    grant(owner, tell)
    if distribution.is_distributed(owner):
        distribution.complete(owner)
    else:  # Citus refuses this setting.
        complete(owner)
    rights.complete(owner)


def check(url: str) -> None:
    """Raise if the tables of a migrated database differ from `tables.py`."""
    engine = _engine(url)
    try:
        with engine.connect() as connection:
            command.check(_config(connection))
    finally:
        engine.dispose()


def serves_from() -> str:
    """Return the revision of the oldest server that works on the schema of all migrations.

    A migration without `serves_from` serves no server older than itself.
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
    # libpq parses the URL, because SQLAlchemy accepts only one host.
    where = readable(url)
    return create_engine("postgresql+psycopg://", creator=lambda: psycopg.connect(where))


def knows(revision: str) -> bool:
    """Return whether a revision is among the migrations of this release."""
    known = ScriptDirectory.from_config(_config(None)).walk_revisions()
    return any(each.revision == revision for each in known)


def _config(connection: Connection | None) -> Config:
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parents[1] / "migrations"))
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    return config
