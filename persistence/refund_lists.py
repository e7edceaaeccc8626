"""What the lists of refunds, and of the payments of vendor refunds, are filtered and sorted by."""

from collections.abc import Mapping
from functools import cached_property
from typing import Any

from sqlalchemy import (
    ARRAY,
    BigInteger,
    Boolean,
    Date,
    Text,
    Uuid,
    and_,
    any_,
    case,
    func,
    literal_column,
    or_,
    select,
)
from sqlalchemy.sql.elements import ColumnElement

from persistence.document_statements import on_party
from persistence.filters import any_part, created_filters
from persistence.pages import Filter, Listing
from persistence.refund_statements import RefundPaymentStatements, RefundStatements
from persistence.statements import given, word
from persistence.store import in_business

NONE: ColumnElement[int] = literal_column("0")


class InvoiceRefundStatements(RefundStatements):
    """The statements of invoice refunds."""

    def filters(self) -> Mapping[str, Filter]:
        side, touched = self.side, self.allocation.c
        return {
            side.document_id_field: self._touching(touched.document_id, side.document_id_field),
            side.payment_id_field: self._touching(touched.payment_id, side.payment_id_field),
            "status": Filter(self._status() == any_(given("status", ARRAY(Text())))),
            "search": self._search(),
        }

    def _status(self) -> ColumnElement[str]:
        """`accounting.refunds.status` in SQL; a test holds the two together."""
        row = self.refund.c
        return case(
            (row.cancelled_at.is_not(None), word("cancelled")),
            (row.paid == row.amount, word("paid")),
            (row.paid > NONE, word("processing")),
            else_=word("pending"),
        )

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
            .select_from(self.allocation.join(document, self.given_back()))
            .where(row.business_id == refund.business_id, row.refund_id == refund.id)
            .where(numbered.condition)
            .exists()
        )
        return Filter(or_(own.condition, of_numbered), own.value)


class VendorRefundStatements(RefundStatements):
    """The statements of vendor refunds."""

    def filters(self) -> Mapping[str, Filter]:
        row, party = self.refund.c, self.party.c
        fully = (self._allocated() == row.amount) == given("is_fully_allocated", Boolean)
        return {
            "status": Filter(self._status() == any_(given("status", ARRAY(Text())))),
            "refund_type": Filter(row.refund_type == given("refund_type", Text)),
            "refund_date_start": Filter(row.agreed_on >= given("refund_date_start", Date)),
            "refund_date_end": Filter(row.agreed_on <= given("refund_date_end", Date)),
            "currency": Filter(row.currency == given("currency", Text), str.upper),
            "is_fully_allocated": Filter(fully),
            "search": any_part(
                "search",
                row.external_id,
                row.reference_number,
                row.description,
                row.memo,
                row.reason,
                party.company_name,
                party.individual_name,
            ),
        }

    def sorts(self) -> Mapping[str, ColumnElement[Any]]:
        return {**super().sorts(), "refund_date": self.refund.c.agreed_on}

    def _allocated(self) -> ColumnElement[int]:
        row, refund = self.allocation.c, self.refund.c
        live = select(func.coalesce(func.sum(row.amount), NONE)).where(
            row.business_id == refund.business_id,
            row.refund_id == refund.id,
            row.end_on.is_(None),
        )
        return live.scalar_subquery()

    def _status(self) -> ColumnElement[str]:
        """`accounting.refunds.vendor_status` in SQL; a test holds the two together."""
        row, payment, allocated = self.refund.c, self.payments.payment.c, self._allocated()
        unpaid = (
            select(payment.id)
            .where(payment.business_id == row.business_id, payment.refund_id == row.id)
            .where(payment.status.not_in((word("completed"), word("cancelled"))))
            .exists()
        )
        return case(
            (row.cancelled_at.is_not(None), word("cancelled")),
            (allocated == NONE, word("pending")),
            (allocated < row.amount, word("partially_allocated")),
            (unpaid, word("allocated")),
            else_=word("completed"),
        )


class VendorRefundPaymentStatements(RefundPaymentStatements):
    """The statements of the payments of vendor refunds."""

    @cached_property
    def listing(self) -> Listing:
        """The list of the payments of all refunds."""
        row = self.payment.c
        never: ColumnElement[Any] = literal_column("'-infinity'::date")
        # Every payment has its refund and party. Yet PostgreSQL leaves out outer joins where
        # nothing of these is asked for: to count, and to find the ids of a page.
        refunded = self.payment.outerjoin(self.refund, self.paying)
        return Listing(
            source=refunded.outerjoin(self.party, on_party(self.refund, self.party)),
            key=row.id,
            scope=in_business(self.payment),
            columns=self.columns,
            filters=self._filters(),
            sorts={
                "created_at": row.created_at,
                "payment_date": func.coalesce(row.payment_date, never, type_=Date()),
                "amount": row.amount,
            },
            default_sort="-created_at",
        )

    def _filters(self) -> dict[str, Filter]:
        row, refund, party = self.payment.c, self.refund.c, self.party.c
        return {
            **created_filters(self.payment),
            "vendor_id": Filter(refund.party_id == given("vendor_id", Uuid)),
            "vendor_refund_id": Filter(row.refund_id == given("vendor_refund_id", Uuid)),
            "status": Filter(row.status == given("status", Text)),
            "payment_method": Filter(row.method == given("payment_method", Text)),
            "payment_date_start": Filter(row.payment_date >= given("payment_date_start", Date)),
            "payment_date_end": Filter(row.payment_date <= given("payment_date_end", Date)),
            "min_amount": Filter(row.amount >= given("min_amount", BigInteger)),
            "max_amount": Filter(row.amount <= given("max_amount", BigInteger)),
            "search": any_part(
                "search",
                row.payment_reference,
                row.processor_payment_id,
                row.description,
                row.memo,
                party.company_name,
                party.individual_name,
            ),
        }
