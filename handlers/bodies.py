"""The request bodies of the contract as handlers receive them, validated and decoded.

Written by `python -m server.contract.body_types`; a change belongs into the contract.
"""

from datetime import date, datetime
from decimal import Decimal
from typing import Any, Literal, TypedDict
from uuid import UUID

from accounting.absent import Absent
from accounting.files.uploads import Upload

GrantType = Literal["client_credentials"]


class TokenRequest(TypedDict):
    """Parameters of OAuth 2.0. Unknown ones are ignored; a blank one counts as absent."""

    grant_type: GrantType
    client_id: UUID | Absent


TokenAccess = Literal["full", "read"]


class BusinessTokenRequest(TypedDict):
    """Access of a new business token. Unlike those of OAuth 2.0, unknown parameters are refused."""

    access: TokenAccess | Absent


class TokenRevocation(TypedDict):
    """Parameters of RFC 7009. Unknown ones are ignored; a blank one counts as absent."""

    token: str
    token_type_hint: str | Absent


SupportedCountry = str
Currency = Literal["EUR", "GBP", "USD", "SEK", "NOK", "DKK", "ISK", "MYR", "SGD"]
AccountingMethod = Literal["accrual", "cash"]
ChartLanguage = Literal["en", "de", "nl", "fr", "es"]
UnknownParties = Literal["create", "refuse"]
Metadata = dict[str, Any]


class BusinessCreate(TypedDict):
    external_id: str
    legal_name: str
    name: str | Absent
    entity_type: str
    email: str
    phone_number: str | Absent
    tin: str | Absent
    vat_number: str | Absent
    company_number: str | Absent
    country: SupportedCountry | Absent
    province: str | Absent
    eu_nace_industry_code: str | Absent
    base_currency: Currency | Absent
    accounting_method: AccountingMethod | Absent
    fiscal_year_end: date | Absent
    coa_language: ChartLanguage | Absent
    timezone: str | Absent
    matching_tolerance_cents: int | Absent
    unknown_parties: UnknownParties | Absent
    metadata: Metadata | Absent


class BusinessUpdate(TypedDict):
    legal_name: str | Absent
    name: str | Absent | None
    entity_type: str | Absent
    email: str | Absent
    phone_number: str | Absent | None
    tin: str | Absent | None
    vat_number: str | Absent | None
    company_number: str | Absent | None
    province: str | Absent | None
    eu_nace_industry_code: str | Absent | None
    accounting_method: AccountingMethod | Absent
    fiscal_year_end: date | Absent
    lock_date: date | Absent | None
    timezone: str | Absent
    matching_tolerance_cents: int | Absent
    unknown_parties: UnknownParties | Absent
    metadata: Metadata | Absent
    external_id: str | Absent
    country: SupportedCountry | Absent
    base_currency: Currency | Absent


Tags = list[str]
AnyJson = Any


class DocumentUpload(TypedDict):
    """A file to link, with its description."""

    file: bytes
    file_name: str | Absent
    document_type: str | Absent
    upload_source: str | Absent
    metadata: AnyJson | Absent
    tags: Tags | Absent


class CustomerCreate(TypedDict):
    external_id: str | Absent
    reference_number: str | Absent
    individual_name: str | Absent
    company_name: str | Absent
    email: str | Absent
    mobile_phone: str | Absent
    office_phone: str | Absent
    address_line1: str | Absent
    address_line2: str | Absent
    city: str | Absent
    state_county: str | Absent
    postal_code: str | Absent
    country: str | Absent
    address_string: str | Absent
    vat_number: str | Absent
    notes: str | Absent
    tax_exempt: bool | Absent
    transaction_tags: Tags | Absent
    payment_terms_days: int | Absent
    credit_limit: int | Absent
    credit_limit_cents: int | Absent
    metadata: AnyJson | Absent
    document: DocumentUpload | Absent


class CustomerUpdate(TypedDict):
    external_id: str | Absent | None
    reference_number: str | Absent | None
    individual_name: str | Absent | None
    company_name: str | Absent | None
    email: str | Absent | None
    mobile_phone: str | Absent | None
    office_phone: str | Absent | None
    address_line1: str | Absent | None
    address_line2: str | Absent | None
    city: str | Absent | None
    state_county: str | Absent | None
    postal_code: str | Absent | None
    country: str | Absent | None
    address_string: str | Absent | None
    vat_number: str | Absent | None
    notes: str | Absent | None
    tax_exempt: bool | Absent
    transaction_tags: Tags | Absent
    payment_terms_days: int | Absent | None
    credit_limit: int | Absent | None
    credit_limit_cents: int | Absent | None
    metadata: AnyJson | Absent
    document: DocumentUpload | Absent


RecordExchangeRate = Decimal | str
AmountsIncludeTax = bool
Quantity = Decimal | str
AccountIdentifierType = Literal["AccountId", "AccountCode", "AccountExternalId"]


class AccountIdentifier(TypedDict):
    """Identifies an account by its id, its code or your own id of it."""

    type: AccountIdentifierType
    id: UUID | Absent
    code: str | Absent
    external_id: str | Absent


TaxRate = Decimal | str


class SalesTaxInput(TypedDict):
    """A tax on a line, used as sent."""

    amount: int
    tax_account: AccountIdentifier | Absent
    tax_code: str | Absent


class LineItemInput(TypedDict):
    """An item sold or bought."""

    quantity: Quantity
    unit_price: int | Absent
    unit_price_decimal: str | Absent
    description: str | Absent
    product: str | Absent
    account_identifier: AccountIdentifier | Absent
    discount_amount: int | Absent
    tax_code: str | Absent
    tax_rate: TaxRate | Absent
    sales_taxes: list[SalesTaxInput] | Absent
    withholding_code: str | Absent
    external_id: str | Absent
    memo: str | Absent
    tags: Tags | Absent
    metadata: AnyJson | Absent


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

    total_amount_cents: int | Absent
    exchange_rate: RecordExchangeRate | Absent
    base_amount_cents: int | Absent
    payment_method: PaymentMethod
    bank_account_id: UUID | Absent
    bank_account_external_id: str | Absent
    payment_date: date | Absent
    external_id: str | Absent
    payment_processor: str | Absent
    processing_fee_cents: int | Absent
    payment_reference: str | Absent
    note: str | Absent


