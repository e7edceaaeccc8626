"""The request bodies of the contract as handlers receive them, validated and revived.

Written by `python -m server.body_types`; a change belongs into the contract.
"""

from datetime import date, datetime
from decimal import Decimal
from typing import Any, Literal, NotRequired, TypedDict
from uuid import UUID

GrantType = Literal["client_credentials"]


class TokenRequest(TypedDict):
    grant_type: GrantType
    client_id: NotRequired[UUID]


SupportedCountry = str
Currency = Literal["EUR", "GBP", "USD", "SEK", "NOK", "DKK", "ISK", "MYR", "SGD"]
AccountingMethod = Literal["accrual", "cash"]
ChartLanguage = Literal["en", "de", "nl", "fr", "es"]
Metadata = dict[str, Any]


class BusinessCreate(TypedDict):
    external_id: str
    legal_name: str
    name: NotRequired[str]
    entity_type: str
    email: str
    phone_number: NotRequired[str]
    tin: NotRequired[str]
    vat_number: NotRequired[str]
    company_number: NotRequired[str]
    country: NotRequired[SupportedCountry]
    province: NotRequired[str]
    eu_nace_industry_code: NotRequired[str]
    base_currency: NotRequired[Currency]
    accounting_method: NotRequired[AccountingMethod]
    fiscal_year_end: NotRequired[date]
    coa_language: NotRequired[ChartLanguage]
    metadata: NotRequired[Metadata]


class BusinessUpdate(TypedDict):
    legal_name: NotRequired[str]
    name: NotRequired[str | None]
    entity_type: NotRequired[str]
    email: NotRequired[str]
    phone_number: NotRequired[str | None]
    tin: NotRequired[str | None]
    vat_number: NotRequired[str | None]
    company_number: NotRequired[str | None]
    province: NotRequired[str | None]
    eu_nace_industry_code: NotRequired[str | None]
    accounting_method: NotRequired[AccountingMethod]
    fiscal_year_end: NotRequired[date]
    lock_date: NotRequired[date | None]
    metadata: NotRequired[Metadata]
    external_id: NotRequired[str]
    country: NotRequired[SupportedCountry]
    base_currency: NotRequired[Currency]


Tags = list[str]
AnyJson = Any


class DocumentUpload(TypedDict):
    """A file to link, and what to say about it."""

    file: bytes
    file_name: NotRequired[str]
    document_type: NotRequired[str]
    upload_source: NotRequired[str]
    metadata: NotRequired[AnyJson]
    tags: NotRequired[Tags]


class CustomerCreate(TypedDict):
    external_id: NotRequired[str]
    reference_number: NotRequired[str]
    individual_name: NotRequired[str]
    company_name: NotRequired[str]
    email: NotRequired[str]
    mobile_phone: NotRequired[str]
    office_phone: NotRequired[str]
    address_line1: NotRequired[str]
    address_line2: NotRequired[str]
    city: NotRequired[str]
    state_county: NotRequired[str]
    postal_code: NotRequired[str]
    country: NotRequired[str]
    address_string: NotRequired[str]
    vat_number: NotRequired[str]
    notes: NotRequired[str]
    tax_exempt: NotRequired[bool]
    transaction_tags: NotRequired[Tags]
    payment_terms_days: NotRequired[int]
    credit_limit: NotRequired[int]
    credit_limit_cents: NotRequired[int]
    metadata: NotRequired[AnyJson]
    document: NotRequired[DocumentUpload]


