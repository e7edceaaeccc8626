"""The rows of one business as lines of JSON, written and read by PostgreSQL.

Rows are not parsed here, so numbers, timestamps and bytes are restored exactly and the digests of
the audit trail still match. The lines omit `business_id`, which is given once for all of them.
"""

from collections.abc import AsyncIterator, Iterable, Iterator
from uuid import UUID

from psycopg.sql import SQL, Composed, Identifier, Literal
from sqlalchemy import Table

from persistence.engine.pipeline import Connection, execute_pipeline
from persistence.engine.sql import Query
from persistence.tables import (
    audit_record,
    audit_seal,
    bank_reconciliation,
    business,
    metadata,
    reply,
    unplaced_event,
)

TRAIL = (audit_record, audit_seal)
# A closed bank statement forbids postings up to its date, so it is inserted after the journal.
_AFTER_THE_JOURNAL = (bank_reconciliation,)
# Stored replies are left out: they belong to requests with the keys of a partner. So is what the
# feed of that partner does not have yet.
_LEFT = {reply, unplaced_event, *TRAIL, *_AFTER_THE_JOURNAL}
TABLES: tuple[Table, ...] = (
    business,
    *(t for t in metadata.sorted_tables if t.info.get("tenant") and t not in _LEFT),
    *_AFTER_THE_JOURNAL,
    *TRAIL,
)
"""The exported tables of a business, referenced tables first and the audit trail last."""

# The session determines how PostgreSQL writes timestamps and bytes.
ONE_WAY_TO_WRITE = Query(
    "SELECT set_config('timezone', 'UTC', true), set_config('bytea_output', 'hex', true)", {}
)
WAITING_ROWS = Query("CREATE TEMPORARY TABLE incoming (line json NOT NULL) ON COMMIT DROP", {})
"""The staging table for lines, which exists until the end of the transaction."""


_OTHER_FIELD = """
SELECT name FROM incoming, json_object_keys(line) AS name
WHERE name <> ALL (%(columns)s::text[]) LIMIT 1
"""


def columns_of(table: Table) -> list[str]:
    """List the columns of a line: all but computed columns and `business_id`."""
    return [c.name for c in table.c if c.computed is None and c.name != "business_id"]


async def lines_of(connection: Connection, table: Table, business_id: UUID) -> AsyncIterator[bytes]:
    """Yield the lines of a table, with their newlines, in an open transaction of the business."""
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
            yield bytes(line).replace(b"\\\\", b"\\")  # COPY escapes only backslashes in JSON.


async def await_lines(connection: Connection, chunks: Iterator[bytes]) -> None:
    """Load lines into the staging table `incoming`, replacing the previous ones.

    Chunks may end within a line.
    """
    await connection.execute("TRUNCATE incoming")
    async with connection.cursor().copy("COPY incoming FROM STDIN") as copy:
        for chunk in chunks:
            await copy.write(chunk.replace(b"\\", b"\\\\"))


async def other_field(connection: Connection, table: Table) -> str | None:
    """Return a field of a staged line that is no column of the lines of a table, or None.

    Nothing reads such a field: `business_id` would claim another business in silence.
    """
    asked = Query(_OTHER_FIELD, {"columns": columns_of(table)})
    [result] = await execute_pipeline(connection, [asked])
    return result.rows[0]["name"] if result.rows else None


async def take_lines(connection: Connection, table: Table, business_id: UUID) -> int:
    """Insert the staged lines as rows of a business; return the number of rows.

    It is one statement, so that a row may refer to any other row of its table.
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
    """Insert the staged line as a business of a partner, without its lock date."""
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
