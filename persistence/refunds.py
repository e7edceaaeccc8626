"""What is given back, as it is stored: refunds, what they give back of, and their payments."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, TypeVar
from uuid import UUID

from accounting.documents import Document
from accounting.refunds import Refund, RefundAllocation, RefundPayment
from persistence.documents import document_of, split_of, take_party
from persistence.journal import posted_by_source
from persistence.pages import Page, PageRequest
from persistence.payments import span_rows, spans_of
from persistence.refund_statements import (
    PAYMENT_STORED,
    STORED,
    RefundPaymentStatements,
    RefundStatements,
    WholeRefunds,
)
from persistence.statements import Query, Row
from persistence.store import Store, not_found
from persistence.wire import Answers, Question

T = TypeVar("T")
Allocations = dict[UUID, tuple[RefundAllocation, ...]]
Payments = dict[UUID, tuple[RefundPayment, ...]]


@dataclass(frozen=True, slots=True)
class RefundTarget:
    """What a refund gives back of: one of the two."""

    document_id: UUID | None
    payment_id: UUID | None


@dataclass(frozen=True, slots=True)
class RefundRecord:
    """A refund with its payments, oldest first, and the documents it gives back of.

    The documents come without their lines.
    """

    refund: Refund
    payments: tuple[RefundPayment, ...]
    documents: dict[UUID, Document]

    @property
    def id(self) -> UUID:
        return self.refund.id

    @property
    def version(self) -> int:
        return self.refund.version


class RefundStore(Store[Refund]):
    """The refunds of one side in one business."""

    statements: ClassVar[RefundStatements]

    def loading(self, ids: Sequence[UUID]) -> tuple[Query, ...]:
        return (
            Query(self.statements.by_id, {"ids": list(ids)}),
            Query(self.statements.allocations, {"ids": list(ids)}),
            self.books.journal.posted_for(ids),
        )

    def assemble(self, answers: Answers) -> list[Refund]:
        rows, allocations, entries = answers
        posted, given = posted_by_source(entries), self._allocations(allocations)
        return [
            _refund(row, given.get(row["id"], ()), posted=posted.get(row["id"], ())) for row in rows
        ]

    def target_of(self, id: UUID) -> Question[RefundTarget]:
        """Find what a refund gives back of, without locking anything; raises NotFound.

        It never changes; so what is found can be locked first, and the refund after it.
        """

        def answer(answers: Answers) -> RefundTarget:
            if not answers[0]:
                raise not_found(self.noun)
            [row] = answers[0]
            return RefundTarget(**row)

        return self.ask((Query(self.statements.targets, {"ids": [id]}),), answer)

    def shown(self, id: UUID) -> Question[RefundRecord]:
        """Find one with its payments and documents; raises NotFound."""
        queries = _whole(self.statements.shown, {"ids": [id]})
        return self.ask(queries, lambda answers: self.only(self._records(answers[0], answers[1:])))

    def with_external_id(self, external_id: str | None) -> Question[RefundRecord | None]:
        """Find the refund a partner knows by its own identifier."""
        if external_id is None:
            return self.ask((), lambda _: None)
        queries = _whole(self.statements.with_external_id, {"external_id": external_id})

        def answer(answers: Answers) -> RefundRecord | None:
            found = self._records(answers[0], answers[1:])
            return self.only(found) if found else None

        return self.ask(queries, answer)

    async def records(self, wanted: PageRequest) -> Page[RefundRecord]:
        """List one page, each refund with its payments and documents."""
        self.books.hold_still()
        page = await self.listed(self.statements.listing, wanted, lambda row: row)
        _, *around = _whole(self.statements.shown, {"ids": [row["id"] for row in page.rows]})
        records: list[RefundRecord] = await self.ask(
            around if page.rows else (), lambda answers: self._records(page.rows, answers)
        )
        return Page(records, page.total, page.wanted, page.next_cursor)

    def save(self, value: Refund) -> None:
        """Stage a refund with what it gives back."""
        row = {name: getattr(value, name) for name in STORED}
        row["party_id"] = value.party.id
        self.books.stage(self.table, value.id, row)
        for each in value.allocations:
            self.books.stage(self.statements.allocation, each.id, _allocation_row(value.id, each))

    def _records(self, rows: list[Row], around: Answers) -> list[RefundRecord]:
        if not rows:
            return []
        given, documents, paying = around
        allocations, payments = self._allocations(given), _by_refund(paying)
        known = {row["id"]: document_of(row) for row in documents}
        records = []
        for row in rows:
            refund = _refund(row, allocations.get(row["id"], ()))
            touched = {each.target_id for each in refund.allocations} & known.keys()
            own = {id_: known[id_] for id_ in touched}
            records.append(RefundRecord(refund, payments.get(refund.id, ()), own))
        return records

    def _allocations(self, rows: list[Row]) -> Allocations:
        found: dict[UUID, list[RefundAllocation]] = defaultdict(list)
        for row in rows:
            kind, target_id = _target(row)
            each = RefundAllocation(
                id=row["id"],
                kind=kind,
                target_id=target_id,
                target_number=row["target_number"],
                amount=row["amount"],
                split=split_of(row["split"]),
                start=row["start_on"],
                end=row["end_on"],
                version=row["version"],
            )
            self.books.saw_version(each.id, each.version)
            found[row["refund_id"]].append(each)
        return {refund: tuple(given) for refund, given in found.items()}


class RefundPaymentStore(Store[RefundPayment]):
    """The payments of the refunds of one side in one business."""

    statements: ClassVar[RefundPaymentStatements]
    refund_noun: ClassVar[str]

    def loading(self, ids: Sequence[UUID]) -> tuple[Query, ...]:
        return (
            Query(self.statements.by_id, {"ids": list(ids)}),
            self.books.journal.posted_for(ids),
        )

    def assemble(self, answers: Answers) -> list[RefundPayment]:
        rows, entries = answers
        posted = posted_by_source(entries)
        return [_refund_payment(row, posted=posted.get(row["id"], ())) for row in rows]

    def of(self, refund_id: UUID, id: UUID) -> Question[RefundPayment]:
        """Find one payment of a refund; raises NotFound, also for a payment of another refund."""
        found = self.ask(
            self.loading([id]), lambda answers: self._within(refund_id, self.assemble(answers))
        )
        return self._under(refund_id, found)

    def lock_of(self, refund_id: UUID, id: UUID) -> Question[RefundPayment]:
        """Lock one payment of a refund, then read it; raises NotFound, and Stale as `lock` does."""
        self.books.note_locks(self.rank, [id])
        waiting = self.waiting(id)

        def answer(answers: Answers) -> RefundPayment:
            payment = self._within(refund_id, self.assemble(answers[len(waiting) :]))
            self.books.check_precondition(payment)
            return payment

        return self.ask((*waiting, *self.loading([id])), answer)

    def with_external_id(self, external_id: str | None) -> Question[RefundPayment | None]:
        """Find the refund payment, of any refund, that a partner knows by its own identifier."""
        if external_id is None:
            return self.ask((), lambda _: None)
        query = Query(self.statements.by_external_id, {"external_id": external_id})
        return self.ask(
            (query,), lambda a: next(iter(self.seen([_refund_payment(row) for row in a[0]])), None)
        )

    def page(self, refund_id: UUID, wanted: PageRequest) -> Question[Page[RefundPayment]]:
        """List one page of a refund's payments; raises NotFound where there is no such refund."""
        page = self.listed(self.statements.listing, wanted, _refund_payment, refund_id=refund_id)
        return self._under(refund_id, page)

    def save(self, value: RefundPayment) -> None:
        """Stage a payment of a refund."""
        row = {name: getattr(value, name) for name in PAYMENT_STORED}
        row["completions"] = span_rows(value.completions)
        self.books.stage(self.table, value.id, row)

    def _under(self, refund_id: UUID, asked: Question[T]) -> Question[T]:
        """Ask about a refund that a path names; raises NotFound for the refund before all else."""
        known = Query(self.statements.refund_known, {"ids": [refund_id]})

        def answer(answers: Answers) -> T:
            if not answers[0]:
                raise not_found(self.refund_noun)
            return asked.answer(answers[1:])

        return self.ask((known, *asked.queries), answer)

    def _within(self, refund_id: UUID, found: list[RefundPayment]) -> RefundPayment:
        return self.only([each for each in found if each.refund_id == refund_id])