class InvoiceCreate(TypedDict):
    customer_id: UUID | Absent
    customer_external_id: str | Absent
    external_id: str | Absent
    invoice_number: str | Absent
    issue_date: date | Absent | None
    delivery_date: date | Absent | None
    sent_at: datetime | Absent
    due_at: datetime | Absent | None
    currency: Currency | Absent
    exchange_rate: RecordExchangeRate | Absent
    memo: str | Absent | None
    additional_discount: int | Absent
    amounts_include_tax: AmountsIncludeTax | Absent
    transaction_tags: Tags | Absent
    metadata: AnyJson | Absent
    document: DocumentUpload | Absent
    line_items: list[LineItemInput]
    payments: list[InvoiceInitialPayment] | Absent


class InvoiceReplace(TypedDict):
    customer_id: UUID | Absent
    customer_external_id: str | Absent
    external_id: str | Absent
    invoice_number: str | Absent
    issue_date: date | Absent | None
    delivery_date: date | Absent | None
    sent_at: datetime | Absent
    due_at: datetime | Absent | None
    currency: Currency | Absent
    exchange_rate: RecordExchangeRate | Absent
    memo: str | Absent | None
    additional_discount: int | Absent
    amounts_include_tax: AmountsIncludeTax | Absent
    transaction_tags: Tags | Absent
    metadata: AnyJson | Absent
    document: DocumentUpload | Absent
    line_items: list[LineItemInput]


class LineItemChange(TypedDict):
    """A change of a line. An absent field keeps its value; `null` clears a text."""

    id: UUID
    account_identifier: AccountIdentifier | Absent
    description: str | Absent | None
    product: str | Absent | None
    external_id: str | Absent | None
    memo: str | Absent | None
    tags: Tags | Absent
    metadata: AnyJson | Absent


class InvoiceUpdate(TypedDict):
    external_id: str | Absent
    due_at: datetime | Absent | None
    memo: str | Absent | None
    transaction_tags: Tags | Absent
    metadata: AnyJson | Absent
    document: DocumentUpload | Absent
    line_items: list[LineItemChange] | Absent


class InvoiceSend(TypedDict):
    sent_at: datetime | Absent
    due_at: datetime | Absent


class Voiding(TypedDict):
    voided_at: datetime | Absent


class KeyedTag(TypedDict):
    """A tag for grouping, with a key."""

    key: str
    value: str


KeyedTags = list[KeyedTag]


class WriteOffCreate(TypedDict):
    external_id: str | Absent
    amount_cents: int | Absent
    tax_relief: bool | Absent
    write_off_at: datetime | Absent
    memo: str | Absent
    destination_account: AccountIdentifier | Absent
    tags: KeyedTags | Absent


class InvoiceAllocationInput(TypedDict):
    """The part of the payment for one invoice."""

    invoice_id: UUID | Absent
    invoice_external_id: str | Absent
    amount_cents: int
    document_amount_cents: int | Absent
    allocation_date: date | Absent


PaymentStatus = Literal["pending", "processing", "completed", "failed", "cancelled", "refunded"]
PaymentReferences = dict[str, str]


class InvoicePaymentCreate(TypedDict):
    customer_id: UUID | Absent
    customer_external_id: str | Absent
    total_amount_cents: int
    allocations: list[InvoiceAllocationInput] | Absent
    payment_date: date
    currency: Currency
    exchange_rate: RecordExchangeRate | Absent
    base_amount_cents: int | Absent
    payment_method: PaymentMethod
    bank_account_id: UUID | Absent
    bank_account_external_id: str | Absent
    status: PaymentStatus | Absent
    payment_reference: str | Absent
    external_id: str | Absent
    note: str | Absent
    notes: str | Absent
    processor_reference: str | Absent
    bank_reference: str | Absent
    payment_processor: str | Absent
    processing_fee_cents: int | Absent
    references: PaymentReferences | Absent
    transaction_tags: Tags | Absent
    metadata: Metadata | Absent
    document: DocumentUpload | Absent


class InvoicePaymentChanges(TypedDict):
    """Changes to a payment; no field is required."""

    customer_id: UUID | Absent
    customer_external_id: str | Absent
    total_amount_cents: int | Absent
    allocations: list[InvoiceAllocationInput] | Absent
    payment_date: date | Absent
    currency: Currency | Absent
    exchange_rate: RecordExchangeRate | Absent
    base_amount_cents: int | Absent
    payment_method: PaymentMethod | Absent
    bank_account_id: UUID | Absent | None
    bank_account_external_id: str | Absent
    status: PaymentStatus | Absent
    status_date: date | Absent
    payment_reference: str | Absent | None
    external_id: str | Absent | None
    note: str | Absent | None
    notes: str | Absent | None
    processor_reference: str | Absent | None
    bank_reference: str | Absent | None
    payment_processor: str | Absent | None
    processing_fee_cents: int | Absent
    references: PaymentReferences | Absent
    transaction_tags: Tags | Absent
    metadata: Metadata | Absent


class RefundedLine(TypedDict):
    """A part of a refund, and the line that it refunds."""

    line_id: UUID
    amount_cents: int


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
    invoice_id: UUID | Absent
    invoice_external_id: str | Absent
    payment_id: UUID | Absent
    payment_external_id: str | Absent
    credit_id: UUID | Absent
    credit_external_id: str | Absent
    amount_cents: int | Absent
    exchange_rate: RecordExchangeRate | Absent
    base_amount_cents: int | Absent
    lines: list[RefundedLine] | Absent
    completed_at: datetime | Absent
    external_id: str | Absent
    memo: str | Absent
    reference_number: str | Absent
    processor: str | Absent
    method: RefundMethod | Absent
    bank_account_id: UUID | Absent
    bank_account_external_id: str | Absent
    refund_processing_fee_cents: int | Absent
    metadata: AnyJson | Absent
    document: DocumentUpload | Absent


class InvoiceRefundForm(TypedDict):
    """The same as JSON, with a file and fields about the file."""

    invoice_id: UUID | Absent
    invoice_external_id: str | Absent
    payment_id: UUID | Absent
    payment_external_id: str | Absent
    credit_id: UUID | Absent
    credit_external_id: str | Absent
    amount_cents: int | Absent
    exchange_rate: RecordExchangeRate | Absent
    base_amount_cents: int | Absent
    lines: list[RefundedLine] | Absent
    completed_at: datetime | Absent
    external_id: str | Absent
    memo: str | Absent
    reference_number: str | Absent
    processor: str | Absent
    method: RefundMethod | Absent
    bank_account_id: UUID | Absent
    bank_account_external_id: str | Absent
    refund_processing_fee_cents: int | Absent
    metadata: AnyJson | Absent
    document: Upload | Absent
    document_type: str | Absent
    upload_source: str | Absent
    document_metadata: AnyJson | Absent
    document_tags: Tags | Absent


