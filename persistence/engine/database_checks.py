"""Whether a database can be served at all: reached, migrated, and safe from this very server."""

import psycopg
from psycopg import errors
from psycopg.rows import dict_row

from persistence.engine.connecting import connect
from persistence.engine.faults import UnsafeDatabase, UnusableDatabase
from persistence.engine.pool import SERVER_ROLE, Pool
from persistence.engine.revisions import SCHEMA, why_not_served
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


def refuse_unusable(url: str, *, durable: bool = True) -> None:
    """Raise UnsafeDatabase or UnusableDatabase, as a DatabaseAway where that may pass.

    `durable`: no commit may be lost that was acknowledged.
    """
    with connect(url) as connection:
        _take_role(connection)
        _refuse_other_schema(connection)
        row = connection.cursor(row_factory=dict_row).execute(_CHECKS).fetchone()
    _refuse_unsafe_row(row, durable=durable)


async def refuse_unsafe(pool: Pool, *, durable: bool) -> None:
    """Raise UnsafeDatabase where the role may rewrite history or a commit may be lost."""
    async with pool.connection() as connection:
        row = await (await connection.execute(_CHECKS)).fetchone()
    _refuse_unsafe_row(row, durable=durable)


def _take_role(connection: psycopg.Connection) -> None:
    try:
        connection.execute(f"SET ROLE {SERVER_ROLE}")
    except errors.InvalidParameterValue:
        raise _not_migrated() from None
    except errors.InsufficientPrivilege:
        raise UnsafeDatabase(
            f"The login of DATABASE_URL may not act as {SERVER_ROLE}: GRANT {SERVER_ROLE} to it."
        ) from None


def _refuse_other_schema(connection: psycopg.Connection) -> None:
    try:
        found = connection.execute(SCHEMA).fetchone()
    except (errors.UndefinedTable, errors.InsufficientPrivilege):
        raise _not_migrated() from None
    if found is None:
        raise _not_migrated()
    if (fault := why_not_served(*found)) is not None:
        raise UnusableDatabase(fault)


async def why_schema_not_served(pool: Pool) -> str | None:
    """Tell why the schema of now is none that this server serves; raises what psycopg raises."""
    async with pool.connection() as connection:
        row = await (await connection.execute(SCHEMA)).fetchone()
    return why_not_served(row["revision"], row["serves_from"]) if row else str(_not_migrated())


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