def _whole(statements: WholeRefunds, chosen: Row) -> tuple[Query, ...]:
    texts = statements.refunds, statements.allocations, statements.documents, statements.payments
    return tuple(Query(text, chosen) for text in texts)


def _target(row: Row) -> tuple[Literal["document", "payment"], UUID]:
    if row["document_id"] is not None:
        return "document", row["document_id"]
    return "payment", row["payment_id"]


def _refund(row: Row, allocations: tuple[RefundAllocation, ...], *, posted: Any = ()) -> Refund:
    party = take_party(row)
    row["settled"] = split_of(row["settled"])
    return Refund(**row, party=party, allocations=allocations, posted=posted)


def _refund_payment(row: Row, *, posted: Any = ()) -> RefundPayment:
    party = take_party(row)
    row["completions"] = spans_of(row["completions"])
    row["split"] = split_of(row["split"])
    return RefundPayment(**row, party=party, posted=posted)


def _by_refund(rows: list[Row]) -> Payments:
    found: dict[UUID, list[RefundPayment]] = defaultdict(list)
    for row in rows:
        payment = _refund_payment(row)
        found[payment.refund_id].append(payment)
    return {refund: tuple(payments) for refund, payments in found.items()}


def _allocation_row(refund_id: UUID, each: RefundAllocation) -> Row:
    targets = {"document_id": None, "payment_id": None, f"{each.kind}_id": each.target_id}
    return {
        "id": each.id,
        "refund_id": refund_id,
        **targets,
        "amount": each.amount,
        "split": each.split,
        "start_on": each.start,
        "end_on": each.end,
    }
