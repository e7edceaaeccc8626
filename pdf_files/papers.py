"""What is put on paper, as plain values: whoever draws it looks nothing up and works nothing out.

Amounts are in minor units. Texts are as they were given: what the font cannot show of them is a
box, and none is refused.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from enum import StrEnum


@dataclass(frozen=True, slots=True, kw_only=True)
class Style:
    """How words, amounts and days are written.

    `language` is en, de, nl, fr or es; numbers and days are written as its speakers do it in
    `country`, an ISO 3166-1 code, where there are any.
    """

    language: str
    country: str | None
    currency: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Issuer:
    """The business whose paper it is."""

    name: str
    legal_name: str
    country: str | None = None
    email: str | None = None
    phone_number: str | None = None
    vat_number: str | None = None
    company_number: str | None = None
    tax_number: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipient:
    """Whom it is for; `address` by lines, without the country."""

    name: str
    address: tuple[str, ...] = ()
    country: str | None = None
    vat_number: str | None = None
    reference: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class InvoiceLine:
    """One line; `amount` is quantity times price less the discount, with tax where prices have it.

    `rate` is in percent, None where the line has no tax.
    """

    title: str
    details: str | None = None
    quantity: Decimal
    unit_price: int
    discount: int = 0
    rate: Decimal | None = None
    amount: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TaxTotal:
    """The tax of one code and rate on a net amount; tax of neither has no code and no rate.

    `treatment` is the code's, as `standard` or `reverse_charge`.
    """

    code: str | None
    treatment: str | None
    rate: Decimal | None
    net: int
    tax: int


class Settled(StrEnum):
    """By what less is left to be paid."""

    PAYMENT = "payment"
    CREDIT = "credit"
    WRITE_OFF = "write_off"


@dataclass(frozen=True, slots=True)
class Settlement:
    """A part that is not left to be paid any more, since a day."""

    by: Settled
    on: date
    amount: int


class InvoiceState(StrEnum):
    """Whether an invoice is valid, not yet, or no more."""

    DRAFT = "draft"
    OPEN = "open"
    VOID = "void"


@dataclass(frozen=True, slots=True, kw_only=True)
class Invoice:
    """An invoice for its customer.

    Subtotal less discount, with the taxes, less what is withheld, is the total; less what settled
    it, that is `left`. `written_at` is when it was last changed.
    """

    issuer: Issuer
    recipient: Recipient
    number: str | None
    state: InvoiceState
    issued_on: date | None
    due_on: date | None
    prices_include_tax: bool
    lines: Sequence[InvoiceLine]
    subtotal: int
    discount: int
    taxes: Sequence[TaxTotal]
    withheld: int
    total: int
    settlements: Sequence[Settlement]
    left: int
    memo: str | None
    written_at: datetime


class Term(StrEnum):
    """What is named on reports; each paper has it in its own language."""

    # Reports, and what they are of.
    PROFIT_AND_LOSS = "profit_and_loss"
    BALANCE_SHEET = "balance_sheet"
    STATEMENT = "statement"
    CUSTOMER = "customer"
    PERIOD = "period"
    AS_OF = "as_of"
    COMPARED_WITH = "compared_with"
    BASIS = "basis"
    ACCRUAL = "accrual"
    CASH = "cash"
    CURRENCY = "currency"
    TAG = "tag"
    UNTAGGED = "untagged"
    KNOWN_AT = "known_at"
    DRAWN_ON = "drawn_on"

    # Columns.
    ACCOUNT = "account"
    TOTAL = "total"
    PREVIOUS = "previous"
    DIFFERENCE = "difference"
    DATE = "date"
    DETAILS = "details"
    AMOUNT = "amount"
    BALANCE = "balance"

    # Sections, by the names of the subtypes.
    REVENUE = "revenue"
    OTHER_OPERATING_INCOME = "other_operating_income"
    DIRECT_COSTS = "direct_costs"
    OPERATING_EXPENSES = "operating_expenses"
    FINANCE_INCOME = "finance_income"
    FINANCE_COSTS = "finance_costs"
    INCOME_TAX = "income_tax"
    NON_CURRENT_ASSETS = "non_current_assets"
    CURRENT_ASSETS = "current_assets"
    CURRENT_LIABILITIES = "current_liabilities"
    NON_CURRENT_LIABILITIES = "non_current_liabilities"
    SHARE_CAPITAL = "share_capital"
    SHARE_PREMIUM = "share_premium"
    RESERVES = "reserves"
    RETAINED_EARNINGS = "retained_earnings"

    # Lines of statements.
    OPENING_BALANCE = "opening_balance"
    CLOSING_BALANCE = "closing_balance"
    UNAPPLIED = "unapplied"
    INVOICE = "invoice"
    PAYMENT = "payment"
    CREDIT = "credit"
    WRITE_OFF = "write_off"
    REFUND = "refund"

    # Lines that were computed, and what comes of sections.
    EARLIER_YEARS = "earlier_years"
    CURRENT_YEAR = "current_year"
    TOTAL_OPERATING_INCOME = "total_operating_income"
    GROSS_PROFIT = "gross_profit"
    OPERATING_PROFIT = "operating_profit"
    PROFIT_BEFORE_TAX = "profit_before_tax"
    NET_PROFIT = "net_profit"
    TOTAL_ASSETS = "total_assets"
    TOTAL_LIABILITIES = "total_liabilities"
    NET_ASSETS = "net_assets"
    TOTAL_EQUITY = "total_equity"


@dataclass(frozen=True, slots=True)
class Days:
    """Some days; without a first one, what there was up to the last."""

    first: date | None
    last: date


class Level(StrEnum):
    """What a row of a report is among the others."""

    SECTION = "section"
    LINE = "line"
    SUM = "sum"
    RESULT = "result"


@dataclass(frozen=True, slots=True)
class Named:
    """A term with what it is named by: Invoice INV-000042."""

    term: Term
    name: str


Cell = Term | Named | str | int | date | datetime | Days | None
"""A term, with a name or without, a text as it is, an amount, a day, a moment, days, or nothing."""


@dataclass(frozen=True, slots=True)
class ReportColumn:
    """A column of a report: one of `text` wraps, and is set `left` as others may be, too."""

    title: Cell
    text: bool = False
    left: bool = False


@dataclass(frozen=True, slots=True)
class ReportRow:
    """A row of a report, a cell for each column; a sum names the section that it is of."""

    cells: Sequence[Cell]
    level: Level = Level.LINE


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """A report: its title, what it is of by name and value, and one table.

    Where there are more columns than a page has room for, they follow on pages of their own, those
    of text before them again.
    """

    issuer: Issuer
    recipient: Recipient | None = None
    title: Term
    facts: Sequence[tuple[Term, Cell]]
    columns: Sequence[ReportColumn]
    rows: Sequence[ReportRow]
    written_at: datetime
