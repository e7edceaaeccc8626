"""The statements of credits: one set for customer credits and vendor credits."""

from dataclasses import fields
from functools import cached_property
from typing import Any

from sqlalchemy import ARRAY, Table, Text, Uuid, and_, any_, case, func, literal_column, select
from sqlalchemy.sql.elements import ColumnElement

from accounting.trade.credits import Credit
from accounting.trade.sides import Side
from persistence.engine.filters import MOMENT, any_part, created_filters, equal
from persistence.engine.pages import Filter, Listing
from persistence.engine.sql import compiled, given, word
from persistence.store import among, in_business
from persistence.trade.allocations import AllocationSql
from persistence.trade.party_sql import listed_with_party, on_party, party_columns

DERIVED = ("party", "posted", "allocations")
STORED = tuple(item.name for item in fields(Credit) if item.name not in DERIVED)


class CreditSql:
    """The statements of one side's credits."""

    def __init__(self, side: Side, credit: Table, party: Table, allocations: AllocationSql) -> None:
        self.side = side
        self.credit = credit
        self.party = party
        self.allocations = allocations
        self.source = credit.join(party, on_party(credit, party))
        self.columns = (*(credit.c[name] for name in STORED), *party_columns(party))

    @cached_property
    def by_id(self) -> str:
        chosen = select(*self.columns).select_from(self.source)
        return compiled(chosen.where(in_business(self.credit), among(self.credit.c.id)))

    @cached_property
    def listing(self) -> Listing:
        row = self.credit.c
        return Listing(
            source=listed_with_party(self.credit, self.party),
            key=row.id,
            scope=in_business(self.credit),
            columns=self.columns,
            filters=self._filters(),
            sorts={
                self.side.names.opened_at: row.listed_at,
                "created_at": row.created_at,
                "total_amount": row.total_amount,
                self.side.names.credit_number: func.coalesce(row.number, word("")),
            },
            default_sort=f"-{self.side.names.opened_at}",
        )

    def _status(self) -> ColumnElement[str]:
        """`accounting.trade.credits.status` in SQL; a test holds the two together."""
        row = self.credit.c
        return case(
            (row.state != word("open"), row.state),
            (row.applied == row.total_amount, word("applied")),
            (row.applied > literal_column("0"), word("partially_applied")),
            else_=word(self.side.opened_status),
        )

    def _filters(self) -> dict[str, Filter]:
        side, row, party = self.side, self.credit.c, self.party.c
        own, other = side.names.party_id, side.names.party_external_id
        source, opened = f"source_{side.names.document_id}", side.names.opened_at
        first, last = f"{opened}_start", f"{opened}_end"
        return {
            **created_filters(self.credit),
            own: Filter(row.party_id == any_(given(own, ARRAY(Uuid())))),
            other: Filter(party.external_id == given(other, Text)),
            **equal(row.external_id),
            "status": Filter(self._status() == any_(given("status", ARRAY(Text())))),
            source: Filter(row.source_document_id == given(source, Uuid)),
            # By the column that is indexed; a draft, which was never opened, stands before all.
            first: Filter(row.listed_at >= given(first, MOMENT)),
            last: Filter(and_(row.listed_at <= given(last, MOMENT), row.opened_at.is_not(None))),
            "search": _searched(row, party),
        }


def _searched(row: Any, party: Any) -> Filter:
    names = (party.company_name, party.individual_name)
    return any_part("search", row.number, row.external_id, row.memo, *names)
