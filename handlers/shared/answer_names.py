"""Field names in answers that differ between sales and purchases."""

from dataclasses import dataclass

from accounting.trade.sides import RECEIVABLE, Side


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerNames:
    """Field names of one side; None where only the other side has the field."""

    party: str
    issue_date: str
    party_number: str | None
    payments: str
    credits: str
    refunds: str
    credit_id: str
    credit_account: str
    credit_refund: str | None


SALES = AnswerNames(
    party="customer",
    issue_date="issue_date",
    party_number=None,
    payments="payment_allocations",
    credits="credit_allocations",
    refunds="refund_allocations",
    credit_id="credit_note_id",
    credit_account="revenue_account_identifier",
    credit_refund=None,
)
PURCHASES = AnswerNames(
    party="vendor",
    issue_date="bill_date",
    party_number="vendor_bill_number",
    payments="bill_payment_allocations",
    credits="vendor_credit_allocations",
    refunds="vendor_refund_allocations",
    credit_id="vendor_credit_id",
    credit_account="expense_account_identifier",
    credit_refund="source_refund_id",
)


def names_of(side: Side) -> AnswerNames:
    """Return the field names of a side."""
    return SALES if side is RECEIVABLE else PURCHASES