class CustomerUpdate(TypedDict):
    external_id: NotRequired[str | None]
    reference_number: NotRequired[str | None]
    individual_name: NotRequired[str | None]
    company_name: NotRequired[str | None]
    email: NotRequired[str | None]
    mobile_phone: NotRequired[str | None]
    office_phone: NotRequired[str | None]
    address_line1: NotRequired[str | None]
    address_line2: NotRequired[str | None]
    city: NotRequired[str | None]
    state_county: NotRequired[str | None]
    postal_code: NotRequired[str | None]
    country: NotRequired[str | None]
    address_string: NotRequired[str | None]
    vat_number: NotRequired[str | None]
    notes: NotRequired[str | None]
    tax_exempt: NotRequired[bool]
    transaction_tags: NotRequired[Tags]
    payment_terms_days: NotRequired[int | None]
    credit_limit: NotRequired[int | None]
    credit_limit_cents: NotRequired[int | None]
    metadata: NotRequired[AnyJson]
    document: NotRequired[DocumentUpload]


Quantity = Decimal | str
AccountIdentifierType = Literal["AccountId", "AccountCode"]


class AccountIdentifier(TypedDict):
    """Names an account by its id or by its code."""

    type: AccountIdentifierType
    id: NotRequired[UUID]
    code: NotRequired[str]


TaxRate = Decimal | str


class SalesTaxInput(TypedDict):
    """A tax on a line, taken as given."""

    amount: int
    tax_account: NotRequired[AccountIdentifier]


class LineItemInput(TypedDict):
    """One thing sold or bought."""

    quantity: Quantity
    unit_price: int
    description: NotRequired[str]
    product: NotRequired[str]
    account_identifier: NotRequired[AccountIdentifier]
    discount_amount: NotRequired[int]
    tax_rate: NotRequired[TaxRate]
    sales_taxes: NotRequired[list[SalesTaxInput]]
    external_id: NotRequired[str]
    memo: NotRequired[str]
    tags: NotRequired[Tags]
    metadata: NotRequired[AnyJson]


PaymentMethod = Literal[
    "bank_transfer",
    "credit_card",
    "debit_card",
    "ach",
    "check",
    "cash",
    "paypal",
    "stripe",
    "other",
]


class InvoiceInitialPayment(TypedDict):
    """A completed payment, applied to the invoice in full."""

    total_amount_cents: NotRequired[int]
    payment_method: PaymentMethod
    payment_date: NotRequired[date]
    external_id: NotRequired[str]
    payment_processor: NotRequired[str]
    processing_fee_cents: NotRequired[int]
    payment_reference: NotRequired[str]
    note: NotRequired[str]


class InvoiceCreate(TypedDict):
    customer_id: NotRequired[UUID]
    customer_external_id: NotRequired[str]
    external_id: NotRequired[str]
    invoice_number: NotRequired[str]
    issue_date: NotRequired[date | None]
    sent_at: NotRequired[datetime]
    due_at: NotRequired[datetime | None]
    currency: NotRequired[Currency]
    memo: NotRequired[str | None]
    additional_discount: NotRequired[int]
    transaction_tags: NotRequired[Tags]
    metadata: NotRequired[AnyJson]
    document: NotRequired[DocumentUpload]
    line_items: list[LineItemInput]
    payments: NotRequired[list[InvoiceInitialPayment]]


class InvoiceReplace(TypedDict):
    customer_id: NotRequired[UUID]
    customer_external_id: NotRequired[str]
    external_id: NotRequired[str]
    invoice_number: NotRequired[str]
    issue_date: NotRequired[date | None]
    sent_at: NotRequired[datetime]
    due_at: NotRequired[datetime | None]
    currency: NotRequired[Currency]
    memo: NotRequired[str | None]
    additional_discount: NotRequired[int]
    transaction_tags: NotRequired[Tags]
    metadata: NotRequired[AnyJson]
    document: NotRequired[DocumentUpload]
    line_items: list[LineItemInput]


class InvoiceSend(TypedDict):
    sent_at: NotRequired[datetime]
    due_at: NotRequired[datetime]


class Voiding(TypedDict):
    voided_at: NotRequired[datetime]


class KeyedTag(TypedDict):
    """A word to group by, under a name."""

    key: str
    value: str


KeyedTags = list[KeyedTag]