class InvoiceRefundPaymentCreate(TypedDict):
    amount_cents: int | Absent
    exchange_rate: RecordExchangeRate | Absent
    base_amount_cents: int | Absent
    method: RefundMethod | Absent
    bank_account_id: UUID | Absent
    bank_account_external_id: str | Absent
    external_id: str | Absent
    completed_at: datetime | Absent
    processor: str | Absent
    memo: str | Absent
    transaction_tags: AnyJson | Absent
    metadata: AnyJson | Absent
    refund_processing_fee_cents: int | Absent


class InvoiceRefundPaymentCancel(TypedDict):
    status_date: date | Absent


class CustomerCreditLineInput(TypedDict):
    """A credited item."""

    amount: int
    tax_amount: int | Absent
    tax_amount_cents: int | Absent
    tax_code: str | Absent
    source_line_id: UUID | Absent
    revenue_account_identifier: AccountIdentifier | Absent
    memo: str | Absent
    tags: Tags | Absent
    metadata: AnyJson | Absent


class CustomerCreditAllocationInput(TypedDict):
    """The part of the credit for one invoice."""

    invoice_id: UUID | Absent
    invoice_external_id: str | Absent
    amount: int
    allocation_date: date | Absent


class CustomerCreditCreate(TypedDict):
    customer_id: UUID | Absent
    customer_external_id: str | Absent
    external_id: str | Absent
    credit_note_number: str | Absent
    sent_at: datetime | Absent
    source_invoice_id: UUID | Absent
    source_invoice_external_id: str | Absent
    currency: Currency | Absent
    exchange_rate: RecordExchangeRate | Absent
    memo: str | Absent | None
    tags: Tags | Absent
    metadata: AnyJson | Absent
    line_items: list[CustomerCreditLineInput]
    allocations: list[CustomerCreditAllocationInput] | Absent
    document: DocumentUpload | Absent


class CustomerCreditReplace(TypedDict):
    allocations: list[CustomerCreditAllocationInput] | Absent
    sent_at: datetime | Absent
    memo: str | Absent | None
    tags: Tags | Absent
    metadata: AnyJson | Absent
    document: DocumentUpload | Absent


class CustomerCreditLineChange(TypedDict):
    """A change of a line. An absent field keeps its value; `null` clears a text."""

    id: UUID
    revenue_account_identifier: AccountIdentifier | Absent
    memo: str | Absent | None
    tags: Tags | Absent
    metadata: AnyJson | Absent


class CustomerCreditUpdate(TypedDict):
    external_id: str | Absent
    memo: str | Absent | None
    tags: Tags | Absent
    metadata: AnyJson | Absent
    document: DocumentUpload | Absent
    line_items: list[CustomerCreditLineChange] | Absent


class VendorCreate(TypedDict):
    external_id: str | Absent
    individual_name: str | Absent
    company_name: str | Absent
    email: str | Absent
    mobile_phone: str | Absent
    office_phone: str | Absent
    address_string: str | Absent
    memo: str | Absent
    transaction_tags: Tags | Absent
    country: str | Absent
    vat_number: str | Absent
    payment_terms_days: int | Absent
    metadata: AnyJson | Absent
    document: DocumentUpload | Absent


VendorStatusChange = Literal["ACTIVE", "INACTIVE", "BLOCKED"]


class VendorUpdate(TypedDict):
    external_id: str | Absent | None
    individual_name: str | Absent | None
    company_name: str | Absent | None
    email: str | Absent | None
    mobile_phone: str | Absent | None
    office_phone: str | Absent | None
    address_string: str | Absent | None
    memo: str | Absent | None
    status: VendorStatusChange | Absent
    transaction_tags: Tags | Absent
    payment_terms_days: int | Absent | None
    metadata: AnyJson | Absent


class BillCreate(TypedDict):
    vendor_id: UUID | Absent
    vendor_external_id: str | Absent
    external_id: str | Absent
    bill_number: str | Absent
    vendor_bill_number: str | Absent | None
    bill_date: date | Absent | None
    delivery_date: date | Absent | None
    received_at: datetime | Absent
    due_at: datetime | Absent | None
    terms: str | Absent | None
    currency: Currency | Absent
    exchange_rate: RecordExchangeRate | Absent
    memo: str | Absent | None
    additional_discount: int | Absent
    amounts_include_tax: AmountsIncludeTax | Absent
    transaction_tags: Tags | Absent
    metadata: AnyJson | Absent
    document: DocumentUpload | Absent
    line_items: list[LineItemInput]


class BillReplace(TypedDict):
    vendor_id: UUID | Absent
    vendor_external_id: str | Absent
    external_id: str | Absent
    bill_number: str | Absent
    vendor_bill_number: str | Absent | None
    bill_date: date | Absent | None
    delivery_date: date | Absent | None
    received_at: datetime | Absent
    due_at: datetime | Absent | None
    terms: str | Absent | None
    currency: Currency | Absent
    exchange_rate: RecordExchangeRate | Absent
    memo: str | Absent | None
    additional_discount: int | Absent
    amounts_include_tax: AmountsIncludeTax | Absent
    transaction_tags: Tags | Absent
    metadata: AnyJson | Absent
    document: DocumentUpload | Absent
    line_items: list[LineItemInput]


class BillUpdate(TypedDict):
    external_id: str | Absent
    vendor_bill_number: str | Absent | None
    due_at: datetime | Absent | None
    terms: str | Absent | None
    memo: str | Absent | None
    transaction_tags: Tags | Absent
    metadata: AnyJson | Absent
    document: DocumentUpload | Absent
    line_items: list[LineItemChange] | Absent


class BillReceive(TypedDict):
    received_at: datetime | Absent
    due_at: datetime | Absent


