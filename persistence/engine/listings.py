"""Lists: their columns, filters and sorts, and the statements of their pages and totals.

A page finds the ids of its rows first, in the order of an index, and reads only the rows it shows
and the rows joined to them. The number of rows is a literal of the statement, so that PostgreSQL
plans for so few.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar
from uuid import UUID

from sqlalchemy import (
    ARRAY,
    BigInteger,
    Column,
    DateTime,
    Text,
    and_,
    any_,
    cast,
    func,
    literal_column,
    or_,
    select,
    true,
    tuple_,
)
from sqlalchemy.sql.elements import ColumnElement
from sqlalchemy.sql.selectable import FromClause, Select, Subquery

from persistence.engine.pages import Page, PageRequest, read_cursor, write_cursor
from persistence.engine.sql import Answers, Fetch, Fetches, Query, Row, compiled, given

T = TypeVar("T")

MOST_COMPILED = 1_000  # Statements in the cache of one list, for all sets of filters.
SKIPPED = object()  # The value of a filter that has no effect.
NOT = "not "  # The prefix of the filter for a false boolean.
ORDERING = "ordering"  # The column with the sort value of each row.


@dataclass(frozen=True, slots=True)
class Filter:
    """A condition on rows; `value` converts a query value into the parameter of the same name.

    Where rows must have one of several values in a `column`, a page is made of the first rows of
    each value. An index that begins with the column has the rows of one value in the order of the
    list, but not the rows of all values together. `varies`: the best plan depends on the value, as
    for the end of a range or a name that many rows have.
    """

    condition: ColumnElement[bool]
    value: Callable[[Any], Any] = lambda asked: asked
    column: ColumnElement[Any] | None = None
    varies: bool = False


def one_of(name: str, column: ColumnElement[Any]) -> Filter:
    """Return the filter for rows whose column has one of several values; duplicates are ignored."""
    values = given(name, ARRAY(column.type))
    return Filter(column == any_(values), lambda asked: list(dict.fromkeys(asked)), column)


def either_way(name: str, yes: ColumnElement[bool], no: ColumnElement[bool]) -> dict[str, Filter]:
    """Return the filters for true and false of one boolean, for an index on the rarer value."""
    return {name: Filter(yes), NOT + name: Filter(no)}


@dataclass(frozen=True, slots=True)
class Shape:
    """The facts that determine the text of a list's statement."""

    names: frozenset[str]
    sort: str
    rows: int
    after: bool = False
    paged: bool = False


