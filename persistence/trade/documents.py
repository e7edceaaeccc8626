"""Stored invoices and bills: one store for both sides.

A subclass names its tables. SQL, filters and row formats are the same for both sides.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from decimal import Decimal
from typing import Any, ClassVar
from uuid import UUID

from accounting.books.foreign import Worth
from accounting.books.ledger import PostedEntry
from accounting.books.numbers import Number, given_in
from accounting.books.time_zones import day_of, start_of
from accounting.trade.documents import Document, LineItem
from accounting.trade.translation import translated
from persistence.engine.database_errors import StaleRow
from persistence.engine.ids import known_id
from persistence.engine.pages import Page, PageRequest
from persistence.engine.sql import Answers, Fetch, Query, Row
from persistence.ledger.posted_entries import posted_by_source, posted_for
from persistence.ledger.split_rows import (
    ids_of,
    line_shares_of,
    line_tax_rows,
    rate_of,
    rate_row,
    split_of,
    split_rows,
    taxes_of,
    without_opening,
)
from persistence.scope import Scope
from persistence.store import Record, Store, no_such_reference, not_found
from persistence.trade.document_settlements import KINDS, Settlements, kinds_of, take_settlements
from persistence.trade.document_sql import BY_STATUS, STORED, DocumentSql
from persistence.trade.party_columns import take_party
from persistence.trade.worth_columns import take_worth, worth_row

# The columns that settlements and refunds change. A save that changes no others writes only these.
# The tags are always included: `Tags.follow` compares them with the loaded tags.
MOVED = frozenset(
    {
        *("updated_at", "paid_on", "paid", "reserved", "credited", "written_off", "refunded"),
        *("settled", "returned", "reduced", "transaction_tags"),
    }
)
KEPT = tuple(name for name in STORED if name not in MOVED)


@dataclass(frozen=True, slots=True)
class DocumentRecord(Record):
    """A document with its settlements and refunds."""

    document: Document
    settlements: Settlements

    @property
    def stored(self) -> Document:
        return self.document


class DocumentStore(Store[Document]):
    """The documents of one side in one business."""

    sql: ClassVar[DocumentSql]

    def loading(self, ids: Sequence[UUID]) -> tuple[Query, ...]:
        posted = posted_for(ids)
        return (Query(self.sql.by_id, {"ids": list(ids)}), posted)

    def waiting(self, id: UUID) -> tuple[Query, ...]:
        return (*super().waiting(id), Query(self.sql.hold_party, {"ids": [id]}))

    def locking_all(self, ids: Sequence[UUID]) -> tuple[Sequence[Query], Sequence[Query]]:
        """Build the statements that lock and read documents whose settled amounts will change.

        Such a change posts no entries of the documents themselves, so their entries are not read.
        """
        return (), (Query(self.sql.locked, {"ids": list(ids)}),)

    def assemble(self, answers: Answers) -> list[Document]:
        rows, *entries = answers
        if any(row["party_id"] is None for row in rows):
            raise StaleRow  # A draft got another party while we waited for its lock.
        if entries:
            posted = posted_by_source(entries[0])
            found = [document_of(row, posted=posted.get(row["id"], ())) for row in rows]
        else:
            found = [document_of(row) for row in rows]
        self.scope.note_loaded(found)
        return found

    def shown(self, id: UUID) -> Fetch[DocumentRecord]:
        """Load a document with its settlements in one round trip; raises NotFound."""
        query = Query(self.sql.shown, {"ids": [id]})
        return self.fetch((query,), lambda answers: self.only([_record(row) for row in answers[0]]))

    async def read(self, id: UUID, *beside: Fetch[Any]) -> list[Any]:
        """Load a document with its settlements, and other fetches from the same snapshot.

        Returns a DocumentRecord, followed by the results of `beside`. Raises NotFound.
        """
        if not self.scope.reads_in_steps:
            return await self.scope.fetch(self.shown(id), *beside)
        self.scope.pin_snapshot()
        document, *others = await self.scope.fetch(self._plainly(id), *beside)
        settlements = await self.settlements(id, kinds_of(document))
        return [DocumentRecord(document, settlements), *others]

    def _plainly(self, id: UUID) -> Fetch[Document]:
        """Load a document without settlements and posted entries; raises NotFound."""
        query = Query(self.sql.by_id, {"ids": [id]})
        return self.fetch((query,), lambda answers: self.only([*map(document_of, answers[0])]))

    def settlements(self, id: UUID, kinds: tuple[str, ...] = KINDS) -> Fetch[Settlements]:
        """Load the settlements of a document, only of the given kinds; raises NotFound."""
        if not kinds:
            return self.fetch((), lambda _: Settlements())
        query = Query(self.sql.settlements(kinds), {"ids": [id]})

        def answer(answers: Answers) -> Settlements:
            if not answers[0]:
                raise not_found(self.noun)
            return take_settlements(answers[0][0])

        return self.fetch((query,), answer)

    def hold(self, id: UUID | None) -> Fetch[None]:
        """Lock the document that a request body names as origin, in shared mode.

        The lock prevents its deletion. Send this fetch after all other locks. Raises RuleViolation
        `reference_not_found` if the document does not exist in this business.
        """
        if id is None:
            return self.fetch((), lambda _: None)

        def answer(answers: Answers) -> None:
            if not answers[0]:
                raise no_such_reference(self.noun, id)

        return self.fetch((Query(self.sql.hold, {"ids": [id]}),), answer)

    async def page(self, wanted: PageRequest) -> Page[Document]:
        """List one page of documents, without their lines.

        The filters that depend on the day need the time zone of the business first.
        """
        begun = {}
        if not wanted.filters.keys().isdisjoint(BY_STATUS):
            await self.scope.learn_facts()
            timezone = self.scope.timezone
            begun = {"today": start_of(day_of(self.scope.now, timezone), timezone)}
        return await self.listed(self.sql.listing, wanted, document_of, **begun)

    def save(self, value: Document) -> None:
        """Stage a document, or only its settlement columns if no others changed."""
        row = {name: getattr(value, name) for name in MOVED}
        row["id"] = value.id
        row["settled"] = split_rows(value.settled)
        row["returned"] = split_rows(value.returned)
        if value.worth is not None:
            row["base_settled"] = value.base_settled
        if not self._only_moved(value):
            row |= {name: getattr(value, name) for name in KEPT}
            row["party_id"] = value.party.id
            row["lines"] = [_line_row(line) for line in value.lines]
            row |= worth_row(value.worth, self._worth_before(value))
            keep_series_clear(self.scope, self.sql.side.series, value.id, value.number)
        self.scope.stage(self.table, value, row)

    def _only_moved(self, value: Document) -> bool:
        """Return whether the other columns are as loaded; an unchanged value is the same object."""
        loaded: Document | None = self.scope.loaded(value.id)
        return (
            loaded is not None
            and value.party is loaded.party
            and value.worth is loaded.worth
            and all(getattr(value, name) is getattr(loaded, name) for name in KEPT)
        )

    def _worth_before(self, value: Document) -> Worth | None:
        loaded: Document | None = self.scope.loaded(value.id)
        return None if loaded is None else loaded.worth

    def delete(self, value: Document) -> None:
        """Stage the deletion of a draft."""
        parameters = {"business_id": self.scope.business_id, "ids": [value.id]}
        self.scope.staging.follow_with(Query(self.sql.deletion, parameters))
        self.scope.note_deleted(self.table, value)


def _record(row: Row) -> DocumentRecord:
    settlements = take_settlements(row)
    return DocumentRecord(document_of(row), settlements)


def document_of(row: Row, *, posted: tuple[PostedEntry, ...] | None = None) -> Document:
    """Make a document from its row."""
    party = take_party(row)
    worth = take_worth(row)
    row["base_settled"] = row["base_settled"] or 0
    row["lines"] = translated([_line(line) for line in row["lines"]], worth)
    row["settled"] = split_of(row["settled"])
    row["returned"] = split_of(row["returned"])
    row["reduced"] = line_shares_of(row["reduced"])
    row["transaction_tags"] = tuple(row["transaction_tags"])
    return Document(**row, party=party, worth=worth, posted=posted)


def _line_row(line: LineItem) -> Row:
    row = {item.name: getattr(line, item.name) for item in fields(line)}
    row["subtotal"], row["discount_share"] = int(line.subtotal), int(line.discount_share)
    taxed = {**line_tax_rows(line), "tax_rate": rate_row(line.tax_rate)}
    row = without_opening({**row, **taxed, "quantity": str(line.quantity)})
    # Servers of the previous release read all lines that have no such price.
    exact = row.pop("unit_price_decimal")
    return row if exact is None else {**row, "unit_price_decimal": f"{exact:f}"}


def _line(row: Row) -> LineItem:
    values = {
        **row,
        "id": UUID(row["id"]),
        "account_id": known_id(row["account_id"]),
        "quantity": Decimal(row["quantity"]),
        "unit_price_decimal": rate_of(row.get("unit_price_decimal")),
        "tax_rate": rate_of(row["tax_rate"]),
        "tags": tuple(row["tags"]),
        **taxes_of(row),
        **ids_of(row, "tax_code_id", "withholding_code_id", "opened_against"),
    }
    return LineItem(**values)


# Document numbers given by callers; a number in the form of a series advances the series.


def keep_series_clear(scope: Scope, series: str, id_: UUID, number: Number) -> None:
    """Advance a series past a number given now, so that it is not assigned again."""
    loaded = scope.loaded(id_)
    if isinstance(number, str) and (loaded is None or loaded.number != number):
        place = given_in(series, number)
        if place is not None:
            scope.staging.raise_series(series, place)
