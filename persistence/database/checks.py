"""Checks of a database before a server uses it: reachable, migrated, and safe to write to."""

import psycopg
from psycopg import errors
from psycopg.rows import dict_row
from psycopg.sql import SQL

from persistence.database.distribution import settings_left
from persistence.database.poolers import PoolingMode, lending_of
from persistence.database.revisions import SCHEMA, why_not_served
from persistence.database.rights import steps_left
from persistence.engine.connections import LACKED, SERVER_ROLE, connect, keep_for
from persistence.engine.database_errors import DatabaseAway, UnsafeDatabase, UnusableDatabase
from persistence.engine.pipeline import MOST_PREPARED
from persistence.engine.pool import Pool
from persistence.engine.sql import Row

_CHECKS = """
SELECT current_user AS role, r.rolsuper OR r.rolbypassrls AS unbound,
       has_table_privilege('journal_line', 'UPDATE')
       OR has_table_privilege('journal_line', 'DELETE')
       OR has_table_privilege('journal_entry', 'UPDATE')
       OR has_table_privilege('journal_entry', 'DELETE') AS rewrites,
       has_table_privilege('audit_record', 'INSERT, UPDATE, DELETE')
       OR has_table_privilege('audit_seal', 'INSERT, UPDATE, DELETE')
       OR has_table_privilege('partner_audit_record', 'INSERT, UPDATE, DELETE') AS forges,
       current_setting('fsync') = 'on' AND current_setting('full_page_writes') = 'on'
       AND current_setting('synchronous_commit') <> 'off' AS durable
FROM pg_roles r WHERE r.rolname = current_user
"""


def refuse_unusable(url: str, *, durable: bool = True) -> str | None:
    """Check a database for use by this server; return a performance advice, or None.

    With `durable`, the settings of the database must keep every acknowledged commit. Raises
    UnsafeDatabase or UnusableDatabase, and DatabaseAway if the problem may be temporary.
    """
    advice = _refuse_mixed_up(url)
    with connect(url) as connection, connection.transaction():
        _refuse_read_only(connection)
        _take_role(connection)
        _refuse_other_schema(connection)
        _refuse_incomplete(connection)
        row = connection.cursor(row_factory=dict_row).execute(_CHECKS).fetchone()
    _refuse_unsafe_row(row, durable=durable)
    return advice


def refuse_empty(connection: psycopg.Connection) -> None:
    """Raise UnusableDatabase if a database has no schema yet."""
    if connection.execute("SELECT to_regclass('alembic_version')").fetchone() == (None,):
        raise UnusableDatabase(
            "The database is empty: check that DATABASE_URL or ACCOUNTING_DATA_DIR names the right"
            " one."
        )


async def refuse_unsafe(pool: Pool, *, durable: bool) -> None:
    """Raise UnsafeDatabase if the role may rewrite history or ignore row security.

    With `durable`, also raise it if an acknowledged commit could be lost.
    """
    async with pool.connection() as connection:
        row = await (await connection.execute(_CHECKS)).fetchone()
    _refuse_unsafe_row(row, durable=durable)


def _refuse_read_only(connection: psycopg.Connection) -> None:
    """Raise DatabaseAway if the database is read-only: a standby may soon become the primary."""
    found = connection.execute("SELECT current_setting('transaction_read_only')").fetchone()
    if found == ("on",):
        raise DatabaseAway(
            "The database can only be read: it is a standby, or was set so. DATABASE_URL has to"
            " name the primary, or all its servers with target_session_attrs=read-write."
        )


def _take_role(connection: psycopg.Connection) -> None:
    try:
        with connection.transaction():
            connection.execute(f"SET LOCAL ROLE {SERVER_ROLE}")
    except errors.InvalidParameterValue:
        raise _unready(connection) from None
    except errors.InsufficientPrivilege:
        raise UnsafeDatabase(
            f"The login of DATABASE_URL may not act as {SERVER_ROLE}: GRANT {SERVER_ROLE} to it."
        ) from None


def _refuse_incomplete(connection: psycopg.Connection) -> None:
    """Raise UnusableDatabase if privileges or database settings are missing.

    A dump of one database does not contain all of them.
    """
    left = [step.words for step in steps_left(connection)]
    left += [f"set {name} of the database" for name in settings_left(connection)]
    if left:
        more = f" and {len(left) - 3} more" if len(left) > 3 else ""
        raise UnusableDatabase(
            f"The database has its tables, and not all that belongs to them ({'; '.join(left[:3])}"
            f"{more}), as after a dump was restored: run `accounting migrate`."
        )


