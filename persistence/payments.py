"""Money that came in or went out, as it is stored, with the history of its allocations."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, ClassVar
from uuid import UUID

from accounting.allocation import Allocation, Span
from accounting.documents import Document
from accounting.payments import Payment, allocated, applied
from persistence.documents import (
    document_of,
    take_party,
)
from persistence.journal import posted_by_source
from persistence.pages import Page, PageRequest
from persistence.payment_statements import STORED, PaymentStatements
from persistence.statements import Query, Row
from persistence.store import Store
from persistence.wire import Answers, Question


@dataclass(frozen=True, slots=True)
class PaymentRecord:
    """A payment with the documents it is allocated to."""

    payment: Payment
    documents: dict[UUID, Document]

    @property
    def id(self) -> UUID:
        return self.payment.id

    @property
    def version(self) -> int:
        return self.payment.version


class PaymentStore(Store[Payment]):
    """The payments of one side in one business."""

    statements: ClassVar[PaymentStatements]

    def loading(self, ids: Sequence[UUID]) -> tuple[Query, ...]:
        return (
            Query(self.statements.by_id, {"ids": list(ids)}),
            Query(self.statements.allocations, {"payments": list(ids)}),
            self.books.journal.posted_for(ids),
        )

    def assemble(self, answers: Answers) -> list[Payment]:
        rows, allocations, entries = answers
        posted, shares = posted_by_source(entries), self._allocations(allocations)
        return [
            _payment(row, shares.get(row["id"], ()), posted=posted.get(row["id"], ()))
            for row in rows
        ]

    def shown(self, id: UUID) -> Question[PaymentRecord]:
        """Find one with the documents it is allocated to; raises NotFound."""
        queries = (Query(self.statements.by_id, {"ids": [id]}), *self._around([id]))
        return self.ask(queries, lambda answers: self.only(self._records(answers)))

    def with_external_id(self, external_id: str | None) -> Question[UUID | None]:
        """Find the id of the payment a partner knows by its own identifier."""
        if external_id is None:
            return self.ask((), lambda _: None)
        query = Query(self.statements.by_external_id, {"external_id": external_id})
        return self.ask((query,), lambda a: a[0][0]["id"] if a[0] else None)

    async def records(self, wanted: PageRequest) -> Page[PaymentRecord]:
        """List one page, each payment with the documents it is allocated to."""
        self.books.hold_still()
        page = await self.listed(self.statements.listing, wanted, lambda row: row)
        if not page.rows:
            return page.of(lambda row: self._record(row, {}, {}))
        ids = [row["id"] for row in page.rows]
        return await self.ask(self._around(ids), lambda answers: self._page(page, answers))

    def save(self, value: Payment) -> None:
        """Stage a payment with its allocations."""
        row = {name: getattr(value, name) for name in STORED}
        row["party_id"] = value.party.id
        row["allocated"] = allocated(value)
        row["applied"] = applied(value)
        row["completions"] = [[span.start, span.end] for span in value.completions]
        self.books.stage(self.table, value.id, row)
        for share in value.allocations:
            self.books.stage(self.statements.allocation, share.id, _allocation_row(value.id, share))

    def _around(self, ids: list[UUID]) -> tuple[Query, ...]:
        return (
            Query(self.statements.allocations, {"payments": ids}),
            Query(self.statements.settled, {"payments": ids}),
        )

    def _records(self, answers: Answers) -> list[PaymentRecord]:
        rows, allocations, documents = answers
        shares, settled = self._allocations(allocations), _documents(documents)
        return [self._record(row, shares, settled) for row in rows]

    def _page(self, page: Page[Row], answers: Answers) -> Page[PaymentRecord]:
        allocations, documents = answers
        shares, settled = self._allocations(allocations), _documents(documents)
        return page.of(lambda row: self._record(row, shares, settled))

    def _record(
        self,
        row: Row,
        shares: dict[UUID, tuple[Allocation, ...]],
        documents: dict[UUID, Document],
    ) -> PaymentRecord:
        return PaymentRecord(_payment(row, shares.get(row["id"], ()), posted=()), documents)

    def _allocations(self, rows: list[Row]) -> dict[UUID, tuple[Allocation, ...]]:
        found: dict[UUID, list[Allocation]] = defaultdict(list)
        for row in rows:
            share = Allocation(
                id=row["id"],
                document_id=row["document_id"],
                amount=row["amount"],
                document_date=row["document_date"],
                start=row["start_on"],
                end=row["end_on"],
                split=tuple((UUID(account), amount) for account, amount in row["split"]),
            )
            self.books.saw_version(share.id, row["version"])
            found[row["payment_id"]].append(share)
        return {payment: tuple(shares) for payment, shares in found.items()}


def _documents(rows: list[Row]) -> dict[UUID, Document]:
    return {row["id"]: document_of(row) for row in rows}


def _payment(row: Row, allocations: tuple[Allocation, ...], *, posted: Any) -> Payment:
    party = take_party(row)
    row["transaction_tags"] = tuple(row["transaction_tags"])
    row["completions"] = tuple(_span(*span) for span in row["completions"])
    return Payment(**row, party=party, allocations=allocations, posted=posted)


def _span(start: str | None, end: str | None) -> Span:
    return Span(
        date.fromisoformat(start) if start else None, date.fromisoformat(end) if end else None
    )


def _allocation_row(payment_id: UUID, share: Allocation) -> Row:
    return {
        "id": share.id,
        "payment_id": payment_id,
        "document_id": share.document_id,
        "amount": share.amount,
        "start_on": share.start,
        "end_on": share.end,
        "split": share.split,
    }
