"""Stored payments of refunds: one store for both sides of trade."""

from collections.abc import Sequence
from typing import Any, ClassVar, Generic, TypeVar
from uuid import UUID

from accounting.books.ledger import Posted
from accounting.trade.refunds import RefundPayment, SplitByTarget, VendorRefundPayment
from persistence.engine.fetches import Answers, Fetch
from persistence.engine.pages import Page, PageRequest
from persistence.engine.sql import Query, Row
from persistence.ledger.posted_entries import by_source_alone, posted_by_source, posted_for
from persistence.ledger.split_rows import split_of, split_rows
from persistence.store import Store, not_found
from persistence.trade.party_sql import take_party
from persistence.trade.payments import span_rows, spans_of
from persistence.trade.refund_sql import RefundPaymentSql

T = TypeVar("T")
P = TypeVar("P", bound=RefundPayment)


class RefundPaymentStore(Store[P], Generic[P]):
    """The payments of the refunds of one side in one business."""

    sql: ClassVar[RefundPaymentSql]
    refund_noun: ClassVar[str]

    def loading(self, ids: Sequence[UUID]) -> tuple[Query, ...]:
        return (
            Query(self.sql.by_id, {"ids": list(ids)}),
            posted_for(ids),
        )

    def assemble(self, answers: Answers) -> list[P]:
        rows, entries = answers
        posted = posted_by_source(entries)
        return [self.read(row, posted=posted.get(row["id"], ())) for row in rows]

    def of(self, refund_id: UUID, id: UUID) -> Fetch[P]:
        """Load one payment of a refund; raises NotFound, also for a payment of another refund."""
        found = self.fetch(
            self.loading([id]), lambda answers: self._within(refund_id, self.assemble(answers))
        )
        return self._under(refund_id, found)

    def lock_of(self, refund_id: UUID, id: UUID) -> Fetch[P]:
        """Lock and load one payment of a refund; raises NotFound, and Stale as `lock` does."""
        self.scope.note_locks(self.rank, [id])
        waiting = self.waiting(id)

        def answer(answers: Answers) -> P:
            payment = self._within(refund_id, self.assemble(answers[len(waiting) :]))
            self.scope.check_precondition(payment)
            return payment

        return self.fetch((*waiting, *self.loading([id])), answer)

    def with_external_id(self, external_id: str | None) -> Fetch[P | None]:
        """Load the refund payment with an external id, of any refund, or None."""
        return self.by_external_id(
            external_id,
            [self.sql.by_external_id],
            lambda answers: [self.read(row) for row in answers[0]],
        )

    def page(self, refund_id: UUID, wanted: PageRequest) -> Fetch[Page[P]]:
        """List one page of a refund's payments; raises NotFound if the refund does not exist."""
        page = self.listed(self.sql.of_one, wanted, self.read, refund_id=refund_id)
        return self._under(refund_id, page)

    def save(self, value: P) -> None:
        """Stage a refund payment."""
        row = {name: getattr(value, name) for name in self.sql.stored}
        row["completions"] = span_rows(value.completions)
        row["splits"] = [split_rows(each) for each in value.splits]
        if isinstance(value, VendorRefundPayment):
            row["shares"] = [_share_rows(each) for each in value.shares]
        self.scope.stage(self.table, value.id, row)

    def read(self, row: Row, *, posted: tuple[Posted, ...] = ()) -> P:
        """Make a refund payment from its row."""
        payment: P = refund_payment_of(self.sql, row, posted=posted)
        return payment

    def _under(self, refund_id: UUID, asked: Fetch[T]) -> Fetch[T]:
        """Extend a fetch by a check that the refund exists; NotFound of the refund comes first."""
        known = Query(self.sql.refund_known, {"ids": [refund_id]})

        def answer(answers: Answers) -> T:
            if not answers[0]:
                raise not_found(self.refund_noun)
            return asked.answer(answers[1:])

        return self.fetch((known, *asked.queries), answer)

    def _within(self, refund_id: UUID, found: list[P]) -> P:
        return self.only([each for each in found if each.refund_id == refund_id])


def refund_payment_of(sql: RefundPaymentSql, row: Row, *, posted: tuple[Posted, ...] = ()) -> Any:
    """Make a refund payment of either side from its row."""
    party = take_party(row)
    row["completions"] = spans_of(row["completions"])
    row["splits"] = tuple(split_of(each) for each in row["splits"])
    if "shares" in row:
        row["shares"] = tuple(_shares_of(each) for each in row["shares"])
        posted = posted if row["shares"] else by_source_alone(posted)
    return sql.kind(**row, party=party, posted=posted)


def _share_rows(shares: SplitByTarget) -> list[Any]:
    return [[target_id, split_rows(split)] for target_id, split in shares]


def _shares_of(rows: list[Any]) -> SplitByTarget:
    return tuple(
        (None if target_id is None else UUID(target_id), split_of(split))
        for target_id, split in rows
    )
