"""Stored credits of customers and from vendors, with their allocations."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import ClassVar
from uuid import UUID

from accounting.books.ledger import Posted
from accounting.tax.taxed_amounts import Tax
from accounting.trade.allocation import Allocation
from accounting.trade.credits import Credit, CreditLine, applied
from accounting.trade.documents import Document
from persistence.engine.fetches import Answers, Fetch
from persistence.engine.identifiers import known_id
from persistence.engine.pages import Page, PageRequest
from persistence.engine.scope import Scope
from persistence.engine.sql import Query, Row
from persistence.ledger.posted_entries import posted_by_source, posted_for
from persistence.ledger.split_rows import split_of, split_rows
from persistence.store import Store
from persistence.trade.allocations import AllocationRows, documents_by_id
from persistence.trade.credit_sql import STORED, CreditSql
from persistence.trade.given_numbers import GivenNumbers
from persistence.trade.party_sql import take_party
from persistence.trade.taxed_lines import ids_of, rate_of, rate_row, tax_rows, taxes_of


@dataclass(frozen=True, slots=True)
class CreditRecord:
    """A credit with the documents it settles, by id and without lines."""

    credit: Credit
    documents: dict[UUID, Document]

    @property
    def id(self) -> UUID:
        return self.credit.id

    @property
    def version(self) -> int:
        return self.credit.version


class CreditStore(Store[Credit]):
    """The credits of one side in one business."""

    sql: ClassVar[CreditSql]

    def __init__(self, scope: Scope) -> None:
        super().__init__(scope)
        self.numbers = GivenNumbers(scope, self.sql.side.credit_series)
        self.allocations = AllocationRows(scope, self.sql.allocations)

    def loading(self, ids: Sequence[UUID]) -> tuple[Query, ...]:
        return (
            Query(self.sql.by_id, {"ids": list(ids)}),
            self.allocations.loading(ids),
            posted_for(ids),
        )

    def assemble(self, answers: Answers) -> list[Credit]:
        rows, allocations, entries = answers
        self.numbers.note(rows)
        posted, shares = posted_by_source(entries), self.allocations.read(allocations)
        return [
            _credit(row, shares.get(row["id"], ()), posted=posted.get(row["id"], ()))
            for row in rows
        ]

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
        self.numbers.keep_clear(value.id, value.number)
        self.scope.stage(self.table, value.id, row)
        self.allocations.save(value.id, value.allocations)

    def _records(self, rows: list[Row], around: Answers) -> list[CreditRecord]:
        if not rows:
            return []
        allocations, documents = around
        shares, settled = self.allocations.read(allocations), documents_by_id(documents)
        return [
            CreditRecord(_credit(row, shares.get(row["id"], ()), posted=()), settled)
            for row in rows
        ]


def _credit(row: Row, allocations: tuple[Allocation, ...], *, posted: tuple[Posted, ...]) -> Credit:
    party = take_party(row)
    row["lines"] = tuple(_line(line, row["tax_account_id"]) for line in row["lines"])
    row["settled"] = split_of(row["settled"])
    row["transaction_tags"] = tuple(row["transaction_tags"])
    return Credit(**row, party=party, allocations=allocations, posted=posted)


def _line_row(line: CreditLine) -> Row:
    row = {item.name: getattr(line, item.name) for item in fields(line)}
    return {**row, **tax_rows(line), "tax_rate": rate_row(line.tax_rate)}


def _line(row: Row, tax_account_id: UUID) -> CreditLine:
    given = row.pop("tax_amount", 0)  # Lines older than tax codes have only this amount.
    values = {
        **row,
        "id": UUID(row["id"]),
        "account_id": known_id(row["account_id"]),
        "tags": tuple(row["tags"]),
        **taxes_of(row),
        **ids_of(row, "tax_code_id", "source_line_id"),
        "tax_rate": rate_of(row.get("tax_rate")),
    }
    if given:
        values["taxes"] = (Tax(given, tax_account_id),)
    return CreditLine(**values)