class WriteOffCreate(TypedDict):
    external_id: NotRequired[str]
    amount_cents: NotRequired[int]
    write_off_at: NotRequired[datetime]
    memo: NotRequired[str]
    destination_account: NotRequired[AccountIdentifier]
    tags: NotRequired[KeyedTags]


class InvoiceAllocationInput(TypedDict):
    """A part of the payment for one invoice."""

    invoice_id: UUID
    amount_cents: int


PaymentStatus = Literal["pending", "processing", "completed", "failed", "cancelled", "refunded"]
PaymentReferences = dict[str, str]


class InvoicePaymentCreate(TypedDict):
    customer_id: NotRequired[UUID]
    customer_external_id: NotRequired[str]
    total_amount_cents: int
    allocations: NotRequired[list[InvoiceAllocationInput]]
    payment_date: date
    currency: Currency
    payment_method: PaymentMethod
    status: NotRequired[PaymentStatus]
    payment_reference: NotRequired[str]
    external_id: NotRequired[str]
    note: NotRequired[str]
    notes: NotRequired[str]
    processor_reference: NotRequired[str]
    bank_reference: NotRequired[str]
    payment_processor: NotRequired[str]
    processing_fee_cents: NotRequired[int]
    references: NotRequired[PaymentReferences]
    transaction_tags: NotRequired[Tags]
    metadata: NotRequired[Metadata]


class InvoicePaymentChanges(TypedDict):
    """Changes to a payment; no field is required."""

    customer_id: NotRequired[UUID]
    total_amount_cents: NotRequired[int]
    allocations: NotRequired[list[InvoiceAllocationInput]]
    payment_date: NotRequired[date]
    currency: NotRequired[Currency]
    payment_method: NotRequired[PaymentMethod]
    status: NotRequired[PaymentStatus]
    payment_reference: NotRequired[str | None]
    external_id: NotRequired[str | None]
    note: NotRequired[str | None]
    notes: NotRequired[str | None]
    processor_reference: NotRequired[str | None]
    bank_reference: NotRequired[str | None]
    payment_processor: NotRequired[str | None]
    processing_fee_cents: NotRequired[int]
    references: NotRequired[PaymentReferences]
    transaction_tags: NotRequired[Tags]
    metadata: NotRequired[Metadata]


RefundMethod = Literal[
    "BANK_TRANSFER",
    "CREDIT_CARD",
    "ACH",
    "CHECK",
    "CASH",
    "PAYPAL",
    "STRIPE",
    "OTHER",
]


class InvoiceRefundCreate(TypedDict):
    invoice_id: NotRequired[UUID]
    payment_id: NotRequired[UUID]
    amount_cents: NotRequired[int]
    completed_at: NotRequired[datetime]
    external_id: NotRequired[str]
    memo: NotRequired[str]
    reference_number: NotRequired[str]
    processor: NotRequired[str]
    method: NotRequired[RefundMethod]
    refund_processing_fee_cents: NotRequired[int]
    metadata: NotRequired[AnyJson]
    document: NotRequired[DocumentUpload]


class InvoiceRefundPaymentCreate(TypedDict):
    amount_cents: NotRequired[int]
    method: NotRequired[RefundMethod]
    external_id: NotRequired[str]
    completed_at: NotRequired[datetime]
    processor: NotRequired[str]
    memo: NotRequired[str]
    transaction_tags: NotRequired[AnyJson]
    metadata: NotRequired[AnyJson]
    refund_processing_fee_cents: NotRequired[int]


class CustomerCreditLineInput(TypedDict):
    """One thing credited."""

    amount: int
    tax_amount_cents: NotRequired[int]
    revenue_account_identifier: NotRequired[AccountIdentifier]
    memo: NotRequired[str]
    tags: NotRequired[Tags]
    metadata: NotRequired[AnyJson]


class CustomerCreditAllocationInput(TypedDict):
    """A part of the credit for one invoice."""

    invoice_id: UUID
    amount: int


