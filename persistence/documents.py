"""What is owed, as it is stored: one store for invoices and bills.

A subclass names its tables; statements, filters and shapes of rows are the same for both sides.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from decimal import Decimal
from typing import TYPE_CHECKING, Any, ClassVar
from uuid import UUID

from accounting.documents import Document, LineItem, Tax
from accounting.ledger import Posted
from accounting.splits import Split
from persistence.document_shares import Shares, take_shares
from persistence.document_statements import STORED, DocumentStatements
from persistence.given_numbers import GivenNumbers
from persistence.identifiers import account_id
from persistence.journal import posted_by_source
from persistence.pages import Page, PageRequest
from persistence.party_statements import take_party
from persistence.questions import Answers, Question
from persistence.statements import Query, Row
from persistence.store import Store, no_such_reference, not_found

if TYPE_CHECKING:
    from persistence.books import Books


@dataclass(frozen=True, slots=True)
class DocumentRecord:
    """A document with what settles it and what was given back of it."""

    document: Document
    shares: Shares

    @property
    def id(self) -> UUID:
        return self.document.id

    @property
    def version(self) -> int:
        return self.document.version


class DocumentStore(Store[Document]):
    """The documents of one side in one business."""

    statements: ClassVar[DocumentStatements]

    def __init__(self, books: "Books") -> None:
        super().__init__(books)
        self.numbers = GivenNumbers(books, self.statements.side.series)

    def loading(self, ids: Sequence[UUID]) -> tuple[Query, ...]:
        posted = self.books.journal.posted_for(ids)
        return (Query(self.statements.by_id, {"ids": list(ids)}), posted)

    def waiting(self, id: UUID) -> tuple[Query, ...]:
        return (*super().waiting(id), Query(self.statements.hold_party, {"ids": [id]}))

    def assemble(self, answers: Answers) -> list[Document]:
        rows, entries = answers
        posted = posted_by_source(entries)
        self.numbers.note(rows)
        return [document_of(row, posted=posted.get(row["id"], ())) for row in rows]

    def shown(self, id: UUID) -> Question[DocumentRecord]:
        """Find one with what settles it; raises NotFound."""
        query = Query(self.statements.shown, {"ids": [id]})
        return self.ask((query,), lambda answers: self.only([_record(row) for row in answers[0]]))

    def shares(self, id: UUID) -> Question[Shares]:
        """Find what settles one that is locked, and what was given back of it; raises NotFound."""
        query = Query(self.statements.shares, {"ids": [id]})

        def answer(answers: Answers) -> Shares:
            if not answers[0]:
                raise not_found(self.noun)
            return take_shares(answers[0][0])

        return self.ask((query,), answer)

    def hold(self, id: UUID | None) -> Question[None]:
        """Hold one that a body names as an origin against deletion; ask it after all locks.

        Raises RuleBroken `reference_not_found` where it does not exist in this business.
        """
        if id is None:
            return self.ask((), lambda _: None)

        def answer(answers: Answers) -> None:
            if not answers[0]:
                raise no_such_reference(self.noun, id)

        return self.ask((Query(self.statements.hold, {"ids": [id]}),), answer)

    def with_external_id(self, external_id: str | None) -> Question[DocumentRecord | None]:
        """Find the document a partner knows by its own identifier."""
        return self.by_external_id(
            external_id,
            [self.statements.by_external_id],
            lambda answers: [_record(row) for row in answers[0]],
        )

    def page(self, wanted: PageRequest) -> Question[Page[Document]]:
        """List one page, without lines."""
        today = self.books.now.date()
        return self.listed(self.statements.listing, wanted, document_of, today=today)

    def save(self, value: Document) -> None:
        """Stage a document."""
        row = {name: getattr(value, name) for name in STORED}
        row["party_id"] = value.party.id
        self.numbers.keep_clear(value.id, value.number)
        row["lines"] = [_line_row(line) for line in value.lines]
        self.books.stage(self.table, value.id, row)

    def delete(self, value: Document) -> None:
        """Stage the removal of a draft."""
        parameters = {"business_id": self.books.business_id, "ids": [value.id]}
        self.books.staging.follow_with(Query(self.statements.deletion, parameters))


def _record(row: Row) -> DocumentRecord:
    shares = take_shares(row)
    return DocumentRecord(document_of(row), shares)


def document_of(row: Row, *, posted: tuple[Posted, ...] = ()) -> Document:
    """Make a document of its row."""
    party = take_party(row)
    row["lines"] = tuple(_line(line) for line in row["lines"])
    row["settled"] = split_of(row["settled"])
    row["returned"] = split_of(row["returned"])
    row["transaction_tags"] = tuple(row["transaction_tags"])
    return Document(**row, party=party, posted=posted)


def split_of(pairs: list[Any]) -> Split:
    """Read a split from its JSON."""
    return tuple((account_id(account), amount) for account, amount in pairs)


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
        "account_id": account_id(row["account_id"]),
        "quantity": Decimal(row["quantity"]),
        "tax_rate": None if row["tax_rate"] is None else Decimal(row["tax_rate"]),
        "taxes": tuple(Tax(amount, account_id(account)) for amount, account in row["taxes"]),
        "tags": tuple(row["tags"]),
    }
    return LineItem(**values)
