"""Stores of the payable side: bills, payments, credits, refunds and write-offs."""

from typing import ClassVar

from accounting.trade.refunds import VendorRefund, VendorRefundPayment
from accounting.trade.sides import PAYABLE
from persistence import tables
from persistence.engine.fetches import Fetch
from persistence.engine.pages import Page, PageRequest
from persistence.trade.allocations import AllocationSql
from persistence.trade.credit_sql import CreditSql
from persistence.trade.credits import CreditStore
from persistence.trade.document_settlements import SettlementTables
from persistence.trade.document_sql import DocumentSql
from persistence.trade.documents import DocumentStore
from persistence.trade.payment_sql import PaymentSql
from persistence.trade.payments import PaymentStore
from persistence.trade.refund_payments import RefundPaymentStore
from persistence.trade.refunds import RefundStore
from persistence.trade.refunds_by_payment import RefundedSql
from persistence.trade.vendor_refund_sql import (
    VendorRefundPaymentSql,
    VendorRefundSql,
)
from persistence.trade.write_offs import WriteOffSql, WriteOffStore

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