class BillAllocationInput(TypedDict):
    """The part of the payment for one bill."""

    bill_id: UUID | Absent
    bill_external_id: str | Absent
    amount_cents: int
    document_amount_cents: int | Absent
    allocation_date: date | Absent
    description: str | Absent


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
    vendor_id: UUID | Absent
    vendor_external_id: str | Absent
    amount_cents: int
    allocations: list[BillAllocationInput] | Absent
    payment_date: date
    currency: Currency
    exchange_rate: RecordExchangeRate | Absent
    base_amount_cents: int | Absent
    payment_method: BillPaymentMethod
    bank_account_id: UUID | Absent
    bank_account_external_id: str | Absent
    status: VendorPaymentStatus | Absent
    payment_reference: str | Absent
    check_number: str | Absent
    processing_fee_cents: int | Absent
    external_id: str | Absent
    memo: str | Absent
    transaction_tags: Tags | Absent
    metadata: Metadata | Absent
    document: DocumentUpload | Absent


class BillPaymentUpdate(TypedDict):
    """Changes to a payment; no field is required."""

    amount_cents: int | Absent
    exchange_rate: RecordExchangeRate | Absent
    base_amount_cents: int | Absent
    allocations: list[BillAllocationInput] | Absent
    payment_date: date | Absent
    payment_method: BillPaymentMethod | Absent
    bank_account_id: UUID | Absent | None
    bank_account_external_id: str | Absent
    status: VendorPaymentStatus | Absent
    status_date: date | Absent
    payment_reference: str | Absent | None
    check_number: str | Absent | None
    processing_fee_cents: int | Absent
    external_id: str | Absent | None
    memo: str | Absent | None
    transaction_tags: Tags | Absent
    metadata: Metadata | Absent


class VendorCreditLineInput(TypedDict):
    """A credited item."""

    amount: int
    tax_amount: int | Absent
    tax_amount_cents: int | Absent
    tax_code: str | Absent
    source_line_id: UUID | Absent
    expense_account_identifier: AccountIdentifier | Absent
    memo: str | Absent
    tags: Tags | Absent
    metadata: AnyJson | Absent


class VendorCreditAllocationInput(TypedDict):
    """The part of the credit for one bill."""

    bill_id: UUID | Absent
    bill_external_id: str | Absent
    amount: int
    allocation_date: date | Absent


class VendorCreditCreate(TypedDict):
    vendor_id: UUID | Absent
    vendor_external_id: str | Absent
    external_id: str | Absent
    vendor_credit_number: str | Absent
    received_at: datetime | Absent
    source_bill_id: UUID | Absent
    source_bill_external_id: str | Absent
    currency: Currency | Absent
    exchange_rate: RecordExchangeRate | Absent
    memo: str | Absent | None
    tags: Tags | Absent
    metadata: AnyJson | Absent
    line_items: list[VendorCreditLineInput]
    allocations: list[VendorCreditAllocationInput] | Absent
    document: DocumentUpload | Absent


class VendorCreditReplace(TypedDict):
    allocations: list[VendorCreditAllocationInput] | Absent
    received_at: datetime | Absent
    memo: str | Absent | None
    tags: Tags | Absent
    metadata: AnyJson | Absent
    document: DocumentUpload | Absent


class VendorCreditLineChange(TypedDict):
    """A change of a line. An absent field keeps its value; `null` clears a text."""

    id: UUID
    expense_account_identifier: AccountIdentifier | Absent
    memo: str | Absent | None
    tags: Tags | Absent
    metadata: AnyJson | Absent


class VendorCreditUpdate(TypedDict):
    external_id: str | Absent
    memo: str | Absent | None
    tags: Tags | Absent
    metadata: AnyJson | Absent
    document: DocumentUpload | Absent
    line_items: list[VendorCreditLineChange] | Absent


VendorRefundAllocationType = Literal["bill", "payment", "credit", "vendor_credit"]


class VendorRefundAllocationInput(TypedDict):
    """A part of the refund, and the record that it refunds."""

    allocation_type: VendorRefundAllocationType
    bill_id: UUID | Absent
    bill_external_id: str | Absent
    bill_payment_id: UUID | Absent
    bill_payment_external_id: str | Absent
    vendor_credit_id: UUID | Absent
    vendor_credit_external_id: str | Absent
    amount_cents: int
    lines: list[RefundedLine] | Absent
    tax_code: str | Absent
    description: str | Absent
    metadata: AnyJson | Absent


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
    """An expected payment of a refund; pending until it is received."""

    amount_cents: int
    exchange_rate: RecordExchangeRate | Absent
    base_amount_cents: int | Absent
    payment_method: VendorRefundMethod | Absent
    bank_account_id: UUID | Absent
    bank_account_external_id: str | Absent
    payment_date: date | Absent
    processor: str | Absent
    processor_payment_id: str | Absent
    payment_reference: str | Absent
    processing_fee_cents: int | Absent
    description: str | Absent
    memo: str | Absent
    transaction_tags: Tags | Absent
    metadata: AnyJson | Absent


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
    vendor_id: UUID | Absent
    vendor_external_id: str | Absent
    total_refunded_amount: int | Absent
    total_refunded_amount_cents: int | Absent
    allocations: list[VendorRefundAllocationInput] | Absent
    payments: list[VendorRefundInitialPayment] | Absent
    external_id: str | Absent
    refund_type: VendorRefundType | Absent
    refund_date: date | Absent
    expected_completion_date: date | Absent
    currency: Currency
    exchange_rate: RecordExchangeRate | Absent
    base_amount_cents: int | Absent
    reference_number: str | Absent
    description: str | Absent
    memo: str | Absent
    reason: str | Absent
    metadata: AnyJson | Absent
    document: DocumentUpload | Absent


class VendorRefundUpdate(TypedDict):
    description: str | Absent | None
    memo: str | Absent | None
    reason: str | Absent | None
    metadata: AnyJson | Absent
    expected_completion_date: date | Absent | None
    document: DocumentUpload | Absent


class VendorRefundForm(TypedDict):
    """The same as JSON, with a file and fields about the file."""

    description: str | Absent
    memo: str | Absent
    reason: str | Absent
    metadata: AnyJson | Absent
    expected_completion_date: date | Absent
    document: Upload | Absent
    document_type: str | Absent
    upload_source: str | Absent
    document_metadata: AnyJson | Absent
    document_tags: Tags | Absent


