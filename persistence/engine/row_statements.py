"""The statements that write rows: from one JSON parameter, or with a parameter for each value.

JSON costs PostgreSQL a fifth less. On a cluster, what an INSERT selects would be copied past row
security, which Citus refuses: there new rows are values.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
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
from sqlalchemy.dialects.postgresql import JSON, JSONB
from sqlalchemy.sql.elements import ColumnElement
from sqlalchemy.sql.selectable import FromClause, TableValuedAlias

from persistence import tables
from persistence.engine.number_marks import last_kept, rendered
from persistence.engine.sql import DIALECT, Query, Row, compiled, given

SERIES = "__series"  # Beside a number column: the series that the number comes from,
BACK = "__back"  # and how many places it stands before the last one taken.

# Rows go as values in pieces of a power of two, up to this: any other count would be one more
# statement to prepare. A few go at once, whatever their count: most entries have three lines, and a
# second piece is a second way to their machine.
MOST_ROWS = 64
A_FEW_ROWS = 4

LastOf = Callable[[ColumnElement[str]], ColumnElement[int]]
"""How the last number of a series is found."""


@cache
def number_columns(table: Table) -> tuple[str, ...]:
    """The columns of a table that may wait for a number."""
    return tuple(column.name for column in table.c if column.info.get("number"))


def _written(table: Table) -> list[Column[Any]]:
    return [item for item in table.c if item.computed is None and item.name != "business_id"]


def _records(fields: Sequence[Column[Any]], waiting: Collection[str]) -> TableValuedAlias:
    """The JSON parameter as rows of the table's own types."""
    columns = [column(item.name, item.type) for item in fields]
    for name in sorted(waiting):
        columns += [column(name + SERIES, Text), column(name + BACK, BigInteger)]
    records = func.json_to_recordset(given("rows", JSON)).table_valued(*columns)
    return records.render_derived(name="r", with_types=True)


def _recorded(
    records: FromClause, name: str, waiting: Collection[str], last: LastOf
) -> ColumnElement[Any]:
    """A column of the record; where it waits for a number, the number rendered by the database."""
    if name not in waiting:
        return records.c[name]
    series = records.c[name + SERIES]
    number = rendered(series, last(series) - records.c[name + BACK])
    return func.coalesce(records.c[name], number)


def _last_in_table(series: ColumnElement[str]) -> ColumnElement[int]:
    """Look up the last number of a series, as any database can: one of many has no setting."""
    row = tables.number_series.c
    mine = row.business_id == given("business_id", row.business_id.type)
    return select(row.last).where(mine, row.series == series).scalar_subquery()


@cache
def insertion(table: Table, waiting: frozenset[str]) -> str:
    """The statement that inserts a table's staged rows from one JSON parameter.

    In the columns that are `waiting`, rows may wait for their numbers.
    """
    records = _records(_written(table), waiting)
    names = [item.name for item in _written(table)]
    values = [_recorded(records, name, waiting, last_kept) for name in names]
    if "business_id" in table.c:
        names.append("business_id")
        values.append(given("business_id", table.c.business_id.type))
    return compiled(insert(table).from_select(names, select(*values).select_from(records)))


@cache
def replacement(table: Table, names: frozenset[str], waiting: frozenset[str]) -> str:
    """The statement that updates some columns of staged rows, all of which must have their version.

    Where one has another, it fails as STALE says: the commit is under way behind it. In the columns
    that are `waiting`, rows may wait for their numbers.
    """
    sent = [item for item in _written(table) if item.name in names]
    # Without the limit PostgreSQL plans for a hundred rows, and reads all that the business has.
    records = select(_records(sent, waiting)).limit(given("count", BigInteger)).subquery("r")
    fixed = {"id", "version", "created_at"}
    changes = {
        item.name: _recorded(records, item.name, waiting, _last_in_table)
        for item in sent
        if item.name not in fixed
    }
    changes["version"] = table.c.version + literal_column("1")
    same = and_(table.c.id == records.c.id, table.c.version == records.c.version)
    if "business_id" in table.c:
        same = and_(same, table.c.business_id == given("business_id", table.c.business_id.type))
    changed = update(table).values(changes).where(same).returning(table.c.id).cte("changed")
    all_there = cast(func.count() == given("count", BigInteger), Integer)
    return compiled(select(literal_column("1", Integer) // all_there).select_from(changed))


def value_insertions(
    table: Table, rows: Sequence[Row], business_id: UUID | None
) -> Iterator[Query]:
    """The statements that insert a table's staged rows as values."""
    first = 0
    while first < len(rows):
        size = _piece(len(rows) - first)
        parameters: Row = {"business_id": business_id} if "business_id" in table.c else {}
        for place, row in enumerate(rows[first : first + size]):
            parameters |= {
                f"{name}_{place}": _as_text(row.get(name), is_json=is_json)
                for name, is_json in _parameters(table)
            }
        yield Query(value_insertion(table, size), parameters)
        first += size


def _piece(left: int) -> int:
    """How many of the rows that are left go in the next statement."""
    return left if left <= A_FEW_ROWS else min(MOST_ROWS, 1 << left.bit_length() - 1)


@cache
def value_insertion(table: Table, count: int) -> str:
    """The statement that inserts so many rows as values."""
    names = [item.name for item in _written(table)]
    values = [_value(table, item) for item in _written(table)]
    if "business_id" in table.c:
        names.append("business_id")
        values.append("%(business_id)s::uuid")
    quoted = ", ".join(DIALECT.identifier_preparer.quote(name) for name in names)
    row = ", ".join(values)
    rows = ", ".join(f"({row.replace('{place}', str(place))})" for place in range(count))
    return f"INSERT INTO {table.name} ({quoted}) VALUES {rows}"


def _value(table: Table, item: Column[Any]) -> str:
    name, kind = item.name, item.type.compile(dialect=DIALECT)
    given_value = f"%({name}_{{place}})s::{kind}"
    if name not in number_columns(table):
        return given_value
    taken = f"%({name}{SERIES}_{{place}})s, %({name}{BACK}_{{place}})s"
    return f"coalesce({given_value}, taken_number(%(business_id)s, {taken}))"


@cache
def _parameters(table: Table) -> tuple[tuple[str, bool], ...]:
    """What a row is sent with, and whether it is JSON."""
    own = [(item.name, isinstance(item.type, JSONB)) for item in _written(table)]
    numbered = [(name + end, False) for name in number_columns(table) for end in (SERIES, BACK)]
    return (*own, *numbered)


def _as_text(value: Any, *, is_json: bool) -> str | None:
    """A value as PostgreSQL reads it: a statement does not depend on the type of a text."""
    if value is None or (type(value) is str and not is_json):
        return value
    text = orjson.dumps(value).decode()
    return text if is_json else text.strip('"')
