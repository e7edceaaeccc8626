"""SQL of vendor refunds and their payments: the filters and sorts of their lists."""

from collections.abc import Mapping
from functools import cached_property
from typing import Any

from sqlalchemy import (
    ARRAY,
    Boolean,
    Text,
    Uuid,
    any_,
    case,
    func,
    literal_column,
    or_,
    select,
)
from sqlalchemy.sql.elements import ColumnElement

from persistence.engine.filters import any_part, any_tag, between, created_filters, equal
from persistence.engine.listings import Filter, Listing
from persistence.engine.sql import given, word
from persistence.store import MINE, in_business
from persistence.trade.party_sql import any_part_or_party, of_party
from persistence.trade.refund_sql import RefundPaymentSql, RefundSql

NONE: ColumnElement[int] = literal_column("0")


class VendorRefundSql(RefundSql):
    """The SQL of vendor refunds."""

    def filters(self) -> Mapping[str, Filter]:
        row = self.refund.c
        fully = (self._allocated() == row.amount) == given("is_fully_allocated", Boolean)
        return {
            "status": Filter(self._status() == any_(given("status", ARRAY(Text())))),
            **equal(row.refund_type),
            **between(row.agreed_on, "refund_date_from", "refund_date_to"),
            "currency": Filter(row.currency == given("currency", Text), str.upper),
            "is_fully_allocated": Filter(fully),
            "search": any_part_or_party(
                row.party_id,
                self.party,
                row.external_id,
                row.reference_number,
                row.description,
                row.memo,
                row.reason,
            ),
        }

    def sorts(self) -> Mapping[str, ColumnElement[Any]]:
        return {**super().sorts(), "refund_date": self.refund.c.agreed_on}

    def _allocated(self) -> ColumnElement[int]:
        row, refund = self.allocation.c, self.refund.c
        live = select(func.coalesce(func.sum(row.amount), NONE)).where(
            row.business_id == MINE,
            row.refund_id == refund.id,
            row.end_on.is_(None),
        )
        return live.scalar_subquery()

    def _status(self) -> ColumnElement[str]:
        """Return the SQL form of `vendor_refund_status` in `accounting.trade.refunds`.

        A test checks that the two agree.
        """
        row, payment, allocated = self.refund.c, self.payments.payment.c, self._allocated()
        unpaid = (
            select(payment.id)
            .where(payment.business_id == MINE, payment.refund_id == row.id)
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


class VendorRefundPaymentSql(RefundPaymentSql):
    """The SQL of the payments of vendor refunds."""

    @cached_property
    def listing(self) -> Listing:
        """The list of the payments of all refunds."""
        row = self.payment.c
        return Listing(
            source=self.source,
            key=row.id,
            scope=in_business(self.payment),
            columns=self.columns,
            filters=self._filters(),
            sorts={
                "created_at": row.created_at,
                "payment_date": row.listed_payment_date,
                "amount": row.amount,
            },
            default_sort="-created_at",
        )

    def _filters(self) -> dict[str, Filter]:
        row, refund = self.payment.c, self.refund.c
        named = any_part("search", self.party.c.company_name, self.party.c.individual_name)
        own = any_part(
            "search",
            row.payment_reference,
            row.processor_payment_id,
            row.description,
            row.memo,
        )
        return {
            **created_filters(self.payment),
            "vendor_id": Filter(self._of_refund(refund.party_id == given("vendor_id", Uuid))),
            "vendor_refund_id": Filter(row.refund_id == given("vendor_refund_id", Uuid)),
            **equal(row.status),
            "payment_method": Filter(row.method == given("payment_method", Text)),
            **between(row.payment_date, "payment_date_from", "payment_date_to"),
            **any_tag("transaction_tags", row.transaction_tags),
            **between(row.amount, "min_amount", "max_amount"),
            "search": Filter(
                or_(
                    own.condition,
                    self._of_refund(of_party(refund.party_id, self.party, named.condition)),
                ),
                own.value,
            ),
        }

    def _of_refund(self, condition: ColumnElement[bool]) -> ColumnElement[bool]:
        """Return the condition that the refund of a payment fulfils `condition`."""
        refunds = select(self.refund.c.id).where(in_business(self.refund), condition)
        return self.payment.c.refund_id.in_(refunds)
