"""The two sides of trade, sales and purchases.

Documents and payments are written once for both, with the signs, accounts and words of a side.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from accounting.books.chart import Role, money_role, vendor_money_role
from accounting.errors import ApiError, Conflict, RuleViolation
from accounting.tax.codes import Direction


@dataclass(frozen=True, slots=True, kw_only=True)
class SideWords:
    """The words of a side for people: its name for a document, and the titles of its entries."""

    document: str
    document_title: str
    payment_title: str
    credit_title: str
    refund_title: str
    refund_payment_title: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SideNames:
    """The names of a side's fields in the API: in errors, filters and sorts."""

    party_id: str
    party_external_id: str
    document_id: str
    payment_id: str
    credit_id: str
    payment_total: str
    opened_at: str
    number: str
    credit_number: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SideRefusals:
    """The API errors of a side, as functions: each error code is a literal in its function."""

    party_not_active: Callable[..., ApiError]
    party_has_balance: Callable[..., ApiError]
    not_open: Callable[..., ApiError]
    of_another_party: Callable[..., ApiError]
    has_allocations: Callable[..., ApiError]


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """The differences between sales and purchases in the ledger: accounts, signs, series, sources.

    `sign` is +1 where an opened document debits its control account and its payments come in.
    Without a `discount` account, the document discount reduces the amounts of the lines; without a
    `refund_net` account, a refund uses the accounts of the lines. `payment_moves` lists, for each
    status of a payment, the statuses that a caller may set.
    """

    sign: int
    control: Role
    prepayments: Role
    line_default: Role
    tax: Role
    tax_direction: Direction
    discount: Role | None
    fee: Role
    credits: Role
    credit_line_default: Role
    written_off: Role
    refunds: Role
    refund_net: Role | None
    money: Callable[[str, str | None], Role]
    refund_fee_within: bool
    series: str
    credit_series: str
    opened_status: str
    document_source: str
    payment_source: str
    credit_source: str
    refund_source: str
    refund_payment_source: str
    write_off_source: str
    payment_moves: Mapping[str, frozenset[str]]
    words: SideWords
    names: SideNames
    refusals: SideRefusals


def _customer_not_active(**detail: Any) -> ApiError:
    return Conflict("customer_archived", "The customer is archived. Unarchive it first.", **detail)


def _customer_has_balance(**detail: Any) -> ApiError:
    return Conflict(
        "customer_has_balance",
        "The customer has an open balance. Settle all amounts owed, and refund or apply"
        " prepayments and credits.",
        **detail,
    )


def _invoice_not_open(**detail: Any) -> ApiError:
    return Conflict("invoice_not_open", "Only a sent invoice can be settled.", **detail)


def _invoice_of_another_customer(**detail: Any) -> ApiError:
    return RuleViolation(
        "invoice_customer_mismatch", "The invoice belongs to another customer.", **detail
    )


def _invoice_has_allocations(**detail: Any) -> ApiError:
    return Conflict(
        "invoice_has_allocations",
        "Money is allocated to the invoice, or part of it is credited, refunded or written"
        " off. Undo that first.",
        **detail,
    )


def _vendor_not_active(**detail: Any) -> ApiError:
    return Conflict("vendor_not_active", "The vendor is not active. Activate it first.", **detail)


def _vendor_has_balance(**detail: Any) -> ApiError:
    return Conflict(
        "vendor_has_balance",
        "The vendor has an open balance. Settle all amounts owed, and recover or apply"
        " prepayments and credits.",
        **detail,
    )


def _bill_not_open(**detail: Any) -> ApiError:
    return Conflict("bill_not_open", "Only a received bill can be settled.", **detail)


def _bill_of_another_vendor(**detail: Any) -> ApiError:
    return RuleViolation("bill_vendor_mismatch", "The bill belongs to another vendor.", **detail)


def _bill_has_allocations(**detail: Any) -> ApiError:
    return Conflict(
        "bill_has_allocations",
        "Money is allocated to the bill, or part of it is credited, refunded or written off."
        " Undo that first.",
        **detail,
    )


