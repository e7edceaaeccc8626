"""The chart of accounts: account types, the roles that the rules use, and the starting chart."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from uuid import UUID

from accounting.errors import ValidationError

# The starting chart's names in German, Dutch, French and Spanish, by code.


GERMAN = {
    "1000": "Kasse",
    "1100": "Geschäftskonto",
    "1150": "Verrechnung Zahlungsdienstleister",
    "1160": "Einbehalt Zahlungsdienstleister",
    "1200": "Forderungen aus Lieferungen und Leistungen",
    "1250": "Geleistete Anzahlungen an Lieferanten",
    "1260": "Gutschriften von Lieferanten",
    "1270": "Erstattungsansprüche gegen Lieferanten",
    "1300": "Abziehbare Vorsteuer",
    "1310": "Anrechenbare Quellensteuer",
    "1400": "Aktive Rechnungsabgrenzung",
    "1500": "Vorräte",
    "1600": "Sachanlagen",
    "1650": "Kumulierte Abschreibungen",
    "1900": "Ungeklärte Posten",
    "2000": "Verbindlichkeiten aus Lieferungen und Leistungen",
    "2100": "Erhaltene Anzahlungen von Kunden",
    "2200": "Umsatzsteuer",
    "2210": "Abzuführende Quellensteuer",
    "2230": "Umsatzsteuerzahllast",
    "2250": "Kundengutschriften",
    "2300": "Verbindlichkeiten aus Erstattungen",
    "2400": "Sonstige abgegrenzte Verbindlichkeiten",
    "2450": "Verbindlichkeiten aus Ertragsteuern",
    "2500": "Darlehen",
    "3000": "Gezeichnetes Kapital",
    "3100": "Kapitalrücklage",
    "3200": "Rücklagen",
    "3290": "Eröffnungsbilanzkonto",
    "3300": "Gewinnvortrag",
    "4000": "Umsatzerlöse",
    "4100": "Retouren und Erstattungen",
    "4200": "Gewährte Rabatte",
    "4500": "Sonstige betriebliche Erträge",
    "4600": "Zinserträge",
    "4650": "Kursgewinne",
    "4660": "Unrealisierte Kursgewinne",
    "5000": "Wareneinsatz",
    "5100": "Rücksendungen an Lieferanten",
    "6000": "Allgemeine Aufwendungen",
    "6100": "Gebühren für Zahlungsabwicklung",
    "6150": "Rückbuchungen",
    "6200": "Forderungsverluste",
    "6300": "Bankgebühren",
    "6400": "Rundungsdifferenzen",
    "7000": "Zinsaufwand",
    "7050": "Kursverluste",
    "7060": "Unrealisierte Kursverluste",
    "8000": "Steuern vom Einkommen und Ertrag",
}

DUTCH = {
    "1000": "Kas",
    "1100": "Zakelijke bankrekening",
    "1150": "Tussenrekening betaalproviders",
    "1160": "Reserve bij betaalproviders",
    "1200": "Debiteuren",
    "1250": "Vooruitbetalingen aan leveranciers",
    "1260": "Creditnota's van leveranciers",
    "1270": "Te ontvangen terugbetalingen van leveranciers",
    "1300": "Te vorderen btw",
    "1310": "Te verrekenen bronbelasting",
    "1400": "Vooruitbetaalde kosten",
    "1500": "Voorraden",
    "1600": "Vaste activa",
    "1650": "Cumulatieve afschrijvingen",
    "1900": "Vraagposten",
    "2000": "Crediteuren",
    "2100": "Vooruitbetalingen van klanten",
    "2200": "Af te dragen btw",
    "2210": "Af te dragen bronbelasting",
    "2230": "Te betalen btw volgens aangifte",
    "2250": "Tegoeden van klanten",
    "2300": "Te betalen terugbetalingen",
    "2400": "Nog te betalen kosten",
    "2450": "Te betalen winstbelasting",
    "2500": "Leningen",
    "3000": "Aandelenkapitaal",
    "3100": "Agioreserve",
    "3200": "Reserves",
    "3290": "Openingsbalans eigen vermogen",
    "3300": "Ingehouden winst",
    "4000": "Omzet",
    "4100": "Retouren en terugbetalingen",
    "4200": "Verleende kortingen",
    "4500": "Overige bedrijfsopbrengsten",
    "4600": "Rentebaten",
    "4650": "Koerswinsten",
    "4660": "Ongerealiseerde koerswinsten",
    "5000": "Kostprijs van de omzet",
    "5100": "Retouren aan leveranciers",
    "6000": "Algemene kosten",
    "6100": "Kosten van betaalproviders",
    "6150": "Terugboekingen",
    "6200": "Oninbare vorderingen",
    "6300": "Bankkosten",
    "6400": "Afrondingsverschillen",
    "7000": "Rentelasten",
    "7050": "Koersverliezen",
    "7060": "Ongerealiseerde koersverliezen",
    "8000": "Winstbelasting",
}

FRENCH = {
    "1000": "Caisse",
    "1100": "Compte bancaire professionnel",
    "1150": "Prestataires de paiement, compte d'attente",
    "1160": "Réserve chez les prestataires de paiement",
    "1200": "Créances clients",
    "1250": "Avances versées aux fournisseurs",
    "1260": "Avoirs des fournisseurs",
    "1270": "Remboursements à recevoir des fournisseurs",
    "1300": "TVA déductible",
    "1310": "Retenue à la source à récupérer",
    "1400": "Charges constatées d'avance",
    "1500": "Stocks",
    "1600": "Immobilisations",
    "1650": "Amortissements cumulés",
    "1900": "Compte d'attente",
    "2000": "Dettes fournisseurs",
    "2100": "Avances reçues des clients",
    "2200": "TVA collectée",
    "2210": "Retenue à la source à payer",
    "2230": "TVA à décaisser",
    "2250": "Avoirs des clients",
    "2300": "Remboursements à payer",
    "2400": "Charges à payer",
    "2450": "Impôt sur les bénéfices à payer",
    "2500": "Emprunts",
    "3000": "Capital social",
    "3100": "Prime d'émission",
    "3200": "Réserves",
    "3290": "Capitaux propres d'ouverture",
    "3300": "Report à nouveau",
    "4000": "Ventes",
    "4100": "Retours et remboursements sur ventes",
    "4200": "Remises accordées",
    "4500": "Autres produits d'exploitation",
    "4600": "Produits d'intérêts",
    "4650": "Gains de change",
    "4660": "Gains de change latents",
    "5000": "Coût des ventes",
    "5100": "Retours sur achats",
    "6000": "Frais généraux",
    "6100": "Frais de traitement des paiements",
    "6150": "Rétrofacturations",
    "6200": "Créances irrécouvrables",
    "6300": "Frais bancaires",
    "6400": "Écarts d'arrondi",
    "7000": "Charges d'intérêts",
    "7050": "Pertes de change",
    "7060": "Pertes de change latentes",
    "8000": "Impôt sur les bénéfices",
}

SPANISH = {
    "1000": "Caja",
    "1100": "Cuenta bancaria de la empresa",
    "1150": "Cuenta puente de procesadores de pago",
    "1160": "Reserva en proveedores de pago",
    "1200": "Clientes",
    "1250": "Anticipos a proveedores",
    "1260": "Abonos de proveedores",
    "1270": "Reembolsos por cobrar de proveedores",
    "1300": "IVA soportado",
    "1310": "Retenciones por recuperar",
    "1400": "Gastos anticipados",
    "1500": "Existencias",
    "1600": "Inmovilizado",
    "1650": "Amortización acumulada",
    "1900": "Partidas pendientes de aplicación",
    "2000": "Proveedores",
    "2100": "Anticipos de clientes",
    "2200": "IVA repercutido",
    "2210": "Retenciones por pagar",
    "2230": "IVA por liquidar",
    "2250": "Saldos a favor de clientes",
    "2300": "Reembolsos por pagar",
    "2400": "Gastos devengados por pagar",
    "2450": "Impuesto sobre beneficios por pagar",
    "2500": "Préstamos",
    "3000": "Capital social",
    "3100": "Prima de emisión",
    "3200": "Reservas",
    "3290": "Patrimonio de apertura",
    "3300": "Resultados acumulados",
    "4000": "Ventas",
    "4100": "Devoluciones y reembolsos de ventas",
    "4200": "Descuentos concedidos",
    "4500": "Otros ingresos de explotación",
    "4600": "Ingresos por intereses",
    "4650": "Diferencias positivas de cambio",
    "4660": "Diferencias positivas de cambio no realizadas",
    "5000": "Coste de las ventas",
    "5100": "Devoluciones de compras",
    "6000": "Gastos generales",
    "6100": "Comisiones de procesamiento de pagos",
    "6150": "Contracargos",
    "6200": "Créditos incobrables",
    "6300": "Comisiones bancarias",
    "6400": "Diferencias de redondeo",
    "7000": "Gastos por intereses",
    "7050": "Diferencias negativas de cambio",
    "7060": "Diferencias negativas de cambio no realizadas",
    "8000": "Impuesto sobre beneficios",
}

TRANSLATIONS = {"de": GERMAN, "nl": DUTCH, "fr": FRENCH, "es": SPANISH}


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
    TAX_DUE = "tax_due"
    CUSTOMER_CREDITS = "customer_credits"
    REFUNDS_PAYABLE = "refunds_payable"
    OPENING_BALANCE_EQUITY = "opening_balance_equity"
    RETAINED_EARNINGS = "retained_earnings"
    SALES = "sales"
    SALES_RETURNS = "sales_returns"
    DISCOUNTS_GIVEN = "discounts_given"
    OTHER_OPERATING_INCOME = "other_operating_income"
    EXCHANGE_GAINS = "exchange_gains"
    UNREALISED_EXCHANGE_GAINS = "unrealised_exchange_gains"
    PURCHASE_RETURNS = "purchase_returns"
    GENERAL_EXPENSES = "general_expenses"
    PROCESSING_FEES = "processing_fees"
    CHARGEBACKS = "chargebacks"
    BAD_DEBTS = "bad_debts"
    BANK_CHARGES = "bank_charges"
    ROUNDING = "rounding"
    EXCHANGE_LOSSES = "exchange_losses"
    UNREALISED_EXCHANGE_LOSSES = "unrealised_exchange_losses"


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

    Raises ValidationError `validation_error` on `account_subtype`.
    """
    valid = subtypes_of(account_type)
    if account_subtype not in valid:
        fault = f"must be one of {', '.join(valid)} for the account type {account_type}"
        raise ValidationError.fields(account_subtype=[fault])


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
    _account("2230", "VAT due", "current_liabilities", Role.TAX_DUE),
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
    _account(
        *("4660", "Unrealised exchange gains", "finance_income"), Role.UNREALISED_EXCHANGE_GAINS
    ),
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
    _account(
        *("7060", "Unrealised exchange losses", "finance_costs"), Role.UNREALISED_EXCHANGE_LOSSES
    ),
    _account("8000", "Income tax", "income_tax"),
)
