"""The books of one business during one request: the isolation between tenants.

A handler receives books and nothing else. Every store behind them adds the id of the business
itself, so a handler cannot read another business.
"""

from collections.abc import Callable, Iterable, Mapping
from datetime import date
from typing import Any, ClassVar, Final, Generic, TypeVar
from uuid import UUID

from accounting.absent import Absent
from accounting.bank.bank_accounts import BankAccount
from accounting.bank.bank_rules import BankRule
from accounting.bank.bank_transactions import BankTransaction
from accounting.bank.payouts import Payout
from accounting.bank.reconciliations import Reconciliation
from accounting.bank.transfers import Transfer
from accounting.books.accounts import Account
from accounting.books.businesses import Business, Context
from accounting.books.chart import Role
from accounting.books.exchange_rates import NO_RATES, KnownRates, RatesNotLoaded
from accounting.books.ledger import Entry
from accounting.books.revaluations import Revaluation
from accounting.opening.openings import Opening
from accounting.tax.codes import TaxCode
from accounting.tax.returns import TaxReturn
from accounting.trade.credits import Credit
from accounting.trade.documents import Document
from accounting.trade.parties import Customer, Vendor
from accounting.trade.payments import NO_BANKS, MoneyBanks, Payment
from accounting.trade.postings import Subject
from accounting.trade.refunds import Refund, RefundPayment
from accounting.trade.sides import PAYABLE, RECEIVABLE, Side
from accounting.trade.write_offs import WriteOff
from persistence.bank.bank_accounts import BankAccountStore
from persistence.bank.bank_links import BankLinkStore, TransferStore
from persistence.bank.bank_rules import BankRuleStore
from persistence.bank.bank_transactions import BankTransactionStore
from persistence.bank.open_items import OpenItems
from persistence.bank.payouts import PayoutStore
from persistence.bank.reconciliations import BankBalances, ReconciliationStore
from persistence.engine.ids import new_id
from persistence.engine.sessions import WriteSession
from persistence.engine.sql import Fetch
from persistence.feed.staged_events import stage_events
from persistence.files.stored_files import StoredFileStore
from persistence.ledger.account_entries import AccountEntries
from persistence.ledger.accounts import AccountStore
from persistence.ledger.balances import Balances
from persistence.ledger.exchange_rates import ExchangeRates
from persistence.ledger.journal import JournalStore
from persistence.ledger.movements import Movements
from persistence.ledger.revaluations import RevaluationStore
from persistence.ledger.tags import Tags
from persistence.scope import Scope
from persistence.store import Store
from persistence.tax.declared_tax import DeclaredTaxes
from persistence.tax.tax_codes import TaxCodeStore
from persistence.tax.tax_returns import TaxReturnStore
from persistence.trade.credits import CreditStore
from persistence.trade.documents import DocumentStore
from persistence.trade.openings import OpeningStore
from persistence.trade.owed import CustomerBalances, OpenBalances, VendorBalances
from persistence.trade.parties import CustomerStore, PartyStore, VendorStore
from persistence.trade.payables import (
    BillPaymentStore,
    BillStore,
    BillWriteOffStore,
    VendorCreditStore,
    VendorRefundPaymentStore,
    VendorRefundStore,
)
from persistence.trade.payments import PaymentStore
from persistence.trade.receivables import (
    CustomerCreditStore,
    InvoicePaymentStore,
    InvoiceRefundPaymentStore,
    InvoiceRefundStore,
    InvoiceStore,
    InvoiceWriteOffStore,
)
from persistence.trade.refunds import RefundPaymentStore, RefundStore
from persistence.trade.write_offs import WriteOffStore

S_co = TypeVar("S_co", covariant=True)
T = TypeVar("T")

Saved = (
    Customer
    | Vendor
    | Account
    | TaxCode
    | TaxReturn
    | BankAccount
    | BankTransaction
    | BankRule
    | Transfer
    | Reconciliation
    | Payout
    | Opening
    | Revaluation
)
"""The values of the books that belong to no side of trade."""

_STORES: Final[Mapping[type, str]] = {
    Customer: "customers",
    Vendor: "vendors",
    Account: "accounts",
    TaxCode: "tax_codes",
    TaxReturn: "tax_returns",
    BankAccount: "bank_accounts",
    BankTransaction: "bank_transactions",
    BankRule: "bank_rules",
    Transfer: "bank_transfers",
    Reconciliation: "reconciliations",
    Payout: "payouts",
    Opening: "opening_balances",
    Revaluation: "revaluations",
}


