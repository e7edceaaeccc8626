"""Stored openings of books, and the ids of the trade records that were imported with each."""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from functools import cache
from typing import Any, ClassVar
from uuid import UUID

from sqlalchemy import Table, Uuid, select

from accounting.books.chart import Role
from accounting.books.foreign import ForeignAmount, in_base
from accounting.books.ledger import PostedEntry
from accounting.opening.openings import Opening
from persistence.engine.listings import Listing, between, created_filters
from persistence.engine.pages import Page, PageRequest
from persistence.engine.sql import Answers, Fetch, Query, Row, compiled, given
from persistence.ledger.posted_entries import posted_by_source, posted_for
from persistence.store import Store, among, in_business
from persistence.tables import opening_balance

STORED = tuple(item.name for item in fields(Opening) if item.name != "posted")
_COLUMNS = (*(opening_balance.c[name] for name in STORED), opening_balance.c.stated_own)
BY_ID = compiled(select(*_COLUMNS).where(in_business(opening_balance), among(opening_balance.c.id)))
LISTING = Listing(
    source=opening_balance,
    key=opening_balance.c.id,
    scope=in_business(opening_balance),
    columns=_COLUMNS,
    filters={
        **created_filters(opening_balance),
        **between(opening_balance.c.opened_on, "date_from", "date_to"),
    },
    sorts={"date": opening_balance.c.opened_on, "created_at": opening_balance.c.created_at},
    default_sort="-date",
)


@cache
def brought(table: Table) -> str:
    """Return the statement that finds the rows of a table that belong to an opening."""
    came = table.c.opening_id == given("opening_id", Uuid)
    return compiled(select(table.c.id).where(in_business(table), came).order_by(table.c.id))


class OpeningStore(Store[Opening]):
    """The openings of the books of one business."""

    table: ClassVar = opening_balance
    noun: ClassVar = "opening_balance"
    rank: ClassVar = 0

    def loading(self, ids: Sequence[UUID]) -> tuple[Query, ...]:
        return (Query(BY_ID, {"ids": list(ids)}), posted_for(ids))

    def assemble(self, answers: Answers) -> list[Opening]:
        rows, entries = answers
        posted = posted_by_source(entries)
        return [_opening(row, posted=posted.get(row["id"], ())) for row in rows]

    def page(self, wanted: PageRequest) -> Fetch[Page[Opening]]:
        """List one page of openings."""
        return self.listed(LISTING, wanted, _opening)

    def brought(self, id: UUID, tables: Sequence[Table]) -> Fetch[list[list[UUID]]]:
        """Load the ids of an opening's records, one list per table in the given order."""
        queries = [Query(brought(table), {"opening_id": id}) for table in tables]
        return self.fetch(
            queries, lambda answers: [[row["id"] for row in rows] for rows in answers]
        )

    def save(self, value: Opening) -> None:
        """Stage an opening."""
        row = {name: getattr(value, name) for name in STORED}
        row["stated"] = {str(id_): in_base(amount) for id_, amount in value.stated.items()}
        own = {
            str(id_): [int(amount), amount.currency]
            for id_, amount in value.stated.items()
            if isinstance(amount, ForeignAmount)
        }
        row["stated_own"] = own or None
        row["documented"] = {str(role): amount for role, amount in value.documented.items()}
        self.scope.stage(opening_balance, value, row)


def _stated(base: int, own: tuple[int, str] | None) -> int:
    """Return the amount of an account, with the own amount that it has."""
    if own is None:
        return base
    amount, currency = own
    return ForeignAmount(amount, base, currency)


def _opening(row: Row, *, posted: tuple[PostedEntry, ...] = ()) -> Opening:
    stated: Mapping[str, int] = row.pop("stated")
    own: Mapping[str, tuple[int, str]] = row.pop("stated_own") or {}
    documented: Mapping[str, int] = row.pop("documented")
    kept: dict[str, Any] = {
        "stated": {UUID(id_): _stated(base, own.get(id_)) for id_, base in stated.items()},
        "documented": {Role(role): amount for role, amount in documented.items()},
    }
    return Opening(**row, **kept, posted=posted)
