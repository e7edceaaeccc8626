"""What is owed, as it is stored: one store for invoices now and bills later.

A subclass names its tables; statements, filters and shapes of rows are the same for both sides.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from datetime import date
from decimal import Decimal
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar
from uuid import UUID

from sqlalchemy import (
    ARRAY,
    BigInteger,
    Boolean,
    Date,
    Table,
    Text,
    Uuid,
    and_,
    any_,
    case,
    cast,
    delete,
    func,
    literal_column,
    select,
)
from sqlalchemy.sql.elements import ColumnElement

from accounting.documents import Document, LineItem, Tax
from accounting.ledger import Posted
from accounting.numbers import given_in
from accounting.parties import Party
from persistence.filters import MOMENT, any_part, created_filters
from persistence.journal import posted_by_source
from persistence.pages import Filter, Listing, Page, PageRequest, first_if_absent
from persistence.statements import Query, Row, compiled, given, word
from persistence.store import Store, among, in_business
from persistence.wire import Answers, Question

if TYPE_CHECKING:
    from persistence.books import Books

STORED = tuple(item.name for item in fields(Document) if item.name not in ("party", "posted"))
PARTY = tuple(item.name for item in fields(Party))
ISSUED = ("sent", "overdue", "partially_paid", "partially_written_off")


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


def party_columns(party: Table) -> list[ColumnElement[Any]]:
    """What a document or a payment shows of its party, named `party_...`."""
    name = func.coalesce(party.c.company_name, party.c.individual_name)
    archived = party.c.archived_at.is_not(None)
    values = {"name": name, "archived": archived}
    return [(values[n] if n in values else party.c[n]).label(f"party_{n}") for n in PARTY]


def on_party(table: Table, party: Table) -> ColumnElement[bool]:
    """The party of a document or a payment."""
    return and_(party.c.business_id == table.c.business_id, party.c.id == table.c.party_id)


def take_party(row: Row) -> Party:
    """Take the party's columns out of a row."""
    return Party(**{name: row.pop(f"party_{name}") for name in PARTY})


