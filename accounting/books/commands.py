"""Commands on a business, its chart and its journal."""

from dataclasses import dataclass, field
from datetime import date
from typing import Any

from accounting.absent import ABSENT, Absent
from accounting.books.accounts import AccountReference
from accounting.books.ledger import TaxPart

CALENDAR_YEAR_END = date(2000, 12, 31)
"""The default end of a fiscal year; only its month and day count."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenBusiness:
    """A new business; its country decides the defaults."""

    external_id: str
    legal_name: str
    entity_type: str
    email: str
    name: str | None = None
    phone_number: str | None = None
    tin: str | None = None
    vat_number: str | None = None
    company_number: str | None = None
    country: str | None = None
    province: str | None = None
    eu_nace_industry_code: str | None = None
    base_currency: str | None = None
    accounting_method: str = "accrual"
    fiscal_year_end: date = CALENDAR_YEAR_END
    coa_language: str = "en"
    timezone: str | None = None
    matching_tolerance_cents: int = 0
    unknown_parties: str = "create"
    metadata: Any = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenSandbox:
    """A new sandbox; its default name is that of the books that it copies."""

    external_id: str
    name: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeBusiness:
    """Changes to a business; fields that are fixed may be repeated with the same value."""

    external_id: str | Absent = ABSENT
    country: str | Absent = ABSENT
    base_currency: str | Absent = ABSENT
    legal_name: str | Absent = ABSENT
    name: str | Absent | None = ABSENT
    entity_type: str | Absent = ABSENT
    email: str | Absent = ABSENT
    phone_number: str | Absent | None = ABSENT
    tin: str | Absent | None = ABSENT
    vat_number: str | Absent | None = ABSENT
    company_number: str | Absent | None = ABSENT
    province: str | Absent | None = ABSENT
    eu_nace_industry_code: str | Absent | None = ABSENT
    accounting_method: str | Absent = ABSENT
    fiscal_year_end: date | Absent = ABSENT
    lock_date: date | Absent | None = ABSENT
    timezone: str | Absent = ABSENT
    matching_tolerance_cents: int | Absent = ABSENT
    unknown_parties: str | Absent = ABSENT
    metadata: Any = ABSENT


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountDetails:
    """The details of an account that only describe it."""

    external_id: str | Absent | None = ABSENT
    description: str | Absent | None = ABSENT
    institution_name: str | Absent | None = ABSENT
    iban: str | Absent | None = ABSENT
    sort_code: str | Absent | None = ABSENT
    account_number_mask: str | Absent | None = ABSENT
    cash_flow: str | Absent | None = ABSENT


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateAccount:
    """A new account; its type and subtype are by default those of its parent."""

    code: str
    name: str
    account_type: str | Absent = ABSENT
    account_subtype: str | Absent = ABSENT
    balance_behavior: str | None = None
    currency: str | None = None
    parent: str | None = None
    details: AccountDetails = field(default_factory=AccountDetails)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeAccount:
    """Changes to an account; setting it inactive archives it."""

    code: str | Absent = ABSENT
    name: str | Absent = ABSENT
    active: bool | Absent = ABSENT
    details: AccountDetails = field(default_factory=AccountDetails)


@dataclass(frozen=True, slots=True)
class EntryLineGiven:
    """A line of a manual entry or an opening, a debit above zero, a credit below.

    `amount` is in base; `currency_amount` is the own amount of a line in a foreign currency.
    """

    account: AccountReference
    amount: int
    description: str | None = None
    tax_code: str | None = None
    tax_part: TaxPart = TaxPart.NET
    tags: tuple[str, ...] = ()
    currency: str | None = None
    currency_amount: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteEntry:
    """A manual entry: a draft, or posted immediately; an entry by a machine stays a draft."""

    entry_date: date
    lines: tuple[EntryLineGiven, ...]
    reference: str | None = None
    description: str | None = None
    author: str = "manual"
    post: bool = False
