"""Stored payments, with the history of their allocations."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import date, datetime
from functools import cached_property
from typing import Any, ClassVar
from uuid import UUID

from sqlalchemy import (
    Table,
    Text,
    Uuid,
    and_,
    func,
    literal_column,
    select,
)
from sqlalchemy.sql.elements import ColumnElement

from accounting.books.foreign import ForeignAmount, in_base
from accounting.books.ledger import PostedEntry, Span
from accounting.trade.allocation import Allocation
from accounting.trade.documents import Document
from accounting.trade.payments import Payment, allocated, applied, live_allocations, unused
from accounting.trade.refunds_by_payment import RefundShare
from accounting.trade.sides import Side
from persistence.engine.listings import (
    Filter,
    Listing,
    any_tag,
    between,
    created_filters,
    either_way,
    equal,
)
from persistence.engine.pages import Page, PageRequest
from persistence.engine.sql import Answers, Fetch, Query, Row, compiled, given
from persistence.ledger.posted_entries import posted_by_source, posted_for
from persistence.ledger.split_rows import split_of, split_rows
from persistence.scope import Scope
from persistence.store import MINE, Record, Store, among, in_business
from persistence.trade.document_sql import DocumentSql
from persistence.trade.documents import document_of
from persistence.trade.linked_lines import Lines, linked_of, reading_lines
from persistence.trade.money_banks import bank_columns, take_bank
from persistence.trade.party_columns import (
    any_part_or_party,
    of_party_known_as,
    on_party,
    party_columns,
    take_party,
)
from persistence.trade.refunds_by_payment import RefundedSql, refunded_of
from persistence.trade.worth_columns import money_columns, money_row, take_money

# Stored allocations of payments and credits to documents, ended ones too.


class AllocationSql:
    """The SQL of the allocations of payments, or of credits."""

    def __init__(self, allocation: Table, holder_id: str, documents: DocumentSql) -> None:
        self.table = allocation
        self.holder_id = holder_id
        self.documents = documents
        self.splits = tuple(name for name in ("split", "own_split") if name in allocation.c)
        self.of_money = tuple(
            name for name in ("document_amount", "base_amount") if name in allocation.c
        )

    @cached_property
    def of_holders(self) -> str:
        """The statement that reads all allocations of holders, ended ones too."""
        row = self.table.c
        plain = ("id", "version", "document_id", "document_date", "amount", "start_on", "end_on")
        names = (*plain, "description", *self.splits, *self.of_money)
        chosen = select(row[self.holder_id].label("holder_id"), *(row[name] for name in names))
        mine = in_business(self.table), among(row[self.holder_id])
        return compiled(chosen.where(*mine).order_by(row.id))

    @cached_property
    def settled(self) -> str:
        """The statement that reads the documents of all allocations, without their lines.

        Documents of ended allocations are included: in a write transaction, an allocation may end
        between the statement that reads the allocations and this one.
        """
        row, document = self.table.c, self.documents.document
        ever = select(row.document_id).where(in_business(self.table), among(row[self.holder_id]))
        chosen = select(*self.documents.listing.columns).select_from(self.documents.source)
        return compiled(chosen.where(in_business(document), document.c.id.in_(ever)))

    def touching(self, holder: Table, name: str) -> ColumnElement[bool]:
        """Return the condition that a holder has a live allocation to a document.

        The parameter `name` gives the document.
        """
        row = self.table.c
        live = select(row.id).where(
            row.business_id == MINE,
            row[self.holder_id] == holder.c.id,
            row.end_on.is_(None),
            row.document_id == given(name, Uuid),
        )
        return live.exists()


class AllocationRows:
    """The allocations of payments, or of credits, of one business: reads and stages them."""

    def __init__(self, scope: Scope, sql: AllocationSql) -> None:
        self.scope = scope
        self.sql = sql

    def loading(self, holders: Sequence[UUID]) -> Query:
        """Return the statement that reads the allocations of holders."""
        return Query(self.sql.of_holders, {"ids": list(holders)})

    def around(self, holders: Sequence[UUID]) -> tuple[Query, Query]:
        """Return the statements that read the allocations of holders and their documents."""
        settled = Query(self.sql.settled, {"ids": list(holders)})
        return (self.loading(holders), settled)

    def read(
        self, rows: Iterable[Row], holders: Iterable[Row]
    ) -> dict[UUID, tuple[Allocation, ...]]:
        """Make allocations from the rows of `loading`, by holder, and note their versions.

        `holders` are the rows of the payments or credits.
        """
        currencies = {row["id"]: row["currency"] for row in holders}
        found: dict[UUID, list[Allocation]] = defaultdict(list)
        for row in rows:
            share = Allocation(
                id=row["id"],
                document_id=row["document_id"],
                amount=_brought(row, currencies),
                document_date=row["document_date"],
                start=row["start_on"],
                end=row["end_on"],
                split=split_of(row["split"]),
                own_split=split_of(row.get("own_split", [])),
                description=row["description"],
                document_amount=row.get("document_amount"),
            )
            self.scope.note_version(share.id, row["version"])
            found[row["holder_id"]].append(share)
        return {holder: tuple(shares) for holder, shares in found.items()}

    def save(self, holder: UUID, allocations: Iterable[Allocation]) -> None:
        """Stage the allocations of a holder that is already staged."""
        for share in allocations:
            row = {
                "id": share.id,
                self.sql.holder_id: holder,
                "document_id": share.document_id,
                "document_date": share.document_date,
                "amount": int(share.amount),
                "start_on": share.start,
                "end_on": share.end,
                "description": share.description,
                **{name: split_rows(getattr(share, name)) for name in self.sql.splits},
                **_of_foreign_money(share),
            }
            self.scope.stage_part(self.sql.table, share.id, row)


def _brought(row: Row, currencies: Mapping[UUID, str]) -> int:
    """Return the amount of an allocation; that of applied foreign money has its base."""
    base: int | None = row.get("base_amount")
    amount: int = row["amount"]
    return amount if base is None else ForeignAmount(amount, base, currencies[row["holder_id"]])


def _of_foreign_money(share: Allocation) -> Row:
    """Return the columns of an allocation that has a foreign currency on either side."""
    row: Row = {}
    if isinstance(share.amount, ForeignAmount):
        row["base_amount"] = share.amount.base
    if share.document_amount is not None:
        row["document_amount"] = share.document_amount
    return row


def documents_by_id(rows: Iterable[Row]) -> dict[UUID, Document]:
    """Make documents from the rows of the second statement of `around`."""
    return {row["id"]: document_of(row) for row in rows}


# SQL of invoice payments and bill payments: one class for both.


DERIVED = ("party", "posted", "allocations", "bank", "own_account_id", "worth")
STORED = tuple(item.name for item in fields(Payment) if item.name not in DERIVED)


class PaymentSql:
    """The SQL of one side's payments; `payout` is the table of payouts, if the side has them."""

    def __init__(
        self,
        side: Side,
        payment: Table,
        party: Table,
        allocations: AllocationSql,
        refunded: RefundedSql,
        *,
        payout: Table | None = None,
        own_filters: Mapping[str, Filter] | None = None,
    ) -> None:
        self.side = side
        self.payment = payment
        self.party = party
        self.allocations = allocations
        self.refunded = refunded
        self.payout = payout
        self.own_filters = own_filters or {}
        self.source = payment.join(party, on_party(payment, party))
        self.columns = (
            *(payment.c[name] for name in STORED),
            *money_columns(payment),
            payment.c.base_refunded,
            *bank_columns(payment),
            *party_columns(party),
        )

    @cached_property
    def by_id(self) -> str:
        chosen = select(*self.columns).select_from(self.source)
        return compiled(chosen.where(in_business(self.payment), among(self.payment.c.id)))

    @cached_property
    def payouts(self) -> str:
        """The statement that reads the payouts of payments."""
        payment, payout = self.payment.c, self.payout
        assert payout is not None, "only money from customers comes in payouts"
        held = and_(in_business(payout), payout.c.id == payment.payout_id)
        names = ("id", "external_id", "processor", "processor_payout_id", "status", "completed_at")
        chosen = select(
            payment.id.label("payment_id"), *(payout.c[name] for name in (*names, "paid_out"))
        ).select_from(self.payment.join(payout, held))
        return compiled(chosen.where(in_business(self.payment), among(payment.id)))

    @cached_property
    def listing(self) -> Listing:
        return Listing(
            source=self.source,
            key=self.payment.c.id,
            scope=in_business(self.payment),
            columns=self.columns,
            filters=self._filters(),
            sorts={
                "payment_date": self.payment.c.payment_date,
                "amount": self.payment.c.total,
                "created_at": self.payment.c.created_at,
            },
            default_sort="-payment_date",
        )

    def _filters(self) -> dict[str, Filter]:
        side, row = self.side, self.payment.c
        party_id, external_id = side.names.party_id, side.names.party_external_id
        return {
            **created_filters(self.payment),
            **any_tag("transaction_tags", row.transaction_tags),
            party_id: Filter(row.party_id == given(party_id, Uuid)),
            external_id: of_party_known_as(external_id, row.party_id, self.party),
            side.names.document_id: Filter(
                self.allocations.touching(self.payment, side.names.document_id)
            ),
            **between(row.payment_date, "payment_date_from", "payment_date_to"),
            **between(row.total, "min_amount", "max_amount"),
            "payment_method": Filter(row.method == given("payment_method", Text)),
            **equal(row.status, row.currency, row.external_id),
            **either_way(
                "is_fully_allocated", row.allocated == row.total, row.allocated < row.total
            ),
            "search": any_part_or_party(
                row.party_id,
                self.party,
                row.external_id,
                row.note,
                row.payment_reference,
                row.bank_reference,
                row.processor_reference,
                values_of(row.references),
                row.check_number,
            ),
            **self.own_filters,
        }


