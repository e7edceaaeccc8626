"""The content of printables (PDF documents), as plain values. Drawing adds and computes nothing.

Amounts are in minor units. Any text is accepted; a character that the font lacks is drawn as a box.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from enum import StrEnum


@dataclass(frozen=True, slots=True, kw_only=True)
class Style:
    """The language and notation of a document.

    `language` is en, de, nl, fr or es. Numbers and dates are written as in `country`, an ISO 3166-1
    code, if the language is spoken there.
    """

    language: str
    country: str | None
    currency: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Issuer:
    """The business that issues the document."""

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
    """The recipient of a document; `address` has lines, without the country."""

    name: str
    address: tuple[str, ...] = ()
    country: str | None = None
    vat_number: str | None = None
    reference: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class InvoiceLine:
    """A line of an invoice; `amount` is quantity times price less discount.

    It includes tax if the prices do. A price may have parts of a minor unit. `rate` is in percent,
    None if the line has no tax.
    """

    title: str
    details: str | None = None
    quantity: Decimal
    unit_price: int | Decimal
    discount: int = 0
    rate: Decimal | None = None
    amount: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TaxTotal:
    """The tax of one code and rate on a net amount; tax without a code and rate has neither.

    `treatment` is that of the code, such as `standard` or `reverse_charge`.
    """

    code: str | None
    treatment: str | None
    rate: Decimal | None
    net: int
    tax: int


class SettledBy(StrEnum):
    """The kinds of settlement that reduce the amount due."""

    PAYMENT = "payment"
    CREDIT = "credit"
    WRITE_OFF = "write_off"


@dataclass(frozen=True, slots=True)
class Settlement:
    """An amount that was settled on a day."""

    by: SettledBy
    on: date
    amount: int


@dataclass(frozen=True, slots=True)
class ForeignTax:
    """The tax of an invoice in another currency than the issuer's books.

    It is an amount in `base_currency`. The rate is the worth of one unit of the invoice's currency.
    """

    base_currency: str
    rate: Decimal
    tax: int


class InvoiceState(StrEnum):
    """The state of an invoice: a draft, valid, or void."""

    DRAFT = "draft"
    OPEN = "open"
    VOID = "void"


@dataclass(frozen=True, slots=True, kw_only=True)
class Invoice:
    """An invoice for its customer.

    The subtotal less the discount, plus taxes, less tax withheld, is the total. The total less the
    settlements is `left`. `written_at` is the time of the last change.
    """

    issuer: Issuer
    recipient: Recipient
    number: str | None
    state: InvoiceState
    issued_on: date | None
    delivered_on: date | None
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
    foreign: ForeignTax | None = None


class Term(StrEnum):
    """The terms on reports; each document shows them in its language."""

    # Reports, and the names of their facts.
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

    # Computed lines, and results of sections.
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
    """A period; without a first day, everything up to the last day."""

    first: date | None
    last: date


class Level(StrEnum):
    """The kind of a row of a report."""

    SECTION = "section"
    LINE = "line"
    SUM = "sum"
    RESULT = "result"


@dataclass(frozen=True, slots=True)
class NamedTerm:
    """A term with a name: Invoice INV-000042."""

    term: Term
    name: str


Cell = Term | NamedTerm | str | int | date | datetime | Days | None
"""A term with or without a name, a text, an amount, a date, a moment, a period, or nothing."""


@dataclass(frozen=True, slots=True)
class ReportColumn:
    """A column of a report; one of `text` wraps and is aligned left, others only with `left`."""

    title: Cell
    text: bool = False
    left: bool = False


@dataclass(frozen=True, slots=True)
class ReportRow:
    """A row of a report, with a cell for each column. A row of level `sum` names its section."""

    cells: Sequence[Cell]
    level: Level = Level.LINE


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """A report: its title, its facts by name and value, and one table.

    If there are more columns than fit on a page, the others follow on separate pages, each with the
    text columns repeated.
    """

    issuer: Issuer
    recipient: Recipient | None = None
    title: Term
    facts: Sequence[tuple[Term, Cell]]
    columns: Sequence[ReportColumn]
    rows: Sequence[ReportRow]
    written_at: datetime