class DocumentStatements:
    """The statements of one side's documents."""

    def __init__(self, document: Table, party: Table, payment: Table, allocation: Table) -> None:
        self.document = document
        self.party = party
        self.source = document.join(party, on_party(document, party))
        self.columns = (*(document.c[name] for name in STORED), *party_columns(party))
        self.shares = self._shares(document, payment, allocation).label("payments")

    @cached_property
    def by_id(self) -> str:
        chosen = select(*self.columns).select_from(self.source)
        return compiled(chosen.where(in_business(self.document), among(self.document.c.id)))

    @cached_property
    def hold_party(self) -> str:
        """Hold the party of a locked document against archiving: a draft may be about to open."""
        # An inner join of its own: no row of an outer join can be locked.
        joined = self.document.join(self.party, on_party(self.document, self.party))
        chosen = select(self.party.c.id).select_from(joined)
        held = chosen.where(in_business(self.document), among(self.document.c.id))
        return compiled(held.with_for_update(read=True, key_share=True, of=self.party))

    @cached_property
    def shown(self) -> str:
        chosen = select(*self.columns, self.shares).select_from(self.source)
        return compiled(chosen.where(in_business(self.document), among(self.document.c.id)))

    @cached_property
    def by_external_id(self) -> str:
        chosen = select(*self.columns, self.shares).select_from(self.source)
        wanted = self.document.c.external_id == given("external_id", Text)
        return compiled(chosen.where(in_business(self.document), wanted))

    @cached_property
    def deletion(self) -> str:
        """Only a draft is ever deleted: nothing was posted for it."""
        draft = self.document.c.state == word("draft")
        return compiled(
            delete(self.document).where(
                in_business(self.document), among(self.document.c.id), draft
            )
        )

    @cached_property
    def listing(self) -> Listing:
        return Listing(
            # Every document has its party. Yet PostgreSQL leaves out an outer join where nothing of
            # the party is asked for: to count, and to find the ids of a page.
            source=self.document.outerjoin(self.party, on_party(self.document, self.party)),
            key=self.document.c.id,
            scope=in_business(self.document),
            # A list shows neither lines nor what they settle; they are not read for it.
            columns=(*self._plain_columns(), *party_columns(self.party)),
            filters=self._filters(),
            sorts=self._sorts(),
            default_sort="-sent_at",
        )

    def _plain_columns(self) -> list[ColumnElement[Any]]:
        nothing: ColumnElement[Any] = literal_column("'[]'::jsonb")
        return [
            nothing.label(name) if name in ("lines", "settled") else self.document.c[name]
            for name in STORED
        ]

    def _shares(self, document: Table, payment: Table, allocation: Table) -> Any:
        share = func.json_build_array(
            payment.c.id, payment.c.payment_date, payment.c.method, allocation.c.amount
        )
        paying = and_(
            payment.c.business_id == allocation.c.business_id,
            payment.c.id == allocation.c.payment_id,
        )
        in_order = share.op("ORDER BY")(payment.c.payment_date)
        return (
            select(func.json_agg(in_order))
            .select_from(allocation.join(payment, paying))
            .where(
                allocation.c.business_id == document.c.business_id,
                allocation.c.document_id == document.c.id,
                allocation.c.end_on.is_(None),
            )
            .scalar_subquery()
        )

    def _overdue(self) -> ColumnElement[bool]:
        due = cast(func.timezone(word("UTC"), self.document.c.due_at), Date)
        return and_(self.document.c.outstanding > literal_column("0"), due < given("today", Date))

    def _status(self) -> ColumnElement[str]:
        """`accounting.documents.status` in SQL; a test holds the two together."""
        row = self.document.c
        none: ColumnElement[int] = literal_column("0")
        settled = row.outstanding == none
        return case(
            (row.state == word("void"), word("voided")),
            (row.state == word("draft"), word("draft")),
            (and_(settled, row.paid > none, row.refunded >= row.paid), word("refunded")),
            (and_(settled, row.written_off > none), word("written_off")),
            (settled, word("paid")),
            (row.written_off > none, word("partially_written_off")),
            (self._overdue(), word("overdue")),
            (row.paid + row.credited > none, word("partially_paid")),
            else_=word("sent"),
        )

    def _filters(self) -> dict[str, Filter]:
        row, party = self.document.c, self.party.c
        return {
            **created_filters(self.document),
            "status": Filter(self._status() == any_(given("status", ARRAY(Text()))), _spelled_out),
            "is_overdue": Filter(
                func.coalesce(self._overdue(), literal_column("false"))
                == given("is_overdue", Boolean)
            ),
            "customer_id": Filter(row.party_id == any_(given("customer_id", ARRAY(Uuid())))),
            "customer_external_id": Filter(
                party.external_id == given("customer_external_id", Text)
            ),
            "external_id": Filter(row.external_id == given("external_id", Text)),
            "sent_at_start": Filter(row.opened_at >= given("sent_at_start", MOMENT)),
            "sent_at_end": Filter(row.opened_at <= given("sent_at_end", MOMENT)),
            "due_at_start": Filter(row.due_at >= given("due_at_start", MOMENT)),
            "due_at_end": Filter(row.due_at <= given("due_at_end", MOMENT)),
            "min_amount": Filter(row.total_amount >= given("min_amount", BigInteger)),
            "max_amount": Filter(row.total_amount <= given("max_amount", BigInteger)),
            "memo_contains": any_part("memo_contains", row.memo),
            "search": any_part(
                "search",
                row.number,
                row.external_id,
                row.memo,
                party.company_name,
                party.individual_name,
            ),
        }

    def _sorts(self) -> dict[str, ColumnElement[Any]]:
        row = self.document.c
        return {
            "sent_at": row.listed_at,
            "due_at": first_if_absent(row.due_at),
            "created_at": row.created_at,
            "total_amount": row.total_amount,
            "invoice_number": func.coalesce(row.number, word("")),
        }


def _spelled_out(statuses: list[str]) -> list[str]:
    return [one for each in statuses for one in (ISSUED if each == "issued" else (each,))]


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
        scope = {"business_id": self.books.business_id, "today": self.books.now.date()}
        return self.statements.listing.question(self.books.session, wanted, scope, _listed)

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
    return DocumentRecord(document_of(row, posted=()), shares)


def _listed(row: Row) -> Document:
    row.pop("sorted_by")
    return document_of(row, posted=())


def document_of(row: Row, *, posted: tuple[Posted, ...]) -> Document:
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
