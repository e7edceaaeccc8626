"""Money that came in or went out, as it is stored, with the history of its allocations."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, fields
from datetime import date
from functools import cached_property
from typing import Any, ClassVar
from uuid import UUID

from sqlalchemy import (
    BigInteger,
    Boolean,
    Date,
    Table,
    Text,
    Uuid,
    and_,
    cast,
    func,
    select,
)

from accounting.allocation import Allocation, Span
from accounting.documents import Document
from accounting.payments import Payment, allocated, applied
from persistence.documents import (
    DocumentStatements,
    document_of,
    on_party,
    party_columns,
    take_party,
)
from persistence.filters import any_part, created_filters
from persistence.journal import posted_by_source
from persistence.pages import Filter, Listing, Page, PageRequest
from persistence.statements import Query, Row, compiled, given, word
from persistence.store import Store, among, in_business
from persistence.wire import Answers, Question

DERIVED = ("party", "posted", "allocations")
STORED = tuple(item.name for item in fields(Payment) if item.name not in DERIVED)


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


class PaymentStatements:
    """The statements of one side's payments."""

    def __init__(
        self, payment: Table, party: Table, allocation: Table, documents: DocumentStatements
    ) -> None:
        self.payment = payment
        self.party = party
        self.allocation = allocation
        self.documents = documents
        self.source = payment.join(party, on_party(payment, party))
        self.columns = (*(payment.c[name] for name in STORED), *party_columns(party))

    @cached_property
    def by_id(self) -> str:
        chosen = select(*self.columns).select_from(self.source)
        return compiled(chosen.where(in_business(self.payment), among(self.payment.c.id)))

    @cached_property
    def by_external_id(self) -> str:
        chosen = select(self.payment.c.id).where(
            in_business(self.payment), self.payment.c.external_id == given("external_id", Text)
        )
        return compiled(chosen)

    @cached_property
    def allocations(self) -> str:
        """All allocations of payments, ended ones too, with the day their document opened."""
        row, document = self.allocation.c, self.documents.document
        opened = cast(func.timezone(word("UTC"), document.c.opened_at), Date)
        names = ("id", "version", "payment_id", "document_id", "amount", "start_on", "end_on")
        chosen = select(*(row[name] for name in names), row.split, opened.label("document_date"))
        settling = and_(document.c.business_id == row.business_id, document.c.id == row.document_id)
        return compiled(
            chosen.select_from(self.allocation.join(document, settling))
            .where(in_business(self.allocation), among(row.payment_id, "payments"))
            .order_by(row.id)
        )

    @cached_property
    def settled(self) -> str:
        """The documents to which payments are allocated now."""
        row = self.allocation.c
        live = select(row.document_id).where(
            in_business(self.allocation), among(row.payment_id, "payments"), row.end_on.is_(None)
        )
        document = self.documents.document
        chosen = select(*self.documents.columns).select_from(self.documents.source)
        return compiled(chosen.where(in_business(document), document.c.id.in_(live)))

    @cached_property
    def listing(self) -> Listing:
        return Listing(
            # Every payment has its party. Yet PostgreSQL leaves out an outer join where nothing of
            # the party is asked for: to count, and to find the ids of a page.
            source=self.payment.outerjoin(self.party, on_party(self.payment, self.party)),
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
        row, party, allocation = self.payment.c, self.party.c, self.allocation
        touching = (
            select(allocation.c.id)
            .where(
                allocation.c.business_id == row.business_id,
                allocation.c.payment_id == row.id,
                allocation.c.end_on.is_(None),
                allocation.c.document_id == given("invoice_id", Uuid),
            )
            .exists()
        )
        fully = (row.allocated == row.total) == given("is_fully_allocated", Boolean)
        return {
            **created_filters(self.payment),
            "customer_id": Filter(row.party_id == given("customer_id", Uuid)),
            "invoice_id": Filter(touching),
            "payment_date_start": Filter(row.payment_date >= given("payment_date_start", Date)),
            "payment_date_end": Filter(row.payment_date <= given("payment_date_end", Date)),
            "min_amount": Filter(row.total >= given("min_amount", BigInteger)),
            "max_amount": Filter(row.total <= given("max_amount", BigInteger)),
            "payment_method": Filter(row.method == given("payment_method", Text)),
            "processor": Filter(func.lower(row.processor) == given("processor", Text), str.lower),
            "status": Filter(row.status == given("status", Text)),
            "is_fully_allocated": Filter(fully),
            "external_id": Filter(row.external_id == given("external_id", Text)),
            "search": any_part(
                "search",
                row.external_id,
                row.note,
                row.payment_reference,
                row.bank_reference,
                row.processor_reference,
                party.company_name,
                party.individual_name,
            ),
        }


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
        scope = {"business_id": self.books.business_id}
        page: Page[Row] = await self.statements.listing.question(
            self.books.session, wanted, scope, lambda row: row
        )
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
        row.pop("sorted_by", None)
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
    return {row["id"]: document_of(row, posted=()) for row in rows}


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
