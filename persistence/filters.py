"""The filters that many lists share."""

from typing import Any

from sqlalchemy import DateTime, Text, func, or_
from sqlalchemy.sql.elements import ColumnElement
from sqlalchemy.sql.selectable import FromClause

from persistence.pages import Filter
from persistence.statements import given

MOMENT = DateTime(timezone=True)


def created_filters(
    table: FromClause, updated: ColumnElement[Any] | None = None
) -> dict[str, Filter]:
    """The filters every list has: when a row was made and when it was changed last."""
    changed = table.c.updated_at if updated is None else updated
    return {
        "created_at_gte": Filter(table.c.created_at >= given("created_at_gte", MOMENT)),
        "created_at_lte": Filter(table.c.created_at <= given("created_at_lte", MOMENT)),
        "updated_since": Filter(changed >= given("updated_since", MOMENT)),
    }


def contains(text: str) -> str:
    """The pattern of a case-insensitive search for a part, with wildcards taken literally."""
    escaped = text.lower().replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    return f"%{escaped}%"


def any_part(name: str, *columns: ColumnElement[Any]) -> Filter:
    """A case-insensitive search for a part of any of several columns."""
    wanted = given(name, Text)
    return Filter(or_(*(func.lower(column).like(wanted) for column in columns)), contains)