class StoreOf(Generic[S_co]):
    """A property of the books, or of a trade, that creates a store of some kind.

    Each use creates the store. Books that kept a store, which refers to them, would be a reference
    cycle: it would keep all rows of a request until the garbage collector runs.
    """

    def __init__(self, kind: type[S_co]) -> None:
        self._kind: Any = kind

    def __get__(self, holder: "Books | Trade", _owner: type[object]) -> S_co:
        store: S_co = self._kind(holder.books)
        return store


class Trade:
    """A side of trade in the books: the stores of sales, or those of purchases.

    Invoices and bills are values of the same class. The trade tells them apart: by the stores that
    load and save them, and by the side that the rules use.
    """

    side: ClassVar[Side]
    parties: StoreOf[PartyStore[Any]]
    documents: StoreOf[DocumentStore]
    write_offs: StoreOf[WriteOffStore]
    payments: StoreOf[PaymentStore]
    credits: StoreOf[CreditStore]
    refunds: StoreOf[RefundStore[Any, Any]]
    refund_payments: StoreOf[RefundPaymentStore[Any]]
    owed: StoreOf[OpenBalances]

    def __init__(self, books: "Books") -> None:
        self.books = books

    @property
    def stores(self) -> tuple[Store[Any], ...]:
        """The stores of all records that post."""
        settling = (self.payments, self.credits, self.write_offs)
        return (self.documents, *settling, self.refunds, self.refund_payments)

    def save(self, *values: Subject) -> None:
        """Stage values to be written by the flush; a value that was not loaded is new."""
        for value in values:
            self._store_of(value).save(value)

    def _store_of(self, value: Subject) -> Any:
        match value:
            case Document():
                return self.documents
            case Payment():
                return self.payments
            case Credit():
                return self.credits
            case Refund():
                return self.refunds
            case RefundPayment():
                return self.refund_payments
            case WriteOff():
                return self.write_offs


class Sales(Trade):
    """The trade with customers."""

    side = RECEIVABLE
    parties = StoreOf(CustomerStore)
    documents = StoreOf(InvoiceStore)
    write_offs = StoreOf(InvoiceWriteOffStore)
    payments = StoreOf(InvoicePaymentStore)
    credits = StoreOf(CustomerCreditStore)
    refunds = StoreOf(InvoiceRefundStore)
    refund_payments = StoreOf(InvoiceRefundPaymentStore)
    owed = StoreOf(CustomerBalances)


class Purchases(Trade):
    """The trade with vendors."""

    side = PAYABLE
    parties = StoreOf(VendorStore)
    documents = StoreOf(BillStore)
    write_offs = StoreOf(BillWriteOffStore)
    payments = StoreOf(BillPaymentStore)
    credits = StoreOf(VendorCreditStore)
    refunds = StoreOf(VendorRefundStore)
    refund_payments = StoreOf(VendorRefundPaymentStore)
    owed = StoreOf(VendorBalances)


