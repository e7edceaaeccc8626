"""The statements of refunds: one set for invoice refunds now and vendor refunds later."""

from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

from sqlalchemy import (
    ARRAY,
    BigInteger,
    Table,
    Text,
    Uuid,
    and_,
    any_,
    case,
    literal_column,
    or_,
    select,
)
from sqlalchemy.sql.elements import ColumnElement

from accounting.refunds import Refund, RefundPayment
from accounting.sides import Side
from persistence.document_statements import DocumentStatements, on_party, party_columns
from persistence.filters import any_part, created_filters
from persistence.pages import Filter, Listing
from persistence.statements import compiled, given, word
from persistence.store import Choice, among, in_business

STORED = tuple(
    item.name for item in fields(Refund) if item.name not in ("party", "allocations", "posted")
)
PAYMENT_STORED = tuple(
    item.name for item in fields(RefundPayment) if item.name not in ("party", "agreed_on", "posted")
)


@dataclass(frozen=True, slots=True)
class WholeRefunds:
    """The statements that read refunds with all that is shown of them."""

    refunds: str
    allocations: str
    documents: str
    payments: str


class RefundPaymentStatements:
    """The statements of the payments of one side's refunds."""

    def __init__(self, payment: Table, refund: Table, party: Table) -> None:
        self.payment = payment
        self.refund = refund
        paying = and_(
            refund.c.business_id == payment.c.business_id, refund.c.id == payment.c.refund_id
        )
        self.source = payment.join(refund, paying).join(party, on_party(refund, party))
        self.columns = (
            *(payment.c[name] for name in PAYMENT_STORED),
            refund.c.agreed_on,
            *party_columns(party),
        )

    @cached_property
    def by_id(self) -> str:
        return self.chosen(among(self.payment.c.id))

    @cached_property
    def by_external_id(self) -> str:
        return self.chosen(self.payment.c.external_id == given("external_id", Text))

    @cached_property
    def refund_known(self) -> str:
        """The ids of those refunds that exist."""
        chosen = select(self.refund.c.id)
        return compiled(chosen.where(in_business(self.refund), among(self.refund.c.id)))

    def chosen(self, condition: ColumnElement[bool]) -> str:
        """Read the payments that a condition picks, oldest first."""
        found = select(*self.columns).select_from(self.source)
        picked = found.where(in_business(self.payment), condition)
        return compiled(picked.order_by(self.payment.c.created_at, self.payment.c.id))

    @cached_property
    def listing(self) -> Listing:
        return Listing(
            source=self.source,
            key=self.payment.c.id,
            scope=and_(
                in_business(self.payment), self.payment.c.refund_id == given("refund_id", Uuid)
            ),
            columns=self.columns,
            filters=created_filters(self.payment),
            sorts={"created_at": self.payment.c.created_at},
            default_sort="-created_at",
        )


