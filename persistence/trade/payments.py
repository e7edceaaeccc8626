"""Stored payments, with the history of their allocations."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, ClassVar
from uuid import UUID

from accounting.books.ledger import Posted
from accounting.books.spans import Span
from accounting.trade.allocation import Allocation
from accounting.trade.documents import Document
from accounting.trade.payments import Payment, allocated, applied, live_allocations
from accounting.trade.refunds_by_payment import RefundShare
from persistence.engine.fetches import Answers, Fetch
from persistence.engine.pages import Page, PageRequest
from persistence.engine.scope import Scope
from persistence.engine.sql import Query, Row
from persistence.ledger.posted_entries import posted_by_source, posted_for
from persistence.store import Store
from persistence.trade.allocations import AllocationRows, documents_by_id
from persistence.trade.linked_lines import Lines, linked_of, reading_lines
from persistence.trade.party_sql import take_party
from persistence.trade.payment_sql import STORED, PaymentSql
from persistence.trade.refunds_by_payment import refunded_of


@dataclass(frozen=True, slots=True)
class PaidOutIn:
    """A summary of a payout, as shown on the payments that it contains."""

    id: UUID
    external_id: str | None
    processor: str
    processor_payout_id: str | None
    status: str
    completed_at: datetime | None
    paid_out: int


@dataclass(frozen=True, slots=True)
class PaymentRecord:
    """A payment with the documents to which it is allocated and its shares of refunds.

    `lines` are the bank lines linked with it; `payout` is the payout that contains it.
    """

    payment: Payment
    documents: dict[UUID, Document]
    refunds: tuple[RefundShare, ...]
    lines: Lines = ()
    payout: PaidOutIn | None = None

    @property
    def id(self) -> UUID:
        return self.payment.id

    @property
    def version(self) -> int:
        return self.payment.version


class PaymentStore(Store[Payment]):
    """The payments of one side in one business."""

    sql: ClassVar[PaymentSql]

    def __init__(self, scope: Scope) -> None:
        super().__init__(scope)
        self.allocations = AllocationRows(scope, self.sql.allocations)

    def loading(self, ids: Sequence[UUID]) -> tuple[Query, ...]:
        return (
            Query(self.sql.by_id, {"ids": list(ids)}),
            self.allocations.loading(ids),
            posted_for(ids),
        )

    def assemble(self, answers: Answers) -> list[Payment]:
        rows, allocations, entries = answers
        posted, shares = posted_by_source(entries), self.allocations.read(allocations)
        return [
            payment_of(row, shares.get(row["id"], ()), posted=posted.get(row["id"], ()))
            for row in rows
        ]

    def shown(self, id: UUID) -> Fetch[PaymentRecord]:
        """Load a payment with its documents and refunds; raises NotFound."""
        queries = (Query(self.sql.by_id, {"ids": [id]}), *self._around([id]))
        return self.fetch(
            queries, lambda answers: self.only(self._records(answers[0], answers[1:]))
        )

    def refunds_of(
        self, payment: Payment, documents: Mapping[UUID, Document]
    ) -> Fetch[tuple[RefundShare, ...]]:
        """Load the refund shares of a payment that is about to be saved.

        The payment and its documents are locked; `documents` are as they will be saved.
        """
        affected = [each.document_id for each in live_allocations(payment)]
        refunded = [id_ for id_ in affected if documents[id_].refunded]
        if not refunded and not payment.refunded:
            return self.fetch((), lambda _: ())
        chosen = {"payments": [payment.id], "documents": refunded}
        query = Query(self.sql.refunded.of_documents, chosen)
        return self.fetch((query,), lambda answers: refunded_of(answers[0]).of(payment))

    def payout_of(self, payment: Payment) -> Fetch[PaidOutIn | None]:
        """Load the payout that contains a payment, or None."""
        if payment.payout_id is None:
            return self.fetch((), lambda _: None)
        query = Query(self.sql.payouts, {"ids": [payment.id]})
        return self.fetch((query,), lambda answers: _payouts(answers[0]).get(payment.id))

    async def records(self, wanted: PageRequest) -> Page[PaymentRecord]:
        """List one page of payments, each with its documents and refunds."""
        listing = self.sql.listing
        return await self.listed_whole(listing, wanted, self._around, self._records)

    def save(self, value: Payment) -> None:
        """Stage a payment with its allocations."""
        row = {name: getattr(value, name) for name in STORED}
        row["party_id"] = value.party.id
        row["allocated"] = allocated(value)
        row["applied"] = applied(value)
        row["completions"] = span_rows(value.completions)
        self.scope.stage(self.table, value.id, row)
        self.allocations.save(value.id, value.allocations)

    def _around(self, ids: Sequence[UUID]) -> tuple[Query, ...]:
        refunded = Query(self.sql.refunded.of_payments, {"payments": list(ids)})
        held = (Query(self.sql.payouts, {"ids": list(ids)}),) if self.sql.payout is not None else ()
        return (*self.allocations.around(ids), refunded, reading_lines(ids), *held)

    def _records(self, rows: list[Row], around: Answers) -> list[PaymentRecord]:
        if not rows:
            return []
        allocations, documents, refunds, lines, *held = around
        shares, settled = self.allocations.read(allocations), documents_by_id(documents)
        refunded, linked, records = refunded_of(refunds), linked_of(lines), []
        payouts = _payouts(*held)
        for row in rows:
            payment = payment_of(row, shares.get(row["id"], ()))
            held_by = linked.get(payment.id, ()), payouts.get(payment.id)
            records.append(PaymentRecord(payment, settled, refunded.of(payment), *held_by))
        return records


def payment_of(
    row: Row, allocations: tuple[Allocation, ...] = (), *, posted: tuple[Posted, ...] = ()
) -> Payment:
    """Make a payment from its row."""
    party = take_party(row)
    row["transaction_tags"] = tuple(row["transaction_tags"])
    row["completions"] = spans_of(row["completions"])
    return Payment(**row, party=party, allocations=allocations, posted=posted)


def _payouts(rows: Iterable[Row] = ()) -> dict[UUID, PaidOutIn]:
    return {row.pop("payment_id"): PaidOutIn(**row) for row in rows}


def span_rows(spans: tuple[Span, ...]) -> list[Any]:
    """Serialize spans as JSON."""
    return [[span.start, span.end] for span in spans]


def spans_of(pairs: list[Any]) -> tuple[Span, ...]:
    """Parse spans from JSON."""
    return tuple(_span(*pair) for pair in pairs)


def _span(start: str | None, end: str | None) -> Span:
    return Span(
        date.fromisoformat(start) if start else None, date.fromisoformat(end) if end else None
    )
