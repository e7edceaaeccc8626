"""Lists over the rows of several tables: each table is read in the order of its own index.

Each part supplies as many rows as a page shows, and the page is selected from these. So a page
after a cursor costs as much as the first page, however many rows each part has.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any

from sqlalchemy import BigInteger, Text, cast, func, literal_column, select, union_all
from sqlalchemy.sql.elements import ColumnElement
from sqlalchemy.sql.selectable import CTE, Select, Subquery

from persistence.engine.listings import ORDERING, Listing, Shape, ordered
from persistence.engine.pages import PageRequest
from persistence.engine.sql import Query, given

Build = Callable[[frozenset[str], str], Select[Any]]
"""A function that makes a statement from the names of filters and a sort."""


@dataclass(frozen=True, slots=True)
class JointListing(Listing):
    """A list over several lists, with the same columns, filters and sorts by name."""

    parts: tuple[Listing, ...] = ()

    @classmethod
    def of(cls, *parts: Listing) -> "JointListing":
        """Join lists; the first one supplies the columns, filters and sorts of all."""
        first = parts[0]
        return cls(
            source=first.source,
            key=first.key,
            scope=first.scope,
            columns=first.columns,
            filters=first.filters,
            sorts=first.sorts,
            default_sort=first.default_sort,
            parts=parts,
        )

    def chosen(
        self,
        names: frozenset[str],
        sort: str,
        *,
        within: ColumnElement[int],
        limit: ColumnElement[int],
        offset: ColumnElement[int] | None = None,
    ) -> CTE:
        """Select the ids of the first rows in order, at most `within` of them from each part."""
        first = (
            _placed(part, sort, [part.key.label("id")])
            .where(part.within(names, sort, after=False))
            .order_by(*part.order(sort))
            .limit(within)
            for part in self.parts
        )
        together = _joined(first)
        found = select(together.c.id, together.c[ORDERING])
        found = found.order_by(*ordered(sort, together.c[ORDERING], together.c.id)).limit(limit)
        return (found if offset is None else found.offset(offset)).cte("chosen")

    def asked(self, wanted: PageRequest, build: Build, **parameters: Any) -> Query:
        """Return another statement about the rows that a request selects; compiled once."""
        filters = self._parameters(wanted.filters)
        names, sort = frozenset(filters), wanted.sort or self.default_sort
        text = self._remembered((build, names, sort), lambda: build(names, sort))
        return Query(text, {**parameters, **filters}, self._planned_for_values(names))

    def _count(self, names: frozenset[str]) -> str:
        def counting() -> Select[Any]:
            counts = [
                select(func.count())
                .select_from(part.source)
                .where(part.within(names, self.default_sort, after=False))
                .scalar_subquery()
                for part in self.parts
            ]
            return select(reduce(add, counts).label("total"))

        return self._remembered(("count", names), counting)

    def _select(self, shape: Shape) -> Select[Any]:
        names, sort = shape.names, shape.sort
        limit: ColumnElement[int] = literal_column(str(shape.rows))
        if not shape.paged:
            first = (
                _shown(part, sort)
                .where(part.within(names, sort, after=shape.after))
                .order_by(*part.order(sort))
                .limit(limit)
                for part in self.parts
            )
            return _page(sort, first).limit(limit)
        offset = given("offset", BigInteger)
        chosen = self.chosen(names, sort, within=limit + offset, limit=limit, offset=offset)
        ids = select(chosen.c.id)
        return _page(
            sort,
            (_shown(part, sort).where(part.scope, part.key.in_(ids)) for part in self.parts),
        )


def _shown(part: Listing, sort: str) -> Select[Any]:
    return _placed(part, sort, [*part.columns, cast(part.by(sort), Text).label("sorted_by")])


def _placed(part: Listing, sort: str, columns: Iterable[ColumnElement[Any]]) -> Select[Any]:
    return select(*columns, part.by(sort).label(ORDERING)).select_from(part.source)


def _joined(selects: Iterable[Select[Any]]) -> Subquery:
    return union_all(*selects).subquery("together")


def _page(sort: str, selects: Iterable[Select[Any]]) -> Select[Any]:
    together = _joined(selects)
    columns = (each for each in together.c if each.name != ORDERING)
    return select(*columns).order_by(*ordered(sort, together.c[ORDERING], together.c.id))