class CustomerCreditCreate(TypedDict):
    customer_id: NotRequired[UUID]
    customer_external_id: NotRequired[str]
    external_id: NotRequired[str]
    credit_note_number: NotRequired[str]
    sent_at: NotRequired[datetime]
    source_invoice_id: NotRequired[UUID]
    currency: NotRequired[Currency]
    memo: NotRequired[str | None]
    tags: NotRequired[Tags]
    metadata: NotRequired[AnyJson]
    line_items: list[CustomerCreditLineInput]
    allocations: NotRequired[list[CustomerCreditAllocationInput]]
    document: NotRequired[DocumentUpload]


class CustomerCreditReplace(TypedDict):
    allocations: NotRequired[list[CustomerCreditAllocationInput]]
    sent_at: NotRequired[datetime]
    memo: NotRequired[str | None]
    tags: NotRequired[Tags]
    metadata: NotRequired[AnyJson]
    document: NotRequired[DocumentUpload]


class VendorCreate(TypedDict):
    external_id: NotRequired[str]
    individual_name: NotRequired[str]
    company_name: NotRequired[str]
    email: NotRequired[str]
    mobile_phone: NotRequired[str]
    office_phone: NotRequired[str]
    address_string: NotRequired[str]
    memo: NotRequired[str]
    transaction_tags: NotRequired[Tags]
    country: NotRequired[str]
    vat_number: NotRequired[str]
    payment_terms_days: NotRequired[int]
    metadata: NotRequired[AnyJson]
    document: NotRequired[DocumentUpload]


VendorStatusChange = Literal["ACTIVE", "INACTIVE", "BLOCKED"]


class VendorUpdate(TypedDict):
    external_id: NotRequired[str | None]
    individual_name: NotRequired[str | None]
    company_name: NotRequired[str | None]
    email: NotRequired[str | None]
    mobile_phone: NotRequired[str | None]
    office_phone: NotRequired[str | None]
    address_string: NotRequired[str | None]
    memo: NotRequired[str | None]
    status: NotRequired[VendorStatusChange]
    transaction_tags: NotRequired[Tags]
    payment_terms_days: NotRequired[int | None]
    metadata: NotRequired[AnyJson]


class BillCreate(TypedDict):
    vendor_id: NotRequired[UUID]
    vendor_external_id: NotRequired[str]
    external_id: NotRequired[str]
    bill_number: NotRequired[str]
    vendor_bill_number: NotRequired[str | None]
    bill_date: NotRequired[date | None]
    received_at: NotRequired[datetime]
    due_at: NotRequired[datetime | None]
    terms: NotRequired[str | None]
    currency: NotRequired[Currency]
    memo: NotRequired[str | None]
    additional_discount: NotRequired[int]
    transaction_tags: NotRequired[Tags]
    metadata: NotRequired[AnyJson]
    document: NotRequired[DocumentUpload]
    line_items: list[LineItemInput]


class BillReplace(TypedDict):
    vendor_id: NotRequired[UUID]
    vendor_external_id: NotRequired[str]
    external_id: NotRequired[str]
    bill_number: NotRequired[str]
    vendor_bill_number: NotRequired[str | None]
    bill_date: NotRequired[date | None]
    received_at: NotRequired[datetime]
    due_at: NotRequired[datetime | None]
    terms: NotRequired[str | None]
    currency: NotRequired[Currency]
    memo: NotRequired[str | None]
    additional_discount: NotRequired[int]
    transaction_tags: NotRequired[Tags]
    metadata: NotRequired[AnyJson]
    document: NotRequired[DocumentUpload]
    line_items: list[LineItemInput]


class BillReceive(TypedDict):
    received_at: NotRequired[datetime]
    due_at: NotRequired[datetime]


class BillAllocationInput(TypedDict):
    """A part of the payment for one bill."""

    bill_id: UUID
    amount_cents: int
    description: NotRequired[str]


