"""Rows wait here until the handler is done; then one flush sends them all at once.

One statement per table, parents first, each with its rows as one JSON parameter, in one pipeline:
a payment with forty allocations costs the round trips of one with none. Numbers of a series are
taken as late as can be: after the rows that need none, before the rows that carry one, and in the
round trip that commits.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Any
from uuid import UUID

import orjson
from sqlalchemy import (
    BigInteger,
    Column,
    Integer,
    Table,
    Text,
    and_,
    cast,
    column,
    func,
    insert,
    literal_column,
    select,
    update,
)
from sqlalchemy.dialects.postgresql import JSON
from sqlalchemy.sql.elements import ColumnElement
from sqlalchemy.sql.selectable import FromClause, TableValuedAlias

from accounting.books import numbers
from accounting.books.numbers import Pending
from persistence import tables
from persistence.engine.number_marks import Marks, back, rendered
from persistence.engine.sql import Query, Row, compiled, given

SERIES = "__series"  # Beside a number column: the series that the number comes from,
BACK = "__back"  # and how many places it stands before the last one taken.


@dataclass(slots=True)
class Staging:
    """The rows one transaction will insert and update, and the numbers it will take.

    `contents` are files by their keys: they are put before the rows are sent. `marks` stand in the
    answer where the numbers belong.
    """

    business_id: UUID | None
    inserted: dict[str, list[Row]] = field(default_factory=dict)
    updated: dict[str, list[Row]] = field(default_factory=dict)
    taken: dict[str, int] = field(default_factory=dict)
    raised: dict[str, int] = field(default_factory=dict)
    last: dict[str, int] = field(default_factory=dict)
    beforehand: list[Query] = field(default_factory=list)
    afterwards: list[Query] = field(default_factory=list)
    contents: dict[str, bytes] = field(default_factory=dict)
    marks: Marks = field(default_factory=Marks)

    def insert(self, table: Table, row: Row) -> None:
        """Stage a new row; the business's id is added by the flush."""
        self._count_numbers(table, row)
        self.inserted.setdefault(table.name, []).append(row)

    def update(self, table: Table, row: Row) -> None:
        """Stage a changed row, whose `version` is the one it was loaded with.

        A row staged twice in one transaction is written once, as it was staged last.
        """
        self._count_numbers(table, row)
        for rows in (self.inserted.get(table.name, []), self.updated.setdefault(table.name, [])):
            for place, staged in enumerate(rows):
                if staged["id"] == row["id"]:
                    rows[place] = {**row, "version": staged["version"]}
                    return
        self.updated[table.name].append(row)

    def take_number(self, series: str) -> Pending:
        """Take the next number of a series; it becomes known with the flush."""
        place = self.taken.get(series, 0)
        self.taken[series] = place + 1
        return Pending(series, place)

    def raise_series(self, series: str, at_least: int) -> None:
        """Move a series past a number that the caller gave in the series' own form."""
        self.raised[series] = max(self.raised.get(series, 0), at_least)

    def _count_numbers(self, table: Table, row: Row) -> None:
        for name in _number_columns(table):
            value = row.get(name)
            if isinstance(value, Pending):
                taken = self.taken.get(value.series, 0)
                self.taken[value.series] = max(taken, value.place + 1)

    def number(self, pending: Pending) -> str:
        """Return the number that a pending one has become; call it after the flush."""
        last = self.last[pending.series]
        return numbers.render(pending.series, last - back(pending, self.taken))

    def holds_change(self, id_: UUID) -> bool:
        """Whether a loaded row waits here to be updated."""
        return any(row["id"] == id_ for rows in self.updated.values() for row in rows)

    def lead_with(self, query: Query) -> None:
        """Send a statement before all rows."""
        self.beforehand.append(query)

    def follow_with(self, query: Query) -> None:
        """Send a statement after all rows."""
        self.afterwards.append(query)

    def external_ids(self, table: str) -> dict[UUID, str]:
        """The external ids of a table's staged rows, by the ids of the rows."""
        rows = [*self.inserted.get(table, []), *self.updated.get(table, [])]
        return {row["id"]: row["external_id"] for row in rows if row["external_id"] is not None}

    def queries(self) -> Iterator[Query]:
        """Yield what the flush sends."""
        numbered = False
        yield from self.beforehand
        for table in _parents_first():
            rows = self.inserted.get(table.name, [])
            changed = self.updated.get(table.name, [])
            if not numbered and self._waits_for_numbers(table, [*rows, *changed]):
                numbered = True
                yield from self._series_queries()
            # Changes first: an allocation ends before another one to the same document begins.
            if changed:
                yield self._query(replacement(table), table, changed)
            if rows:
                yield self._query(insertion(table), table, rows)
        yield from self.afterwards

    def _waits_for_numbers(self, table: Table, rows: list[Row]) -> bool:
        """Whether rows carry a number that is taken, or one that its series has to be past."""
        names = _number_columns(table)
        if self.raised:
            return bool(names and rows)
        return any(isinstance(row.get(name), Pending) for row in rows for name in names)

    def _series_queries(self) -> Iterator[Query]:
        if self.raised:
            yield self._series_query(RAISE_SERIES, self.raised)
        if self.taken:
            yield self._series_query(TAKE_NUMBERS, self.taken)

    def _series_query(self, text: str, amounts: dict[str, int]) -> Query:
        rows = [{"series": name, "n": amount} for name, amount in sorted(amounts.items())]
        return Query(text, {"business_id": self.business_id, "rows": orjson.dumps(rows).decode()})

    def _query(self, text: str, table: Table, rows: list[Row]) -> Query:
        numbered = _number_columns(table)
        ready = [self._numbered(row, numbered) for row in rows] if numbered else rows
        parameters: Row = {"rows": orjson.dumps(ready).decode(), "count": len(ready)}
        if "business_id" in table.c:
            parameters["business_id"] = self.business_id
        return Query(text, parameters)

    def _numbered(self, row: Row, names: tuple[str, ...]) -> Row:
        ready = dict(row)
        for name in names:
            value = row.get(name)
            if isinstance(value, Pending):
                ready[name] = None
                ready[name + SERIES] = value.series
                ready[name + BACK] = back(value, self.taken)
        return ready

    def learn(self, rows: list[Row]) -> None:
        """Keep the last numbers that the flush has taken."""
        self.last.update((row["series"], row["last"]) for row in rows if "series" in row)