class VendorRefundPaymentCreate(TypedDict):
    vendor_id: UUID | Absent
    vendor_external_id: str | Absent
    total_amount_cents: int
    allocations: list[VendorRefundAllocationInput] | Absent
    external_id: str | Absent
    refund_type: VendorRefundType | Absent
    refund_date: date | Absent
    currency: Currency
    exchange_rate: RecordExchangeRate | Absent
    base_amount_cents: int | Absent
    description: str | Absent
    memo: str | Absent
    reason: str | Absent
    metadata: AnyJson | Absent
    payment_method: VendorRefundMethod | Absent
    bank_account_id: UUID | Absent
    bank_account_external_id: str | Absent
    processor: str | Absent
    payment_reference: str | Absent
    processing_fee_cents: int | Absent


class VendorRefundPaymentUpdate(TypedDict):
    """Changes to a payment; no field is required."""

    status: VendorPaymentStatus | Absent
    status_date: date | Absent
    failure_reason: str | Absent | None
    payment_date: date | Absent
    payment_method: VendorRefundMethod | Absent
    bank_account_id: UUID | Absent | None
    bank_account_external_id: str | Absent
    processor: str | Absent | None
    processing_fee_cents: int | Absent
    exchange_rate: RecordExchangeRate | Absent
    base_amount_cents: int | Absent
    payment_reference: str | Absent | None
    processor_payment_id: str | Absent | None
    description: str | Absent | None
    memo: str | Absent | None
    transaction_tags: Tags | Absent
    metadata: AnyJson | Absent
    allocations: list[VendorRefundAllocationInput] | Absent


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
PayoutOtherItemType = Literal[
    "chargeback",
    "chargeback_reversal",
    "dispute_fee",
    "adjustment",
    "reserve_hold",
    "reserve_release",
]


class PayoutOtherItemInput(TypedDict):
    """A deduction or addition of a processor other than payments and refunds."""

    type: PayoutOtherItemType
    amount_cents: int
    account: str | Absent
    description: str | Absent
    external_id: str | Absent
    payment_id: UUID | Absent
    payment_external_id: str | Absent
    tax_code: str | Absent


class PayoutCreate(TypedDict):
    external_id: str | Absent
    processor: PayoutProcessor
    bank_account_id: UUID | Absent | None
    bank_account_external_id: str | Absent
    processor_payout_id: str | Absent | None
    paid_out_amount_cents: int
    fee_cents: int | Absent
    additional_refunds_amount_cents: int | Absent
    currency: Currency | Absent
    exchange_rate: RecordExchangeRate | Absent
    base_amount_cents: int | Absent
    status: PayoutStatus | Absent
    completed_at: datetime | Absent
    imported_at: datetime | Absent | None
    payment_ids: list[UUID] | Absent
    payment_external_ids: list[str] | Absent
    refund_payment_ids: list[UUID] | Absent
    refund_payment_external_ids: list[str] | Absent
    other_items: list[PayoutOtherItemInput] | Absent
    reference_number: str | Absent | None
    memo: str | Absent | None
    metadata: Metadata | Absent


class BankAccountCreate(TypedDict):
    display_name: str
    currency: Currency | Absent
    account: str | Absent
    iban: str | Absent
    mask: str | Absent
    institution_name: str | Absent
    external_id: str | Absent


class BankAccountUpdate(TypedDict):
    display_name: str | Absent
    iban: str | Absent | None
    mask: str | Absent | None
    institution_name: str | Absent | None
    external_id: str | Absent | None


BankDirection = Literal["credit", "debit"]


class BankTransactionLine(TypedDict):
    """A line of a bank statement."""

    external_id: str | Absent
    date: date
    amount_cents: int
    direction: BankDirection
    description: str | Absent
    counterparty_name: str | Absent
    reference: str | Absent
    currency: Currency | Absent


class BankTransactionImport(TypedDict):
    bank_account_id: UUID | Absent
    bank_account_external_id: str | Absent
    transactions: list[BankTransactionLine]


BankFileFormat = Literal["csv", "ofx", "camt053", "mt940"]
BankFileColumn = str


class BankFileMapping(TypedDict):
    date: BankFileColumn
    amount: BankFileColumn | Absent
    direction: BankFileColumn | Absent
    credit: BankFileColumn | Absent
    debit: BankFileColumn | Absent
    fee: BankFileColumn | Absent
    account: BankFileColumn | Absent
    currency: BankFileColumn | Absent
    description: BankFileColumn | Absent
    counterparty_name: BankFileColumn | Absent
    reference: BankFileColumn | Absent
    external_id: BankFileColumn | Absent
    date_format: str | Absent
    decimal_comma: bool | Absent


class BankTransactionForm(TypedDict):
    """An original bank file."""

    bank_account_id: UUID | Absent
    bank_account_external_id: str | Absent
    file: Upload
    format: BankFileFormat | Absent
    mapping: BankFileMapping | Absent
    statement_account: str | Absent


BankTarget = Literal[
    "invoice_payment",
    "invoice_refund_payment",
    "bill_payment",
    "vendor_refund_payment",
    "payout",
    "journal_entry",
    "transfer",
]
BankMovement = Literal["original", "return"]


class BankTransactionMatch(TypedDict):
    target_type: BankTarget
    of: BankMovement | Absent
    target_id: UUID | Absent
    target_external_id: str | Absent
    bank_account_id: UUID | Absent
    bank_account_external_id: str | Absent
    amount_cents: int | Absent
    target_amount_cents: int | Absent
    memo: str | Absent | None


class BankTransactionUnmatch(TypedDict):
    reconciliation_link_id: UUID


class BankSplitInput(TypedDict):
    """A part of a line."""

    account: str
    amount_cents: int
    tax_code: str | Absent
    memo: str | Absent | None
    tags: Tags | Absent


class BankTransactionCategory(TypedDict):
    account: str | Absent
    memo: str | Absent | None
    exchange_rate: RecordExchangeRate | Absent
    tags: Tags | Absent
    splits: list[BankSplitInput] | Absent


class BankRuleConditionsInput(TypedDict):
    """Conditions on a line, at least one; all must hold."""

    text: str | Absent
    direction: BankDirection | Absent
    min_amount_cents: int | Absent
    max_amount_cents: int | Absent
    bank_account_id: UUID | Absent
    bank_account_external_id: str | Absent


class BankRuleResultInput(TypedDict):
    """The result for a fitting line."""

    account: str
    tax_code: str | Absent
    customer_id: UUID | Absent
    customer_external_id: str | Absent
    vendor_id: UUID | Absent
    vendor_external_id: str | Absent
    memo: str | Absent


BankRuleApply = Literal["suggest", "automatic"]