BillPaymentMethod = Literal[
    "bank_transfer",
    "ach",
    "wire",
    "check",
    "credit_card",
    "debit_card",
    "cash",
    "other",
]
VendorPaymentStatus = Literal["pending", "processing", "completed", "failed", "cancelled"]


class BillPaymentCreate(TypedDict):
    vendor_id: NotRequired[UUID]
    vendor_external_id: NotRequired[str]
    amount_cents: int
    allocations: NotRequired[list[BillAllocationInput]]
    payment_date: date
    currency: Currency
    payment_method: BillPaymentMethod
    status: NotRequired[VendorPaymentStatus]
    payment_reference: NotRequired[str]
    check_number: NotRequired[str]
    processing_fee_cents: NotRequired[int]
    external_id: NotRequired[str]
    memo: NotRequired[str]
    transaction_tags: NotRequired[Tags]
    metadata: NotRequired[Metadata]


class BillPaymentUpdate(TypedDict):
    """Changes to a payment; no field is required."""

    amount_cents: NotRequired[int]
    allocations: NotRequired[list[BillAllocationInput]]
    payment_date: NotRequired[date]
    payment_method: NotRequired[BillPaymentMethod]
    status: NotRequired[VendorPaymentStatus]
    payment_reference: NotRequired[str | None]
    check_number: NotRequired[str | None]
    processing_fee_cents: NotRequired[int]
    external_id: NotRequired[str | None]
    memo: NotRequired[str | None]
    transaction_tags: NotRequired[Tags]
    metadata: NotRequired[Metadata]


class VendorCreditLineInput(TypedDict):
    """One thing credited."""

    amount: int
    tax_amount_cents: NotRequired[int]
    expense_account_identifier: NotRequired[AccountIdentifier]
    memo: NotRequired[str]
    tags: NotRequired[Tags]
    metadata: NotRequired[AnyJson]


class VendorCreditAllocationInput(TypedDict):
    """A part of the credit for one bill."""

    bill_id: UUID
    amount: int


class VendorCreditCreate(TypedDict):
    vendor_id: NotRequired[UUID]
    vendor_external_id: NotRequired[str]
    external_id: NotRequired[str]
    vendor_credit_number: NotRequired[str]
    received_at: NotRequired[datetime]
    source_bill_id: NotRequired[UUID]
    currency: NotRequired[Currency]
    memo: NotRequired[str | None]
    tags: NotRequired[Tags]
    metadata: NotRequired[AnyJson]
    line_items: list[VendorCreditLineInput]
    allocations: NotRequired[list[VendorCreditAllocationInput]]
    document: NotRequired[DocumentUpload]


class VendorCreditReplace(TypedDict):
    allocations: NotRequired[list[VendorCreditAllocationInput]]
    received_at: NotRequired[datetime]
    memo: NotRequired[str | None]
    tags: NotRequired[Tags]
    metadata: NotRequired[AnyJson]
    document: NotRequired[DocumentUpload]


VendorRefundAllocationType = Literal["bill", "payment", "credit"]


class VendorRefundAllocationInput(TypedDict):
    """A part of the refund, and what it gives back."""

    allocation_type: VendorRefundAllocationType
    bill_id: NotRequired[UUID]
    bill_payment_id: NotRequired[UUID]
    amount_cents: int
    description: NotRequired[str]
    metadata: NotRequired[AnyJson]


VendorRefundMethod = Literal[
    "bank_transfer",
    "ach",
    "wire",
    "check",
    "credit_card",
    "cash",
    "other",
]


class VendorRefundInitialPayment(TypedDict):
    """A payment that is to bring money of a refund; pending until it is there."""

    amount_cents: int
    payment_method: NotRequired[VendorRefundMethod]
    payment_date: NotRequired[date]
    processor: NotRequired[str]
    processor_payment_id: NotRequired[str]
    payment_reference: NotRequired[str]
    processing_fee_cents: NotRequired[int]
    description: NotRequired[str]
    memo: NotRequired[str]
    transaction_tags: NotRequired[Tags]
    metadata: NotRequired[AnyJson]


