"""What is owed, as it is stored: one store for invoices and bills.

A subclass names its tables; statements, filters and shapes of rows are the same for both sides.
"""

from collections.abc import Sequence
from dataclasses import fields
from datetime import UTC, datetime, time
from decimal import Decimal
from typing import Any, ClassVar
from uuid import UUID

from accounting.books.ledger import Posted
from accounting.trade.documents import Document, LineItem
from accounting.values import dataclass
from persistence.engine.faults import StaleRow
from persistence.engine.fetches import Answers, Fetch
from persistence.engine.identifiers import known_id
from persistence.engine.pages import Page, PageRequest
from persistence.engine.scope import Scope
from persistence.engine.sql import Query, Row
from persistence.ledger.posted_entries import posted_by_source, posted_for
from persistence.ledger.split_rows import split_of, split_rows
from persistence.store import Store, no_such_reference, not_found
from persistence.trade.document_settlements import KINDS, Settlements, kinds_of, take_settlements
from persistence.trade.document_sql import STORED, DocumentSql
from persistence.trade.given_numbers import GivenNumbers
from persistence.trade.party_sql import take_party
from persistence.trade.taxed_lines import (
    ids_of,
    line_shares_of,
    rate_of,
    rate_row,
    tax_rows,
    taxes_of,
)

# What settling a document, and giving back of it, moves; of all else on it nothing is written then.
# Its tags say under which its lines are found.
MOVED = frozenset(
    {
        *("updated_at", "paid_on", "paid", "reserved", "credited", "written_off", "refunded"),
        *("settled", "returned", "reduced", "transaction_tags"),
    }
)
KEPT = tuple(name for name in STORED if name not in MOVED)


@dataclass(frozen=True, slots=True)
class DocumentRecord:
    """A document with what settles it and what was given back of it."""

    document: Document
    settlements: Settlements

    @property
    def id(self) -> UUID:
        return self.document.id

    @property
    def version(self) -> int:
        return self.document.version