class BankRuleCreate(TypedDict):
    name: str
    priority: int | Absent
    conditions: BankRuleConditionsInput
    result: BankRuleResultInput
    apply: BankRuleApply | Absent


class BankRuleUpdate(TypedDict):
    name: str | Absent
    priority: int | Absent
    conditions: BankRuleConditionsInput | Absent
    result: BankRuleResultInput | Absent
    apply: BankRuleApply | Absent


class BankReconciliationCreate(TypedDict):
    statement_date: date
    closing_balance_cents: int


LinkedType = Literal[
    "customer",
    "invoice",
    "invoice_refund",
    "customer_credit",
    "vendor",
    "bill",
    "vendor_credit",
    "vendor_refund",
    "invoice_payment",
    "bill_payment",
    "bank_transaction",
    "journal_entry",
]


class DocumentForm(TypedDict):
    file: Upload
    document_type: str | Absent
    upload_source: str | Absent
    metadata: AnyJson | Absent
    tags: Tags | Absent
    linked_type: LinkedType | Absent
    linked_id: UUID | Absent
    linked_external_id: str | Absent


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
CashFlowClass = Literal["cash", "operating", "investing", "financing", "non_cash"]


class AccountCreate(TypedDict):
    code: str
    name: str
    account_type: AccountType
    account_subtype: AccountSubtype
    parent_id: str | Absent
    external_id: str | Absent
    description: str | Absent
    balance_behavior: BalanceBehavior | Absent
    cash_flow: CashFlowClass | Absent
    currency: Currency | Absent
    institution_name: str | Absent
    iban: str | Absent
    sort_code: str | Absent
    account_number_mask: str | Absent


class AccountUpdate(TypedDict):
    code: str | Absent
    name: str | Absent
    external_id: str | Absent | None
    description: str | Absent | None
    institution_name: str | Absent | None
    iban: str | Absent | None
    sort_code: str | Absent | None
    account_number_mask: str | Absent | None
    is_active: bool | Absent
    cash_flow: str | Absent | None


class AccountChildCreate(TypedDict):
    code: str
    name: str
    account_type: AccountType | Absent
    account_subtype: AccountSubtype | Absent
    external_id: str | Absent
    description: str | Absent
    balance_behavior: BalanceBehavior | Absent
    cash_flow: CashFlowClass | Absent
    currency: Currency | Absent
    institution_name: str | Absent
    iban: str | Absent
    sort_code: str | Absent
    account_number_mask: str | Absent


TaxDirection = Literal["sales", "purchases"]
TaxTreatment = Literal[
    "standard",
    "reduced",
    "zero",
    "exempt",
    "out_of_scope",
    "reverse_charge",
    "acquisition",
    "import_postponed",
    "withholding",
]


class TaxCodeRateInput(TypedDict):
    """A rate, from one day to another, both included."""

    rate: TaxRate
    recoverable_percent: TaxRate | Absent
    valid_from: date | Absent | None
    valid_to: date | Absent | None


class TaxBoxes(TypedDict):
    net: list[str] | Absent
    output: list[str] | Absent
    input: list[str] | Absent
    blocked: list[str] | Absent
    withheld: list[str] | Absent
    relief_net: list[str] | Absent
    relief: list[str] | Absent


class TaxCodeCreate(TypedDict):
    code: str
    name: str
    direction: TaxDirection
    treatment: TaxTreatment
    rates: list[TaxCodeRateInput]
    tax_account: str | Absent
    boxes: TaxBoxes | Absent
    is_default: bool | Absent


class TaxCodeUpdate(TypedDict):
    code: str | Absent
    name: str | Absent
    direction: TaxDirection | Absent
    treatment: TaxTreatment | Absent
    rates: list[TaxCodeRateInput] | Absent
    tax_account: str | Absent
    boxes: TaxBoxes | Absent
    is_default: bool | Absent
    is_active: bool | Absent


TaxScheme = Literal["accrual", "cash"]


class TaxReturnCreate(TypedDict):
    start_date: date
    end_date: date
    scheme: TaxScheme


class TaxReturnFile(TypedDict):
    reference: str | Absent
    lock: bool | Absent
    settle: bool | Absent


class TaxReturnSupersede(TypedDict):
    reason: str


ExchangeRateInput = Decimal | str


class ExchangeRatesInput(TypedDict):
    EUR: ExchangeRateInput | Absent
    GBP: ExchangeRateInput | Absent
    USD: ExchangeRateInput | Absent
    SEK: ExchangeRateInput | Absent
    NOK: ExchangeRateInput | Absent
    DKK: ExchangeRateInput | Absent
    ISK: ExchangeRateInput | Absent
    MYR: ExchangeRateInput | Absent
    SGD: ExchangeRateInput | Absent


class ExchangeRateTableSet(TypedDict):
    """The whole table of a day."""

    date: date
    reference_currency: Currency
    rates: ExchangeRatesInput


class RevaluationRates(TypedDict):
    """Closing rates by currency; for the others the rate of the tables is used."""

    EUR: RecordExchangeRate | Absent
    GBP: RecordExchangeRate | Absent
    USD: RecordExchangeRate | Absent
    SEK: RecordExchangeRate | Absent
    NOK: RecordExchangeRate | Absent
    DKK: RecordExchangeRate | Absent
    ISK: RecordExchangeRate | Absent
    MYR: RecordExchangeRate | Absent
    SGD: RecordExchangeRate | Absent


class RevaluationCreate(TypedDict):
    """The day of a revaluation, with its closing rates."""

    date: date
    rates: RevaluationRates | Absent


TaxPart = Literal["net", "output", "input", "blocked", "withheld", "relief_net", "relief"]


class JournalLineInput(TypedDict):
    """A debit or a credit; omit the amount of the other side or send 0."""

    account: str
    debit_amount: int | Absent
    credit_amount: int | Absent
    currency: Currency | Absent
    currency_amount: int | Absent
    description: str | Absent
    tax_code: str | Absent
    tax_part: TaxPart | Absent
    tags: Tags | Absent


JournalEntryWriter = Literal["manual", "ai", "import"]


class JournalEntryCreate(TypedDict):
    entry_date: date
    reference: str | Absent
    description: str | Absent
    lines: list[JournalLineInput]
    document: DocumentUpload | Absent
    created_by: JournalEntryWriter | Absent
    post: bool | Absent


class JournalEntryReplace(TypedDict):
    entry_date: date
    reference: str | Absent
    description: str | Absent
    lines: list[JournalLineInput]
    document: DocumentUpload | Absent