class RefundStatements:
    """The statements of one side's refunds."""

    def __init__(
        self,
        side: Side,
        refund: Table,
        party: Table,
        allocation: Table,
        documents: DocumentStatements,
        payments: RefundPaymentStatements,
    ) -> None:
        self.side = side
        self.refund = refund
        self.party = party
        self.allocation = allocation
        self.documents = documents
        self.payments = payments
        self.source = refund.join(party, on_party(refund, party))
        self.columns = (*(refund.c[name] for name in STORED), *party_columns(party))

    @cached_property
    def by_id(self) -> str:
        return self._refunds(among)

    @cached_property
    def allocations(self) -> str:
        return self._allocations(among)

    @cached_property
    def targets(self) -> str:
        """What refunds give back of, or gave back of until they were cancelled."""
        row = self.allocation.c
        chosen = select(row.document_id, row.payment_id)
        return compiled(chosen.where(in_business(self.allocation), among(row.refund_id)))

    @cached_property
    def shown(self) -> WholeRefunds:
        return self._whole(among)

    @cached_property
    def with_external_id(self) -> WholeRefunds:
        refund = self.refund
        named = select(refund.c.id).where(
            in_business(refund), refund.c.external_id == given("external_id", Text)
        )
        return self._whole(lambda column: column.in_(named))

    @cached_property
    def listing(self) -> Listing:
        return Listing(
            # Every refund has its party. Yet PostgreSQL leaves out an outer join where nothing of
            # the party is asked for: to count, and to find the ids of a page.
            source=self.refund.outerjoin(self.party, on_party(self.refund, self.party)),
            key=self.refund.c.id,
            scope=in_business(self.refund),
            columns=self.columns,
            filters=self._filters(),
            sorts={"created_at": self.refund.c.created_at, "amount": self.refund.c.amount},
            default_sort="-created_at",
        )

    def _whole(self, choice: Choice) -> WholeRefunds:
        return WholeRefunds(
            refunds=self._refunds(choice),
            allocations=self._allocations(choice),
            documents=self._documents(choice),
            payments=self.payments.chosen(choice(self.payments.payment.c.refund_id)),
        )

    def _refunds(self, choice: Choice) -> str:
        chosen = select(*self.columns).select_from(self.source)
        return compiled(chosen.where(in_business(self.refund), choice(self.refund.c.id)))

    def _allocations(self, choice: Choice) -> str:
        """Everything that refunds give or gave back, with the number of the document."""
        row, document = self.allocation.c, self.documents.document
        names = ("id", "version", "refund_id", "document_id", "payment_id", "amount")
        more = (row.split, row.start_on, row.end_on, document.c.number.label("target_number"))
        chosen = select(*(row[name] for name in names), *more)
        return compiled(
            chosen.select_from(self.allocation.outerjoin(document, self._given_back()))
            .where(in_business(self.allocation), choice(row.refund_id))
            .order_by(row.id)
        )

    def _documents(self, choice: Choice) -> str:
        """The documents that refunds give or gave back of, without lines, as in their list."""
        row, document = self.allocation.c, self.documents.document
        touched = select(row.document_id).where(in_business(self.allocation), choice(row.refund_id))
        chosen = select(*self.documents.listing.columns).select_from(self.documents.source)
        return compiled(chosen.where(in_business(document), document.c.id.in_(touched)))

    def _given_back(self) -> ColumnElement[bool]:
        row, document = self.allocation.c, self.documents.document.c
        return and_(document.business_id == row.business_id, document.id == row.document_id)

    def _status(self) -> ColumnElement[str]:
        """`accounting.refunds.status` in SQL; a test holds the two together."""
        row = self.refund.c
        return case(
            (row.cancelled_at.is_not(None), word("cancelled")),
            (row.paid == row.amount, word("paid")),
            (row.paid > literal_column("0"), word("processing")),
            else_=word("pending"),
        )

    def _filters(self) -> dict[str, Filter]:
        side, row, touched = self.side, self.refund.c, self.allocation.c
        party_id = any_(given(side.party_id_field, ARRAY(Uuid())))
        return {
            **created_filters(self.refund),
            side.party_id_field: Filter(row.party_id == party_id),
            side.document_id_field: self._touching(touched.document_id, side.document_id_field),
            side.payment_id_field: self._touching(touched.payment_id, side.payment_id_field),
            "status": Filter(self._status() == any_(given("status", ARRAY(Text())))),
            "min_amount": Filter(row.amount >= given("min_amount", BigInteger)),
            "max_amount": Filter(row.amount <= given("max_amount", BigInteger)),
            "external_id": Filter(row.external_id == given("external_id", Text)),
            "search": self._search(),
        }

    def _touching(self, target: ColumnElement[Any], name: str) -> Filter:
        """Cancelled refunds are found too: what they gave back of does not change."""
        row, refund = self.allocation.c, self.refund.c
        mine = and_(row.business_id == refund.business_id, row.refund_id == refund.id)
        return Filter(select(row.id).where(mine, target == given(name, Uuid)).exists())

    def _search(self) -> Filter:
        row, refund, party = self.allocation.c, self.refund.c, self.party.c
        document = self.documents.document
        own = any_part(
            "search",
            refund.external_id,
            refund.reference_number,
            refund.memo,
            party.company_name,
            party.individual_name,
        )
        numbered = any_part("search", document.c.number)
        of_numbered = (
            select(row.id)
            .select_from(self.allocation.join(document, self._given_back()))
            .where(row.business_id == refund.business_id, row.refund_id == refund.id)
            .where(numbered.condition)
            .exists()
        )
        return Filter(or_(own.condition, of_numbered), own.value)