@dataclass(frozen=True, slots=True)
class Listing:
    """The columns, filters and sorts of a list; statements are compiled once per combination.

    `source` has the columns that are shown: the table of the key, joined with other tables. Filters
    and sorts use the table of the key alone. `filled` converts the names of query parameters into
    the names of filters.
    """

    source: FromClause
    key: ColumnElement[UUID]
    scope: ColumnElement[bool]
    columns: Sequence[ColumnElement[Any]]
    filters: Mapping[str, Filter]
    sorts: Mapping[str, ColumnElement[Any]]
    default_sort: str
    filled: Callable[[Mapping[str, Any]], Mapping[str, Any]] = dict
    _compiled: dict[object, str] = field(default_factory=dict)

    def fetch(
        self, session: Fetches, wanted: PageRequest, scope: Row, read: Callable[[Row], T]
    ) -> Fetch[Page[T]]:
        """Return the fetch of one page; `scope` has the parameters of every statement."""
        sort = wanted.sort or self.default_sort
        name = self.key.table.name
        place = read_cursor(wanted.cursor, name, sort) if wanted.cursor else None
        filters = self._parameters(wanted.filters)
        names = frozenset(filters)
        paged = wanted.page > 1 and place is None
        parameters = {**scope, **filters}
        if place:
            parameters |= {"after": place[0], "after_id": place[1]}
        if paged:
            parameters["offset"] = (wanted.page - 1) * wanted.page_size
        shape = Shape(names, sort, wanted.page_size + 1, place is not None, paged)
        once = self._planned_for_values(names)
        page = self._remembered(shape, lambda: self._select(shape))
        queries = [Query(page, parameters, once)]
        if wanted.count:
            queries.append(Query(self._count(names), {**scope, **filters}, once))

        def answer(answers: Answers) -> Page[T]:
            rows = answers[0]
            more = len(rows) > wanted.page_size
            shown = rows[: wanted.page_size]
            cursor = write_cursor(name, sort, shown[-1]) if more else None
            for row in shown:
                del row["sorted_by"]
            total = answers[1][0]["total"] if wanted.count else None
            return Page([read(row) for row in shown], total, wanted, cursor)

        return Fetch(session, tuple(queries), answer)

    def _parameters(self, asked: Mapping[str, Any]) -> Row:
        filled = (self._one_way(*each) for each in self.filled(asked).items())
        values = {name: self.filters[name].value(value) for name, value in filled}
        return {name: value for name, value in values.items() if value is not SKIPPED}

    def _planned_for_values(self, names: frozenset[str]) -> bool:
        return any(self.filters[each].varies for each in names)

    def _one_way(self, name: str, value: Any) -> tuple[str, Any]:
        """Return the filter for a given boolean, where true and false are two filters."""
        other = NOT + name
        return (other, value) if value is False and other in self.filters else (name, value)

    def _remembered(self, name: object, build: Callable[[], Select[Any]]) -> str:
        text = self._compiled.get(name)
        if text is None:
            if len(self._compiled) >= MOST_COMPILED:  # Callers can make any number of combinations.
                self._compiled.clear()
            text = self._compiled[name] = compiled(build())
        return text

    def _count(self, names: frozenset[str]) -> str:
        def counting() -> Select[Any]:
            total = select(func.count().label("total")).select_from(self.key.table)
            return total.where(self._conditions(names))

        return self._remembered(("count", names), counting)

    def _conditions(self, names: frozenset[str]) -> ColumnElement[bool]:
        return and_(self.scope, *(self.filters[name].condition for name in sorted(names)))

    def within(self, names: frozenset[str], sort: str, *, after: bool) -> ColumnElement[bool]:
        """Return the condition of the filters, and with `after` that of the place of a cursor."""
        conditions = self._conditions(names)
        if not after:
            return conditions
        by = self.by(sort)
        place = tuple_(cast(given("after", Text), by.type), given("after_id", self.key.type))
        here = tuple_(by, self.key)
        return and_(conditions, here < place if sort.startswith("-") else here > place)

    def by(self, sort: str) -> ColumnElement[Any]:
        """Return the first column of a sort; the second is the id."""
        return self.sorts[sort.removeprefix("-")]

    def order(self, sort: str) -> tuple[ColumnElement[Any], ColumnElement[Any]]:
        """Return the total order of a sort."""
        return ordered(sort, self.by(sort), self.key)

    def _select(self, shape: Shape) -> Select[Any]:
        found = self._found(shape)
        named = and_(self.scope, self.key == found.c.id)
        row = select(*self.columns).select_from(self.source).where(named)
        # The limit keeps PostgreSQL from another plan than one look-up by key for each found row.
        shown = row.limit(literal_column("1")).lateral("shown")
        sorted_by = cast(found.c[ORDERING], Text).label("sorted_by")
        page = select(*shown.c, sorted_by).select_from(found.join(shown, true()))
        return page.order_by(*ordered(shape.sort, found.c[ORDERING], found.c.id))

    def _found(self, shape: Shape) -> Subquery:
        """Select the ids and the sort values of the rows of a page."""
        each = self._each(shape.names)
        first = self._first(shape, None) if each is None else self._first_of_each(shape, each)
        if shape.paged:
            first = first.offset(given("offset", BigInteger))
        return first.limit(literal_column(str(shape.rows))).subquery("found")

    def _each(self, names: frozenset[str]) -> str | None:
        """Return the first filter of the list whose values are read one by one."""
        found = (name for name, each in self.filters.items() if each.column is not None)
        return next((name for name in found if name in names), None)

    def _first(self, shape: Shape, without: str | None) -> Select[Any]:
        within = self.within(shape.names - {without}, shape.sort, after=shape.after)
        found = select(self.key.label("id"), self.by(shape.sort).label(ORDERING))
        return found.where(within).order_by(*self.order(shape.sort))

    def _first_of_each(self, shape: Shape, name: str) -> Select[Any]:
        column = self.filters[name].column
        assert column is not None, "found by it"
        values = func.unnest(given(name, ARRAY(column.type))).table_valued("value")
        value = values.render_derived("wanted")
        rows: ColumnElement[int] = literal_column(str(shape.rows))
        most = rows + given("offset", BigInteger) if shape.paged else rows
        one = self._first(shape, name).where(column == value.c.value).limit(most).lateral("one")
        place = ordered(shape.sort, one.c[ORDERING], one.c.id)
        return select(*one.c).select_from(value.join(one, true())).order_by(*place)


def ordered(
    sort: str, by: ColumnElement[Any], key: ColumnElement[Any]
) -> tuple[ColumnElement[Any], ColumnElement[Any]]:
    """Return the total order of a sort, by the columns with the sort values and the ids."""
    return (by.desc(), key.desc()) if sort.startswith("-") else (by.asc(), key.asc())


# The filters that many lists share.


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
