"""Copies of the books of a business to another one: every row, under new ids.

The server's own role reads them table by table, and the flush inserts them like all new rows. The
database therefore checks and audits a copy like other writes, on a single node and on a cluster.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy import Column, Numeric, Table, Text, cast, select
from sqlalchemy.sql.elements import ColumnElement

from persistence import tables
from persistence.engine.fetches import Answers
from persistence.engine.identifiers import new_id
from persistence.engine.machines import Machines
from persistence.engine.sql import Query, Row, compiled
from persistence.store import in_business
from persistence.tables import metadata, stored_document

# Replies belong to requests, and the database writes an audit trail of the copy itself.
NOT_COPIED = {tables.reply, tables.audit_record, tables.audit_seal}
COPIED = tuple(
    table
    for table in metadata.sorted_tables
    if table.info.get("tenant") and table not in NOT_COPIED
)


def _read(item: Column[Any]) -> ColumnElement[Any]:
    """Select a column as the flush takes it: a decimal as text, since JSON would round it."""
    return cast(item, Text).label(item.name) if isinstance(item.type, Numeric) else item


READING = {
    table: compiled(
        select(*(_read(c) for c in table.c if c.computed is None and c.name != "business_id"))
        .where(in_business(table))
        .order_by(*table.primary_key)
    )
    for table in COPIED
}


@dataclass(frozen=True, slots=True)
class CopiedBooks:
    """The rows of each table, parents first."""

    rows: Mapping[Table, list[Row]]

    @property
    def storage_keys(self) -> list[str]:
        """The storage keys of the files, which both businesses use."""
        return [row["storage_key"] for row in self.rows[stored_document]]


def reading_all(business_id: UUID, machines: Machines) -> tuple[Query, ...]:
    """Return the statements that read all rows of one business in an open transaction."""
    scope = {"business_id": business_id}
    return machines.set_tenant(business_id), *(Query(text, scope) for text in READING.values())


def copied(answers: Answers) -> CopiedBooks:
    """Assign new ids to the rows that were read; their order is that of the old ids."""
    read = dict(zip(READING, answers[1:], strict=True))
    old = sorted(row["id"] for rows in read.values() for row in rows if "id" in row)
    names: dict[Any, Any] = {each: new_id() for each in old}
    names |= {str(each): str(new) for each, new in names.items()}
    return CopiedBooks(
        {
            table: [{name: renamed(value, names) for name, value in row.items()} for row in rows]
            for table, rows in read.items()
        }
    )


def renamed(value: Any, names: Mapping[Any, Any]) -> Any:
    """Replace each old id by the new one, also inside JSON."""
    match value:
        case dict():
            return {names.get(key, key): renamed(each, names) for key, each in value.items()}
        case list():
            return [renamed(each, names) for each in value]
        case UUID() | str():
            return names.get(value, value)
    return value
