"""What a list reads, filters and sorts by, and the statements of its pages and totals.

A page finds the ids of its rows first, in the order of an index, and reads only the rows it shows
with what stands beside them. Its number of rows is written into the statement, so that PostgreSQL
plans for so few.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import Any, TypeVar
from uuid import UUID

from sqlalchemy import (
    ARRAY,
    BigInteger,
    Text,
    and_,
    any_,
    cast,
    func,
    literal_column,
    select,
    true,
    tuple_,
)
from sqlalchemy.sql.elements import ColumnElement
from sqlalchemy.sql.selectable import FromClause, Select, Subquery

from accounting.values import dataclass
from persistence.engine.fetches import Answers, Fetch, Fetches
from persistence.engine.pages import Page, PageRequest, read_cursor, write_cursor
from persistence.engine.sql import Query, Row, compiled, given

T = TypeVar("T")

MOST_COMPILED = 1_000  # Statements that one list remembers, of all sets of filters.
SKIPPED = object()  # A filter's value that filters nothing.
NOT = "not "  # Before the name of a filter that stands for a no.
ORDERING = "ordering"  # Of each row that was found, what the sort goes by.


@dataclass(frozen=True, slots=True)
class Filter:
    """A condition on rows; `value` turns what was asked for into the parameter of its name.

    Where rows must have one of several values in a `column`, a page is made of the first rows of
    each: an index that begins with the column has these in the order of the list, and the rows of
    all values together in none. How rows are best found `varies` with the value of some: with the
    end of a range, and with how many have a name.
    """

    condition: ColumnElement[bool]
    value: Callable[[Any], Any] = lambda asked: asked
    column: ColumnElement[Any] | None = None
    varies: bool = False


def one_of(name: str, column: ColumnElement[Any]) -> Filter:
    """A filter of its name by a column that has one of several values, none of them twice."""
    values = given(name, ARRAY(column.type))
    return Filter(column == any_(values), lambda asked: list(dict.fromkeys(asked)), column)


def either_way(name: str, yes: ColumnElement[bool], no: ColumnElement[bool]) -> dict[str, Filter]:
    """Two filters of one name that is asked for with a boolean, for an index on the rarer way."""
    return {name: Filter(yes), NOT + name: Filter(no)}


@dataclass(frozen=True, slots=True)
class Shape:
    """What a statement of a list depends on, beside its parameters."""

    names: frozenset[str]
    sort: str
    rows: int
    after: bool = False
    paged: bool = False


@dataclass(frozen=True, slots=True)
class Listing:
    """What a list reads, filters and sorts by; statements are compiled once per combination.

    `source` is where the columns of rows come from that are shown: the table of the key, joined
    with what stands beside each row. Filters and sorts know the table alone. `filled` says by the
    names of filters what was asked for by other names.
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
        """Ask for one page; `scope` fills the parameters that every statement of it has."""
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
        """Where a yes and a no are two filters, take the one that is asked for."""
        other = NOT + name
        return (other, value) if value is False and other in self.filters else (name, value)

    def _remembered(self, name: object, build: Callable[[], Select[Any]]) -> str:
        text = self._compiled.get(name)
        if text is None:
            if len(self._compiled) >= MOST_COMPILED:  # A caller could go on for ever.
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

    def _select(self, shape: Shape) -> Select[Any]:
        found = self._found(shape)
        named = and_(self.scope, self.key == found.c.id)
        row = select(*self.columns).select_from(self.source).where(named)
        # Limited, it stays what it is: one row by its key for each that was found.
        shown = row.limit(literal_column("1")).lateral("shown")
        sorted_by = cast(found.c[ORDERING], Text).label("sorted_by")
        page = select(*shown.c, sorted_by).select_from(found.join(shown, true()))
        return page.order_by(*ordered(shape.sort, found.c[ORDERING], found.c.id))

    def _found(self, shape: Shape) -> Subquery:
        """The ids of a page's rows and what they are sorted by."""
        each = self._each(shape.names)
        first = self._first(shape, None) if each is None else self._first_of_each(shape, each)
        if shape.paged:
            first = first.offset(given("offset", BigInteger))
        return first.limit(literal_column(str(shape.rows))).subquery("found")

    def _each(self, names: frozenset[str]) -> str | None:
        """The filter whose values are read one by one: the first in the order of the list's."""
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
    """The total order of a sort, by any columns that hold what it goes by and the ids."""
    return (by.desc(), key.desc()) if sort.startswith("-") else (by.asc(), key.asc())
