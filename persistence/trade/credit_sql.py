"""SQL of customer credits and vendor credits: one class for both."""

from dataclasses import fields
from functools import cached_property

from sqlalchemy import Table, Uuid, select

from accounting.trade.credits import Credit
from accounting.trade.sides import Side
from persistence.engine.filters import any_tag, created_filters, equal, listed_between
from persistence.engine.listings import Filter, Listing, one_of
from persistence.engine.sql import compiled, given
from persistence.store import among, in_business
from persistence.trade.allocations import AllocationSql
from persistence.trade.party_sql import (
    any_part_or_party,
    of_party_known_as,
    on_party,
    party_columns,
)

DERIVED = ("party", "posted", "allocations")
STORED = tuple(item.name for item in fields(Credit) if item.name not in DERIVED)


class CreditSql:
    """The SQL of one side's credits."""

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
            source=self.source,
            key=row.id,
            scope=in_business(self.credit),
            columns=self.columns,
            filters=self._filters(),
            sorts={
                self.side.names.opened_at: row.listed_at,
                "created_at": row.created_at,
                "total_amount": row.total_amount,
                self.side.names.credit_number: row.listed_number,
            },
            default_sort=f"-{self.side.names.opened_at}",
        )

    def _filters(self) -> dict[str, Filter]:
        side, row = self.side, self.credit.c
        own, other = side.names.party_id, side.names.party_external_id
        source, opened = f"source_{side.names.document_id}", side.names.opened_at
        first, last = f"{opened}_from", f"{opened}_to"
        return {
            **created_filters(self.credit),
            **any_tag("transaction_tags", row.transaction_tags),
            own: one_of(own, row.party_id),
            "status": one_of("status", row.listed_status),
            other: of_party_known_as(other, row.party_id, self.party),
            **equal(row.external_id),
            source: Filter(row.source_document_id == given(source, Uuid)),
            **listed_between(row.listed_at, row.opened_at, first, last),
            "search": any_part_or_party(
                row.party_id, self.party, row.number, row.external_id, row.memo
            ),
        }