VendorRefundType = Literal[
    "overpayment",
    "credit_balance",
    "duplicate_payment",
    "billing_error",
    "goods_return",
    "service_cancellation",
    "other",
]


class VendorRefundCreate(TypedDict):
    vendor_id: UUID
    total_refunded_amount_cents: int
    allocations: NotRequired[list[VendorRefundAllocationInput]]
    payments: NotRequired[list[VendorRefundInitialPayment]]
    external_id: NotRequired[str]
    refund_type: NotRequired[VendorRefundType]
    refund_date: NotRequired[date]
    expected_completion_date: NotRequired[date]
    currency: Currency
    reference_number: NotRequired[str]
    description: NotRequired[str]
    memo: NotRequired[str]
    reason: NotRequired[str]
    metadata: NotRequired[AnyJson]
    document: NotRequired[DocumentUpload]


class VendorRefundUpdate(TypedDict):
    description: NotRequired[str | None]
    memo: NotRequired[str | None]
    reason: NotRequired[str | None]
    metadata: NotRequired[AnyJson]
    expected_completion_date: NotRequired[date | None]
    document: NotRequired[DocumentUpload]


class VendorRefundPaymentCreate(TypedDict):
    vendor_id: UUID
    total_amount_cents: int
    allocations: NotRequired[list[VendorRefundAllocationInput]]
    external_id: NotRequired[str]
    refund_type: NotRequired[VendorRefundType]
    refund_date: NotRequired[date]
    currency: Currency
    description: NotRequired[str]
    memo: NotRequired[str]
    reason: NotRequired[str]
    metadata: NotRequired[AnyJson]
    payment_method: NotRequired[VendorRefundMethod]
    processor: NotRequired[str]
    payment_reference: NotRequired[str]
    processing_fee_cents: NotRequired[int]


class VendorRefundPaymentUpdate(TypedDict):
    """Changes to a payment; no field is required."""

    status: NotRequired[VendorPaymentStatus]
    failure_reason: NotRequired[str | None]
    payment_date: NotRequired[date]
    payment_method: NotRequired[VendorRefundMethod]
    processor: NotRequired[str | None]
    processing_fee_cents: NotRequired[int]
    payment_reference: NotRequired[str | None]
    processor_payment_id: NotRequired[str | None]
    description: NotRequired[str | None]
    memo: NotRequired[str | None]
    transaction_tags: NotRequired[Tags]
    metadata: NotRequired[AnyJson]
    allocations: NotRequired[list[VendorRefundAllocationInput]]


PayoutProcessor = Literal[
    "stripe",
    "adyen",
    "mollie",
    "paypal",
    "gocardless",
    "sumup",
    "square",
    "other",
]
PayoutStatus = Literal["pending", "processing", "paid", "failed", "cancelled"]


class PayoutCreate(TypedDict):
    external_id: NotRequired[str]
    processor: PayoutProcessor
    processor_payout_id: NotRequired[str | None]
    paid_out_amount_cents: int
    fee_cents: NotRequired[int]
    additional_refunds_amount_cents: NotRequired[int]
    currency: NotRequired[Currency]
    status: NotRequired[PayoutStatus]
    completed_at: NotRequired[datetime]
    imported_at: NotRequired[datetime | None]
    payment_ids: NotRequired[list[UUID]]
    refund_payment_ids: NotRequired[list[UUID]]
    reference_number: NotRequired[str | None]
    memo: NotRequired[str | None]
    metadata: NotRequired[Metadata]


class BankAccountCreate(TypedDict):
    display_name: str
    currency: NotRequired[Currency]
    account: NotRequired[str]
    iban: NotRequired[str]
    mask: NotRequired[str]
    institution_name: NotRequired[str]
    external_id: NotRequired[str]