# The owner of the schema runs migrations, so its login must not switch to the server's role.
_LOGIN = f"""
SELECT session_user AS login, {LACKED} AS lacked, r.rolsuper OR coalesce(pg_has_role(
  session_user, (SELECT relowner FROM pg_class WHERE oid = to_regclass('public.business')),
  'MEMBER'), false) AS owns
FROM pg_roles r WHERE r.rolname = session_user
"""


def _refuse_mixed_up(url: str) -> str | None:
    """Raise UnusableDatabase if a pooler loses prepared statements or session settings.

    Returns an advice if the pooler keeps fewer prepared statements than a connection uses.
    """
    with connect(url) as connection:
        row = connection.cursor(row_factory=dict_row).execute(_LOGIN).fetchone()
    assert row is not None
    lending, kept = lending_of(url)
    if lending is PoolingMode.FORGETFUL:
        raise UnusableDatabase(
            "A pooler stands before the database that loses prepared statements: set PgBouncer's"
            f" max_prepared_statements to {MOST_PREPARED} or more, which needs 1.21 or newer, or"
            " its pool_mode to session."
        )
    if lending is PoolingMode.TRANSACTIONS and row["lacked"]:
        raise UnusableDatabase(
            "A pooler stands before the database that lends each transaction another session, so"
            f" that its login {row['login']} has to bring {', '.join(row['lacked'])} along."
            f" {_how_to_bring(row)}"
        )
    if kept >= MOST_PREPARED:
        return None
    return (
        f"A pooler stands before the database that keeps {kept} prepared statements of each"
        f" session: set PgBouncer's max_prepared_statements to {MOST_PREPARED} or more, or"
        " PostgreSQL plans the same statements again and again."
    )


def _how_to_bring(row: Row) -> str:
    if row["owns"]:
        return (
            "It owns the schema, so give the server a login of its own:"
            " `accounting migrate --print-roles` prints how."
        )
    statements = SQL("; ").join(keep_for(row["login"], row["lacked"])).as_string()
    return (
        f"`accounting migrate` sees to that for each login that is granted {SERVER_ROLE}, or an"
        f" administrator: {statements}. Then let the pooler connect anew (PgBouncer's RECONNECT)."
    )


def _refuse_other_schema(connection: psycopg.Connection) -> None:
    try:
        with connection.transaction():
            found = connection.execute(SCHEMA).fetchone()
    except (errors.UndefinedTable, errors.InsufficientPrivilege):
        raise _unready(connection) from None
    if found is None:
        raise _unready(connection)
    if (fault := why_not_served(*found)) is not None:
        raise UnusableDatabase(fault)


async def why_schema_not_served(pool: Pool) -> str | None:
    """Return why this server cannot use the current schema, or None.

    Errors of psycopg are passed on.
    """
    async with pool.connection() as connection:
        row = await (await connection.execute(SCHEMA)).fetchone()
    return why_not_served(row["revision"], row["serves_from"]) if row else "it has none"


def _unready(connection: psycopg.Connection) -> UnusableDatabase:
    """Return the error for a database whose schema or server role is missing."""
    there = "SELECT FROM pg_class WHERE relname = 'alembic_version' AND relkind = 'r'"
    if connection.execute(there).fetchone() is None:
        return _not_migrated()
    return UnusableDatabase(
        f"The database has its tables, and the role {SERVER_ROLE} is not there or may not read"
        " them, as after a dump was restored: run `accounting migrate`."
    )


def _not_migrated() -> UnusableDatabase:
    return UnusableDatabase("The database has no schema yet. Run `accounting migrate` first.")


def _refuse_unsafe_row(row: Row | None, *, durable: bool) -> None:
    if row is None or row["unbound"] or row["rewrites"] or row["forges"]:
        raise UnsafeDatabase(
            f"The database role {row['role'] if row else '?'} may change posted lines, write to the"
            f" audit trail or ignore row security. The server must run as {SERVER_ROLE}; run"
            " `accounting migrate` first."
        )
    if durable and not row["durable"]:
        raise UnsafeDatabase(
            "fsync, full_page_writes and synchronous_commit must be on: without them an"
            " acknowledged write can be lost."
        )
