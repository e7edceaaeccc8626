"""Bills and what settles them or comes back: the payable side of what is kept for both."""

from typing import ClassVar

from accounting.refunds import VendorRefund, VendorRefundPayment
from accounting.sides import PAYABLE
from persistence import tables
from persistence.allocations import AllocationStatements
from persistence.credit_statements import CreditStatements
from persistence.credits import CreditStore
from persistence.document_shares import ShareTables
from persistence.document_statements import DocumentStatements
from persistence.documents import DocumentStore
from persistence.pages import Page, PageRequest
from persistence.payment_statements import PaymentStatements
from persistence.payments import PaymentStore
from persistence.questions import Question
from persistence.refund_payments import RefundPaymentStore
from persistence.refund_shares import RefundedStatements
from persistence.refunds import RefundStore
from persistence.vendor_refund_statements import (
    VendorRefundPaymentStatements,
    VendorRefundStatements,
)

SETTLING = ShareTables(
    payment=tables.bill_payment,
    allocation=tables.bill_allocation,
    credit=tables.vendor_credit,
    credit_allocation=tables.vendor_credit_allocation,
    refund=tables.vendor_refund,
    refund_allocation=tables.vendor_refund_allocation,
)
BILLS = DocumentStatements(PAYABLE, tables.bill, tables.vendor, SETTLING)
PAID = AllocationStatements(tables.bill_allocation, "payment_id", BILLS)
REFUNDED = RefundedStatements(tables.bill, SETTLING)
PAYMENTS = PaymentStatements(PAYABLE, tables.bill_payment, tables.vendor, PAID, REFUNDED)
CREDITED = AllocationStatements(tables.vendor_credit_allocation, "credit_id", BILLS)
CREDITS = CreditStatements(PAYABLE, tables.vendor_credit, tables.vendor, CREDITED)
REFUND_PAYMENTS = VendorRefundPaymentStatements(
    VendorRefundPayment, tables.vendor_refund_payment, tables.vendor_refund, tables.vendor
)
REFUNDS = VendorRefundStatements(
    PAYABLE,
    VendorRefund,
    tables.vendor_refund_allocation,
    BILLS,
    REFUND_PAYMENTS,
    tables.vendor_credit,
)


class BillStore(DocumentStore):
    """The bills of one business.

    The ranks of this side are those of the other one: no transaction locks on both.
    """

    table: ClassVar = tables.bill
    noun: ClassVar = "bill"
    rank: ClassVar = 3
    statements: ClassVar = BILLS


class BillPaymentStore(PaymentStore):
    """The payments of one business to its vendors."""

    table: ClassVar = tables.bill_payment
    noun: ClassVar = "bill_payment"
    rank: ClassVar = 1
    statements: ClassVar = PAYMENTS


class VendorCreditStore(CreditStore):
    """The credits that one business has with its vendors."""

    table: ClassVar = tables.vendor_credit
    noun: ClassVar = "vendor_credit"
    rank: ClassVar = 2
    statements: ClassVar = CREDITS


class VendorRefundStore(RefundStore[VendorRefund, VendorRefundPayment]):
    """What vendors give back to one business."""

    table: ClassVar = tables.vendor_refund
    noun: ClassVar = "vendor_refund"
    rank: ClassVar = 4
    statements: ClassVar = REFUNDS


class VendorRefundPaymentStore(RefundPaymentStore[VendorRefundPayment]):
    """The payments by which vendors give back."""

    table: ClassVar = tables.vendor_refund_payment
    noun: ClassVar = "vendor_refund_payment"
    refund_noun: ClassVar = "vendor_refund"
    rank: ClassVar = 5
    statements: ClassVar = REFUND_PAYMENTS

    def page_of_all(self, wanted: PageRequest) -> Question[Page[VendorRefundPayment]]:
        """List one page of the payments of all refunds."""
        return self.listed(REFUND_PAYMENTS.listing, wanted, self.read)
