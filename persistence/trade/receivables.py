"""Stores of the receivable side: invoices, payments, credits, refunds and write-offs."""

from collections.abc import Mapping
from typing import Any, ClassVar

from sqlalchemy import Text, Uuid, and_, func, or_, select
from sqlalchemy.sql.elements import ColumnElement

from accounting.trade.refunds import InvoiceRefund, RefundPayment
from accounting.trade.sides import RECEIVABLE
from persistence import tables
from persistence.engine.listings import Filter, any_part, one_of
from persistence.engine.sql import given
from persistence.store import MINE
from persistence.trade.credits import CreditSql, CreditStore
from persistence.trade.document_settlements import SettlementTables
from persistence.trade.document_sql import DocumentSql
from persistence.trade.documents import DocumentStore
from persistence.trade.party_columns import any_part_or_party
from persistence.trade.payments import AllocationSql, PaymentSql, PaymentStore
from persistence.trade.refund_sql import RefundPaymentSql, RefundSql
from persistence.trade.refunds import RefundPaymentStore, RefundStore
from persistence.trade.refunds_by_payment import RefundedSql
from persistence.trade.write_offs import WriteOffSql, WriteOffStore

# SQL of invoice refunds: the filters of their list.


class InvoiceRefundSql(RefundSql):
    """The SQL of invoice refunds."""

    def filters(self) -> Mapping[str, Filter]:
        side, affected = self.side, self.allocation.c
        return {
            side.names.document_id: self._touching(affected.document_id, side.names.document_id),
            side.names.payment_id: self._touching(affected.payment_id, side.names.payment_id),
            side.names.credit_id: self._touching(affected.refunded_credit_id, side.names.credit_id),
            "status": one_of("status", self.refund.c.listed_status),
            "search": self._search(),
        }

    def _touching(self, target: ColumnElement[Any], name: str) -> Filter:
        """Build a filter by a target of the refund's allocations.

        Cancelled refunds match too, because their targets never change.
        """
        row, refund = self.allocation.c, self.refund.c
        mine = and_(row.business_id == MINE, row.refund_id == refund.id)
        return Filter(select(row.id).where(mine, target == given(name, Uuid)).exists())

    def _search(self) -> Filter:
        row, refund = self.allocation.c, self.refund.c
        document = self.documents.document
        own = any_part_or_party(
            refund.party_id, self.party, refund.external_id, refund.reference_number, refund.memo
        )
        numbered = any_part("search", document.c.number)
        of_numbered = (
            select(row.id)
            .select_from(self.allocation.join(document, self.given_back()))
            .where(row.business_id == MINE, row.refund_id == refund.id)
            .where(numbered.condition)
            .exists()
        )
        return Filter(or_(own.condition, of_numbered), own.value)


SETTLING = SettlementTables(
    payment=tables.invoice_payment,
    allocation=tables.invoice_allocation,
    credit=tables.customer_credit,
    credit_allocation=tables.customer_credit_allocation,
    refund=tables.invoice_refund,
    refund_allocation=tables.invoice_refund_allocation,
    write_off=tables.write_off,
)
INVOICES = DocumentSql(RECEIVABLE, tables.invoice, tables.customer, SETTLING)
PAID = AllocationSql(tables.invoice_allocation, "payment_id", INVOICES)
REFUNDED = RefundedSql(tables.invoice, SETTLING)
processor = func.lower(tables.invoice_payment.c.processor)
PAYMENTS = PaymentSql(
    RECEIVABLE,
    tables.invoice_payment,
    tables.customer,
    PAID,
    REFUNDED,
    payout=tables.payout,
    own_filters={"processor": Filter(processor == given("processor", Text), str.lower)},
)
CREDITED = AllocationSql(tables.customer_credit_allocation, "credit_id", INVOICES)
CREDITS = CreditSql(RECEIVABLE, tables.customer_credit, tables.customer, CREDITED)
REFUND_PAYMENTS = RefundPaymentSql(
    RefundPayment,
    tables.invoice_refund_payment,
    tables.invoice_refund,
    tables.invoice_refund_allocation,
    tables.customer,
)
REFUNDS = InvoiceRefundSql(
    RECEIVABLE,
    InvoiceRefund,
    tables.invoice_refund_allocation,
    INVOICES,
    REFUND_PAYMENTS,
    tables.customer_credit,
)

WRITE_OFFS = WriteOffSql(tables.write_off, tables.invoice, tables.customer)


class InvoiceStore(DocumentStore):
    """The invoices of one business."""

    table: ClassVar = tables.invoice
    noun: ClassVar = "invoice"
    rank: ClassVar = 3
    sql: ClassVar = INVOICES


class InvoiceWriteOffStore(WriteOffStore):
    """The write-offs of invoices of one business."""

    table: ClassVar = tables.write_off
    sql: ClassVar = WRITE_OFFS


class InvoicePaymentStore(PaymentStore):
    """The payments of customers to one business."""

    table: ClassVar = tables.invoice_payment
    noun: ClassVar = "payment"
    rank: ClassVar = 1
    sql: ClassVar = PAYMENTS


class CustomerCreditStore(CreditStore):
    """The credits of customers of one business."""

    table: ClassVar = tables.customer_credit
    noun: ClassVar = "customer_credit"
    rank: ClassVar = 2
    sql: ClassVar = CREDITS


class InvoiceRefundStore(RefundStore[InvoiceRefund, RefundPayment]):
    """The refunds of one business to its customers."""

    table: ClassVar = tables.invoice_refund
    noun: ClassVar = "invoice_refund"
    rank: ClassVar = 4
    sql: ClassVar = REFUNDS


class InvoiceRefundPaymentStore(RefundPaymentStore[RefundPayment]):
    """The payments of refunds to customers of one business."""

    table: ClassVar = tables.invoice_refund_payment
    noun: ClassVar = "invoice_refund_payment"
    refund_noun: ClassVar = "invoice_refund"
    rank: ClassVar = 5
    sql: ClassVar = REFUND_PAYMENTS
