"""Stored credits of customers and from vendors, with their allocations."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import ClassVar
from uuid import UUID

from sqlalchemy import Table, Uuid, select

from accounting.books.foreign import in_base
from accounting.books.ledger import PostedEntry
from accounting.tax.taxed_amounts import Tax
from accounting.trade.allocation import Allocation
from accounting.trade.credits import Credit, CreditLine, applied
from accounting.trade.documents import Document
from accounting.trade.sides import Side
from accounting.trade.translation import translated_credit
from persistence.engine.ids import known_id
from persistence.engine.listings import (
    Filter,
    Listing,
    any_tag,
    created_filters,
    equal,
    listed_between,
    one_of,
)
from persistence.engine.pages import Page, PageRequest
from persistence.engine.sql import Answers, Fetch, Query, Row, compiled, given
from persistence.ledger.posted_entries import posted_by_source, posted_for
from persistence.ledger.split_rows import (
    ids_of,
    line_tax_rows,
    rate_of,
    rate_row,
    split_of,
    split_rows,
    taxes_of,
    without_opening,
)
from persistence.scope import Scope
from persistence.store import Record, Store, among, in_business
from persistence.trade.documents import keep_series_clear
from persistence.trade.party_columns import (
    any_part_or_party,
    of_party_known_as,
    on_party,
    party_columns,
    take_party,
)
from persistence.trade.payments import AllocationRows, AllocationSql, documents_by_id
from persistence.trade.worth_columns import take_worth, worth_columns, worth_row

# SQL of customer credits and vendor credits: one class for both.


DERIVED = ("party", "posted", "allocations", "worth")
STORED = tuple(item.name for item in fields(Credit) if item.name not in DERIVED)


class CreditSql:
    """The SQL of one side's credits."""

    def __init__(self, side: Side, credit: Table, party: Table, allocations: AllocationSql) -> None:
        self.side = side
        self.credit = credit
        self.party = party
        self.allocations = allocations
        self.source = credit.join(party, on_party(credit, party))
        stored = (credit.c[name] for name in STORED)
        self.columns = (*stored, *worth_columns(credit), *party_columns(party))

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
            **equal(row.currency, row.external_id),
            source: Filter(row.source_document_id == given(source, Uuid)),
            **listed_between(row.listed_at, row.opened_at, first, last),
            "search": any_part_or_party(
                row.party_id, self.party, row.number, row.external_id, row.memo
            ),
        }


@dataclass(frozen=True, slots=True)
class CreditRecord(Record):
    """A credit with the documents it settles, by id and without lines."""

    credit: Credit
    documents: dict[UUID, Document]

    @property
    def stored(self) -> Credit:
        return self.credit


class CreditStore(Store[Credit]):
    """The credits of one side in one business."""

    sql: ClassVar[CreditSql]

    def __init__(self, scope: Scope) -> None:
        super().__init__(scope)
        self.allocations = AllocationRows(scope, self.sql.allocations)

    def loading(self, ids: Sequence[UUID]) -> tuple[Query, ...]:
        return (
            Query(self.sql.by_id, {"ids": list(ids)}),
            self.allocations.loading(ids),
            posted_for(ids),
        )

    def assemble(self, answers: Answers) -> list[Credit]:
        rows, allocations, entries = answers
        posted, shares = posted_by_source(entries), self.allocations.read(allocations, rows)
        found = [
            _credit(row, shares.get(row["id"], ()), posted=posted.get(row["id"], ()))
            for row in rows
        ]
        self.scope.note_loaded(found)
        return found

    def shown(self, id: UUID) -> Fetch[CreditRecord]:
        """Load a credit with the documents it settles; raises NotFound."""
        queries = (Query(self.sql.by_id, {"ids": [id]}), *self.allocations.around([id]))
        return self.fetch(
            queries, lambda answers: self.only(self._records(answers[0], answers[1:]))
        )

    async def records(self, wanted: PageRequest) -> Page[CreditRecord]:
        """List one page of credits, each with the documents it settles."""
        around = self.allocations.around
        return await self.listed_whole(self.sql.listing, wanted, around, self._records)

    def save(self, value: Credit) -> None:
        """Stage a credit with its allocations."""
        row = {name: getattr(value, name) for name in STORED}
        row["party_id"] = value.party.id
        row["lines"] = [_line_row(line) for line in value.lines]
        row["applied"] = applied(value)
        row["settled"] = split_rows(value.settled)
        loaded: Credit | None = self.scope.loaded(value.id)
        row |= worth_row(value.worth, None if loaded is None else loaded.worth)
        if value.worth is not None:
            row["base_used"] = sum(in_base(amount) for _, amount in value.settled)
        keep_series_clear(self.scope, self.sql.side.credit_series, value.id, value.number)
        self.scope.stage(self.table, value, row)
        self.allocations.save(value.id, value.allocations)

    def _records(self, rows: list[Row], around: Answers) -> list[CreditRecord]:
        if not rows:
            return []
        allocations, documents = around
        shares, settled = self.allocations.read(allocations, rows), documents_by_id(documents)
        return [
            CreditRecord(_credit(row, shares.get(row["id"], ()), posted=()), settled)
            for row in rows
        ]


def _credit(
    row: Row, allocations: tuple[Allocation, ...], *, posted: tuple[PostedEntry, ...]
) -> Credit:
    party = take_party(row)
    worth = take_worth(row)
    lines = [_line(line, row["tax_account_id"]) for line in row["lines"]]
    row["lines"] = translated_credit(lines, worth)
    row["settled"] = split_of(row["settled"])
    row["transaction_tags"] = tuple(row["transaction_tags"])
    return Credit(**row, party=party, worth=worth, allocations=allocations, posted=posted)


def _line_row(line: CreditLine) -> Row:
    row = {item.name: getattr(line, item.name) for item in fields(line)}
    row["amount"] = int(line.amount)
    return without_opening({**row, **line_tax_rows(line), "tax_rate": rate_row(line.tax_rate)})


def _line(row: Row, tax_account_id: UUID) -> CreditLine:
    given = row.pop("tax_amount", 0)  # Lines older than tax codes have only this amount.
    values = {
        **row,
        "id": UUID(row["id"]),
        "account_id": known_id(row["account_id"]),
        "tags": tuple(row["tags"]),
        **taxes_of(row),
        **ids_of(row, "tax_code_id", "source_line_id", "opened_against"),
        "tax_rate": rate_of(row.get("tax_rate")),
    }
    if given:
        values["taxes"] = (Tax(given, tax_account_id),)
    return CreditLine(**values)
