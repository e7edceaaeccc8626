"""Invoices and what settles them or goes back: the receivable side of what is kept for both."""

from typing import ClassVar

from sqlalchemy import Text, func

from accounting.refunds import InvoiceRefund, RefundPayment
from accounting.sides import RECEIVABLE
from persistence import tables
from persistence.allocations import AllocationStatements
from persistence.credit_statements import CreditStatements
from persistence.credits import CreditStore
from persistence.document_shares import ShareTables
from persistence.document_statements import DocumentStatements
from persistence.documents import DocumentStore
from persistence.invoice_refund_statements import InvoiceRefundStatements
from persistence.pages import Filter
from persistence.payment_statements import PaymentStatements
from persistence.payments import PaymentStore
from persistence.refund_payments import RefundPaymentStore
from persistence.refund_shares import RefundedStatements
from persistence.refund_statements import RefundPaymentStatements
from persistence.refunds import RefundStore
from persistence.statements import given

SETTLING = ShareTables(
    payment=tables.invoice_payment,
    allocation=tables.invoice_allocation,
    credit=tables.customer_credit,
    credit_allocation=tables.customer_credit_allocation,
    refund=tables.invoice_refund,
    refund_allocation=tables.invoice_refund_allocation,
    write_off=tables.write_off,
)
INVOICES = DocumentStatements(RECEIVABLE, tables.invoice, tables.customer, SETTLING)
PAID = AllocationStatements(tables.invoice_allocation, "payment_id", INVOICES)
REFUNDED = RefundedStatements(tables.invoice, SETTLING)
processor = func.lower(tables.invoice_payment.c.processor)
PAYMENTS = PaymentStatements(
    RECEIVABLE,
    tables.invoice_payment,
    tables.customer,
    PAID,
    REFUNDED,
    payout=tables.payout,
    own_filters={"processor": Filter(processor == given("processor", Text), str.lower)},
)
CREDITED = AllocationStatements(tables.customer_credit_allocation, "credit_id", INVOICES)
CREDITS = CreditStatements(RECEIVABLE, tables.customer_credit, tables.customer, CREDITED)
REFUND_PAYMENTS = RefundPaymentStatements(
    RefundPayment, tables.invoice_refund_payment, tables.invoice_refund, tables.customer
)
REFUNDS = InvoiceRefundStatements(
    RECEIVABLE,
    InvoiceRefund,
    tables.invoice_refund_allocation,
    INVOICES,
    REFUND_PAYMENTS,
)


class InvoiceStore(DocumentStore):
    """The invoices of one business."""

    table: ClassVar = tables.invoice
    noun: ClassVar = "invoice"
    rank: ClassVar = 3
    statements: ClassVar = INVOICES


class InvoicePaymentStore(PaymentStore):
    """The payments that customers of one business made."""

    table: ClassVar = tables.invoice_payment
    noun: ClassVar = "payment"
    rank: ClassVar = 1
    statements: ClassVar = PAYMENTS


class CustomerCreditStore(CreditStore):
    """The credits that customers of one business were given."""

    table: ClassVar = tables.customer_credit
    noun: ClassVar = "customer_credit"
    rank: ClassVar = 2
    statements: ClassVar = CREDITS


class InvoiceRefundStore(RefundStore[InvoiceRefund, RefundPayment]):
    """What one business gives back to its customers."""

    table: ClassVar = tables.invoice_refund
    noun: ClassVar = "invoice_refund"
    rank: ClassVar = 4
    statements: ClassVar = REFUNDS


class InvoiceRefundPaymentStore(RefundPaymentStore[RefundPayment]):
    """The payments by which one business gives back."""

    table: ClassVar = tables.invoice_refund_payment
    noun: ClassVar = "invoice_refund_payment"
    refund_noun: ClassVar = "invoice_refund"
    rank: ClassVar = 5
    statements: ClassVar = REFUND_PAYMENTS
