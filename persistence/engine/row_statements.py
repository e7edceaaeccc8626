"""The statements that write rows: from one JSON parameter, or with a parameter for each value.

JSON costs PostgreSQL a fifth less. On a cluster, an INSERT with a SELECT would copy rows past row
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
    Table,
    Text,
    cast,
    func,
    literal_column,
    select,
    true,
)
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.sql.elements import ColumnElement

from accounting.books.numbers import DIGITS
from persistence import tables
from persistence.engine.sql import DIALECT, Query, Row, compiled, given, word

SERIES = "__series"  # The suffix of a column: the series of the number,
BACK = "__back"  # and its distance from the last number taken.

# Rows are sent as values in pieces of a power of two, up to this: each other count would be one
# more statement to prepare. A few rows are one piece, whatever their count: most entries have three
# lines, and a second piece would be a second trip to their node.
MOST_ROWS = 64
A_FEW_ROWS = 4

OF_BUSINESS = "%(business_id)s::UUID"
COUNT = "%(count)s::BIGINT"

LastOf = Callable[[ColumnElement[str]], ColumnElement[int]]
"""A function that returns the SQL of the last number of a series."""


@cache
def number_columns(table: Table) -> tuple[str, ...]:
    """Return the columns of a table that may wait for a number."""
    return tuple(column.name for column in table.c if column.info.get("number"))


def rendered(series: ColumnElement[str], count: ColumnElement[int]) -> ColumnElement[str]:
    """Return the SQL of the nth number of a series, as `accounting.books.numbers.render` has it."""
    digits = cast(count, Text)
    width = func.greatest(literal_column(str(DIGITS)), func.length(digits))
    return series.concat(word("-")).concat(func.lpad(digits, width, word("0")))


def keep_last(series: ColumnElement[str], last: ColumnElement[int]) -> ColumnElement[str]:
    """Return the SQL that keeps the last number of a series in a setting of the transaction.

    The statements of rows with numbers read it there: a look-up costs each of them 35 µs.
    """
    return func.set_config(_setting_of(series), cast(last, Text), true())


def last_number_kept(series: ColumnElement[str]) -> ColumnElement[int]:
    """Return the SQL that reads that setting; null for no series."""
    return cast(func.current_setting(_setting_of(series)), BigInteger)


def _setting_of(series: ColumnElement[str]) -> ColumnElement[str]:
    return word("taken.").concat(func.replace(series, word("-"), word("_")))


def _written(table: Table) -> list[Column[Any]]:
    return [item for item in table.c if item.computed is None and item.name != "business_id"]


def _records(fields: Sequence[Column[Any]], waiting: Collection[str]) -> str:
    """Return the SQL that reads the JSON parameter as rows with the types of the table."""
    columns = [f"{_quoted(item)} {_kind(item)}" for item in fields]
    for name in sorted(waiting):
        columns += [f"{name}{SERIES} TEXT", f"{name}{BACK} BIGINT"]
    return f"json_to_recordset(%(rows)s::JSON) AS r({', '.join(columns)})"


def _recorded(item: Column[Any], waiting: Collection[str], last: LastOf) -> str:
    """Return the SQL of a column of the record, or of the number that it waits for."""
    if item.name not in waiting:
        return f"r.{_quoted(item)}"
    return f"coalesce(r.{item.name}, {_number(item, last)})"


@cache
def _number(item: Column[Any], last: LastOf) -> str:
    series = literal_column(f"r.{item.name}{SERIES}", Text)
    place = last(series) - literal_column(f"r.{item.name}{BACK}", BigInteger)
    return compiled(rendered(series, place) if _is_text(item) else place)


def _is_text(item: Column[Any]) -> bool:
    """Return whether a column has numbers, such as INV-000042, and not places in a series."""
    return isinstance(item.type, Text)


@cache
def _quoted(item: Column[Any]) -> str:
    return DIALECT.identifier_preparer.quote(item.name)


@cache
def _kind(item: Column[Any]) -> str:
    return item.type.compile(dialect=DIALECT)


def _last_in_table(series: ColumnElement[str]) -> ColumnElement[int]:
    """Return the SQL that looks up the last number of a series; a cluster has no setting for it."""
    row = tables.number_series.c
    mine = row.business_id == given("business_id", row.business_id.type)
    return select(row.last).where(mine, row.series == series).scalar_subquery()


@cache
def insertion(table: Table, waiting: frozenset[str]) -> str:
    """Return the statement that inserts the staged rows of a table from one JSON parameter.

    Rows may wait for their numbers in the `waiting` columns.
    """
    fields = _written(table)
    names = [_quoted(item) for item in fields]
    values = [_recorded(item, waiting, last_number_kept) for item in fields]
    if "business_id" in table.c:
        names.append("business_id")
        values.append(OF_BUSINESS)
    return (
        f"INSERT INTO {table.name} ({', '.join(names)})"
        f" SELECT {', '.join(values)} FROM {_records(fields, waiting)}"
    )


@cache
def replacement(table: Table, names: frozenset[str], waiting: frozenset[str]) -> str:
    """Return the statement that updates some columns of staged rows of the loaded versions.

    Where a row has another version, the statement raises STALE, so that the COMMIT that is sent
    behind it fails. Rows may wait for their numbers in the `waiting` columns.
    """
    sent = [item for item in _written(table) if item.name in names]
    # Without the limit PostgreSQL plans for a hundred rows, and reads all rows of the business.
    rows = f"(SELECT * FROM {_records(sent, waiting)} LIMIT {COUNT}) AS r"
    changes = [f"version={table.name}.version + 1"] + [
        f"{_quoted(item)}={_recorded(item, waiting, _last_in_table)}"
        for item in sent
        if item.name not in ("id", "version", "created_at")
    ]
    mine = f" AND {table.name}.business_id = {OF_BUSINESS}" if "business_id" in table.c else ""
    return (
        f"WITH changed AS (UPDATE {table.name} SET {', '.join(changes)}"
        f" FROM {rows} WHERE {table.name}.id = r.id AND {table.name}.version = r.version{mine}"
        f" RETURNING {table.name}.id)"
        f" SELECT 1 / CAST(count(*) = {COUNT} AS INTEGER) FROM changed"
    )


def value_insertions(
    table: Table, rows: Sequence[Row], business_id: UUID | None
) -> Iterator[Query]:
    """Yield the statements that insert the staged rows of a table as values."""
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
    """Return how many of the remaining rows the next statement inserts."""
    return left if left <= A_FEW_ROWS else min(MOST_ROWS, 1 << left.bit_length() - 1)


@cache
def value_insertion(table: Table, count: int) -> str:
    """Return the statement that inserts `count` rows as values."""
    names = [item.name for item in _written(table)]
    values = [_value(table, item) for item in _written(table)]
    if "business_id" in table.c:
        names.append("business_id")
        values.append(OF_BUSINESS)
    quoted = ", ".join(DIALECT.identifier_preparer.quote(name) for name in names)
    row = ", ".join(values)
    rows = ", ".join(f"({row.replace('{place}', str(place))})" for place in range(count))
    return f"INSERT INTO {table.name} ({quoted}) VALUES {rows}"


def _value(table: Table, item: Column[Any]) -> str:
    name = item.name
    given_value = f"%({name}_{{place}})s::{_kind(item)}"
    if name not in number_columns(table):
        return given_value
    taken = f"%({name}{SERIES}_{{place}})s, %({name}{BACK}_{{place}})s"
    number = f"taken_number(%(business_id)s, {taken})"
    if not _is_text(item):
        number = f"split_part({number}, '-', 2)::BIGINT"
    return f"coalesce({given_value}, {number})"


@cache
def _parameters(table: Table) -> tuple[tuple[str, bool], ...]:
    """Return the parameters of a row, each with whether it is JSON."""
    own = [(item.name, isinstance(item.type, JSONB)) for item in _written(table)]
    numbered = [(name + end, False) for name in number_columns(table) for end in (SERIES, BACK)]
    return (*own, *numbered)


def _as_text(value: Any, *, is_json: bool) -> str | None:
    """Return a value as text for PostgreSQL, so that the statement does not depend on its type."""
    if value is None or (type(value) is str and not is_json):
        return value
    text = orjson.dumps(value).decode()
    return text if is_json else text.strip('"')
