"""What callers ask of banks and payouts, in the words of the rules; amounts are minor units."""

from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any
from uuid import UUID

from accounting.absent import ABSENT, Absent
from accounting.books.accounts import AccountReference


@dataclass(frozen=True, slots=True, kw_only=True)
class BankAccountDetails:
    """What a bank account says of itself."""

    display_name: str | Absent = ABSENT
    iban: str | Absent | None = ABSENT
    mask: str | Absent | None = ABSENT
    institution_name: str | Absent | None = ABSENT
    external_id: str | Absent | None = ABSENT


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateBankAccount:
    """A new bank account; without an account of the chart it gets one of its own."""

    display_name: str
    currency: str | None = None
    account: AccountReference | None = None
    details: BankAccountDetails = field(default_factory=BankAccountDetails)


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkTransaction:
    """Links a statement line with money, by default with all that is left on both sides.

    An amount that is given is linked to the unit: no tolerance is used.
    """

    target_type: str
    target_id: UUID
    amount: int | None = None
    memo: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TransferTransaction:
    """Links a statement line with the other line of a transfer, or with the account of that."""

    other_id: UUID | None = None
    bank_account_id: UUID | None = None
    amount: int | None = None
    memo: str | None = None


@dataclass(frozen=True, slots=True)
class CategoryGiven:
    """Posts a part of a statement line straight to an account; without an amount all of it."""

    account: AccountReference
    amount: int | None = None
    memo: str | None = None
    tax_code: str | None = None
    place: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherItemGiven:
    """What a processor took, below zero, or gave beside payments and refunds."""

    kind: str
    amount: int
    account: AccountReference | None = None
    description: str | None = None
    external_id: str | None = None
    payment_id: UUID | None = None
    tax_code: str | None = None
    place: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class BankRuleConditions:
    """What a statement line must be for a bank rule; each that is given holds."""

    text: str | None = None
    direction: str | None = None
    min_amount: int | None = None
    max_amount: int | None = None
    bank_account_id: UUID | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BankRuleOutcome:
    """What a bank rule says of a line that fits: its account, and whose it is."""

    account: AccountReference
    tax_code: str | None = None
    customer_id: UUID | None = None
    vendor_id: UUID | None = None
    memo: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SaveBankRule:
    """What is said of a bank rule: of one that is known, what is absent stays."""

    name: str | Absent = ABSENT
    priority: int | Absent = ABSENT
    conditions: BankRuleConditions | Absent = ABSENT
    outcome: BankRuleOutcome | Absent = ABSENT
    apply: str | Absent = ABSENT


@dataclass(frozen=True, slots=True)
class ReconcileStatement:
    """The balance that a statement of a bank account closes with, and on which day."""

    statement_date: date
    closing_balance: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SavePayout:
    """What is said of a payout: of one that is known, what is absent stays."""

    processor: str
    paid_out: int
    external_id: str | None = None
    processor_payout_id: str | Absent | None = ABSENT
    fee: int | Absent = ABSENT
    additional_refunds: int | Absent = ABSENT
    currency: str | None = None
    status: str | Absent = ABSENT
    completed_at: datetime | Absent = ABSENT
    imported_at: datetime | Absent | None = ABSENT
    payment_ids: tuple[UUID, ...] | Absent = ABSENT
    refund_payment_ids: tuple[UUID, ...] | Absent = ABSENT
    other_items: tuple[OtherItemGiven, ...] | Absent = ABSENT
    reference_number: str | Absent | None = ABSENT
    memo: str | Absent | None = ABSENT
    metadata: Any = ABSENT
