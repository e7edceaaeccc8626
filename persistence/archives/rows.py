"""The rows of one business as lines of JSON: written by PostgreSQL and read by it again.

Nothing of a row is taken apart here, so that numbers, moments and bytes come back as they were and
the digests of the audit trail with them. `business_id` is in no line: whose rows they are is said
once, for all of them.
"""

from collections.abc import AsyncIterator, Iterable, Iterator
from uuid import UUID

from psycopg.sql import SQL, Composed, Identifier, Literal
from sqlalchemy import Table

from persistence.engine.pipeline import Connection
from persistence.engine.sql import Query
from persistence.tables import (
    audit_record,
    audit_seal,
    bank_reconciliation,
    business,
    metadata,
    reply,
)

TRAIL = (audit_record, audit_seal)
# A closed statement of a bank lets nothing be posted before its end any more.
_AFTER_THE_JOURNAL = (bank_reconciliation,)
# Answers belong to requests, and those to the keys of a partner.
_LEFT = {reply, *TRAIL, *_AFTER_THE_JOURNAL}
TABLES: tuple[Table, ...] = (
    business,
    *(t for t in metadata.sorted_tables if t.info.get("tenant") and t not in _LEFT),
    *_AFTER_THE_JOURNAL,
    *TRAIL,
)
"""All that is kept of a business, what is referred to first; the audit trail is last."""

# How PostgreSQL writes a moment and bytes depends on the session.
ONE_WAY_TO_WRITE = Query(
    "SELECT set_config('timezone', 'UTC', true), set_config('bytea_output', 'hex', true)", {}
)
WAITING_ROWS = Query("CREATE TEMPORARY TABLE incoming (line json NOT NULL) ON COMMIT DROP", {})
"""Where lines wait until their table takes them, in the transaction that reads them."""


def columns_of(table: Table) -> list[str]:
    """Name the columns of a line; what PostgreSQL works out by itself is not among them."""
    return [c.name for c in table.c if c.computed is None and c.name != "business_id"]


async def lines_of(connection: Connection, table: Table, business_id: UUID) -> AsyncIterator[bytes]:
    """Yield the lines of a table, each with its end, within an open transaction of the business."""
    key = "id" if table is business else "business_id"
    statement = SQL(
        "COPY (SELECT row_to_json(r) FROM (SELECT {} FROM {} WHERE {} = {} ORDER BY {}) AS r)"
        " TO STDOUT"
    ).format(
        _listed(columns_of(table)),
        Identifier(table.name),
        Identifier(key),
        Literal(business_id),
        _listed(c.name for c in table.primary_key),
    )
    async with connection.cursor().copy(statement) as copy:
        async for line in copy:
            yield bytes(line).replace(b"\\\\", b"\\")  # The one thing that COPY escapes in JSON.


async def await_lines(connection: Connection, chunks: Iterator[bytes]) -> None:
    """Let lines wait in the place of those before, cut into chunks wherever it was."""
    await connection.execute("TRUNCATE incoming")
    async with connection.cursor().copy("COPY incoming FROM STDIN") as copy:
        for chunk in chunks:
            await copy.write(chunk.replace(b"\\", b"\\\\"))


async def take_lines(connection: Connection, table: Table, business_id: UUID) -> int:
    """Insert the waiting lines as rows of a business; return how many they were.

    It is one statement, so that a row may refer to any other one of its table.
    """
    names = columns_of(table)
    return await _insert(
        connection,
        SQL("INSERT INTO {} (business_id, {}) SELECT {}, {} FROM {}").format(
            Identifier(table.name),
            _listed(names),
            Literal(business_id),
            SQL(", ").join(SQL("r.{}").format(Identifier(name)) for name in names),
            _records(table),
        ),
    )


async def take_business(connection: Connection, business_id: UUID, partner_id: UUID) -> int:
    """Insert the waiting line as a business of a partner, in which nothing is locked yet."""
    given = {
        "id": Literal(business_id),
        "partner_id": Literal(partner_id),
        "lock_date": SQL("NULL"),
    }
    names = columns_of(business)
    values = [given.get(name, SQL("r.{}").format(Identifier(name))) for name in names]
    return await _insert(
        connection,
        SQL("INSERT INTO business ({}) SELECT {} FROM {}").format(
            _listed(names), SQL(", ").join(values), _records(business)
        ),
    )


async def _insert(connection: Connection, statement: Composed) -> int:
    return (await connection.execute(statement)).rowcount


def _records(table: Table) -> Composed:
    return SQL("incoming, json_populate_record(NULL::public.{}, line) AS r").format(
        Identifier(table.name)
    )


def _listed(names: Iterable[str]) -> Composed:
    return SQL(", ").join(Identifier(name) for name in names)
