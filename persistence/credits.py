"""What a party may set against its documents, as it is stored, with its allocations."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, ClassVar
from uuid import UUID

from accounting.allocation import Allocation
from accounting.credits import Credit, CreditLine, applied
from accounting.documents import Document
from accounting.ledger import Posted
from persistence.allocations import AllocationRows, documents_by_id
from persistence.credit_statements import STORED, CreditStatements
from persistence.documents import split_of
from persistence.given_numbers import GivenNumbers
from persistence.journal import posted_by_source
from persistence.pages import Page, PageRequest
from persistence.party_statements import take_party
from persistence.questions import Answers, Question
from persistence.statements import Query, Row
from persistence.store import Store

if TYPE_CHECKING:
    from persistence.books import Books


@dataclass(frozen=True, slots=True)
class CreditRecord:
    """A credit with the documents it settles, by their ids and without their lines."""

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

    statements: ClassVar[CreditStatements]

    def __init__(self, books: "Books") -> None:
        super().__init__(books)
        self.numbers = GivenNumbers(books, self.statements.side.credit_series)
        self.allocations = AllocationRows(books, self.statements.allocations)

    def loading(self, ids: Sequence[UUID]) -> tuple[Query, ...]:
        return (
            Query(self.statements.by_id, {"ids": list(ids)}),
            self.allocations.loading(ids),
            self.books.journal.posted_for(ids),
        )

    def assemble(self, answers: Answers) -> list[Credit]:
        rows, allocations, entries = answers
        self.numbers.note(rows)
        posted, shares = posted_by_source(entries), self.allocations.read(allocations)
        return [
            _credit(row, shares.get(row["id"], ()), posted=posted.get(row["id"], ()))
            for row in rows
        ]

    def shown(self, id: UUID) -> Question[CreditRecord]:
        """Find one with the documents it settles; raises NotFound."""
        queries = (Query(self.statements.by_id, {"ids": [id]}), *self.allocations.around([id]))
        return self.ask(queries, lambda answers: self.only(self._records(answers[0], answers[1:])))

    def with_external_id(self, external_id: str | None) -> Question[CreditRecord | None]:
        """Find the credit a partner knows by its own identifier, with the documents it settles."""
        return self.by_external_id(
            external_id,
            self.statements.named,
            lambda answers: self._records(answers[0], answers[1:]),
        )

    async def records(self, wanted: PageRequest) -> Page[CreditRecord]:
        """List one page, each credit with the documents it settles."""
        around = self.allocations.around
        return await self.listed_whole(self.statements.listing, wanted, around, self._records)

    def save(self, value: Credit) -> None:
        """Stage a credit with its allocations."""
        row = {name: getattr(value, name) for name in STORED}
        row["party_id"] = value.party.id
        row["lines"] = [_line_row(line) for line in value.lines]
        row["applied"] = applied(value)
        self.numbers.keep_clear(value.id, value.number)
        self.books.stage(self.table, value.id, row)
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
    row["lines"] = tuple(_line(line) for line in row["lines"])
    row["settled"] = split_of(row["settled"])
    row["transaction_tags"] = tuple(row["transaction_tags"])
    return Credit(**row, party=party, allocations=allocations, posted=posted)


def _line_row(line: CreditLine) -> Row:
    return {item.name: getattr(line, item.name) for item in fields(line)}


def _line(row: Row) -> CreditLine:
    values = {
        **row,
        "id": UUID(row["id"]),
        "account_id": UUID(row["account_id"]),
        "tags": tuple(row["tags"]),
    }
    return CreditLine(**values)
