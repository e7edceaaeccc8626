"""Invoices and their payments: the receivable side of documents and payments."""

from typing import ClassVar

from accounting.sides import RECEIVABLE
from persistence.document_statements import DocumentStatements
from persistence.documents import DocumentStore
from persistence.payment_statements import PaymentStatements
from persistence.payments import PaymentStore
from persistence.tables import customer, invoice, invoice_allocation, invoice_payment

INVOICES = DocumentStatements(invoice, customer, invoice_payment, invoice_allocation)
PAYMENTS = PaymentStatements(invoice_payment, customer, invoice_allocation, INVOICES)


class InvoiceStore(DocumentStore):
    """The invoices of one business."""

    table: ClassVar = invoice
    noun: ClassVar = "invoice"
    rank: ClassVar = 2
    statements: ClassVar = INVOICES
    series: ClassVar = RECEIVABLE.series


class InvoicePaymentStore(PaymentStore):
    """The payments that customers of one business made."""

    table: ClassVar = invoice_payment
    noun: ClassVar = "payment"
    rank: ClassVar = 1
    statements: ClassVar = PAYMENTS
