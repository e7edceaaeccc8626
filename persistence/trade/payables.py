"""Stores of the payable side: bills, payments, credits, refunds and write-offs."""

from collections.abc import Mapping
from functools import cached_property
from typing import Any, ClassVar

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

from accounting.trade.refunds import VendorRefund, VendorRefundPayment
from accounting.trade.sides import PAYABLE
from persistence import tables
from persistence.engine.listings import (
    Filter,
    Listing,
    any_part,
    any_tag,
    between,
    created_filters,
    equal,
)
from persistence.engine.pages import Page, PageRequest
from persistence.engine.sql import Fetch, given, word
from persistence.store import MINE, in_business
from persistence.trade.credits import CreditSql, CreditStore
from persistence.trade.document_settlements import SettlementTables
from persistence.trade.document_sql import DocumentSql
from persistence.trade.documents import DocumentStore
from persistence.trade.party_columns import any_part_or_party, of_party, of_party_known_as
from persistence.trade.payments import AllocationSql, PaymentSql, PaymentStore
from persistence.trade.refund_sql import RefundPaymentSql, RefundSql
from persistence.trade.refunds import RefundPaymentStore, RefundStore
from persistence.trade.refunds_by_payment import RefundedSql
from persistence.trade.write_offs import WriteOffSql, WriteOffStore

# SQL of vendor refunds and their payments: the filters and sorts of their lists.


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
        known = of_party_known_as("vendor_external_id", refund.party_id, self.party)
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
            "vendor_external_id": Filter(self._of_refund(known.condition)),
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


SETTLING = SettlementTables(
    payment=tables.bill_payment,
    allocation=tables.bill_allocation,
    credit=tables.vendor_credit,
    credit_allocation=tables.vendor_credit_allocation,
    refund=tables.vendor_refund,
    refund_allocation=tables.vendor_refund_allocation,
    write_off=tables.bill_write_off,
)
BILLS = DocumentSql(PAYABLE, tables.bill, tables.vendor, SETTLING)
PAID = AllocationSql(tables.bill_allocation, "payment_id", BILLS)
REFUNDED = RefundedSql(tables.bill, SETTLING)
PAYMENTS = PaymentSql(PAYABLE, tables.bill_payment, tables.vendor, PAID, REFUNDED)
CREDITED = AllocationSql(tables.vendor_credit_allocation, "credit_id", BILLS)
CREDITS = CreditSql(PAYABLE, tables.vendor_credit, tables.vendor, CREDITED)
REFUND_PAYMENTS = VendorRefundPaymentSql(
    VendorRefundPayment,
    tables.vendor_refund_payment,
    tables.vendor_refund,
    tables.vendor_refund_allocation,
    tables.vendor,
)
REFUNDS = VendorRefundSql(
    PAYABLE,
    VendorRefund,
    tables.vendor_refund_allocation,
    BILLS,
    REFUND_PAYMENTS,
    tables.vendor_credit,
)

WRITE_OFFS = WriteOffSql(tables.bill_write_off, tables.bill, tables.vendor)


class BillStore(DocumentStore):
    """The bills of one business.

    A transaction that locks rows of both sides locks those of the receivable side first.
    """

    table: ClassVar = tables.bill
    noun: ClassVar = "bill"
    rank: ClassVar = 8
    sql: ClassVar = BILLS


class BillWriteOffStore(WriteOffStore):
    """The write-offs of bills of one business."""

    table: ClassVar = tables.bill_write_off
    sql: ClassVar = WRITE_OFFS


class BillPaymentStore(PaymentStore):
    """The payments of one business to its vendors."""

    table: ClassVar = tables.bill_payment
    noun: ClassVar = "bill_payment"
    rank: ClassVar = 6
    sql: ClassVar = PAYMENTS


class VendorCreditStore(CreditStore):
    """The credits of one business with its vendors."""

    table: ClassVar = tables.vendor_credit
    noun: ClassVar = "vendor_credit"
    rank: ClassVar = 7
    sql: ClassVar = CREDITS


class VendorRefundStore(RefundStore[VendorRefund, VendorRefundPayment]):
    """The refunds of vendors to one business."""

    table: ClassVar = tables.vendor_refund
    noun: ClassVar = "vendor_refund"
    rank: ClassVar = 9
    sql: ClassVar = REFUNDS


class VendorRefundPaymentStore(RefundPaymentStore[VendorRefundPayment]):
    """The payments of refunds from vendors of one business."""

    table: ClassVar = tables.vendor_refund_payment
    noun: ClassVar = "vendor_refund_payment"
    refund_noun: ClassVar = "vendor_refund"
    rank: ClassVar = 10
    sql: ClassVar = REFUND_PAYMENTS

    def page_of_all(self, wanted: PageRequest) -> Fetch[Page[VendorRefundPayment]]:
        """List one page of the payments of all vendor refunds."""
        return self.listed(REFUND_PAYMENTS.listing, wanted, self.read)
