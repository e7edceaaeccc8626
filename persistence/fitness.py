"""Whether a database can be served at all: reached, migrated, and safe from this very server."""

import psycopg
from psycopg import errors
from psycopg.rows import dict_row

from persistence.pool import (
    FITNESS,
    SERVER_ROLE,
    DatabaseAway,
    UnsafeDatabase,
    UnusableDatabase,
    refuse_unsafe_row,
)

CONNECT_SECONDS = 5


def refuse_unfit(url: str, *, durable: bool = True) -> None:
    """Raise UnsafeDatabase or UnusableDatabase, as a DatabaseAway where that may pass.

    `durable` as for `refuse_unsafe`.
    """
    with _connect(url) as connection:
        _take_role(connection)
        _refuse_other_schema(connection)
        row = connection.cursor(row_factory=dict_row).execute(FITNESS).fetchone()
    refuse_unsafe_row(row, durable=durable)


def _connect(url: str) -> psycopg.Connection:
    try:
        return psycopg.connect(
            url,
            autocommit=True,
            connect_timeout=CONNECT_SECONDS,
            application_name="accounting check",
        )
    except psycopg.OperationalError as error:
        # Two sentences for each address that was tried; the first says why.
        reason = str(error).strip().splitlines()[0]
        raise DatabaseAway(f"The database cannot be reached: {reason}") from error


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
    from persistence.migrate import head

    try:
        found = connection.execute("SELECT version_num FROM alembic_version").fetchone()
    except (errors.UndefinedTable, errors.InsufficientPrivilege):
        raise _not_migrated() from None
    if found is None:
        raise _not_migrated()
    if found[0] != head():
        raise UnusableDatabase(
            f"The database stands at {found[0]} and this server needs {head()}:"
            " run `accounting migrate`, with the version of the server that is to serve."
        )


def _not_migrated() -> UnusableDatabase:
    return UnusableDatabase("The database has no schema yet. Run `accounting migrate` first.")
