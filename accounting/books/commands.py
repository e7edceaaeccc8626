"""What callers ask of a business, its chart and its journal, in the words of the rules."""

from dataclasses import dataclass, field
from datetime import date
from typing import Any

from accounting.absent import ABSENT, Absent
from accounting.books.accounts import AccountReference
from accounting.books.tax_marks import TaxPart

CALENDAR_YEAR_END = date(2000, 12, 31)
"""Only month and day count."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenBusiness:
    """A new business; its country decides what it does not say."""

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
    matching_tolerance_cents: int = 0
    metadata: Any = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenSandbox:
    """A new sandbox; without a name it has that of the books it is copied from."""

    external_id: str
    name: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeBusiness:
    """Changes to a business; what was fixed when it was opened may be repeated."""

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
    matching_tolerance_cents: int | Absent = ABSENT
    metadata: Any = ABSENT


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountDetails:
    """What only describes an account."""

    external_id: str | Absent | None = ABSENT
    description: str | Absent | None = ABSENT
    institution_name: str | Absent | None = ABSENT
    iban: str | Absent | None = ABSENT
    sort_code: str | Absent | None = ABSENT
    account_number_mask: str | Absent | None = ABSENT
    cash_flow: str | Absent | None = ABSENT


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateAccount:
    """A new account; under a parent it is of its type and subtype unless told otherwise."""

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
    """Changes to an account; made inactive it is archived."""

    code: str | Absent = ABSENT
    name: str | Absent = ABSENT
    active: bool | Absent = ABSENT
    details: AccountDetails = field(default_factory=AccountDetails)


@dataclass(frozen=True, slots=True)
class EntryLineGiven:
    """One line of an entry by hand, a debit above zero, a credit below."""

    account: AccountReference
    amount: int
    description: str | None = None
    tax_code: str | None = None
    tax_part: TaxPart = TaxPart.NET


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteEntry:
    """An entry by hand: a draft, or posted at once; what a machine wrote stays a draft."""

    entry_date: date
    lines: tuple[EntryLineGiven, ...]
    reference: str | None = None
    description: str | None = None
    author: str = "manual"
    post: bool = False
