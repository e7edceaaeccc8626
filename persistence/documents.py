"""What is owed, as it is stored: one store for invoices now and bills later.

A subclass names its tables; statements, filters and shapes of rows are the same for both sides.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from datetime import date
from decimal import Decimal
from typing import TYPE_CHECKING, ClassVar
from uuid import UUID

from accounting.documents import Document, LineItem, Tax
from accounting.ledger import Posted
from accounting.numbers import given_in
from accounting.parties import Party
from persistence.document_statements import PARTY, STORED, DocumentStatements
from persistence.journal import posted_by_source
from persistence.pages import Page, PageRequest
from persistence.statements import Query, Row
from persistence.store import Store
from persistence.wire import Answers, Question

if TYPE_CHECKING:
    from persistence.books import Books


@dataclass(frozen=True, slots=True)
class PaymentShare:
    """What one payment settles of a document, in minor units."""

    payment_id: UUID
    payment_date: date
    payment_method: str
    amount_cents: int


@dataclass(frozen=True, slots=True)
class DocumentRecord:
    """A document with the payments that are allocated to it."""

    document: Document
    payments: tuple[PaymentShare, ...]

    @property
    def id(self) -> UUID:
        return self.document.id

    @property
    def version(self) -> int:
        return self.document.version


def take_party(row: Row) -> Party:
    """Take the party's columns out of a row."""
    return Party(**{name: row.pop(f"party_{name}") for name in PARTY})


class DocumentStore(Store[Document]):
    """The documents of one side in one business."""

    statements: ClassVar[DocumentStatements]
    series: ClassVar[str]

    def __init__(self, books: "Books") -> None:
        super().__init__(books)
        self._numbers: dict[UUID, str | None] = {}  # As they were loaded.

    def loading(self, ids: Sequence[UUID]) -> tuple[Query, ...]:
        posted = self.books.journal.posted_for(ids)
        return (Query(self.statements.by_id, {"ids": list(ids)}), posted)

    def waiting(self, id: UUID) -> tuple[Query, ...]:
        return (*super().waiting(id), Query(self.statements.hold_party, {"ids": [id]}))

    def assemble(self, answers: Answers) -> list[Document]:
        rows, entries = answers
        posted = posted_by_source(entries)
        self._numbers.update((row["id"], row["number"]) for row in rows)
        return [document_of(row, posted=posted.get(row["id"], ())) for row in rows]

    def shown(self, id: UUID) -> Question[DocumentRecord]:
        """Find one with the payments allocated to it; raises NotFound."""
        query = Query(self.statements.shown, {"ids": [id]})
        return self.ask((query,), lambda answers: self.only([_record(row) for row in answers[0]]))

    def with_external_id(self, external_id: str | None) -> Question[DocumentRecord | None]:
        """Find the document a partner knows by its own identifier."""
        if external_id is None:
            return self.ask((), lambda _: None)
        query = Query(self.statements.by_external_id, {"external_id": external_id})

        def answer(answers: Answers) -> DocumentRecord | None:
            found = [_record(row) for row in answers[0]]
            for record in found:
                self.books.saw(record)
            return found[0] if found else None

        return self.ask((query,), answer)

    def page(self, wanted: PageRequest) -> Question[Page[Document]]:
        """List one page, without lines."""
        today = self.books.now.date()
        return self.listed(self.statements.listing, wanted, document_of, today=today)

    def save(self, value: Document) -> None:
        """Stage a document."""
        row = {name: getattr(value, name) for name in STORED}
        row["party_id"] = value.party.id
        if isinstance(value.number, str) and self._numbers.get(value.id) != value.number:
            given_place = given_in(self.series, value.number)
            if given_place is not None:  # Numbers given out later must not meet this one.
                self.books.staging.raise_series(self.series, given_place)
        row["lines"] = [_line_row(line) for line in value.lines]
        row["settled"] = value.settled
        self.books.stage(self.table, value.id, row)

    def delete(self, value: Document) -> None:
        """Stage the removal of a draft."""
        parameters = {"business_id": self.books.business_id, "ids": [value.id]}
        self.books.staging.follow_with(Query(self.statements.deletion, parameters))


def _record(row: Row) -> DocumentRecord:
    shares = tuple(
        PaymentShare(UUID(payment), date.fromisoformat(on), method, amount)
        for payment, on, method, amount in row.pop("payments") or ()
    )
    return DocumentRecord(document_of(row), shares)


def document_of(row: Row, *, posted: tuple[Posted, ...] = ()) -> Document:
    """Make a document of its row."""
    party = take_party(row)
    row["lines"] = tuple(_line(line) for line in row["lines"])
    row["settled"] = tuple((UUID(account), amount) for account, amount in row["settled"])
    row["transaction_tags"] = tuple(row["transaction_tags"])
    return Document(**row, party=party, posted=posted)


def _line_row(line: LineItem) -> Row:
    row = {item.name: getattr(line, item.name) for item in fields(line)}
    row["quantity"] = str(line.quantity)
    row["tax_rate"] = None if line.tax_rate is None else str(line.tax_rate)
    row["taxes"] = [[tax.amount, tax.account_id] for tax in line.taxes]
    return row


def _line(row: Row) -> LineItem:
    values = {
        **row,
        "id": UUID(row["id"]),
        "account_id": UUID(row["account_id"]),
        "quantity": Decimal(row["quantity"]),
        "tax_rate": None if row["tax_rate"] is None else Decimal(row["tax_rate"]),
        "taxes": tuple(Tax(amount, UUID(account)) for amount, account in row["taxes"]),
        "tags": tuple(row["tags"]),
    }
    return LineItem(**values)
