"""What the model remembers: the facts of each document, and no derived amount."""

from collections import Counter
from dataclasses import dataclass, field
from datetime import date, datetime

from tests.model.arithmetic import Priced

LIVE = frozenset({"pending", "processing", "completed"})
STATUSES = ("pending", "processing", "completed", "failed", "cancelled", "refunded")
PROVIDERS = frozenset({"paypal", "stripe"})
CARDS = frozenset({"credit_card", "debit_card"})


@dataclass(eq=False)
class Customer:
    id: str
    external_id: str
    terms: int | None
    archived: bool = False


@dataclass(eq=False)
class Invoice:
    """An invoice; `returned` is what its live refunds took back of each of its parts."""

    customer: Customer
    external_id: str | None
    number: str | None
    priced: Priced
    state: str
    sent_at: datetime | None = None
    due_at: datetime | None = None
    returned: Counter[str] = field(default_factory=Counter)
    id: str = ""


@dataclass(eq=False)
class WriteOff:
    invoice: Invoice
    external_id: str | None
    amount: int
    account: str
    reversed: bool = False
    id: str = ""


@dataclass(eq=False)
class Payment:
    """A payment; `parts` are its live allocations, by invoice, in the order they were made."""

    customer: Customer
    external_id: str | None
    total: int
    status: str
    method: str
    processor: str | None
    fee: int
    paid_on: date
    was_completed: bool = False
    parts: dict[str, int] = field(default_factory=dict)
    id: str = ""

    @property
    def account(self) -> str:
        return money_account(self.method, self.processor)


@dataclass(eq=False)
class Credit:
    """A credit; `lines` are its net amounts by account code."""

    customer: Customer
    external_id: str | None
    number: str | None
    lines: Counter[str]
    tax: int
    state: str
    sent_at: datetime | None = None
    source: str | None = None
    parts: dict[str, int] = field(default_factory=dict)
    id: str = ""

    @property
    def total(self) -> int:
        return sum(self.lines.values()) + self.tax

    @property
    def used(self) -> int:
        return sum(self.parts.values())


@dataclass(eq=False)
class Refund:
    """A refund of an invoice or of a payment; `split` is what it takes back of the invoice."""

    customer: Customer
    external_id: str | None
    invoice: Invoice | None
    payment: Payment | None
    amount: int
    method: str
    processor: str | None
    fee: int
    split: Counter[str]
    agreed_on: date
    cancelled: bool = False
    payments: "list[RefundPayment]" = field(default_factory=list)
    id: str = ""

    @property
    def paid(self) -> int:
        return sum(each.amount for each in self.payments if not each.cancelled)

    @property
    def rest(self) -> int:
        return self.amount - self.paid

    @property
    def status(self) -> str:
        if self.cancelled:
            return "cancelled"
        if self.paid == self.amount:
            return "paid"
        return "processing" if self.paid else "pending"


@dataclass(eq=False)
class RefundPayment:
    refund: Refund
    external_id: str | None
    amount: int
    method: str
    processor: str | None
    fee: int
    completed_at: datetime | None
    cancelled: bool = False
    id: str = ""

    @property
    def account(self) -> str:
        return money_account(self.method, self.processor)


def money_account(method: str, processor: str | None) -> str:
    """The account that money of a method moves on, however the method is written."""
    method = method.lower()
    if processor or method in PROVIDERS | CARDS:
        return "1150"
    return "1000" if method == "cash" else "1100"
