"""The filters that many lists share."""

from dataclasses import replace
from typing import Any

from sqlalchemy import ARRAY, Column, DateTime, Text, and_, func, or_
from sqlalchemy.sql.elements import ColumnElement
from sqlalchemy.sql.selectable import FromClause

from persistence.engine.listings import Filter
from persistence.engine.sql import given

MOMENT = DateTime(timezone=True)


def equal(*columns: Column[Any]) -> dict[str, Filter]:
    """Return filters for equality, each under the name of its column."""
    return {each.name: Filter(each == given(each.name, each.type)) for each in columns}


def between(column: ColumnElement[Any], first: str, last: str) -> dict[str, Filter]:
    """Return the filters of a column for a first and a last value, both included."""
    return {
        first: Filter(column >= given(first, column.type), varies=True),
        last: Filter(column <= given(last, column.type), varies=True),
    }


def listed_between(
    listed: ColumnElement[Any], moment: ColumnElement[Any], first: str, last: str
) -> dict[str, Filter]:
    """Return the filters of a moment by the indexed column that lists it.

    Rows without a moment are listed before all others, and are in no range.
    """
    filters = between(listed, first, last)
    within = and_(filters[last].condition, moment.is_not(None))
    return {**filters, last: replace(filters[last], condition=within)}


def created_filters(
    table: FromClause, updated: ColumnElement[Any] | None = None
) -> dict[str, Filter]:
    """Return the filters that every list has: when a row was created and last changed."""
    changed = table.c.updated_at if updated is None else updated
    return {
        **between(table.c.created_at, "created_at_from", "created_at_to"),
        "updated_at_from": Filter(changed >= given("updated_at_from", MOMENT), varies=True),
    }


def any_tag(name: str, column: Column[Any]) -> dict[str, Filter]:
    """Return the filter for rows that have at least one of the given tags."""
    return {name: Filter(column.bool_op("?|")(given(name, ARRAY(Text()))))}


def contains(text: str) -> str:
    """Return the pattern that finds a part of a text in lower case; wildcards are literal."""
    escaped = text.lower().replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    return f"%{escaped}%"


def any_part(name: str, *columns: ColumnElement[Any]) -> Filter:
    """Return the filter for a part of any of several columns, in upper or lower case."""
    wanted = given(name, Text)
    return Filter(or_(*(func.lower(column).like(wanted) for column in columns)), contains)