class JournalEntryReversal(TypedDict):
    entry_date: date | Absent


class OpeningAccountInput(TypedDict):
    """A debit or a credit balance; omit the amount of the other side or send 0."""

    account: str
    debit_amount: int | Absent
    credit_amount: int | Absent
    currency: Currency | Absent
    currency_amount: int | Absent


class OpeningTaxInput(TypedDict):
    """The remaining amounts of an open item for one tax code."""

    tax_code: str
    net_cents: int
    tax_cents: int


class OpeningNetInput(TypedDict):
    """The remaining net of an open item for one account."""

    account: str
    net_cents: int


class OpeningInvoiceInput(TypedDict):
    """An invoice with an outstanding amount."""

    customer_id: UUID | Absent
    customer_external_id: str | Absent
    external_id: str | Absent
    invoice_number: str
    issue_date: date
    sent_at: datetime | Absent
    due_at: datetime | Absent | None
    outstanding_amount_cents: int
    tax: list[OpeningTaxInput] | Absent
    accounts: list[OpeningNetInput] | Absent
    currency: Currency | Absent
    exchange_rate: RecordExchangeRate | Absent
    base_outstanding_cents: int | Absent
    memo: str | Absent | None


class OpeningBillInput(TypedDict):
    """A bill with an outstanding amount."""

    vendor_id: UUID | Absent
    vendor_external_id: str | Absent
    external_id: str | Absent
    bill_number: str | Absent
    vendor_bill_number: str | Absent
    bill_date: date
    received_at: datetime | Absent
    due_at: datetime | Absent | None
    outstanding_amount_cents: int
    tax: list[OpeningTaxInput] | Absent
    accounts: list[OpeningNetInput] | Absent
    currency: Currency | Absent
    exchange_rate: RecordExchangeRate | Absent
    base_outstanding_cents: int | Absent
    memo: str | Absent | None


class OpeningCustomerCreditInput(TypedDict):
    """A credit note that is not used up."""

    customer_id: UUID | Absent
    customer_external_id: str | Absent
    external_id: str | Absent
    credit_note_number: str
    sent_at: datetime
    unapplied_amount_cents: int
    tax: list[OpeningTaxInput] | Absent
    accounts: list[OpeningNetInput] | Absent
    currency: Currency | Absent
    exchange_rate: RecordExchangeRate | Absent
    base_outstanding_cents: int | Absent
    memo: str | Absent | None


class OpeningVendorCreditInput(TypedDict):
    """A vendor credit that is not used up."""

    vendor_id: UUID | Absent
    vendor_external_id: str | Absent
    external_id: str | Absent
    vendor_credit_number: str | Absent
    received_at: datetime
    unapplied_amount_cents: int
    tax: list[OpeningTaxInput] | Absent
    accounts: list[OpeningNetInput] | Absent
    currency: Currency | Absent
    exchange_rate: RecordExchangeRate | Absent
    base_outstanding_cents: int | Absent
    memo: str | Absent | None


PrepaymentMethod = Literal["bank_transfer", "ach", "check", "cash", "other"]


class OpeningPrepaymentInput(TypedDict):
    """A prepayment from a customer or to a vendor."""

    customer_id: UUID | Absent
    customer_external_id: str | Absent
    vendor_id: UUID | Absent
    vendor_external_id: str | Absent
    external_id: str | Absent
    payment_date: date
    payment_method: PrepaymentMethod | Absent
    payment_reference: str | Absent
    unapplied_amount_cents: int
    currency: Currency | Absent
    exchange_rate: RecordExchangeRate | Absent
    base_outstanding_cents: int | Absent
    memo: str | Absent


class OpeningBalanceCreate(TypedDict):
    date: date
    accounts: list[OpeningAccountInput] | Absent
    invoices: list[OpeningInvoiceInput] | Absent
    bills: list[OpeningBillInput] | Absent
    customer_credits: list[OpeningCustomerCreditInput] | Absent
    vendor_credits: list[OpeningVendorCreditInput] | Absent
    prepayments: list[OpeningPrepaymentInput] | Absent
    memo: str | Absent


BatchMode = Literal["atomic", "independent"]
BatchOperation = Literal[
    "create_customer",
    "update_customer",
    "archive_customer",
    "unarchive_customer",
    "create_invoice",
    "replace_invoice",
    "update_invoice",
    "delete_invoice",
    "send_invoice",
    "void_invoice",
    "write_off_invoice",
    "reverse_write_off",
    "create_invoice_payment",
    "replace_invoice_payment",
    "update_invoice_payment",
    "cancel_invoice_payment",
    "create_invoice_refund",
    "cancel_invoice_refund",
    "create_invoice_refund_payment",
    "cancel_invoice_refund_payment",
    "create_customer_credit",
    "replace_customer_credit",
    "update_customer_credit",
    "void_customer_credit",
    "create_vendor",
    "update_vendor",
    "archive_vendor",
    "unarchive_vendor",
    "create_bill",
    "replace_bill",
    "update_bill",
    "delete_bill",
    "receive_bill",
    "void_bill",
    "write_off_bill",
    "reverse_bill_write_off",
    "create_bill_payment",
    "update_bill_payment",
    "cancel_bill_payment",
    "create_vendor_credit",
    "replace_vendor_credit",
    "update_vendor_credit",
    "void_vendor_credit",
    "create_vendor_refund",
    "update_vendor_refund",
    "create_vendor_refund_payment",
    "update_vendor_refund_payment",
    "cancel_vendor_refund_payment",
    "create_payout",
    "delete_payout",
    "create_bank_account",
    "update_bank_account",
    "import_bank_transactions",
    "match_bank_transaction",
    "unmatch_bank_transaction",
    "categorize_bank_transaction",
    "uncategorize_bank_transaction",
    "create_bank_rule",
    "update_bank_rule",
    "delete_bank_rule",
    "create_bank_reconciliation",
    "reopen_bank_reconciliation",
    "create_account",
    "update_account",
    "archive_account",
    "create_child_account",
    "create_tax_code",
    "update_tax_code",
    "archive_tax_code",
    "create_tax_return",
    "delete_tax_return",
    "file_tax_return",
    "supersede_tax_return",
    "set_exchange_rates",
    "create_revaluation",
    "reverse_revaluation",
    "create_journal_entry",
    "replace_journal_entry",
    "approve_journal_entry",
    "reject_journal_entry",
    "reverse_journal_entry",
    "create_opening_balance",
    "reverse_opening_balance",
]


