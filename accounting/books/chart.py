"""The chart of accounts: account types, the roles that the rules use, and the starting chart."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from uuid import UUID

from accounting.books.chart_names import TRANSLATIONS
from accounting.errors import Malformed


class AccountType(StrEnum):
    """The five account types."""

    ASSET = "asset"
    LIABILITY = "liability"
    EQUITY = "equity"
    REVENUE = "revenue"
    EXPENSE = "expense"


class Role(StrEnum):
    """The purpose of an account; rules use roles and never codes, which a business may change."""

    CASH = "cash"
    BANK = "bank"
    PROCESSOR_CLEARING = "processor_clearing"
    PROCESSOR_RESERVE = "processor_reserve"
    ACCOUNTS_RECEIVABLE = "accounts_receivable"
    VENDOR_PREPAYMENTS = "vendor_prepayments"
    VENDOR_CREDITS = "vendor_credits"
    VENDOR_REFUNDS_RECEIVABLE = "vendor_refunds_receivable"
    INPUT_TAX = "input_tax"
    WITHHOLDING_TAX_RECEIVABLE = "withholding_tax_receivable"
    ACCUMULATED_DEPRECIATION = "accumulated_depreciation"
    SUSPENSE = "suspense"
    ACCOUNTS_PAYABLE = "accounts_payable"
    CUSTOMER_PREPAYMENTS = "customer_prepayments"
    OUTPUT_TAX = "output_tax"
    WITHHOLDING_TAX_PAYABLE = "withholding_tax_payable"
    CUSTOMER_CREDITS = "customer_credits"
    REFUNDS_PAYABLE = "refunds_payable"
    OPENING_BALANCE_EQUITY = "opening_balance_equity"
    RETAINED_EARNINGS = "retained_earnings"
    SALES = "sales"
    SALES_RETURNS = "sales_returns"
    DISCOUNTS_GIVEN = "discounts_given"
    OTHER_OPERATING_INCOME = "other_operating_income"
    EXCHANGE_GAINS = "exchange_gains"
    PURCHASE_RETURNS = "purchase_returns"
    GENERAL_EXPENSES = "general_expenses"
    PROCESSING_FEES = "processing_fees"
    CHARGEBACKS = "chargebacks"
    BAD_DEBTS = "bad_debts"
    BANK_CHARGES = "bank_charges"
    ROUNDING = "rounding"
    EXCHANGE_LOSSES = "exchange_losses"


Roles = Mapping[Role, UUID]
"""The accounts of a business by role."""

CONTROL_ROLES = frozenset(
    {
        Role.ACCOUNTS_RECEIVABLE,
        Role.VENDOR_PREPAYMENTS,
        Role.VENDOR_CREDITS,
        Role.VENDOR_REFUNDS_RECEIVABLE,
        Role.ACCOUNTS_PAYABLE,
        Role.CUSTOMER_PREPAYMENTS,
        Role.CUSTOMER_CREDITS,
        Role.REFUNDS_PAYABLE,
    }
)
"""Control accounts must equal their documents, so they accept system postings only."""

SUBTYPES = {
    AccountType.ASSET: ("current_assets", "non_current_assets"),
    AccountType.LIABILITY: ("current_liabilities", "non_current_liabilities"),
    AccountType.EQUITY: ("share_capital", "share_premium", "reserves", "retained_earnings"),
    AccountType.REVENUE: ("revenue", "other_operating_income", "finance_income"),
    AccountType.EXPENSE: (
        "direct_costs",
        "operating_expenses",
        "finance_costs",
        "income_tax",
    ),
}

CLEARED_BY_PROCESSOR = frozenset({"credit_card", "debit_card", "paypal", "stripe"})
PROVIDER_METHODS = frozenset({"paypal", "stripe"})


@dataclass(frozen=True, slots=True)
class StartingAccount:
    """An account of the chart with which every business starts."""

    code: str
    name: str
    account_type: AccountType
    account_subtype: str
    role: Role | None = None


def subtypes_of(account_type: str) -> tuple[str, ...]:
    """Return the subtypes that an account type may have."""
    return SUBTYPES[AccountType(account_type)]


def type_of(account_subtype: str) -> AccountType:
    """Return the account type of a subtype: reserves are equity."""
    return next(kind for kind, subtypes in SUBTYPES.items() if account_subtype in subtypes)


def in_profit_and_loss(account_type: str) -> bool:
    """Return whether accounts of a type begin each fiscal year at 0: revenue and expenses."""
    return account_type in (AccountType.REVENUE, AccountType.EXPENSE)


def refuse_disagreeing_kind(account_type: str, account_subtype: str) -> None:
    """Refuse a subtype that belongs to another type.

    Raises Malformed `validation_error` on `account_subtype`.
    """
    valid = subtypes_of(account_type)
    if account_subtype not in valid:
        fault = f"must be one of {', '.join(valid)} for the account type {account_type}"
        raise Malformed.fields(account_subtype=[fault])


def display(word: str) -> str:
    """Format a type or subtype for people: current_assets becomes Current assets."""
    return word.replace("_", " ").capitalize()


def is_control(role: str | None) -> bool:
    """Return whether an account with a role accepts system postings only."""
    return role in CONTROL_ROLES


def starting_name(account: StartingAccount, language: str) -> str:
    """Return the name of a starting account in en, de, nl, fr or es; English if it is missing."""
    return TRANSLATIONS.get(language, {}).get(account.code, account.name)


def money_role(method: str, processor: str | None) -> Role:
    """Return the role of the account that holds customer money paid by a method.

    Cash is on hand. Cards and wallets, and any method with a processor, are at the processor. All
    other money is in the bank.
    """
    if processor or method in CLEARED_BY_PROCESSOR:
        return Role.PROCESSOR_CLEARING
    return Role.CASH if method == "cash" else Role.BANK


def processor_of(method: str) -> str | None:
    """Return the processor of a method: paypal for paypal, and None for cash."""
    return method if method in PROVIDER_METHODS else None


def vendor_money_role(method: str, _processor: str | None = None) -> Role:
    """Return the role of the account from which vendors are paid, and to which they pay back."""
    return Role.CASH if method == "cash" else Role.BANK


def _account(code: str, name: str, subtype: str, role: Role | None = None) -> StartingAccount:
    account_type = type_of(subtype)
    return StartingAccount(code, name, account_type, subtype, role)


STARTING_CHART = (
    _account("1000", "Cash on hand", "current_assets", Role.CASH),
    _account("1100", "Business bank account", "current_assets", Role.BANK),
    _account("1150", "Payment processor clearing", "current_assets", Role.PROCESSOR_CLEARING),
    _account("1160", "Processor reserve", "current_assets", Role.PROCESSOR_RESERVE),
    _account("1200", "Accounts receivable", "current_assets", Role.ACCOUNTS_RECEIVABLE),
    _account("1250", "Vendor prepayments", "current_assets", Role.VENDOR_PREPAYMENTS),
    _account("1260", "Vendor credits", "current_assets", Role.VENDOR_CREDITS),
    _account("1270", "Vendor refunds receivable", "current_assets", Role.VENDOR_REFUNDS_RECEIVABLE),
    _account("1300", "VAT recoverable", "current_assets", Role.INPUT_TAX),
    _account(
        *("1310", "Withholding tax recoverable", "current_assets"), Role.WITHHOLDING_TAX_RECEIVABLE
    ),
    _account("1400", "Prepaid expenses", "current_assets"),
    _account("1500", "Inventory", "current_assets"),
    _account("1600", "Fixed assets", "non_current_assets"),
    _account(
        *("1650", "Accumulated depreciation", "non_current_assets"), Role.ACCUMULATED_DEPRECIATION
    ),
    _account("1900", "Suspense", "current_assets", Role.SUSPENSE),
    _account("2000", "Accounts payable", "current_liabilities", Role.ACCOUNTS_PAYABLE),
    _account("2100", "Customer prepayments", "current_liabilities", Role.CUSTOMER_PREPAYMENTS),
    _account("2200", "VAT payable", "current_liabilities", Role.OUTPUT_TAX),
    _account(
        *("2210", "Withholding tax payable", "current_liabilities"), Role.WITHHOLDING_TAX_PAYABLE
    ),
    _account("2250", "Customer credits", "current_liabilities", Role.CUSTOMER_CREDITS),
    _account("2300", "Refunds payable", "current_liabilities", Role.REFUNDS_PAYABLE),
    _account("2400", "Accrued liabilities", "current_liabilities"),
    _account("2450", "Income tax payable", "current_liabilities"),
    _account("2500", "Loans", "non_current_liabilities"),
    _account("3000", "Share capital", "share_capital"),
    _account("3100", "Share premium", "share_premium"),
    _account("3200", "Reserves", "reserves"),
    _account("3290", "Opening balance equity", "reserves", Role.OPENING_BALANCE_EQUITY),
    _account("3300", "Retained earnings", "retained_earnings", Role.RETAINED_EARNINGS),
    _account("4000", "Sales", "revenue", Role.SALES),
    _account("4100", "Sales returns and refunds", "revenue", Role.SALES_RETURNS),
    _account("4200", "Discounts given", "revenue", Role.DISCOUNTS_GIVEN),
    _account(
        "4500",
        "Other operating income",
        "other_operating_income",
        Role.OTHER_OPERATING_INCOME,
    ),
    _account("4600", "Interest income", "finance_income"),
    _account("4650", "Exchange gains", "finance_income", Role.EXCHANGE_GAINS),
    _account("5000", "Cost of sales", "direct_costs"),
    _account("5100", "Purchase returns", "direct_costs", Role.PURCHASE_RETURNS),
    _account("6000", "General expenses", "operating_expenses", Role.GENERAL_EXPENSES),
    _account("6100", "Payment processing fees", "operating_expenses", Role.PROCESSING_FEES),
    _account("6150", "Chargebacks", "operating_expenses", Role.CHARGEBACKS),
    _account("6200", "Bad debts", "operating_expenses", Role.BAD_DEBTS),
    _account("6300", "Bank charges", "operating_expenses", Role.BANK_CHARGES),
    _account("6400", "Rounding differences", "operating_expenses", Role.ROUNDING),
    _account("7000", "Interest expense", "finance_costs"),
    _account("7050", "Exchange losses", "finance_costs", Role.EXCHANGE_LOSSES),
    _account("8000", "Income tax", "income_tax"),
)
