"""The books of one business for the time of one request: the wall between tenants.

A handler is given books and nothing else. Every store behind them adds the business's id itself,
so no object in a handler's reach can ask for another business.
"""

from dataclasses import dataclass
from datetime import date, datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Table

from accounting.accounts import Account
from accounting.banking import BankAccount, BankTransaction
from accounting.businesses import Business
from accounting.chart import Role
from accounting.errors import Stale
from accounting.ledger import Entry
from accounting.occasion import Occasion
from accounting.parties import Customer, Vendor
from accounting.payouts import Payout
from accounting.sides import PAYABLE, RECEIVABLE
from persistence.account_entries import AccountEntries
from persistence.accounts import AccountStore, RoleMemory
from persistence.audit import AuditTrail
from persistence.balances import Balances
from persistence.bank_accounts import BankAccountStore
from persistence.bank_links import BankLinkStore
from persistence.bank_transactions import BankTransactionStore
from persistence.bills import (
    BillPaymentStore,
    BillStore,
    VendorCreditStore,
    VendorRefundPaymentStore,
    VendorRefundStore,
)
from persistence.candidates import Candidates
from persistence.customers import CustomerStore
from persistence.identifiers import new_id
from persistence.invoices import (
    CustomerCreditStore,
    InvoicePaymentStore,
    InvoiceRefundPaymentStore,
    InvoiceRefundStore,
    InvoiceStore,
)
from persistence.journal import JournalStore
from persistence.payouts import PayoutStore
from persistence.questions import Question
from persistence.sessions import Reading, Writing
from persistence.staging import Staging
from persistence.statements import Row
from persistence.store import Versioned
from persistence.stored_documents import StoredDocumentStore
from persistence.tenants import BusinessTenant
from persistence.trade import Trade
from persistence.vendors import VendorStore
from persistence.write_offs import WriteOffStore

Kept = Customer | Vendor | Account | BankAccount | BankTransaction | Payout
"""The values that the books of a business keep beside those of a side of its trade."""


@dataclass(frozen=True, slots=True)
class Precondition:
    """If-Match: the versions the caller accepts of the resource its request names."""

    versions: frozenset[int] | None  # None: any version will do.

    def refuse_stale(self, version: int) -> None:
        """Raise Stale where the resource has moved on."""
        if self.versions is not None and version not in self.versions:
            raise Stale(
                "precondition_failed",
                "The resource has changed since you read it. Read it again and repeat the change.",
                current_etag=f'"{version}"',
            )