class Books(Scope):
    """The books of one business, in one transaction."""

    _rates: KnownRates = NO_RATES
    _own_accounts: Mapping[str, UUID] | None = None

    customers = StoreOf(CustomerStore)
    vendors = StoreOf(VendorStore)
    accounts = StoreOf(AccountStore)
    tax_codes = StoreOf(TaxCodeStore)
    tax_returns = StoreOf(TaxReturnStore)
    declared_taxes = StoreOf(DeclaredTaxes)
    invoices = StoreOf(InvoiceStore)
    invoice_payments = StoreOf(InvoicePaymentStore)
    invoice_refunds = StoreOf(InvoiceRefundStore)
    invoice_refund_payments = StoreOf(InvoiceRefundPaymentStore)
    bill_payments = StoreOf(BillPaymentStore)
    vendor_refunds = StoreOf(VendorRefundStore)
    vendor_refund_payments = StoreOf(VendorRefundPaymentStore)
    opening_balances = StoreOf(OpeningStore)
    payouts = StoreOf(PayoutStore)
    bank_accounts = StoreOf(BankAccountStore)
    bank_transactions = StoreOf(BankTransactionStore)
    bank_links = StoreOf(BankLinkStore)
    bank_transfers = StoreOf(TransferStore)
    bank_rules = StoreOf(BankRuleStore)
    bank_balances = StoreOf(BankBalances)
    reconciliations = StoreOf(ReconciliationStore)
    open_items = StoreOf(OpenItems)
    journal = StoreOf(JournalStore)
    balances = StoreOf(Balances)
    movements = StoreOf(Movements)
    tags = StoreOf(Tags)
    exchange_rates = StoreOf(ExchangeRates)
    revaluations = StoreOf(RevaluationStore)
    account_entries = StoreOf(AccountEntries)
    files = StoreOf(StoredFileStore)

    @property
    def books(self) -> "Books":
        """The books themselves, as `Trade.books`, for `StoreOf`."""
        return self

    @property
    def sales(self) -> Sales:
        """The trade with customers."""
        return Sales(self)

    @property
    def purchases(self) -> Purchases:
        """The trade with vendors."""
        return Purchases(self)

    # ── The business ───────────────────────────────────────────────────────────────────────────

    @property
    def currency(self) -> str:
        """The only currency of the business; known after the first answer."""
        return self.business.base_currency

    @property
    def business(self) -> Business:
        """The facts for the rules; known after the first answer, unchanged until the end."""
        facts = self.facts
        return Business(
            id=self.business_id,
            country=facts["country"],
            base_currency=facts["base_currency"],
            accounting_method=facts["accounting_method"],
            fiscal_year_end=facts["fiscal_year_end"],
            lock_date=facts["lock_date"],
            archived_at=facts["archived_at"],
            matching_tolerance=facts["matching_tolerance_cents"],
            timezone=facts["timezone"],
        )

    @property
    def context(self) -> Context:
        """The business, the time and the loaded rates to which the rules are applied."""
        business, rates, accounts = self.business, self._rates, self._own_accounts
        return Context(business, self.now, new_id, rates=rates, own_accounts=accounts)

    @property
    def lock_date(self) -> date | None:
        """The last day of the locked period, unchanged until the end; None without a lock."""
        return self.business.lock_date

    @property
    def idempotency_key(self) -> str | None:
        """The idempotency key of this request; None if it has none, or only reads."""
        session = self.session
        return session.key if isinstance(session, WriteSession) else None

    # ── Reading ────────────────────────────────────────────────────────────────────────────────

    def banks_named(self, named: Iterable[UUID | Absent | None]) -> Fetch[MoneyBanks]:
        """Load the bank accounts that money names, by id, if there are any.

        Raises RuleViolation `reference_not_found`.
        """
        ids = sorted({each for each in named if isinstance(each, UUID)})
        if not ids:
            return Fetch(self.session, (), lambda _: NO_BANKS)
        return self.bank_accounts.of_money(ids)

    async def with_rates(self, rule: Callable[[Context], T]) -> T:
        """Apply a rule; if it needs exchange rates, load them and apply it again.

        Only a rule knows whether a record is foreign, and the day whose rate it takes. Raises what
        the rule raises.
        """
        while True:
            try:
                return rule(self.context)
            except RatesNotLoaded as needed:
                await self._load_rates(needed.day)

    async def _load_rates(self, day: date | None) -> None:
        """Load the rates of a day, and the accounts of foreign money."""
        rates = self.exchange_rates.usable_on(self.context.today if day is None else day)
        known, self._own_accounts = await self.fetch(rates, self.bank_accounts.own_accounts())
        self._rates = self._rates.joined(known)

    async def roles(self) -> dict[Role, UUID]:
        """Return the account of every role that the rules post to; cached, since it is fixed."""
        known = self.memory.roles.get(self.business_id)
        if known is None:
            known = await self.accounts.roles()
            self.memory.roles.keep(self.business_id, known)
        return known

    # ── Changing ───────────────────────────────────────────────────────────────────────────────

    def save(self, *values: Saved) -> None:
        """Stage values to be written by the flush; a value that was not loaded is new."""
        for value in values:
            self._store_of(value).save(value)

    def post(self, entries: list[Entry]) -> None:
        """Stage balanced entries; each receives the next number of its year."""
        for entry in entries:
            self.journal.post(entry, self.currency)

    def finish(self) -> None:
        """Stage what follows from the changes: active accounts, sums, tagged lines, events."""
        self.journal.reactivate_accounts()
        self.balances.advance()
        self.tags.follow()
        # A handler that reads nothing, such as that of an upload, does not know the business.
        stage_events(self, self.context if self.facts else None)

    def _store_of(self, value: Saved) -> Any:
        return getattr(self, _STORES[type(value)])
