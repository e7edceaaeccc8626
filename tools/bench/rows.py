"""Rows of a list's table, multiplied from those of the demo.

A copy shares parties, accounts and statuses with its row. Its dates are earlier, and its unique
columns are changed. Triggers do not run for copies, so the copies have no effect on the ledger.
"""

from typing import Any
from uuid import UUID

import psycopg
from sqlalchemy import BigInteger, Column, Date, DateTime, Integer, Table, UniqueConstraint, Uuid

VARIED = {
    # The demo has only one kind of these, other businesses have more.
    ("payout", "status"): "CASE mod(n, 50) WHEN 0 THEN 'pending' ELSE status END",
    # Copied lines belong to the same entry, which has a line count.
    ("journal_line", "line_count"): "line_count + 1000 * n",
}
DAYS = 1_095  # Copies are spread over this many days before their row.


def multiply(
    connection: psycopg.Connection[Any], table: Table, scope: tuple[str, UUID], number: int
) -> None:
    """Copy the rows of one owner until the table has about `number` of them.

    `scope` is the column that has the owner, and the owner's id.
    """
    columns = [column for column in table.c if column.computed is None]
    copied = ", ".join(_copied(column) for column in columns)
    names = ", ".join(f'"{column.name}"' for column in columns)
    with connection.transaction():
        connection.execute("SET LOCAL session_replication_role = replica")
        connection.execute(
            f"WITH seed AS (SELECT *, count(*) OVER () AS many FROM {table.name}"
            f" WHERE {scope[0]} = %(owner)s)"
            f" INSERT INTO {table.name} ({names}) SELECT {copied} FROM seed,"
            " generate_series(1, greatest(%(number)s / many, 1)) AS n,"
            " LATERAL (SELECT n * many * %(days)s / %(number)s * interval '1 day' AS earlier)",
            {"owner": scope[1], "number": number, "days": DAYS},
        )


def _copied(column: Column[Any]) -> str:
    name = f'"{column.name}"'
    if (column.table.name, column.name) in VARIED:
        return VARIED[column.table.name, column.name]
    if column.name == "id":
        return "gen_random_uuid()"
    if isinstance(column.type, DateTime):
        return f"{name} - earlier"
    if isinstance(column.type, Date):
        return f"({name} - earlier)::date"
    if not _is_unique(column):
        return name
    if isinstance(column.type, Uuid):
        return "NULL" if column.nullable else name
    if isinstance(column.type, (Integer, BigInteger)):
        return f"{name} + 1000 * n"
    return f"{name} || '-' || n"


def _is_unique(column: Column[Any]) -> bool:
    table = column.table
    assert isinstance(table, Table), "columns of tables alone"
    unique = [each.columns for each in table.constraints if isinstance(each, UniqueConstraint)]
    unique += [each.columns for each in table.indexes if each.unique]
    return any(column.name in columns for columns in unique)