class Books:
    """One business in one transaction."""

    def __init__(
        self,
        session: Reading | Writing,
        tenant: BusinessTenant,
        now: datetime,
        roles: RoleMemory,
        precondition: Precondition | None = None,
    ) -> None:
        self.session = session
        self.now = now
        self.role_memory = roles
        self._tenant = tenant
        self._precondition = precondition
        self._versions: dict[UUID, int] = {}
        self._last_lock: tuple[int, UUID] | None = None
        self._open()

    def _open(self) -> None:
        """Open the stores, and the two sides of trade that are kept in them."""
        self.customers = CustomerStore(self)
        self.vendors = VendorStore(self)
        self.accounts = AccountStore(self)
        self.invoices = InvoiceStore(self)
        self.invoice_payments = InvoicePaymentStore(self)
        self.customer_credits = CustomerCreditStore(self)
        self.write_offs = WriteOffStore(self)
        self.invoice_refunds = InvoiceRefundStore(self)
        self.invoice_refund_payments = InvoiceRefundPaymentStore(self)
        self.bills = BillStore(self)
        self.bill_payments = BillPaymentStore(self)
        self.vendor_credits = VendorCreditStore(self)
        self.vendor_refunds = VendorRefundStore(self)
        self.vendor_refund_payments = VendorRefundPaymentStore(self)
        self.sales = Trade(
            self,
            RECEIVABLE,
            parties=self.customers,
            documents=self.invoices,
            payments=self.invoice_payments,
            credits=self.customer_credits,
            refunds=self.invoice_refunds,
            refund_payments=self.invoice_refund_payments,
            write_offs=self.write_offs,
        )
        self.purchases = Trade(
            self,
            PAYABLE,
            parties=self.vendors,
            documents=self.bills,
            payments=self.bill_payments,
            credits=self.vendor_credits,
            refunds=self.vendor_refunds,
            refund_payments=self.vendor_refund_payments,
        )
        self.payouts = PayoutStore(self)
        self.bank_links = BankLinkStore(self)
        self.candidates = Candidates(self)
        self.journal = JournalStore(self)
        self.balances = Balances(self)
        self.account_entries = AccountEntries(self)
        self.stored_documents = StoredDocumentStore(self)
        self.audit_trail = AuditTrail(self)
        self.bank_accounts = BankAccountStore(self)
        self.bank_transactions = BankTransactionStore(self)

    # ── What is known of the business ──────────────────────────────────────────────────────────

    @property
    def business_id(self) -> UUID:
        return self._tenant.business_id

    @property
    def currency(self) -> str:
        """The one currency of the business; known after the first answer."""
        return self.business.base_currency

    @property
    def business(self) -> Business:
        """The facts the rules need; known after the first answer, and held until the end."""
        facts = self._tenant.facts
        return Business(
            id=self.business_id,
            country=facts["country"],
            base_currency=facts["base_currency"],
            accounting_method=facts["accounting_method"],
            fiscal_year_end=facts["fiscal_year_end"],
            lock_date=facts["lock_date"],
            archived_at=facts["archived_at"],
        )

    @property
    def occasion(self) -> Occasion:
        """When and where the rules are applied."""
        return Occasion(self.business, self.now, new_id)

    @property
    def lock_date(self) -> date | None:
        """The last day on which nothing is posted any more; held until the end."""
        return self.business.lock_date

    @property
    def idempotency_key(self) -> str | None:
        """The key this request came with."""
        claim = self.session.claim if isinstance(self.session, Writing) else None
        return claim.key if claim else None

    # ── Asking ─────────────────────────────────────────────────────────────────────────────────

    async def ask(self, *questions: Question[Any]) -> list[Any]:
        """Ask several questions in one round trip and return their answers in order."""
        return await self.session.ask(*questions)

    def hold_still(self) -> None:
        """Let the questions to come read from one snapshot; a writing has its locks for that."""
        if isinstance(self.session, Reading):
            self.session.hold_still()

    def come_alone(self) -> None:
        """Let this writing begin once those under way have ended, and later ones after it.

        It is said before anything is asked: whoever is through the gate cannot wait there.
        """
        assert isinstance(self.session, Writing), "a reading closes nothing"
        assert not self.session.is_open, "too late"
        self._tenant.alone = True

    async def roles(self) -> dict[Role, UUID]:
        """Return the account of every role the rules post to; remembered, since they never move."""
        known = self.role_memory.get(self.business_id)
        if known is None:
            known = await self.accounts.roles()
            self.role_memory.keep(self.business_id, known)
        return known

    # ── Changing ───────────────────────────────────────────────────────────────────────────────

    def save(self, *values: Kept) -> None:
        """Stage values to be written by the flush; one that was never loaded is new."""
        for value in values:
            self._store_of(value).save(value)

    def post(self, entries: list[Entry]) -> None:
        """Stage balanced entries; each takes the next number of its year."""
        for entry in entries:
            self.journal.post(entry)

    def stage(self, table: Table, id_: UUID, row: Row) -> None:
        """Stage a row of a store: changed where it was loaded before, else new."""
        loaded = self._versions.get(id_)
        if loaded is None:
            self.staging.insert(table, {**row, "version": 1})
        else:
            self.staging.update(table, {**row, "version": loaded})

    @property
    def staging(self) -> Staging:
        """Where the changes of a writing wait."""
        assert isinstance(self.session, Writing), "a reading changes nothing"
        return self.session.staging

    # ── Versions and locks ─────────────────────────────────────────────────────────────────────

    def saw(self, value: Versioned) -> None:
        """Note the version a value was loaded with."""
        self.saw_version(value.id, value.version)

    def saw_version(self, id_: UUID, version: int) -> None:
        """Note the version of a row that is part of a value."""
        self._versions[id_] = version

    def etag(self, id_: UUID) -> int:
        """The version a row has once this transaction is committed."""
        loaded = self._versions.get(id_)
        if loaded is None:
            return 1
        changed = isinstance(self.session, Writing) and self.staging.holds_change(id_)
        return loaded + 1 if changed else loaded

    def check_precondition(self, value: Versioned, *, again: bool = False) -> None:
        """Compare If-Match with the first row that is locked: the one the path names.

        A row that is read before its lock is looked at `again` once it is locked.
        """
        if self._precondition is not None:
            self._precondition.refuse_stale(value.version)
            if not again:
                self._precondition = None

    def note_locks(self, rank: int, ids: list[UUID]) -> None:
        """Hold every transaction to one order of locks: none waits for another in a ring."""
        for id_ in ids:
            here = (rank, id_)
            assert self._last_lock is None or self._last_lock < here, "locks out of order"
            self._last_lock = here

    def _store_of(self, value: Any) -> Any:
        match value:
            case Customer():
                return self.customers
            case Vendor():
                return self.vendors
            case Account():
                return self.accounts
            case BankAccount():
                return self.bank_accounts
            case BankTransaction():
                return self.bank_transactions
            case Payout():
                return self.payouts
        raise TypeError(f"no store keeps a {type(value).__name__}")