def values_of(references: ColumnElement[Any]) -> ColumnElement[str]:
    """Join the values of a JSON object into one text, a value per line; null if it is empty."""
    value = func.jsonb_each_text(references).table_valued("key", "value").c.value
    return select(func.string_agg(value, literal_column("E'\\n'"))).scalar_subquery()


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
class PaymentRecord(Record):
    """A payment with the documents to which it is allocated and its shares of refunds.

    `lines` are the bank lines linked with it; `payout` is the payout that contains it.
    """

    payment: Payment
    documents: dict[UUID, Document]
    refunds: tuple[RefundShare, ...]
    lines: Lines = ()
    payout: PaidOutIn | None = None

    @property
    def stored(self) -> Payment:
        return self.payment


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
        posted, shares = posted_by_source(entries), self.allocations.read(allocations, rows)
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
        row["bank_account_id"] = value.bank and value.bank.id
        row["party_id"] = value.party.id
        row["allocated"] = int(allocated(value))
        row["applied"] = int(applied(value))
        row["refunded"] = int(value.refunded)
        if value.worth is not None:
            row |= money_row(value)
            row["base_allocated"] = in_base(value.whole) - in_base(unused(value))
            row["base_refunded"] = in_base(value.refunded)
        row["completions"] = span_rows(value.completions)
        self.scope.stage(self.table, value, row)
        self.allocations.save(value.id, value.allocations)

    def _around(self, ids: Sequence[UUID]) -> tuple[Query, ...]:
        refunded = Query(self.sql.refunded.of_payments, {"payments": list(ids)})
        held = (Query(self.sql.payouts, {"ids": list(ids)}),) if self.sql.payout is not None else ()
        return (*self.allocations.around(ids), refunded, reading_lines(ids), *held)

    def _records(self, rows: list[Row], around: Answers) -> list[PaymentRecord]:
        if not rows:
            return []
        allocations, documents, refunds, lines, *held = around
        shares, settled = self.allocations.read(allocations, rows), documents_by_id(documents)
        refunded, linked, records = refunded_of(refunds), linked_of(lines), []
        payouts = _payouts(*held)
        for row in rows:
            payment = payment_of(row, shares.get(row["id"], ()))
            held_by = linked.get(payment.id, ()), payouts.get(payment.id)
            records.append(PaymentRecord(payment, settled, refunded.of(payment), *held_by))
        return records


def payment_of(
    row: Row, allocations: tuple[Allocation, ...] = (), *, posted: tuple[PostedEntry, ...] = ()
) -> Payment:
    """Make a payment from its row."""
    party, bank = take_party(row), take_bank(take_money(row))
    base_refunded = row.pop("base_refunded")
    if base_refunded is not None:
        row["refunded"] = ForeignAmount(row["refunded"], base_refunded, row["currency"])
    row["transaction_tags"] = tuple(row["transaction_tags"])
    row["completions"] = spans_of(row["completions"])
    return Payment(**row, party=party, bank=bank, allocations=allocations, posted=posted)


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
