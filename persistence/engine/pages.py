"""Lists: one page by number or by cursor, and the total.

A total order always ends in the id. A cursor is the place of the last row shown, so that page 500
costs what page 1 costs; a page number finds its ids first and reads only the rows it shows.
"""

import base64
import binascii
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar
from uuid import UUID

import orjson
from sqlalchemy import BigInteger, Text, and_, cast, func, literal_column, select, tuple_
from sqlalchemy.sql.elements import ColumnElement
from sqlalchemy.sql.selectable import FromClause, Select

from accounting.errors import Malformed
from persistence.engine.fetches import Answers, Fetch, Fetches
from persistence.engine.sql import Query, Row, compiled, given

T = TypeVar("T")
U = TypeVar("U")


class Identified(Protocol):
    """A row of a list; its id ends the total order."""

    @property
    def id(self) -> UUID: ...


R = TypeVar("R", bound=Identified)

AT_HAND = "at_hand"  # Stands in a cursor for the list, where the rows come from no table.
MOST_COMPILED = 1_000  # Statements that one list remembers, of all sets of filters.
SKIPPED = object()  # A filter's value that filters nothing.


@dataclass(frozen=True, slots=True)
class PageRequest:
    """Which page of a list is wanted, and of which rows."""

    page: int = 1
    page_size: int = 20
    cursor: str | None = None
    count: bool = True
    sort: str | None = None
    filters: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """One page of a list; `total` is None where counting was skipped."""

    rows: list[T]
    total: int | None
    wanted: PageRequest
    next_cursor: str | None

    def of(self, shape: Callable[[T], U]) -> "Page[U]":
        """Return the same page with every row in another shape."""
        return Page([shape(row) for row in self.rows], self.total, self.wanted, self.next_cursor)


@dataclass(frozen=True, slots=True)
class Filter:
    """A condition on rows; `value` turns what was asked for into the parameter of its name."""

    condition: ColumnElement[bool]
    value: Callable[[Any], Any] = lambda asked: asked


@dataclass(frozen=True, slots=True)
class Listing:
    """What a list reads, filters and sorts by; statements are compiled once per combination."""

    source: FromClause
    key: ColumnElement[UUID]
    scope: ColumnElement[bool]
    columns: Sequence[ColumnElement[Any]]
    filters: Mapping[str, Filter]
    sorts: Mapping[str, ColumnElement[Any]]
    default_sort: str
    _compiled: dict[tuple[Any, ...], str] = field(default_factory=dict)

    def fetch(
        self, session: Fetches, wanted: PageRequest, scope: Row, read: Callable[[Row], T]
    ) -> Fetch[Page[T]]:
        """Ask for one page; `scope` fills the parameters that every statement of it has."""
        sort = wanted.sort or self.default_sort
        name = self.key.table.name
        place = _read_cursor(wanted.cursor, name, sort) if wanted.cursor else None
        filters = self._parameters(wanted.filters)
        names = frozenset(filters)
        paged = wanted.page > 1 and place is None
        parameters = {**scope, **filters, "limit": wanted.page_size + 1}
        if place:
            parameters |= {"after": place[0], "after_id": place[1]}
        if paged:
            parameters["offset"] = (wanted.page - 1) * wanted.page_size
        queries = [Query(self._rows(names, sort, place is not None, paged), parameters)]
        if wanted.count:
            queries.append(Query(self._count(names), {**scope, **filters}))

        def answer(answers: Answers) -> Page[T]:
            rows = answers[0]
            more = len(rows) > wanted.page_size
            shown = rows[: wanted.page_size]
            cursor = _write_cursor(name, sort, shown[-1]) if more else None
            for row in shown:
                del row["sorted_by"]
            total = answers[1][0]["total"] if wanted.count else None
            return Page([read(row) for row in shown], total, wanted, cursor)

        return Fetch(session, tuple(queries), answer)

    def _parameters(self, asked: Mapping[str, Any]) -> Row:
        values = {name: self.filters[name].value(value) for name, value in asked.items()}
        return {name: value for name, value in values.items() if value is not SKIPPED}

    def _rows(self, names: frozenset[str], sort: str, after: bool, paged: bool) -> str:
        name = ("rows", names, sort, after, paged)
        return self._remembered(name, lambda: self._select(names, sort, after, paged))

    def _count(self, names: frozenset[str]) -> str:
        def counting() -> Select[Any]:
            total = select(func.count().label("total")).select_from(self.source)
            return total.where(self._conditions(names))

        return self._remembered(("count", names), counting)

    def _remembered(self, name: tuple[Any, ...], build: Callable[[], Select[Any]]) -> str:
        text = self._compiled.get(name)
        if text is None:
            if len(self._compiled) >= MOST_COMPILED:  # A caller could go on for ever.
                self._compiled.clear()
            text = self._compiled[name] = compiled(build())
        return text

    def _conditions(self, names: frozenset[str]) -> ColumnElement[bool]:
        return and_(self.scope, *(self.filters[name].condition for name in sorted(names)))

    def within(self, names: frozenset[str], sort: str, *, after: bool) -> ColumnElement[bool]:
        """What the rows fulfil that are asked for, and come after a cursor's place."""
        conditions = self._conditions(names)
        if not after:
            return conditions
        by = self.by(sort)
        place = tuple_(cast(given("after", Text), by.type), given("after_id", self.key.type))
        here = tuple_(by, self.key)
        return and_(conditions, here < place if sort.startswith("-") else here > place)

    def by(self, sort: str) -> ColumnElement[Any]:
        """What a sort goes by before the id."""
        return self.sorts[sort.removeprefix("-")]

    def order(self, sort: str) -> tuple[ColumnElement[Any], ColumnElement[Any]]:
        """The total order of a sort."""
        return ordered(sort, self.by(sort), self.key)

    def _select(self, names: frozenset[str], sort: str, after: bool, paged: bool) -> Select[Any]:
        order, conditions = self.order(sort), self.within(names, sort, after=after)
        columns = [*self.columns, cast(self.by(sort), Text).label("sorted_by")]
        limit = given("limit", BigInteger)
        if not paged:
            rows = select(*columns).select_from(self.source).where(conditions)
            return rows.order_by(*order).limit(limit)
        ids = select(self.key.label("id")).select_from(self.source).where(conditions)
        ids = ids.order_by(*order).limit(limit).offset(given("offset", BigInteger))
        shown = and_(self.scope, self.key.in_(ids))
        return select(*columns).select_from(self.source).where(shown).order_by(*order)


