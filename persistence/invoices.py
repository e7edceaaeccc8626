"""Invoices and what settles them or goes back: the receivable side of what is kept for both."""

from typing import ClassVar

from accounting.sides import RECEIVABLE
from persistence import tables
from persistence.allocations import AllocationStatements
from persistence.credit_statements import CreditStatements
from persistence.credits import CreditStore
from persistence.document_shares import ShareTables
from persistence.document_statements import DocumentStatements
from persistence.documents import DocumentStore
from persistence.payment_refunds import RefundedStatements
from persistence.payment_statements import PaymentStatements
from persistence.payments import PaymentStore
from persistence.refund_statements import RefundPaymentStatements, RefundStatements
from persistence.refunds import RefundPaymentStore, RefundStore

SETTLING = ShareTables(
    payment=tables.invoice_payment,
    allocation=tables.invoice_allocation,
    credit=tables.customer_credit,
    credit_allocation=tables.customer_credit_allocation,
    refund=tables.invoice_refund,
    refund_allocation=tables.invoice_refund_allocation,
    write_off=tables.write_off,
)
INVOICES = DocumentStatements(tables.invoice, tables.customer, SETTLING)
PAID = AllocationStatements(tables.invoice_allocation, "payment_id", INVOICES)
REFUNDED = RefundedStatements(tables.invoice, SETTLING)
PAYMENTS = PaymentStatements(tables.invoice_payment, tables.customer, PAID, REFUNDED)
CREDITED = AllocationStatements(tables.customer_credit_allocation, "credit_id", INVOICES)
CREDITS = CreditStatements(RECEIVABLE, tables.customer_credit, tables.customer, CREDITED)
REFUND_PAYMENTS = RefundPaymentStatements(
    tables.invoice_refund_payment, tables.invoice_refund, tables.customer
)
REFUNDS = RefundStatements(
    RECEIVABLE,
    tables.invoice_refund,
    tables.customer,
    tables.invoice_refund_allocation,
    INVOICES,
    REFUND_PAYMENTS,
)


class InvoiceStore(DocumentStore):
    """The invoices of one business."""

    table: ClassVar = tables.invoice
    noun: ClassVar = "invoice"
    rank: ClassVar = 2
    statements: ClassVar = INVOICES
    series: ClassVar = RECEIVABLE.series


class InvoicePaymentStore(PaymentStore):
    """The payments that customers of one business made."""

    table: ClassVar = tables.invoice_payment
    noun: ClassVar = "payment"
    rank: ClassVar = 1
    statements: ClassVar = PAYMENTS


class CustomerCreditStore(CreditStore):
    """The credits that customers of one business were given.

    Their rank is that of payments: both are locked before documents, and no transaction locks both.
    """

    table: ClassVar = tables.customer_credit
    noun: ClassVar = "customer_credit"
    rank: ClassVar = 1
    statements: ClassVar = CREDITS


class InvoiceRefundStore(RefundStore):
    """What one business gives back to its customers."""

    table: ClassVar = tables.invoice_refund
    noun: ClassVar = "invoice_refund"
    rank: ClassVar = 3
    statements: ClassVar = REFUNDS


class InvoiceRefundPaymentStore(RefundPaymentStore):
    """The payments by which one business gives back."""

    table: ClassVar = tables.invoice_refund_payment
    noun: ClassVar = "invoice_refund_payment"
    refund_noun: ClassVar = "invoice_refund"
    rank: ClassVar = 4
    statements: ClassVar = REFUND_PAYMENTS