_ANY = frozenset({"pending", "processing", "completed", "failed", "cancelled", "refunded"})

RECEIVABLE = Side(
    sign=1,
    control=Role.ACCOUNTS_RECEIVABLE,
    prepayments=Role.CUSTOMER_PREPAYMENTS,
    line_default=Role.SALES,
    tax=Role.OUTPUT_TAX,
    tax_direction=Direction.SALES,
    discount=Role.DISCOUNTS_GIVEN,
    fee=Role.PROCESSING_FEES,
    credits=Role.CUSTOMER_CREDITS,
    credit_line_default=Role.SALES_RETURNS,
    written_off=Role.BAD_DEBTS,
    refunds=Role.REFUNDS_PAYABLE,
    refund_net=Role.SALES_RETURNS,
    money=money_role,
    refund_fee_within=False,
    series="INV",
    credit_series="CN",
    opened_status="sent",
    document_source="invoice",
    payment_source="payment",
    credit_source="customer_credit",
    refund_source="refund",
    refund_payment_source="refund_payment",
    write_off_source="write_off",
    payment_moves={status: _ANY - {status} for status in _ANY},
    words=SideWords(
        document="invoice",
        document_title="invoice to",
        payment_title="payment from",
        credit_title="credit note to",
        refund_title="refund to",
        refund_payment_title="refund payment to",
    ),
    names=SideNames(
        party_id="customer_id",
        party_external_id="customer_external_id",
        document_id="invoice_id",
        payment_id="payment_id",
        credit_id="credit_id",
        payment_total="total_amount_cents",
        opened_at="sent_at",
        number="invoice_number",
        credit_number="credit_note_number",
    ),
    refusals=SideRefusals(
        party_not_active=_customer_not_active,
        party_has_balance=_customer_has_balance,
        not_open=_invoice_not_open,
        of_another_party=_invoice_of_another_customer,
        has_allocations=_invoice_has_allocations,
    ),
)

PAYABLE = Side(
    sign=-1,
    control=Role.ACCOUNTS_PAYABLE,
    prepayments=Role.VENDOR_PREPAYMENTS,
    line_default=Role.GENERAL_EXPENSES,
    tax=Role.INPUT_TAX,
    tax_direction=Direction.PURCHASES,
    discount=None,
    fee=Role.BANK_CHARGES,
    credits=Role.VENDOR_CREDITS,
    credit_line_default=Role.PURCHASE_RETURNS,
    written_off=Role.OTHER_OPERATING_INCOME,
    refunds=Role.VENDOR_REFUNDS_RECEIVABLE,
    refund_net=None,
    money=vendor_money_role,
    refund_fee_within=True,
    series="BILL",
    credit_series="VC",
    opened_status="received",
    document_source="bill",
    payment_source="bill_payment",
    credit_source="vendor_credit",
    refund_source="vendor_refund",
    refund_payment_source="vendor_refund_payment",
    write_off_source="bill_write_off",
    payment_moves={
        "pending": frozenset({"processing", "completed", "failed", "cancelled"}),
        "processing": frozenset({"completed", "failed"}),
        "completed": frozenset({"failed"}),
        "failed": frozenset({"pending", "completed", "cancelled"}),
        "cancelled": frozenset(),
    },
    words=SideWords(
        document="bill",
        document_title="bill from",
        payment_title="payment to",
        credit_title="credit from",
        refund_title="refund from",
        refund_payment_title="refund payment from",
    ),
    names=SideNames(
        party_id="vendor_id",
        party_external_id="vendor_external_id",
        document_id="bill_id",
        payment_id="bill_payment_id",
        credit_id="vendor_credit_id",
        payment_total="amount_cents",
        opened_at="received_at",
        number="bill_number",
        credit_number="vendor_credit_number",
    ),
    refusals=SideRefusals(
        party_not_active=_vendor_not_active,
        party_has_balance=_vendor_has_balance,
        not_open=_bill_not_open,
        of_another_party=_bill_of_another_vendor,
        has_allocations=_bill_has_allocations,
    ),
)
