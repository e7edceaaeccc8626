"""The unit of work of a writing: its rows wait until the handler has ended; one flush sends all.

The flush sends the statements table by table, parents first, in one round trip. So a payment with
forty allocations costs as many round trips as a payment with none. Numbers of a series are taken as
late as possible: after the rows without a number, and before the rows with one.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import chain
from types import NoneType
from uuid import UUID

import orjson
from sqlalchemy import Table

from accounting.books import numbers
from accounting.books.numbers import PendingNumber
from persistence import tables
from persistence.engine.row_statements import (
    BACK,
    SERIES,
    insertion,
    keep_last,
    number_columns,
    replacement,
    value_insertions,
)
from persistence.engine.sql import Query, Row, compiled
from persistence.tables import UniqueKey

NOT_YET = (PendingNumber, NoneType)
NONE: frozenset[str] = frozenset()


@dataclass(slots=True)
class UnitOfWork:
    """The rows that one transaction inserts and updates, and the numbers that it takes.

    `contents` are files by their keys, which are stored before the rows are sent.
    `last` and `not_rolled_up` are known for each series once numbers of it are taken: the last
    number, and how many entries are in no month yet.
    A unit may be part of a `whole`, which is sent in its place; its numbers of each series follow
    those that were taken `earlier`.
    """

    business_id: UUID | None
    inserted: dict[str, list[Row]] = field(default_factory=dict)
    updated: dict[str, list[Row]] = field(default_factory=dict)
    taken: dict[str, int] = field(default_factory=dict)
    raised: dict[str, int] = field(default_factory=dict)
    last: dict[str, int] = field(default_factory=dict)
    not_rolled_up: dict[str, int] = field(default_factory=dict)
    beforehand: list[Query] = field(default_factory=list)
    before_numbers: list[tuple[Query, ...]] = field(default_factory=list)
    afterwards: list[tuple[Query, ...]] = field(default_factory=list)
    contents: dict[str, bytes] = field(default_factory=dict)
    whole: "UnitOfWork | None" = None
    earlier: dict[str, int] = field(default_factory=dict)

    def insert(self, table: Table, row: Row) -> None:
        """Stage a new row; the flush adds the id of the business."""
        self._count_numbers(table, row)
        self.inserted.setdefault(table.name, []).append(row)

    def update(self, table: Table, row: Row) -> None:
        """Stage a changed row, whose `version` is the one it was loaded with.

        The row may have some columns only: the others keep their values. A row that is staged twice
        in one transaction is written once, with the values that were staged last.
        """
        self._count_numbers(table, row)
        for rows in (self.inserted.get(table.name, []), self.updated.setdefault(table.name, [])):
            for place, staged in enumerate(rows):
                if staged["id"] == row["id"]:
                    rows[place] = {**staged, **row, "version": staged["version"]}
                    return
        self.updated[table.name].append(row)

    def take_number(self, series: str) -> PendingNumber:
        """Take the next number of a series; its value is known after the flush."""
        place = self.taken.get(series, 0)
        self.taken[series] = place + 1
        return PendingNumber(series, place)

    def raise_series(self, series: str, at_least: int) -> None:
        """Raise a series to a number that the caller supplied in the form of that series."""
        self.raised[series] = max(self.raised.get(series, 0), at_least)

    def _count_numbers(self, table: Table, row: Row) -> None:
        for name in number_columns(table):
            value = row.get(name)
            if isinstance(value, PendingNumber):
                taken = self.taken.get(value.series, 0)
                self.taken[value.series] = max(taken, value.place + 1)

    @property
    def numbers_are_shown(self) -> bool:
        """Return whether the answer may have a number that is taken; it has none of an event."""
        return not self.taken.keys() <= {numbers.EVENTS}

    @property
    def last_event(self) -> int | None:
        """Return the sequence of the last event; None without one. Call this after the flush."""
        return self.last.get(numbers.EVENTS)

    def number(self, pending: PendingNumber) -> str:
        """Return the text of a pending number; call this after the flush."""
        if self.whole is not None:
            return self.whole.number(self._in_whole(pending))
        last = self.last[pending.series]
        return numbers.render(pending.series, last - self._places_before_last(pending))

    def _places_before_last(self, number: PendingNumber) -> int:
        """Return the distance of a number from the last one of its series in the transaction."""
        return self.taken[number.series] - 1 - number.place

    def holds_change(self, id_: UUID) -> bool:
        """Return whether a change of a loaded row is staged."""
        return any(row["id"] == id_ for rows in self.updated.values() for row in rows)

    def lead_with(self, query: Query) -> None:
        """Send a statement before all rows."""
        self.beforehand.append(query)

    def precede_numbers(self, *queries: Query) -> None:
        """Send statements right before numbers are taken: their triggers may take some, too."""
        self.before_numbers.append(queries)

    def follow_with(self, *queries: Query) -> None:
        """Send statements after all rows, one right after the other."""
        self.afterwards.append(queries)

    def absorb(self, part: "UnitOfWork") -> bool:
        """Take over the new rows of another unit, so that one flush sends both.

        Return False where that unit does more than insert rows, or where a number that a caller
        supplied would change those that the series assigns.
        """
        series = {*self.taken, *part.taken} & {*self.raised, *part.raised}
        if part.beforehand or any(part.updated.values()) or series:
            return False
        part.whole, part.earlier = self, dict(self.taken)
        for name, rows in part.inserted.items():
            numbered = number_columns(tables.metadata.tables[name])
            ready = (part._row_in_whole(row, numbered) for row in rows)
            self.inserted.setdefault(name, []).extend(ready)
        for name, amount in part.taken.items():
            self.taken[name] = self.taken.get(name, 0) + amount
        for name, at_least in part.raised.items():
            self.raise_series(name, at_least)
        for mine, added in (
            (self.before_numbers, part.before_numbers),
            (self.afterwards, part.afterwards),
        ):
            mine += [each for each in added if each not in mine]
        self.contents |= part.contents
        self.not_rolled_up = part.not_rolled_up
        return True

    def _row_in_whole(self, row: Row, numbered: tuple[str, ...]) -> Row:
        pending = {name: row[name] for name in numbered if isinstance(row.get(name), PendingNumber)}
        return {**row, **{name: self._in_whole(each) for name, each in pending.items()}}

    def _in_whole(self, number: PendingNumber) -> PendingNumber:
        return replace(number, place=number.place + self.earlier.get(number.series, 0))

    def wanted(self, key: UniqueKey) -> list[Row]:
        """Return the staged rows with a value for a unique key; a pending number is no value."""
        name = key.table.name
        rows = [*self.inserted.get(name, []), *self.updated.get(name, [])]
        return [
            row
            for row in rows
            if not any(isinstance(row.get(each), NOT_YET) for each in key.columns)
        ]

    def queries(self, *, as_json: bool = True) -> Iterator[Query]:
        """Yield the statements of the flush; new rows are one JSON parameter, or values."""
        numbered = False
        yield from self.beforehand
        for name in sorted({*self.inserted, *self.updated}, key=_places().__getitem__):
            table = tables.metadata.tables[name]
            rows, changed = self.inserted.get(name, []), self.updated.get(name, [])
            if not numbered and self._waits_for_numbers(table, [*rows, *changed]):
                numbered = True
                yield from chain.from_iterable(self.before_numbers)
                yield from self._series_queries(by_function=not as_json)
            # Changes first: an allocation ends before the next one of the same document begins.
            for names, alike in _by_columns(changed).items():
                text = replacement(table, names, self._waiting(table, alike))
                yield self._query(text, table, alike)
            if rows and as_json:
                yield self._query(insertion(table, self._waiting(table, rows)), table, rows)
            elif rows:
                ready = self._ready(table, rows)
                yield from value_insertions(table, ready, self.business_id)
        if not numbered:
            yield from chain.from_iterable(self.before_numbers)
        yield from chain.from_iterable(self.afterwards)

    def _waits_for_numbers(self, table: Table, rows: list[Row]) -> bool:
        """Return whether rows have a number that is taken here, or one that raises its series."""
        if self.raised:
            return bool(number_columns(table) and rows)
        return bool(self._waiting(table, rows))

    def _waiting(self, table: Table, rows: list[Row]) -> frozenset[str]:
        """Return the columns in which rows wait for a number."""
        names = number_columns(table)
        if not names:
            return NONE
        return frozenset(
            name for name in names for row in rows if isinstance(row.get(name), PendingNumber)
        )

    def _series_queries(self, *, by_function: bool) -> Iterator[Query]:
        if self.raised:
            yield self._series_query(RAISE_SERIES, self.raised)
        if self.taken and by_function:
            series = sorted(self.taken, key=_in_turn)
            amounts = [self.taken[name] for name in series]
            parameters = {"business_id": self.business_id, "series": series, "amounts": amounts}
            yield Query(TAKE_NUMBERS_BY_FUNCTION, parameters)
        elif self.taken:
            yield self._series_query(TAKE_NUMBERS, self.taken)

    def _series_query(self, move: str, amounts: dict[str, int]) -> Query:
        parameters: Row = {"business_id": self.business_id}
        for place, series in enumerate(sorted(amounts, key=_in_turn)):
            amount = amounts[series]
            parameters |= {f"series_{place}": series, f"n_{place}": str(amount)}
        return Query(series_statement(move, len(amounts)), parameters)

    def _query(self, text: str, table: Table, rows: list[Row]) -> Query:
        ready = self._ready(table, rows)
        parameters: Row = {"rows": orjson.dumps(ready).decode(), "count": len(ready)}
        if "business_id" in table.c:
            parameters["business_id"] = self.business_id
        return Query(text, parameters)

    def _ready(self, table: Table, rows: list[Row]) -> list[Row]:
        numbered = number_columns(table)
        return [self._numbered(row, numbered) for row in rows] if numbered else rows

    def _numbered(self, row: Row, names: tuple[str, ...]) -> Row:
        ready = dict(row)
        for name in names:
            value = row.get(name)
            if isinstance(value, PendingNumber):
                ready[name] = None
                ready[name + SERIES] = value.series
                ready[name + BACK] = self._places_before_last(value)
        return ready

    def learn(self, rows: list[Row]) -> None:
        """Store the last number, and the entries in no month, of each series in a result."""
        for row in rows:
            if "not_rolled_up" in row:
                self.last[row["series"]] = row["last"]
                self.not_rolled_up[row["series"]] = row["not_rolled_up"]


def _in_turn(series: str) -> tuple[bool, str]:
    """Return the place of a series among the locks: a trigger may have taken an event before.

    A server of the previous release takes its other numbers first, and its triggers take events
    afterwards. So the two may deadlock during an upgrade; the transaction that ends runs again.
    """
    return series != numbers.EVENTS, series


def _by_columns(rows: list[Row]) -> dict[frozenset[str], list[Row]]:
    """Group rows by their columns."""
    groups: dict[frozenset[str], list[Row]] = {}
    for row in rows:
        groups.setdefault(frozenset(row), []).append(row)
    return groups


@cache
def _places() -> dict[str, int]:
    """Return the place of each table in the order of writing: parents first."""
    # The journal is last: its rows need numbers, and no other row refers to them. A reconciled
    # statement prevents postings up to its day: copied books insert it after the journal.
    last = (
        tables.journal_entry,
        tables.journal_line,
        tables.cash_line,
        tables.bank_reconciliation,
        tables.event,
        tables.unplaced_event,
    )
    others = (each for each in tables.metadata.sorted_tables if each not in last)
    return {table.name: place for place, table in enumerate((*others, *last))}


# The result for a series whose numbers are taken; rows with a number read it in a setting.
_ROW = tables.number_series.c
_TOLD = (
    f"series, last, {compiled(keep_last(_ROW.series, _ROW.last))},"
    " last - greatest(rolled_up, 0) AS not_rolled_up"
)
# The new value of an existing series, and the columns that are returned.
TAKE_NUMBERS = f"number_series.last + excluded.last RETURNING {_TOLD}"
RAISE_SERIES = "greatest(number_series.last, excluded.last)"
# A setting on another node has no effect here: a function returns the values that are kept.
TAKE_NUMBERS_BY_FUNCTION = (
    f"SELECT {_TOLD} FROM take_numbers"
    "(%(business_id)s::uuid, %(series)s::text[], %(amounts)s::bigint[]) AS number_series"
)


@cache
def series_statement(move: str, count: int) -> str:
    """Return the statement that changes `count` series; each stays locked until the end."""
    row = "(%(business_id)s::uuid, %(series_{0})s::text, %(n_{0})s::bigint)"
    values = ", ".join(row.format(place) for place in range(count))
    return (
        f"INSERT INTO number_series (business_id, series, last) VALUES {values}"
        f" ON CONFLICT (business_id, series) DO UPDATE SET last = {move}"
    )