def ordered(
    sort: str, by: ColumnElement[Any], key: ColumnElement[Any]
) -> tuple[ColumnElement[Any], ColumnElement[Any]]:
    """The total order of a sort, by any columns that hold what it goes by and the ids."""
    return (by.desc(), key.desc()) if sort.startswith("-") else (by.asc(), key.asc())


def page_of(
    rows: Sequence[R], wanted: PageRequest, key: Callable[[R, str], str], default: str
) -> Page[R]:
    """Cut one page out of rows that are all at hand; `key` is a row's text for a sort field."""
    sort = wanted.sort or default
    name, down = sort.removeprefix("-"), sort.startswith("-")

    def place(row: R) -> tuple[str, UUID]:
        return key(row, name), row.id

    ordered = sorted(rows, key=place, reverse=down)
    start = (wanted.page - 1) * wanted.page_size
    if wanted.cursor:
        last = _read_cursor(wanted.cursor, AT_HAND, sort)
        start = sum(place(row) >= last if down else place(row) <= last for row in ordered)
    end = start + wanted.page_size
    shown = list(ordered[start:end])
    more = bool(shown) and end < len(ordered)
    cursor = None
    if more:
        sorted_by, id_ = place(shown[-1])
        cursor = _write_cursor(AT_HAND, sort, {"sorted_by": sorted_by, "id": id_})
    return Page(shown, len(rows) if wanted.count else None, wanted, cursor)


def first_if_absent(column: ColumnElement[Any]) -> ColumnElement[Any]:
    """A nullable moment as a sort key: what has none stands before all that have one."""
    return func.coalesce(column, literal_column("'-infinity'::timestamptz"), type_=column.type)


def _write_cursor(name: str, sort: str, row: Row) -> str:
    place = orjson.dumps([name, sort, row["sorted_by"], row["id"]])
    return base64.urlsafe_b64encode(place).rstrip(b"=").decode()


def _read_cursor(cursor: str, name: str, sort: str) -> tuple[str, UUID]:
    """Read where a page begins: the text sorted by and the id of the last row shown before."""
    try:
        padded = cursor + "=" * (-len(cursor) % 4)
        made_by, made_for, value, key = orjson.loads(base64.urlsafe_b64decode(padded))
        place = (value, UUID(key))
    except (ValueError, TypeError, AttributeError, binascii.Error):
        made_by = made_for = value = None
    if made_by != name or type(value) is not str:
        raise Malformed.fields(cursor=["is not a cursor of this list"])
    if made_for != sort:
        raise Malformed.fields(cursor=["was made for another sort"])
    return place
