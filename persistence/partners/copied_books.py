"""Copies of the books of a business to another one: every row, under new ids."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy import Column, Numeric, Table, Text, cast, select
from sqlalchemy.sql.elements import ColumnElement

from accounting.books.numbers import EVENTS
from persistence import tables
from persistence.engine.ids import new_id
from persistence.engine.sql import Answers, Query, Row, compiled
from persistence.engine.topology import Topology
from persistence.ledger.line_digests import with_new_digests
from persistence.store import in_business
from persistence.tables import journal_entry, journal_line, metadata, stored_document

# Replies belong to requests, and the database writes an audit trail of the copy itself.
NOT_COPIED = {
    *(tables.reply, tables.audit_record, tables.audit_seal),
    *(tables.event, tables.unplaced_event),
}
COPIED = tuple(
    table
    for table in metadata.sorted_tables
    if table.info.get("tenant") and table not in NOT_COPIED
)


def _read_template(item: Column[Any]) -> ColumnElement[Any]:
    """Select a column as the flush takes it: a decimal as text, since JSON would round it."""
    return cast(item, Text).label(item.name) if isinstance(item.type, Numeric) else item


READING = {
    table: compiled(
        select(
            *(_read_template(c) for c in table.c if c.computed is None and c.name != "business_id")
        )
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


def reading_all(business_id: UUID, machines: Topology) -> tuple[Query, ...]:
    """Return the statements that read all rows of one business in an open transaction."""
    scope = {"business_id": business_id}
    return machines.set_tenant(business_id), *(Query(text, scope) for text in READING.values())


def copied(answers: Answers) -> CopiedBooks:
    """Assign new ids to the rows that were read; their order is that of the old ids."""
    read = dict(zip(READING, answers[1:], strict=True))
    old = sorted(row["id"] for rows in read.values() for row in rows if "id" in row)
    names: dict[Any, Any] = {each: new_id() for each in old}
    names |= {str(each): str(new) for each, new in names.items()}
    rows = {
        table: [{name: renamed(value, names) for name, value in row.items()} for row in old_rows]
        for table, old_rows in read.items()
    }
    rows[journal_entry] = with_new_digests(rows[journal_entry], rows[journal_line])
    series = rows[tables.number_series]
    rows[tables.number_series] = [row for row in series if row["series"] != EVENTS]
    return CopiedBooks(rows)


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
