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
    series: str
    noun: str
    opened_word: str
    document_source: str
    payment_source: str
    document_title: str
    payment_title: str
    number_field: str
    opened_field: str
    party_id_field: str
    party_external_id_field: str
    document_id_field: str
    not_open: Callable[..., Refusal]
    of_another_party: Callable[..., Refusal]
    has_allocations: Callable[..., Refusal]


def _invoice_not_open(**detail: Any) -> Refusal:
    return Conflict("invoice_not_open", "Money goes to invoices that are sent.", **detail)


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
    series="INV",
    noun="invoice",
    opened_word="sent",
    document_source="invoice",
    payment_source="payment",
    document_title="invoice to",
    payment_title="payment from",
    number_field="invoice_number",
    opened_field="sent_at",
    party_id_field="customer_id",
    party_external_id_field="customer_external_id",
    document_id_field="invoice_id",
    not_open=_invoice_not_open,
    of_another_party=_invoice_of_another_customer,
    has_allocations=_invoice_has_allocations,
)
