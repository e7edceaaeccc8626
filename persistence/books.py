"""The books of one business for the time of one request: the wall between tenants.

A handler is given books and nothing else. Every store behind them adds the business's id itself,
so no object in a handler's reach can ask for another business.
"""

from collections.abc import Mapping
from datetime import date, datetime
from typing import Any, ClassVar, Final, Generic, TypeVar
from uuid import UUID

from accounting.bank.bank_accounts import BankAccount
from accounting.bank.bank_rules import BankRule
from accounting.bank.bank_transactions import BankTransaction
from accounting.bank.payouts import Payout
from accounting.bank.reconciliations import Reconciliation
from accounting.bank.transfers import Transfer
from accounting.books.accounts import Account
from accounting.books.businesses import Business
from accounting.books.chart import Role
from accounting.books.context import Context
from accounting.books.ledger import Entry
from accounting.opening.openings import Opening
from accounting.tax.codes import TaxCode
from accounting.tax.returns import TaxReturn
from accounting.trade.credits import Credit
from accounting.trade.documents import Document
from accounting.trade.parties import Customer, Vendor
from accounting.trade.payments import Payment
from accounting.trade.postings import Subject
from accounting.trade.refunds import Refund, RefundPayment
from accounting.trade.sides import PAYABLE, RECEIVABLE, Side
from accounting.trade.write_offs import WriteOff
from persistence.bank.bank_accounts import BankAccountStore
from persistence.bank.bank_balances import BankBalances
from persistence.bank.bank_links import BankLinkStore
from persistence.bank.bank_rules import BankRuleStore
from persistence.bank.bank_transactions import BankTransactionStore
from persistence.bank.bank_transfers import TransferStore
from persistence.bank.open_items import OpenItems
from persistence.bank.payouts import PayoutStore
from persistence.bank.reconciliations import ReconciliationStore
from persistence.engine.fetches import Fetch
from persistence.engine.identifiers import new_id
from persistence.engine.memory import Memory
from persistence.engine.scope import Precondition, Scope, Versioned
from persistence.engine.sessions import Reading, Writing
from persistence.engine.tenants import BusinessTenant
from persistence.files.stored_files import StoredFileStore
from persistence.ledger.account_entries import AccountEntries
from persistence.ledger.accounts import AccountStore
from persistence.ledger.audit_trail import AuditTrail
from persistence.ledger.balances import Balances
from persistence.ledger.journal import JournalStore
from persistence.ledger.letterheads import Letterheads
from persistence.ledger.movements import Movements
from persistence.ledger.tags import Tags
from persistence.ledger.tax_codes import TaxCodeStore
from persistence.store import Store
from persistence.tax.tax_returns import TaxReturnStore
from persistence.trade.bills import (
    BillPaymentStore,
    BillStore,
    BillWriteOffStore,
    VendorCreditStore,
    VendorRefundPaymentStore,
    VendorRefundStore,
)
from persistence.trade.credits import CreditStore
from persistence.trade.customers import CustomerStore
from persistence.trade.documents import DocumentStore
from persistence.trade.invoices import (
    CustomerCreditStore,
    InvoicePaymentStore,
    InvoiceRefundPaymentStore,
    InvoiceRefundStore,
    InvoiceStore,
    InvoiceWriteOffStore,
)
from persistence.trade.openings import OpeningStore
from persistence.trade.owed import Owed, OwedByCustomers, OwedToVendors
from persistence.trade.parties import PartyStore
from persistence.trade.payments import PaymentStore
from persistence.trade.refund_payments import RefundPaymentStore
from persistence.trade.refunds import RefundStore
from persistence.trade.vendors import VendorStore
from persistence.trade.write_offs import WriteOffStore

S = TypeVar("S")
S_co = TypeVar("S_co", covariant=True)

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
)
"""The values that the books of a business keep beside those of a side of its trade."""

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
}


class OnFirstUse(Generic[S_co]):
    """A store of some books, made when it is first used."""

    def __init__(self, kind: type[S_co]) -> None:
        self._kind = kind

    def __get__(self, holder: "Books | Trade", _owner: type[object]) -> S_co:
        return holder.books.store(self._kind)


