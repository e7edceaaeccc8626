"""Requests of callers, in the terms of the rules and the same for both sides.

A field that may be left out is ABSENT where that differs from null. Amounts are in minor units.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

from accounting.absent import ABSENT, Absent
from accounting.books.accounts import AccountReference
from accounting.books.record_rates import NO_WORTH_GIVEN, GivenWorth
from accounting.trade.allocation import AllocationItem
from accounting.trade.parties import PartyNamed
from accounting.trade.refunds import GivenBackLine, Kind


@dataclass(frozen=True, slots=True)
class TaxGiven:
    """A tax amount given for a line.

    Without an account it is posted to the account of its code, else to the tax account of the side.
    """

    amount: int
    account: AccountReference | None = None
    tax_code: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentLine:
    """A line of a document; `place` is its place in the request, such as `line_items.0`."""

    place: str
    quantity: Decimal
    unit_price: int | Decimal
    discount_amount: int = 0
    account: AccountReference | None = None
    taxes: tuple[TaxGiven, ...] = ()
    tax_rate: Decimal | None = None
    tax_code: str | None = None
    withholding_code: str | None = None
    description: str | None = None
    product: str | None = None
    external_id: str | None = None
    memo: str | None = None
    tags: tuple[str, ...] = ()
    metadata: Any = None


@dataclass(frozen=True, slots=True, kw_only=True)
class InitialPayment:
    """A payment that is created with a document and allocated to it in full."""

    total: int | Absent = ABSENT
    payment_date: date | Absent = ABSENT
    method: str
    processor: str | None = None
    fee: int = 0
    external_id: str | None = None
    payment_reference: str | None = None
    note: str | None = None
    bank_account_id: UUID | None = None
    worth: GivenWorth = NO_WORTH_GIVEN


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteDocument:
    """The content of an invoice or bill, to create or replace it."""

    party: PartyNamed
    lines: tuple[DocumentLine, ...]
    external_id: str | None = None
    number: str | None = None
    party_number: str | Absent | None = ABSENT
    issue_date: date | Absent | None = ABSENT
    delivery_date: date | Absent | None = ABSENT
    opened_at: datetime | None = None
    due_at: datetime | None = None
    terms: str | None = None
    currency: str | None = None
    worth: GivenWorth = NO_WORTH_GIVEN
    additional_discount: int = 0
    amounts_include_tax: bool = False
    memo: str | None = None
    transaction_tags: tuple[str, ...] = ()
    metadata: Any = None
    payments: tuple[InitialPayment, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeLine:
    """Changes of a line that leave its amounts; `place` as in `DocumentLine`."""

    id: UUID
    place: str
    account: AccountReference | None = None
    description: str | Absent | None = ABSENT
    product: str | Absent | None = ABSENT
    external_id: str | Absent | None = ABSENT
    memo: str | Absent | None = ABSENT
    tags: tuple[str, ...] | Absent = ABSENT
    metadata: Any = ABSENT


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeDocument:
    """Changes of an invoice, a bill or a credit that leave its amounts, codes and dates."""

    external_id: str | Absent = ABSENT
    party_number: str | Absent | None = ABSENT
    due_at: datetime | Absent | None = ABSENT
    terms: str | Absent | None = ABSENT
    memo: str | Absent | None = ABSENT
    transaction_tags: tuple[str, ...] | Absent = ABSENT
    metadata: Any = ABSENT
    lines: tuple[ChangeLine, ...] = ()


@dataclass(frozen=True, slots=True)
class OpenDocument:
    """A request to open a draft, at a given moment or now."""

    opened_at: datetime | None = None
    due_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteOffDocument:
    """A request to write off an amount of a document, by default all that is left."""

    amount: int | Absent = ABSENT
    tax_relief: bool = False
    write_off_at: datetime | None = None
    account: AccountReference | None = None
    external_id: str | None = None
    memo: str | None = None
    tags: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PaymentDetails:
    """The descriptive fields of a payment; a PUT clears those that it leaves out."""

    note: str | Absent | None = ABSENT
    payment_reference: str | Absent | None = ABSENT
    bank_reference: str | Absent | None = ABSENT
    processor_reference: str | Absent | None = ABSENT
    check_number: str | Absent | None = ABSENT
    references: Mapping[str, str] | Absent = ABSENT
    transaction_tags: tuple[str, ...] | Absent = ABSENT
    metadata: Any = ABSENT


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordPayment:
    """A payment to create; completed unless it has another status."""

    party: PartyNamed
    total: int
    payment_date: date
    method: str
    allocations: tuple[AllocationItem, ...] = ()
    currency: str | None = None
    worth: GivenWorth = NO_WORTH_GIVEN
    processor: str | None = None
    fee: int = 0
    status: str = "completed"
    external_id: str | None = None
    idempotency_key: str | None = None
    bank_account_id: UUID | None = None
    details: PaymentDetails = field(default_factory=PaymentDetails)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangePayment:
    """Changes to a payment; with `whole` (PUT), absent descriptive fields are cleared."""

    party: PartyNamed = field(default_factory=PartyNamed)
    total: int | Absent = ABSENT
    payment_date: date | Absent = ABSENT
    method: str | Absent = ABSENT
    allocations: tuple[AllocationItem, ...] | Absent = ABSENT
    currency: str | None = None
    worth: GivenWorth = NO_WORTH_GIVEN
    processor: str | Absent | None = ABSENT
    fee: int | Absent = ABSENT
    status: str | Absent = ABSENT
    status_date: date | None = None
    external_id: str | Absent | None = ABSENT
    bank_account_id: UUID | Absent | None = ABSENT
    details: PaymentDetails = field(default_factory=PaymentDetails)
    whole: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CreditLineGiven:
    """A requested line of a credit: a net amount, and its tax as an amount or by a code.

    A line of the source document is taxed as its source line is.
    """

    place: str
    amount: int
    tax_amount: int | None = None
    account: AccountReference | None = None
    tax_code: str | None = None
    source_line_id: UUID | None = None
    memo: str | None = None
    tags: tuple[str, ...] = ()
    metadata: Any = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteCredit:
    """The content of a new credit; with `opened_at` it is opened and may be allocated."""

    party: PartyNamed
    lines: tuple[CreditLineGiven, ...]
    external_id: str | None = None
    number: str | None = None
    opened_at: datetime | None = None
    source_document_id: UUID | None = None
    currency: str | None = None
    worth: GivenWorth = NO_WORTH_GIVEN
    allocations: tuple[AllocationItem, ...] = ()
    memo: str | None = None
    transaction_tags: tuple[str, ...] = ()
    metadata: Any = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplaceCredit:
    """The new content of a credit; without a list its allocations stay."""

    opened_at: datetime | None = None
    allocations: tuple[AllocationItem, ...] | Absent = ABSENT
    memo: str | None = None
    transaction_tags: tuple[str, ...] = ()
    metadata: Any = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PayRefund:
    """A request to pay a refund to a customer, by default all that is not paid yet."""

    amount: int | Absent = ABSENT
    method: str | None = None
    processor: str | None = None
    fee: int | None = None
    completed_at: datetime | None = None
    external_id: str | None = None
    memo: str | None = None
    transaction_tags: Any = None
    metadata: Any = None
    bank_account_id: UUID | None = None
    worth: GivenWorth = NO_WORTH_GIVEN


@dataclass(frozen=True, slots=True, kw_only=True)
class AgreeRefund:
    """A refund to a customer, by default of all that is refundable.

    With `completed_at` it is paid immediately.
    """

    document_id: UUID | None = None
    payment_id: UUID | None = None
    credit_id: UUID | None = None
    amount: int | Absent = ABSENT
    lines: tuple[GivenBackLine, ...] = ()
    method: str = "bank_transfer"
    processor: str | None = None
    fee: int = 0
    completed_at: datetime | None = None
    external_id: str | None = None
    memo: str | None = None
    reference_number: str | None = None
    metadata: Any = None
    bank_account_id: UUID | None = None
    worth: GivenWorth = NO_WORTH_GIVEN


@dataclass(frozen=True, slots=True, kw_only=True)
class RefundItem:
    """A requested part of a vendor refund and its target; a new credit has no target.

    `place` is the place of the target in the request, such as `allocations.0.bill_id`.
    """

    kind: Kind
    target_id: UUID | None
    amount: int
    lines: tuple[GivenBackLine, ...] = ()
    tax_code: str | None = None
    place: str = ""
    description: str | None = None
    metadata: Any = None


@dataclass(frozen=True, slots=True, kw_only=True)
class VendorPaymentDetails:
    """The descriptive fields of a payment of a vendor refund."""

    payment_reference: str | Absent | None = ABSENT
    processor_payment_id: str | Absent | None = ABSENT
    processor: str | Absent | None = ABSENT
    failure_reason: str | Absent | None = ABSENT
    description: str | Absent | None = ABSENT
    memo: str | Absent | None = ABSENT
    transaction_tags: Any = ABSENT
    metadata: Any = ABSENT


@dataclass(frozen=True, slots=True, kw_only=True)
class AnnouncePayment:
    """An expected payment of a vendor refund, by default of all its money."""

    amount: int | Absent = ABSENT
    method: str = "bank_transfer"
    payment_date: date | None = None
    fee: int = 0
    bank_account_id: UUID | None = None
    worth: GivenWorth = NO_WORTH_GIVEN
    details: VendorPaymentDetails = field(default_factory=VendorPaymentDetails)


@dataclass(frozen=True, slots=True, kw_only=True)
class VendorRefundDetails:
    """The descriptive fields of a vendor refund."""

    description: str | Absent | None = ABSENT
    memo: str | Absent | None = ABSENT
    reason: str | Absent | None = ABSENT
    metadata: Any = ABSENT
    expected_completion_date: date | Absent | None = ABSENT


@dataclass(frozen=True, slots=True, kw_only=True)
class AgreeVendorRefund:
    """A refund from a vendor, with its allocations and its expected payments."""

    party: PartyNamed
    amount: int
    allocations: tuple[RefundItem, ...] = ()
    payments: tuple[AnnouncePayment, ...] = ()
    currency: str | None = None
    worth: GivenWorth = NO_WORTH_GIVEN
    refund_date: date | None = None
    refund_type: str = "overpayment"
    external_id: str | None = None
    reference_number: str | None = None
    details: VendorRefundDetails = field(default_factory=VendorRefundDetails)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeVendorRefundPayment:
    """Changes to a payment of a vendor refund.

    A list of allocations replaces those of the refund.
    """

    status: str | Absent = ABSENT
    status_date: date | None = None
    payment_date: date | Absent = ABSENT
    method: str | Absent = ABSENT
    fee: int | Absent = ABSENT
    bank_account_id: UUID | Absent | None = ABSENT
    worth: GivenWorth = NO_WORTH_GIVEN
    allocations: tuple[RefundItem, ...] | Absent = ABSENT
    details: VendorPaymentDetails = field(default_factory=VendorPaymentDetails)
