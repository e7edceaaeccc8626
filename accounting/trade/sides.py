"""The two sides of trade. Documents and payments are written once, with signs and words."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from accounting.books.chart import Role, money_role, vendor_money_role
from accounting.errors import Conflict, Refusal, RuleBroken


@dataclass(frozen=True, slots=True)
class Side:
    """What tells sales from purchases: accounts, number series, source types and words.

    `sign` is +1 where an opened document debits its control account and money comes in. Without a
    `discount` account a document's own discount lessens its lines, and without a `refund_net`
    account a refund goes back to them. Where documents are `dated_by_issue`, the date on them is
    their day in the books; only a side with a `party_number_field` knows documents by a number of
    the other side too, and only one with a `credit_refund_field` keeps parts of refunds as credits.
    `payment_moves` says from which status of a payment a caller may set which. The refusals are
    makers, so that each code stands as a literal where its refusal is made.
    """

    sign: int
    control: Role
    prepayments: Role
    line_default: Role
    tax: Role
    discount: Role | None
    fee: Role
    credits: Role
    credit_line_default: Role
    refunds: Role
    refund_net: Role | None
    series: str
    credit_series: str
    noun: str
    opened_word: str
    document_source: str
    payment_source: str
    credit_source: str
    refund_source: str
    refund_payment_source: str
    document_title: str
    payment_title: str
    credit_title: str
    refund_title: str
    refund_payment_title: str
    number_field: str
    party_number_field: str | None
    credit_number_field: str
    credit_id_field: str
    credit_account_field: str
    credit_refund_field: str | None
    opened_field: str
    issue_field: str
    dated_by_issue: bool
    party: str
    party_id_field: str
    party_external_id_field: str
    document_id_field: str
    payment_id_field: str
    payment_amount_field: str
    payments_field: str
    credits_field: str
    refunds_field: str
    payment_moves: Mapping[str, frozenset[str]]
    money: Callable[[str, str | None], Role]
    refund_fee_within: bool
    party_not_active: Callable[..., Refusal]
    party_has_balance: Callable[..., Refusal]
    not_open: Callable[..., Refusal]
    of_another_party: Callable[..., Refusal]
    has_allocations: Callable[..., Refusal]


def _customer_not_active(**detail: Any) -> Refusal:
    return Conflict("customer_archived", "The customer is archived. Unarchive it first.", **detail)


def _customer_has_balance(**detail: Any) -> Refusal:
    return Conflict(
        "customer_has_balance",
        "The customer still owes something, to be paid, credited or written off first.",
        **detail,
    )


def _invoice_not_open(**detail: Any) -> Refusal:
    return Conflict("invoice_not_open", "Only an invoice that is sent can be settled.", **detail)


def _invoice_of_another_customer(**detail: Any) -> Refusal:
    return RuleBroken(
        "invoice_customer_mismatch", "The invoice belongs to another customer.", **detail
    )


def _invoice_has_allocations(**detail: Any) -> Refusal:
    return Conflict(
        "invoice_has_allocations",
        "Money is allocated to the invoice, or part of it is credited, refunded or written off. "
        "Take that back first.",
        **detail,
    )


def _vendor_not_active(**detail: Any) -> Refusal:
    return Conflict(
        "vendor_not_active", "The vendor is not active. Make it active first.", **detail
    )


def _vendor_has_balance(**detail: Any) -> Refusal:
    return Conflict(
        "vendor_has_balance", "The vendor is still owed something, to be paid first.", **detail
    )


def _bill_not_open(**detail: Any) -> Refusal:
    return Conflict("bill_not_open", "Only a bill that is received can be settled.", **detail)


def _bill_of_another_vendor(**detail: Any) -> Refusal:
    return RuleBroken("bill_vendor_mismatch", "The bill belongs to another vendor.", **detail)


def _bill_has_allocations(**detail: Any) -> Refusal:
    return Conflict(
        "bill_has_allocations",
        "Money is allocated to the bill, or part of it is credited or refunded. "
        "Take that back first.",
        **detail,
    )


_ANY = frozenset({"pending", "processing", "completed", "failed", "cancelled", "refunded"})

RECEIVABLE = Side(
    sign=1,
    control=Role.ACCOUNTS_RECEIVABLE,
    prepayments=Role.CUSTOMER_PREPAYMENTS,
    line_default=Role.SALES,
    tax=Role.OUTPUT_TAX,
    discount=Role.DISCOUNTS_GIVEN,
    fee=Role.PROCESSING_FEES,
    credits=Role.CUSTOMER_CREDITS,
    credit_line_default=Role.SALES_RETURNS,
    refunds=Role.REFUNDS_PAYABLE,
    refund_net=Role.SALES_RETURNS,
    series="INV",
    credit_series="CN",
    noun="invoice",
    opened_word="sent",
    document_source="invoice",
    payment_source="payment",
    credit_source="customer_credit",
    refund_source="refund",
    refund_payment_source="refund_payment",
    document_title="invoice to",
    payment_title="payment from",
    credit_title="credit note to",
    refund_title="refund to",
    refund_payment_title="refund payment to",
    number_field="invoice_number",
    party_number_field=None,
    credit_number_field="credit_note_number",
    credit_id_field="credit_note_id",
    credit_account_field="revenue_account_identifier",
    credit_refund_field=None,
    opened_field="sent_at",
    issue_field="issue_date",
    dated_by_issue=False,
    party="customer",
    party_id_field="customer_id",
    party_external_id_field="customer_external_id",
    document_id_field="invoice_id",
    payment_id_field="payment_id",
    payment_amount_field="total_amount_cents",
    payments_field="payment_allocations",
    credits_field="credit_allocations",
    refunds_field="refund_allocations",
    payment_moves={status: _ANY - {status} for status in _ANY},
    money=money_role,
    refund_fee_within=False,
    party_not_active=_customer_not_active,
    party_has_balance=_customer_has_balance,
    not_open=_invoice_not_open,
    of_another_party=_invoice_of_another_customer,
    has_allocations=_invoice_has_allocations,
)

PAYABLE = Side(
    sign=-1,
    control=Role.ACCOUNTS_PAYABLE,
    prepayments=Role.VENDOR_PREPAYMENTS,
    line_default=Role.GENERAL_EXPENSES,
    tax=Role.INPUT_TAX,
    discount=None,
    fee=Role.BANK_CHARGES,
    credits=Role.VENDOR_CREDITS,
    credit_line_default=Role.PURCHASE_RETURNS,
    refunds=Role.VENDOR_REFUNDS_RECEIVABLE,
    refund_net=None,
    series="BILL",
    credit_series="VC",
    noun="bill",
    opened_word="received",
    document_source="bill",
    payment_source="bill_payment",
    credit_source="vendor_credit",
    refund_source="vendor_refund",
    refund_payment_source="vendor_refund_payment",
    document_title="bill from",
    payment_title="payment to",
    credit_title="credit from",
    refund_title="refund from",
    refund_payment_title="refund payment from",
    number_field="bill_number",
    party_number_field="vendor_bill_number",
    credit_number_field="vendor_credit_number",
    credit_id_field="vendor_credit_id",
    credit_account_field="expense_account_identifier",
    credit_refund_field="source_refund_id",
    opened_field="received_at",
    issue_field="bill_date",
    dated_by_issue=True,
    party="vendor",
    party_id_field="vendor_id",
    party_external_id_field="vendor_external_id",
    document_id_field="bill_id",
    payment_id_field="bill_payment_id",
    payment_amount_field="amount_cents",
    payments_field="bill_payment_allocations",
    credits_field="vendor_credit_allocations",
    refunds_field="vendor_refund_allocations",
    payment_moves={
        "pending": frozenset({"processing", "completed", "failed", "cancelled"}),
        "processing": frozenset({"completed", "failed"}),
        "completed": frozenset({"failed"}),
        "failed": frozenset({"pending", "completed", "cancelled"}),
        "cancelled": frozenset(),
    },
    money=vendor_money_role,
    refund_fee_within=True,
    party_not_active=_vendor_not_active,
    party_has_balance=_vendor_has_balance,
    not_open=_bill_not_open,
    of_another_party=_bill_of_another_vendor,
    has_allocations=_bill_has_allocations,
)
