"""Stores of the receivable side: invoices, payments, credits, refunds and write-offs."""

from typing import ClassVar

from sqlalchemy import Text, func

from accounting.trade.refunds import InvoiceRefund, RefundPayment
from accounting.trade.sides import RECEIVABLE
from persistence import tables
from persistence.engine.listings import Filter
from persistence.engine.sql import given
from persistence.trade.allocations import AllocationSql
from persistence.trade.credit_sql import CreditSql
from persistence.trade.credits import CreditStore
from persistence.trade.document_settlements import SettlementTables
from persistence.trade.document_sql import DocumentSql
from persistence.trade.documents import DocumentStore
from persistence.trade.invoice_refund_sql import InvoiceRefundSql
from persistence.trade.payment_sql import PaymentSql
from persistence.trade.payments import PaymentStore
from persistence.trade.refund_payments import RefundPaymentStore
from persistence.trade.refund_sql import RefundPaymentSql
from persistence.trade.refunds import RefundStore
from persistence.trade.refunds_by_payment import RefundedSql
from persistence.trade.write_offs import WriteOffSql, WriteOffStore

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