class Trade:
    """One side of trade in the books: who keeps what is traded with customers, or with vendors.

    An invoice and a bill are one kind of value. Which of the two it is, its trade says: the stores
    that it is loaded from and saved to, and the side that the rules work it out by.
    """

    side: ClassVar[Side]
    parties: OnFirstUse[PartyStore[Any]]
    documents: OnFirstUse[DocumentStore]
    write_offs: OnFirstUse[WriteOffStore]
    payments: OnFirstUse[PaymentStore]
    credits: OnFirstUse[CreditStore]
    refunds: OnFirstUse[RefundStore[Any, Any]]
    refund_payments: OnFirstUse[RefundPaymentStore[Any]]
    owed: OnFirstUse[Owed]

    def __init__(self, books: "Books") -> None:
        self.books = books

    @property
    def stores(self) -> tuple[Store[Any], ...]:
        """The stores of everything that posts."""
        settling = (self.payments, self.credits, self.write_offs)
        return (self.documents, *settling, self.refunds, self.refund_payments)

    def save(self, *values: Subject) -> None:
        """Stage values to be written by the flush; one that was never loaded is new."""
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
    """What is traded with customers."""

    side = RECEIVABLE
    parties = OnFirstUse(CustomerStore)
    documents = OnFirstUse(InvoiceStore)
    write_offs = OnFirstUse(InvoiceWriteOffStore)
    payments = OnFirstUse(InvoicePaymentStore)
    credits = OnFirstUse(CustomerCreditStore)
    refunds = OnFirstUse(InvoiceRefundStore)
    refund_payments = OnFirstUse(InvoiceRefundPaymentStore)
    owed = OnFirstUse(OwedByCustomers)


class Purchases(Trade):
    """What is traded with vendors."""

    side = PAYABLE
    parties = OnFirstUse(VendorStore)
    documents = OnFirstUse(BillStore)
    write_offs = OnFirstUse(BillWriteOffStore)
    payments = OnFirstUse(BillPaymentStore)
    credits = OnFirstUse(VendorCreditStore)
    refunds = OnFirstUse(VendorRefundStore)
    refund_payments = OnFirstUse(VendorRefundPaymentStore)
    owed = OnFirstUse(OwedToVendors)


