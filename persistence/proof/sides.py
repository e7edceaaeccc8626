"""Table names of each side of trade, and name prefixes of its checks."""

from dataclasses import dataclass

from accounting.trade.sides import PAYABLE, RECEIVABLE, Side


@dataclass(frozen=True, slots=True, kw_only=True)
class SideTables:
    """The table names of one side.

    `payments`, `credits` and `refunds` are the prefixes of the names of their checks, as the table
    of the document is for documents. With `refunds_paid_later`, refunds are allocated and paid
    after they are agreed, and parts of them may be kept as credits.
    """

    side: Side
    document: str
    payment: str
    allocation: str
    credit: str
    refund: str
    refund_allocation: str
    refund_payment: str
    write_off: str
    payments: str = ""
    credits: str = "credit"
    refunds: str = "refund"
    refunds_paid_later: bool = False

    @property
    def credit_allocation(self) -> str:
        """The table of allocations of credits to documents."""
        return f"{self.credit}_allocation"


SALES = SideTables(
    side=RECEIVABLE,
    document="invoice",
    payment="invoice_payment",
    allocation="invoice_allocation",
    credit="customer_credit",
    refund="invoice_refund",
    refund_allocation="invoice_refund_allocation",
    refund_payment="invoice_refund_payment",
    write_off="write_off",
)
PURCHASES = SideTables(
    side=PAYABLE,
    document="bill",
    payment="bill_payment",
    allocation="bill_allocation",
    credit="vendor_credit",
    refund="vendor_refund",
    refund_allocation="vendor_refund_allocation",
    refund_payment="vendor_refund_payment",
    write_off="bill_write_off",
    payments="bill_",
    credits="vendor_credit",
    refunds="vendor_refund",
    refunds_paid_later=True,
)
BOTH = (SALES, PURCHASES)
