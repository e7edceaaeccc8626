"""Commands on bank accounts, bank transactions and payouts; amounts are in minor units."""

from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any
from uuid import UUID

from accounting.absent import ABSENT, Absent
from accounting.books.accounts import AccountReference
from accounting.books.record_rates import NO_WORTH_GIVEN, GivenWorth


@dataclass(frozen=True, slots=True, kw_only=True)
class BankAccountDetails:
    """The details of a bank account that a caller may set."""

    display_name: str | Absent = ABSENT
    iban: str | Absent | None = ABSENT
    mask: str | Absent | None = ABSENT
    institution_name: str | Absent | None = ABSENT
    external_id: str | Absent | None = ABSENT


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateBankAccount:
    """A new bank account; without `account` it gets a ledger account of its own."""

    display_name: str
    currency: str | None = None
    account: AccountReference | None = None
    details: BankAccountDetails = field(default_factory=BankAccountDetails)


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkTransaction:
    """A link of a bank transaction with its money, by default of all that remains on both sides.

    With `back` the transaction shows the return of the money. An explicit amount is linked exactly:
    no tolerance is used. `target_amount` is that of foreign money, if the transaction is in base.
    """

    target_type: str
    target_id: UUID
    amount: int | None = None
    target_amount: int | None = None
    memo: str | None = None
    back: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class TransferTransaction:
    """A link of a bank transaction with the other one of a transfer, or with its bank account.

    `target_amount` is that of the other transaction, if it is in another currency.
    """

    other_id: UUID | None = None
    bank_account_id: UUID | None = None
    amount: int | None = None
    target_amount: int | None = None
    memo: str | None = None


@dataclass(frozen=True, slots=True)
class CategoryGiven:
    """A part of a bank transaction to be posted to an account; without an amount, all of it."""

    account: AccountReference
    amount: int | None = None
    memo: str | None = None
    tax_code: str | None = None
    place: str = ""
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherItemGiven:
    """An amount that a processor deducted (below zero) or added, besides payments and refunds."""

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
    """The conditions of a bank rule; a bank transaction must meet each one that is given."""

    text: str | None = None
    direction: str | None = None
    min_amount: int | None = None
    max_amount: int | None = None
    bank_account_id: UUID | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BankRuleOutcome:
    """The account and tax code that a bank rule categorizes to, and the customer or vendor."""

    account: AccountReference
    tax_code: str | None = None
    customer_id: UUID | None = None
    vendor_id: UUID | None = None
    memo: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SaveBankRule:
    """A bank rule to create or change; in a change, absent fields stay."""

    name: str | Absent = ABSENT
    priority: int | Absent = ABSENT
    conditions: BankRuleConditions | Absent = ABSENT
    outcome: BankRuleOutcome | Absent = ABSENT
    apply: str | Absent = ABSENT


@dataclass(frozen=True, slots=True)
class ReconcileStatement:
    """The closing balance of a statement of a bank account, and its day."""

    statement_date: date
    closing_balance: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SavePayout:
    """A payout to create or change; in a change, absent fields stay."""

    processor: str
    paid_out: int
    external_id: str | None = None
    processor_payout_id: str | Absent | None = ABSENT
    fee: int | Absent = ABSENT
    additional_refunds: int | Absent = ABSENT
    currency: str | None = None
    worth: GivenWorth = NO_WORTH_GIVEN
    status: str | Absent = ABSENT
    completed_at: datetime | Absent = ABSENT
    bank_account_id: UUID | Absent | None = ABSENT
    imported_at: datetime | Absent | None = ABSENT
    payment_ids: tuple[UUID, ...] | Absent = ABSENT
    refund_payment_ids: tuple[UUID, ...] | Absent = ABSENT
    other_items: tuple[OtherItemGiven, ...] | Absent = ABSENT
    reference_number: str | Absent | None = ABSENT
    memo: str | Absent | None = ABSENT
    metadata: Any = ABSENT