class BankAccountUpdate(TypedDict):
    display_name: NotRequired[str]
    iban: NotRequired[str | None]
    mask: NotRequired[str | None]
    institution_name: NotRequired[str | None]
    external_id: NotRequired[str | None]


BankDirection = Literal["credit", "debit"]


class BankTransactionLine(TypedDict):
    """One line of a bank statement."""

    external_id: NotRequired[str]
    date: date
    amount_cents: int
    direction: BankDirection
    description: NotRequired[str]
    counterparty_name: NotRequired[str]
    reference: NotRequired[str]
    currency: NotRequired[Currency]


class BankTransactionImport(TypedDict):
    bank_account_id: UUID
    transactions: list[BankTransactionLine]


BankTarget = Literal[
    "invoice_payment",
    "invoice_refund_payment",
    "bill_payment",
    "vendor_refund_payment",
    "payout",
]


class BankTransactionMatch(TypedDict):
    target_type: BankTarget
    target_id: UUID
    amount_cents: NotRequired[int]
    memo: NotRequired[str | None]


class BankTransactionUnmatch(TypedDict):
    reconciliation_link_id: UUID


class BankTransactionCategory(TypedDict):
    account: str
    memo: NotRequired[str | None]


AccountType = Literal["asset", "liability", "equity", "revenue", "expense"]
AccountSubtype = Literal[
    "current_assets",
    "non_current_assets",
    "current_liabilities",
    "non_current_liabilities",
    "share_capital",
    "share_premium",
    "reserves",
    "retained_earnings",
    "revenue",
    "other_operating_income",
    "finance_income",
    "direct_costs",
    "operating_expenses",
    "finance_costs",
    "income_tax",
]
BalanceBehavior = Literal["debit_positive", "credit_positive"]


class AccountCreate(TypedDict):
    code: str
    name: str
    account_type: AccountType
    account_subtype: AccountSubtype
    parent_id: NotRequired[str]
    external_id: NotRequired[str]
    description: NotRequired[str]
    balance_behavior: NotRequired[BalanceBehavior]
    currency: NotRequired[Currency]
    institution_name: NotRequired[str]
    iban: NotRequired[str]
    sort_code: NotRequired[str]
    account_number_mask: NotRequired[str]


class AccountUpdate(TypedDict):
    code: NotRequired[str]
    name: NotRequired[str]
    external_id: NotRequired[str | None]
    description: NotRequired[str | None]
    institution_name: NotRequired[str | None]
    iban: NotRequired[str | None]
    sort_code: NotRequired[str | None]
    account_number_mask: NotRequired[str | None]
    is_active: NotRequired[bool]


class AccountChildCreate(TypedDict):
    code: str
    name: str
    account_type: NotRequired[AccountType]
    account_subtype: NotRequired[AccountSubtype]
    external_id: NotRequired[str]
    description: NotRequired[str]
    balance_behavior: NotRequired[BalanceBehavior]
    currency: NotRequired[Currency]
    institution_name: NotRequired[str]
    iban: NotRequired[str]
    sort_code: NotRequired[str]
    account_number_mask: NotRequired[str]


class JournalLineInput(TypedDict):
    """A debit or a credit; the amount of the other side is left out or 0."""

    account: str
    debit_amount: NotRequired[int]
    credit_amount: NotRequired[int]
    description: NotRequired[str]


JournalEntryWriter = Literal["manual", "ai", "import"]


class JournalEntryCreate(TypedDict):
    entry_date: date
    reference: NotRequired[str]
    description: NotRequired[str]
    lines: list[JournalLineInput]
    created_by: NotRequired[JournalEntryWriter]
    post: NotRequired[bool]


class JournalEntryReplace(TypedDict):
    entry_date: date
    reference: NotRequired[str]
    description: NotRequired[str]
    lines: list[JournalLineInput]


class JournalEntryReversal(TypedDict):
    entry_date: NotRequired[date]