class DocumentStore(Store[Document]):
    """The documents of one side in one business."""

    sql: ClassVar[DocumentSql]

    def __init__(self, scope: Scope) -> None:
        super().__init__(scope)
        self.numbers = GivenNumbers(scope, self.sql.side.series)
        self._loaded: dict[UUID, Document] = {}

    def loading(self, ids: Sequence[UUID]) -> tuple[Query, ...]:
        posted = posted_for(ids)
        return (Query(self.sql.by_id, {"ids": list(ids)}), posted)

    def waiting(self, id: UUID) -> tuple[Query, ...]:
        return (*super().waiting(id), Query(self.sql.hold_party, {"ids": [id]}))

    def locking_all(self, ids: Sequence[UUID]) -> tuple[Sequence[Query], Sequence[Query]]:
        """They move with what settles them and post nothing: what was posted is not read."""
        return (), (Query(self.sql.locked, {"ids": list(ids)}),)

    def assemble(self, answers: Answers) -> list[Document]:
        rows, *entries = answers
        if any(row["party_id"] is None for row in rows):
            raise StaleRow  # It got another party while its lock was waited for.
        self.numbers.note(rows)
        if entries:
            posted = posted_by_source(entries[0])
            found = [document_of(row, posted=posted.get(row["id"], ())) for row in rows]
        else:
            found = [document_of(row) for row in rows]
        self._loaded.update((each.id, each) for each in found)
        return found

    def shown(self, id: UUID) -> Fetch[DocumentRecord]:
        """Find one with what settles it; raises NotFound."""
        query = Query(self.sql.shown, {"ids": [id]})
        return self.fetch((query,), lambda answers: self.only([_record(row) for row in answers[0]]))

    async def read(self, id: UUID, *beside: Fetch[Any]) -> list[Any]:
        """Read one with what settles it, and what else is wanted of the same moment.

        Returns a DocumentRecord, then the answers of the others; raises NotFound.
        """
        if not self.scope.reads_in_steps:
            return await self.scope.fetch(self.shown(id), *beside)
        self.scope.pin_snapshot()
        document, *others = await self.scope.fetch(self._plainly(id), *beside)
        settlements = await self.settlements(id, kinds_of(document))
        return [DocumentRecord(document, settlements), *others]

    def _plainly(self, id: UUID) -> Fetch[Document]:
        """Find one without what settles it or was posted for it."""
        query = Query(self.sql.by_id, {"ids": [id]})
        return self.fetch((query,), lambda answers: self.only([*map(document_of, answers[0])]))

    def settlements(self, id: UUID, kinds: tuple[str, ...] = KINDS) -> Fetch[Settlements]:
        """Find what settles one, and what was given back of it, of some kinds; raises NotFound."""
        if not kinds:
            return self.fetch((), lambda _: Settlements())
        query = Query(self.sql.settlements(kinds), {"ids": [id]})

        def answer(answers: Answers) -> Settlements:
            if not answers[0]:
                raise not_found(self.noun)
            return take_settlements(answers[0][0])

        return self.fetch((query,), answer)

    def hold(self, id: UUID | None) -> Fetch[None]:
        """Hold one that a body names as an origin against deletion; ask it after all locks.

        Raises RuleBroken `reference_not_found` where it does not exist in this business.
        """
        if id is None:
            return self.fetch((), lambda _: None)

        def answer(answers: Answers) -> None:
            if not answers[0]:
                raise no_such_reference(self.noun, id)

        return self.fetch((Query(self.sql.hold, {"ids": [id]}),), answer)

    def page(self, wanted: PageRequest) -> Fetch[Page[Document]]:
        """List one page, without lines."""
        midnight = datetime.combine(self.scope.now, time.min, UTC)
        return self.listed(self.sql.listing, wanted, document_of, midnight=midnight)

    def save(self, value: Document) -> None:
        """Stage a document, or only what moved of it."""
        row = {name: getattr(value, name) for name in MOVED}
        row["id"] = value.id
        row["settled"] = split_rows(value.settled)
        row["returned"] = split_rows(value.returned)
        if not self._only_moved(value):
            row |= {name: getattr(value, name) for name in KEPT}
            row["party_id"] = value.party.id
            row["lines"] = [_line_row(line) for line in value.lines]
            self.numbers.keep_clear(value.id, value.number)
        self.scope.stage(self.table, value.id, row)

    def _only_moved(self, value: Document) -> bool:
        """Tell whether all else is as it was loaded; what was not changed is the same object."""
        loaded = self._loaded.get(value.id)
        return (
            loaded is not None
            and value.party is loaded.party
            and all(getattr(value, name) is getattr(loaded, name) for name in KEPT)
        )

    def delete(self, value: Document) -> None:
        """Stage the removal of a draft."""
        parameters = {"business_id": self.scope.business_id, "ids": [value.id]}
        self.scope.staging.follow_with(Query(self.sql.deletion, parameters))


def _record(row: Row) -> DocumentRecord:
    settlements = take_settlements(row)
    return DocumentRecord(document_of(row), settlements)


def document_of(row: Row, *, posted: tuple[Posted, ...] | None = None) -> Document:
    """Make a document of its row."""
    party = take_party(row)
    row["lines"] = tuple(_line(line) for line in row["lines"])
    row["settled"] = split_of(row["settled"])
    row["returned"] = split_of(row["returned"])
    row["reduced"] = line_shares_of(row["reduced"])
    row["transaction_tags"] = tuple(row["transaction_tags"])
    return Document(**row, party=party, posted=posted)


def _line_row(line: LineItem) -> Row:
    row = {item.name: getattr(line, item.name) for item in fields(line)}
    taxed = {**tax_rows(line), "tax_rate": rate_row(line.tax_rate)}
    return {**row, **taxed, "quantity": str(line.quantity)}


def _line(row: Row) -> LineItem:
    values = {
        **row,
        "id": UUID(row["id"]),
        "account_id": known_id(row["account_id"]),
        "quantity": Decimal(row["quantity"]),
        "tax_rate": rate_of(row["tax_rate"]),
        "tags": tuple(row["tags"]),
        **taxes_of(row),
        **ids_of(row, "tax_code_id", "withholding_code_id"),
    }
    return LineItem(**values)