class Books:
    """One business in one transaction."""

    customers = OnFirstUse(CustomerStore)
    vendors = OnFirstUse(VendorStore)
    accounts = OnFirstUse(AccountStore)
    tax_codes = OnFirstUse(TaxCodeStore)
    tax_returns = OnFirstUse(TaxReturnStore)
    invoices = OnFirstUse(InvoiceStore)
    invoice_payments = OnFirstUse(InvoicePaymentStore)
    invoice_refunds = OnFirstUse(InvoiceRefundStore)
    invoice_refund_payments = OnFirstUse(InvoiceRefundPaymentStore)
    bill_payments = OnFirstUse(BillPaymentStore)
    vendor_refunds = OnFirstUse(VendorRefundStore)
    vendor_refund_payments = OnFirstUse(VendorRefundPaymentStore)
    opening_balances = OnFirstUse(OpeningStore)
    payouts = OnFirstUse(PayoutStore)
    bank_accounts = OnFirstUse(BankAccountStore)
    bank_transactions = OnFirstUse(BankTransactionStore)
    bank_links = OnFirstUse(BankLinkStore)
    bank_transfers = OnFirstUse(TransferStore)
    bank_rules = OnFirstUse(BankRuleStore)
    bank_balances = OnFirstUse(BankBalances)
    reconciliations = OnFirstUse(ReconciliationStore)
    open_items = OnFirstUse(OpenItems)
    journal = OnFirstUse(JournalStore)
    balances = OnFirstUse(Balances)
    letterheads = OnFirstUse(Letterheads)
    movements = OnFirstUse(Movements)
    tags = OnFirstUse(Tags)
    account_entries = OnFirstUse(AccountEntries)
    files = OnFirstUse(StoredFileStore)
    audit_trail = OnFirstUse(AuditTrail)

    def __init__(
        self,
        session: Reading | Writing,
        tenant: BusinessTenant,
        now: datetime,
        memory: Memory,
        precondition: Precondition | None = None,
    ) -> None:
        self.scope = Scope(session, tenant, now, memory, precondition)
        self.now = now
        self._stores: dict[type[Any], Any] = {}

    @property
    def books(self) -> "Books":
        """Itself: where a store of the books is made."""
        return self

    def store(self, kind: type[S]) -> S:
        """Return the one store of a kind, made when it is first used."""
        store: S | None = self._stores.get(kind)
        if store is None:
            made: Any = kind
            store = self._stores[kind] = made(self.scope)
        return store

    # Not kept: books that hold what holds them would wait for the collector of cycles, with all
    # that the request has read.
    @property
    def sales(self) -> Sales:
        """The side of customers."""
        return Sales(self)

    @property
    def purchases(self) -> Purchases:
        """The side of vendors."""
        return Purchases(self)

    # ── What is known of the business ──────────────────────────────────────────────────────────

    @property
    def business_id(self) -> UUID:
        return self.scope.business_id

    @property
    def currency(self) -> str:
        """The one currency of the business; known after the first answer."""
        return self.business.base_currency

    @property
    def business(self) -> Business:
        """The facts the rules need; known after the first answer, and held until the end."""
        facts = self.scope.facts
        return Business(
            id=self.business_id,
            country=facts["country"],
            base_currency=facts["base_currency"],
            accounting_method=facts["accounting_method"],
            fiscal_year_end=facts["fiscal_year_end"],
            lock_date=facts["lock_date"],
            archived_at=facts["archived_at"],
            matching_tolerance=facts["matching_tolerance_cents"],
        )

    @property
    def context(self) -> Context:
        """When and where the rules are applied."""
        return Context(self.business, self.now, new_id)

    @property
    def lock_date(self) -> date | None:
        """The last day on which nothing is posted any more; held until the end."""
        return self.business.lock_date

    @property
    def idempotency_key(self) -> str | None:
        """The key this request came with."""
        session = self.scope.session
        claim = session.claim if isinstance(session, Writing) else None
        return claim.key if claim else None

    # ── Reading ────────────────────────────────────────────────────────────────────────────────

    async def fetch(self, *fetches: Fetch[Any]) -> list[Any]:
        """Send several fetches in one round trip and return their results in order."""
        return await self.scope.fetch(*fetches)

    def pin_snapshot(self) -> None:
        """Let the fetches to come read from one snapshot; a writing has its locks for that."""
        self.scope.pin_snapshot()

    def run_alone(self) -> None:
        """Let this writing begin once those under way have ended; said before any fetch."""
        self.scope.run_alone()

    async def roles(self) -> dict[Role, UUID]:
        """Return the account of every role the rules post to; remembered, since they never move."""
        known = self.scope.memory.roles.get(self.business_id)
        if known is None:
            known = await self.accounts.roles()
            self.scope.memory.roles.keep(self.business_id, known)
        return known

    # ── Changing ───────────────────────────────────────────────────────────────────────────────

    def save(self, *values: Saved) -> None:
        """Stage values to be written by the flush; one that was never loaded is new."""
        for value in values:
            self._store_of(value).save(value)

    def post(self, entries: list[Entry]) -> None:
        """Stage balanced entries; each takes the next number of its year."""
        for entry in entries:
            self.journal.post(entry, self.currency)

    def check_precondition(self, value: Versioned, *, again: bool = False) -> None:
        """Compare If-Match with the row that the path names; raises Stale."""
        self.scope.check_precondition(value, again=again)

    def etag(self, id_: UUID) -> int:
        """The version a row has once this transaction is committed."""
        return self.scope.etag(id_)

    def _store_of(self, value: Saved) -> Any:
        return getattr(self, _STORES[type(value)])