@cache
def _parents_first() -> tuple[Table, ...]:
    # All that posts takes a number in the journal, and no other row refers to what stands there.
    journal = (tables.journal_entry, tables.journal_line)
    return (*(each for each in tables.metadata.sorted_tables if each not in journal), *journal)


@cache
def _number_columns(table: Table) -> tuple[str, ...]:
    return tuple(column.name for column in table.c if column.info.get("number"))


def _written(table: Table) -> list[Column[Any]]:
    return [item for item in table.c if item.computed is None and item.name != "business_id"]


def _records(table: Table) -> TableValuedAlias:
    """The JSON parameter as rows of the table's own types."""
    fields = [column(item.name, item.type) for item in _written(table)]
    for name in _number_columns(table):
        fields += [column(name + SERIES, Text), column(name + BACK, BigInteger)]
    records = func.json_to_recordset(given("rows", JSON)).table_valued(*fields)
    return records.render_derived(name="r", with_types=True)


def _value(table: Table, records: FromClause, name: str) -> ColumnElement[Any]:
    """A column of the record; where it waits for a number, the number rendered by the database."""
    if name not in _number_columns(table):
        return records.c[name]
    series = tables.number_series
    number = rendered(records.c[name + SERIES], series.c.last - records.c[name + BACK])
    taken = (
        select(number)
        .where(
            series.c.business_id == given("business_id", series.c.business_id.type),
            series.c.series == records.c[name + SERIES],
        )
        .scalar_subquery()
    )
    return func.coalesce(records.c[name], taken)


@cache
def insertion(table: Table) -> str:
    """The statement that inserts a table's staged rows."""
    records = _records(table)
    names = [item.name for item in _written(table)]
    values = [_value(table, records, name) for name in names]
    if "business_id" in table.c:
        names.append("business_id")
        values.append(given("business_id", table.c.business_id.type))
    return compiled(insert(table).from_select(names, select(*values).select_from(records)))


@cache
def replacement(table: Table) -> str:
    """The statement that updates a table's staged rows, all of which must have their version still.

    Where one has not, it fails as STALE says: the commit is under way behind it.
    """
    # Without the limit PostgreSQL plans for a hundred rows, and reads all that the business has.
    records = select(_records(table)).limit(given("count", BigInteger)).subquery("r")
    fixed = {"id", "version", "created_at"}
    changes = {
        item.name: _value(table, records, item.name)
        for item in _written(table)
        if item.name not in fixed
    }
    changes["version"] = table.c.version + literal_column("1")
    same = and_(table.c.id == records.c.id, table.c.version == records.c.version)
    if "business_id" in table.c:
        same = and_(same, table.c.business_id == given("business_id", table.c.business_id.type))
    changed = update(table).values(changes).where(same).returning(table.c.id).cte("changed")
    all_there = cast(func.count() == given("count", BigInteger), Integer)
    return compiled(select(literal_column("1", Integer) // all_there).select_from(changed))


_TAKE = """
INSERT INTO number_series (business_id, series, last)
SELECT %(business_id)s::uuid, r.series, r.n
FROM json_to_recordset(%(rows)s::json) AS r(series text, n bigint)
ON CONFLICT (business_id, series) DO UPDATE SET last = {last}
RETURNING series, last
"""
TAKE_NUMBERS = _TAKE.format(last="number_series.last + excluded.last")
RAISE_SERIES = _TAKE.format(last="greatest(number_series.last, excluded.last)")
