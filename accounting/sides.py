"""The two sides of trade. Documents and payments are written once, with signs and words."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from accounting.chart import Role
from accounting.errors import Conflict, Refusal, RuleBroken


@dataclass(frozen=True, slots=True)
class Side:
    """What tells sales from purchases: accounts, number series, source types and words.

    `sign` is +1 where an opened document debits its control account and money comes in. The
    refusals are makers, so that each code stands as a literal where its refusal is made.
    """

    sign: int
    control: Role
    prepayments: Role
    line_default: Role
    tax: Role
    discount: Role
    fee: Role
    credits: Role
    credit_line_default: Role
    refunds: Role
    refund_net: Role
    series: str
    credit_series: str
    noun: str
    opened_word: str
    document_source: str
    payment_source: str
    credit_source: str
    refund_source: str
    refund_payment_source: str
    write_off_source: str
    document_title: str
    payment_title: str
    write_off_title: str
    credit_title: str
    refund_title: str
    refund_payment_title: str
    number_field: str
    credit_number_field: str
    credit_account_field: str
    opened_field: str
    party_id_field: str
    party_external_id_field: str
    document_id_field: str
    payment_id_field: str
    not_open: Callable[..., Refusal]
    of_another_party: Callable[..., Refusal]
    has_allocations: Callable[..., Refusal]


def _invoice_not_open(**detail: Any) -> Refusal:
    return Conflict("invoice_not_open", "Only an invoice that is sent can be settled.", **detail)


def _invoice_of_another_customer(**detail: Any) -> Refusal:
    return RuleBroken(
        "invoice_customer_mismatch", "The invoice belongs to another customer.", **detail
    )


def _invoice_has_allocations(**detail: Any) -> Refusal:
    return Conflict(
        "invoice_has_allocations",
        "Money is allocated to the invoice, or part of it is credited, refunded or written off.",
        **detail,
    )


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
    write_off_source="write_off",
    document_title="invoice to",
    payment_title="payment from",
    write_off_title="write-off of an invoice to",
    credit_title="credit note to",
    refund_title="refund to",
    refund_payment_title="refund payment to",
    number_field="invoice_number",
    credit_number_field="credit_note_number",
    credit_account_field="revenue_account_identifier",
    opened_field="sent_at",
    party_id_field="customer_id",
    party_external_id_field="customer_external_id",
    document_id_field="invoice_id",
    payment_id_field="payment_id",
    not_open=_invoice_not_open,
    of_another_party=_invoice_of_another_customer,
    has_allocations=_invoice_has_allocations,
)
