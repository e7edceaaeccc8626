"""Stored refunds with their allocations."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Generic, TypeVar
from uuid import UUID

from accounting.books.ledger import PostedEntry
from accounting.trade.documents import Document
from accounting.trade.refunds import (
    InvoiceRefund,
    Kind,
    Refund,
    RefundAllocation,
    RefundPayment,
    ReleasedAllocation,
    SplitByTarget,
    VendorRefundPayment,
)
from persistence.engine.pages import Page, PageRequest
from persistence.engine.sql import Answers, Fetch, Query, Row
from persistence.ledger.posted_entries import by_source_alone, posted_by_source, posted_for
from persistence.ledger.split_rows import line_shares_of, split_of, split_rows
from persistence.store import Record, Store, not_found
from persistence.trade.documents import document_of
from persistence.trade.linked_lines import Linked, linked_of
from persistence.trade.money_banks import take_bank
from persistence.trade.party_columns import take_party
from persistence.trade.payments import span_rows, spans_of
from persistence.trade.refund_sql import RefundPaymentSql, RefundSql
from persistence.trade.worth_columns import money_row, take_money

R = TypeVar("R", bound=Refund)
P = TypeVar("P", bound=RefundPayment)
Allocations = dict[UUID, tuple[RefundAllocation, ...]]

TARGETS: dict[str, Kind] = {
    "document_id": "document",
    "payment_id": "payment",
    "credit_id": "credit",
    "refunded_credit_id": "refunded_credit",
}
"""The columns with the target of an allocation, by kind; exactly one of them is filled."""


@dataclass(frozen=True, slots=True)
class RefundTarget:
    """The target of a refund; exactly one of the ids is set."""

    document_id: UUID | None
    payment_id: UUID | None
    refunded_credit_id: UUID | None


@dataclass(frozen=True, slots=True)
class RefundRecord(Record, Generic[R, P]):
    """A refund with its payments, oldest first, and the refunded documents.

    The documents have no lines. `linked` holds the bank lines of the payments.
    """

    refund: R
    payments: tuple[P, ...]
    documents: dict[UUID, Document]
    linked: Linked = field(default_factory=dict)

    @property
    def stored(self) -> R:
        return self.refund


class RefundStore(Store[R], Generic[R, P]):
    """The refunds of one side in one business."""

    sql: ClassVar[RefundSql]

    def loading(self, ids: Sequence[UUID]) -> tuple[Query, ...]:
        return (
            Query(self.sql.by_id, {"ids": list(ids)}),
            Query(self.sql.allocations, {"ids": list(ids)}),
            posted_for(ids),
        )

    def assemble(self, answers: Answers) -> list[R]:
        rows, allocations, entries = answers
        posted, given = posted_by_source(entries), self._allocations(allocations)
        return [
            self._refund(row, given.get(row["id"], ()), posted=posted.get(row["id"], ()))
            for row in rows
        ]

    def target_of(self, id: UUID) -> Fetch[RefundTarget]:
        """Load the target of a refund, without a lock; raises NotFound.

        The target never changes, so the caller can lock the target first and then the refund.
        """

        def answer(answers: Answers) -> RefundTarget:
            if not answers[0]:
                raise not_found(self.noun)
            [row] = answers[0]
            return RefundTarget(**row)

        return self.fetch((Query(self.sql.targets, {"ids": [id]}),), answer)

    def shown(self, id: UUID) -> Fetch[RefundRecord[R, P]]:
        """Load a refund with its payments and documents; raises NotFound."""
        queries = [Query(text, {"ids": [id]}) for text in self.sql.shown]
        return self.fetch(
            queries, lambda answers: self.only(self._records(answers[0], answers[1:]))
        )

    def with_payment(self, payment_id: UUID, noun: str) -> Fetch[RefundRecord[R, P]]:
        """Load the refund to which a payment belongs; raises NotFound for `noun`, the payment."""
        queries = [Query(text, {"ids": [payment_id]}) for text in self.sql.with_payment]

        def answer(answers: Answers) -> RefundRecord[R, P]:
            found = self._records(answers[0], answers[1:])
            if not found:
                raise not_found(noun)
            return self.only(found)

        return self.fetch(queries, answer)

    async def records(self, wanted: PageRequest) -> Page[RefundRecord[R, P]]:
        """List one page of refunds, each with its payments and documents."""

        def around(ids: list[UUID]) -> list[Query]:
            return [Query(text, {"ids": ids}) for text in self.sql.shown[1:]]

        return await self.listed_whole(self.sql.listing, wanted, around, self._records)

    def save(self, value: R) -> None:
        """Stage a refund with its allocations."""
        row = {name: getattr(value, name) for name in self.sql.stored}
        row["is_foreign"] = value.is_foreign or None
        row["party_id"] = value.party.id
        row["settled"] = split_rows(value.settled)
        if isinstance(value, InvoiceRefund):
            row["bank_account_id"] = value.bank and value.bank.id
        self.scope.stage(self.table, value, row)
        for each in value.allocations:
            row = self._allocation_row(value.id, each)
            self.scope.stage_part(self.sql.allocation, each.id, row)

    def _records(self, rows: list[Row], around: Answers) -> list[RefundRecord[R, P]]:
        if not rows:
            return []
        given, documents, paying, lines = around
        allocations, payments = self._allocations(given), self._payments(paying)
        known = {row["id"]: document_of(row) for row in documents}
        linked = linked_of(lines)
        records = []
        for row in rows:
            refund = self._refund(row, allocations.get(row["id"], ()))
            affected = {each.target_id for each in refund.allocations} & known.keys()
            own = {id_: known[id_] for id_ in affected}
            records.append(RefundRecord(refund, payments.get(refund.id, ()), own, linked))
        return records

    def _refund(
        self,
        row: Row,
        allocations: tuple[RefundAllocation, ...],
        *,
        posted: tuple[PostedEntry, ...] = (),
    ) -> R:
        party = take_party(row)
        row["settled"] = split_of(row["settled"])
        row["is_foreign"] = bool(row["is_foreign"])
        if not row.get("by_target"):
            posted = by_source_alone(posted)
        if self.sql.names_bank:
            row["bank"] = take_bank(row)
        made: Any = self.sql.kind
        refund: R = made(**row, party=party, allocations=allocations, posted=posted)
        return refund

    def _payments(self, rows: list[Row]) -> dict[UUID, tuple[P, ...]]:
        found: dict[UUID, list[P]] = defaultdict(list)
        for row in rows:
            payment = refund_payment_of(self.sql.payments, row)
            self.scope.note_loaded([payment])
            self.scope.note_tags(payment.id, payment.transaction_tags)
            found[payment.refund_id].append(payment)
        return {refund: tuple(payments) for refund, payments in found.items()}

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
                tax_code_id=UUID(row["credit_code"])
                if kind == "credit" and row["credit_code"]
                else None,
                lines=line_shares_of(row["lines"]),
                self_assessed=split_of(row["self_assessed"]),
                start=row["start_on"],
                end=row["end_on"],
                released=tuple(_released(*item) for item in row["released"]),
                description=row["description"],
                metadata=row["metadata"],
                created_at=row.get("created_at"),
                version=row["version"],
            )
            self.scope.note_loaded([each])
            found[row["refund_id"]].append(each)
        return {refund: tuple(given) for refund, given in found.items()}

    def _allocation_row(self, refund_id: UUID, each: RefundAllocation) -> Row:
        row = {
            "id": each.id,
            "refund_id": refund_id,
            **{name: each.target_id if each.kind == TARGETS[name] else None for name in TARGETS},
            "amount": each.amount,
            "split": split_rows(each.split),
            "lines": each.lines,
            "self_assessed": split_rows(each.self_assessed),
            "start_on": each.start,
            "end_on": each.end,
            "released": [
                [one.document_id, one.amount, split_rows(one.split), one.description, *_across(one)]
                for one in each.released
            ],
            "description": each.description,
            "metadata": each.metadata,
            "created_at": each.created_at,
        }
        return {name: value for name, value in row.items() if name in self.sql.allocation.c}


def _target(row: Row) -> tuple[Kind, UUID]:
    for name, kind in TARGETS.items():
        if row.get(name) is not None:
            return kind, row[name]
    raise ValueError("an allocation gives back of nothing")


def _across(released: ReleasedAllocation) -> list[int]:
    return [] if released.document_amount is None else [released.document_amount]


def _released(
    document_id: str,
    amount: int,
    split: list[Any],
    words: str | None,
    document_amount: int | None = None,
) -> ReleasedAllocation:
    return ReleasedAllocation(UUID(document_id), amount, split_of(split), words, document_amount)


# Stored payments of refunds: one store for both sides of trade.


T = TypeVar("T")
RP = TypeVar("RP", bound=RefundPayment)


class RefundPaymentStore(Store[RP], Generic[RP]):
    """The payments of the refunds of one side in one business."""

    sql: ClassVar[RefundPaymentSql]
    refund_noun: ClassVar[str]

    def loading(self, ids: Sequence[UUID]) -> tuple[Query, ...]:
        return (
            Query(self.sql.by_id, {"ids": list(ids)}),
            posted_for(ids),
        )

    def assemble(self, answers: Answers) -> list[RP]:
        rows, entries = answers
        posted = posted_by_source(entries)
        return [self.read(row, posted=posted.get(row["id"], ())) for row in rows]

    def of(self, refund_id: UUID, id: UUID) -> Fetch[RP]:
        """Load one payment of a refund; raises NotFound, also for a payment of another refund."""
        found = self.fetch(
            self.loading([id]), lambda answers: self._within(refund_id, self.assemble(answers))
        )
        return self._under(refund_id, found)

    def lock_of(self, refund_id: UUID, id: UUID) -> Fetch[RP]:
        """Lock and load one payment of a refund; raises NotFound, and Stale as `lock` does."""
        self.scope.note_locks(self.rank, [id])
        waiting = self.waiting(id)

        def answer(answers: Answers) -> RP:
            payment = self._within(refund_id, self.assemble(answers[len(waiting) :]))
            self.scope.check_precondition(payment)
            return payment

        return self.fetch((*waiting, *self.loading([id])), answer)

    def with_external_id(self, external_id: str | None) -> Fetch[RP | None]:
        """Load the refund payment with an external id, of any refund, or None."""
        return self.by_external_id(
            external_id,
            [self.sql.by_external_id],
            lambda answers: [self.read(row) for row in answers[0]],
        )

    def page(self, refund_id: UUID, wanted: PageRequest) -> Fetch[Page[RP]]:
        """List one page of a refund's payments; raises NotFound if the refund does not exist."""
        page = self.listed(self.sql.of_one, wanted, self.read, refund_id=refund_id)
        return self._under(refund_id, page)

    def save(self, value: RP) -> None:
        """Stage a refund payment."""
        row = {name: getattr(value, name) for name in self.sql.stored}
        row["completions"] = span_rows(value.completions)
        row["splits"] = [split_rows(each) for each in value.splits]
        row["bank_account_id"] = value.bank and value.bank.id
        row |= money_row(value)
        if isinstance(value, VendorRefundPayment):
            row["shares"] = [_share_rows(each) for each in value.shares]
        self.scope.stage(self.table, value, row)

    def read(self, row: Row, *, posted: tuple[PostedEntry, ...] = ()) -> RP:
        """Make a refund payment from its row."""
        payment: RP = refund_payment_of(self.sql, row, posted=posted)
        return payment

    def _under(self, refund_id: UUID, asked: Fetch[T]) -> Fetch[T]:
        """Extend a fetch by a check that the refund exists; NotFound of the refund comes first."""
        known = Query(self.sql.refund_known, {"ids": [refund_id]})

        def answer(answers: Answers) -> T:
            if not answers[0]:
                raise not_found(self.refund_noun)
            return asked.answer(answers[1:])

        return self.fetch((known, *asked.queries), answer)

    def _within(self, refund_id: UUID, found: list[RP]) -> RP:
        return self.only([each for each in found if each.refund_id == refund_id])


def refund_payment_of(
    sql: RefundPaymentSql, row: Row, *, posted: tuple[PostedEntry, ...] = ()
) -> Any:
    """Make a refund payment of either side from its row."""
    party, bank = take_party(row), take_bank(take_money(row))
    row["completions"] = spans_of(row["completions"])
    row["splits"] = tuple(split_of(each) for each in row["splits"])
    if "shares" in row:
        row["shares"] = tuple(_shares_of(each) for each in row["shares"])
        posted = posted if row["shares"] else by_source_alone(posted)
    return sql.kind(**row, party=party, bank=bank, posted=posted)


def _share_rows(shares: SplitByTarget) -> list[Any]:
    return [[target_id, split_rows(split)] for target_id, split in shares]


def _shares_of(rows: list[Any]) -> SplitByTarget:
    return tuple(
        (None if target_id is None else UUID(target_id), split_of(split))
        for target_id, split in rows
    )