class BatchItem(TypedDict):
    """A request to another operation."""

    key: str
    operation: BatchOperation
    path: dict[str, str] | Absent
    body: dict[str, Any] | Absent | None
    if_match: str | Absent | None


class BatchRun(TypedDict):
    mode: BatchMode
    items: list[BatchItem]


class SandboxCreate(TypedDict):
    """A sandbox to create."""

    external_id: str
    name: str | Absent


class SandboxUpdate(TypedDict):
    """The new time of a sandbox's clock."""

    clock_seconds_ahead: int


EventTypeFilter = Literal[
    "account.*",
    "bank_account.*",
    "bank_reconciliation.*",
    "bank_rule.*",
    "bank_transaction.*",
    "bank_transactions.*",
    "bank_transfer.*",
    "bill.*",
    "bill_payment.*",
    "bill_write_off.*",
    "business.*",
    "customer.*",
    "customer_credit.*",
    "document.*",
    "invoice.*",
    "invoice_payment.*",
    "invoice_refund.*",
    "invoice_refund_payment.*",
    "journal_entry.*",
    "opening_balance.*",
    "payout.*",
    "revaluation.*",
    "tax_code.*",
    "tax_return.*",
    "vendor.*",
    "vendor_credit.*",
    "vendor_refund.*",
    "vendor_refund_payment.*",
    "write_off.*",
    "account.created",
    "account.updated",
    "account.archived",
    "account.unarchived",
    "bank_account.created",
    "bank_account.updated",
    "bank_reconciliation.created",
    "bank_reconciliation.updated",
    "bank_reconciliation.closed",
    "bank_reconciliation.reopened",
    "bank_reconciliation.deleted",
    "bank_rule.created",
    "bank_rule.updated",
    "bank_rule.deleted",
    "bank_transaction.updated",
    "bank_transaction.matched",
    "bank_transaction.unmatched",
    "bank_transaction.categorized",
    "bank_transaction.uncategorized",
    "bank_transaction.deleted",
    "bank_transactions.imported",
    "bank_transfer.created",
    "bank_transfer.updated",
    "bank_transfer.deleted",
    "bill.created",
    "bill.updated",
    "bill.received",
    "bill.partially_paid",
    "bill.paid",
    "bill.partially_written_off",
    "bill.written_off",
    "bill.refunded",
    "bill.voided",
    "bill.reopened",
    "bill.overdue",
    "bill.deleted",
    "bill_payment.created",
    "bill_payment.updated",
    "bill_payment.pending",
    "bill_payment.processing",
    "bill_payment.completed",
    "bill_payment.failed",
    "bill_payment.cancelled",
    "bill_write_off.created",
    "bill_write_off.updated",
    "bill_write_off.reversed",
    "business.created",
    "business.updated",
    "business.archived",
    "business.unarchived",
    "business.period_locked",
    "business.period_unlocked",
    "customer.created",
    "customer.updated",
    "customer.archived",
    "customer.unarchived",
    "customer_credit.created",
    "customer_credit.updated",
    "customer_credit.sent",
    "customer_credit.partially_applied",
    "customer_credit.applied",
    "customer_credit.voided",
    "document.created",
    "invoice.created",
    "invoice.updated",
    "invoice.sent",
    "invoice.partially_paid",
    "invoice.paid",
    "invoice.partially_written_off",
    "invoice.written_off",
    "invoice.refunded",
    "invoice.voided",
    "invoice.reopened",
    "invoice.overdue",
    "invoice.deleted",
    "invoice_payment.created",
    "invoice_payment.updated",
    "invoice_payment.pending",
    "invoice_payment.processing",
    "invoice_payment.completed",
    "invoice_payment.failed",
    "invoice_payment.cancelled",
    "invoice_payment.refunded",
    "invoice_refund.created",
    "invoice_refund.updated",
    "invoice_refund.processing",
    "invoice_refund.paid",
    "invoice_refund.cancelled",
    "invoice_refund_payment.created",
    "invoice_refund_payment.updated",
    "invoice_refund_payment.cancelled",
    "journal_entry.created",
    "journal_entry.updated",
    "journal_entry.posted",
    "journal_entry.reversed",
    "journal_entry.rejected",
    "opening_balance.created",
    "opening_balance.reversed",
    "payout.created",
    "payout.updated",
    "payout.pending",
    "payout.processing",
    "payout.paid",
    "payout.failed",
    "payout.cancelled",
    "payout.reconciled",
    "payout.deleted",
    "revaluation.created",
    "revaluation.reversed",
    "tax_code.created",
    "tax_code.updated",
    "tax_code.archived",
    "tax_code.unarchived",
    "tax_return.created",
    "tax_return.updated",
    "tax_return.filed",
    "tax_return.superseded",
    "tax_return.deleted",
    "vendor.created",
    "vendor.updated",
    "vendor.archived",
    "vendor.unarchived",
    "vendor_credit.created",
    "vendor_credit.updated",
    "vendor_credit.received",
    "vendor_credit.partially_applied",
    "vendor_credit.applied",
    "vendor_credit.voided",
    "vendor_refund.created",
    "vendor_refund.updated",
    "vendor_refund.partially_allocated",
    "vendor_refund.allocated",
    "vendor_refund.completed",
    "vendor_refund.cancelled",
    "vendor_refund_payment.created",
    "vendor_refund_payment.updated",
    "vendor_refund_payment.pending",
    "vendor_refund_payment.processing",
    "vendor_refund_payment.completed",
    "vendor_refund_payment.failed",
    "vendor_refund_payment.cancelled",
    "write_off.created",
    "write_off.updated",
    "write_off.reversed",
]


class WebhookEndpointCreate(TypedDict):
    """A webhook endpoint to create."""

    url: str
    types: list[EventTypeFilter] | Absent | None
    business_ids: list[UUID] | Absent | None
    ordered: bool | Absent
    description: str | Absent | None


class WebhookEndpointUpdate(TypedDict):
    """Changes of a webhook endpoint."""

    url: str | Absent
    types: list[EventTypeFilter] | Absent | None
    business_ids: list[UUID] | Absent | None
    ordered: bool | Absent
    description: str | Absent | None
    is_active: bool | Absent


class WebhookReplay(TypedDict):
    """The events to send."""

    business_id: UUID
    after: int | Absent
    until: int | Absent
