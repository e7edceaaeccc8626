"""The records of the model: the facts of each document, and no derived amount."""

from collections import Counter
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any

from tests.model.arithmetic import Part
from tests.model.pricing import Body, Line, Pricing
from tests.model.rests import Split

TRANSFER = "transfer"
LIVE = frozenset({"pending", "processing", "completed"})


@dataclass(eq=False)
class Party:
    """A customer or a vendor."""

    id: str
    external_id: str
    terms: int | None
    status: str = "ACTIVE"

    @property
    def archived(self) -> bool:
        return self.status == "ARCHIVED"


@dataclass(eq=False)
class Document:
    """An invoice or a bill; its `body` is priced again when a draft opens."""

    party: Party
    external_id: str | None
    number: str | None
    priced: Pricing
    state: str
    opened_at: datetime | None = None
    due_at: datetime | None = None
    dated: date | None = None
    delivered: date | None = None
    party_number: str | None = None
    body: Body = field(default_factory=dict)
    opening: "Opening | None" = None
    id: str = ""

    @property
    def day(self) -> date:
        """The day in the books."""
        assert self.opened_at is not None
        if self.opening is not None:
            return self.opening.day
        return self.dated or self.opened_at.date()


@dataclass(eq=False)
class WriteOff:
    """A write-off; `split` is the amount by part, `back` the tax taken back by account.

    `relieved` is the amount taken back by line and part.
    """

    document: Document
    external_id: str | None
    amount: int
    account: str
    split: Counter[Part]
    back: Counter[str]
    relieved: Split
    reversed: bool = False
    id: str = ""


@dataclass(frozen=True)
class Settlement:
    """The amount that one record settles of another, and its split by part.

    For a vendor's refund the split is by target and part.
    """

    amount: int
    split: Counter[Any]


@dataclass(eq=False)
class Payment:
    """A payment; `parts` are its live allocations, by document, in the order of their creation.

    `changed_on` is the day on which it last became or ceased to be completed, after the first time.
    """

    party: Party
    external_id: str | None
    total: int
    status: str
    method: str
    processor: str | None
    fee: int
    paid_on: date
    was_completed: bool = False
    changed_on: date | None = None
    times_returned: int = 0
    parts: dict[str, int] = field(default_factory=dict)
    opening: "Opening | None" = None
    bank: "BankAccount | None" = None
    id: str = ""

    @property
    def is_completed(self) -> bool:
        return self.status == "completed"

    def become(self, status: str, on: date | None, today: date) -> None:
        """Set a status, on a given day or today; the first completion has its own day."""
        if status != self.status and "completed" in (status, self.status):
            day = on or today
            if status != "completed":
                self.times_returned += 1
            elif self.was_completed and self.changed_on == day:
                self.times_returned -= 1  # Completed again on the day of its return: it stayed.
            self.changed_on = day if on or self.was_completed else None
        self.status = status
        self.was_completed |= status == "completed"


@dataclass(eq=False)
class Credit:
    """A credit; `takes` is its split of the source's lines while it is open.

    A credit that is kept from a vendor's refund has a `refund`. The `body` is priced again when a
    draft opens.
    """

    party: Party
    external_id: str | None
    number: str | None
    lines: list[Line]
    state: str
    opened_at: datetime | None = None
    source: str | None = None
    takes: Split = field(default_factory=Counter)
    body: Body = field(default_factory=dict)
    refund: "VendorRefund | None" = None
    parts: dict[str, int] = field(default_factory=dict)
    opening: "Opening | None" = None
    id: str = ""

    @property
    def day(self) -> date:
        """The day in the books."""
        assert self.opened_at is not None
        return self.opened_at.date() if self.opening is None else self.opening.day

    @property
    def tax(self) -> int:
        return sum(each.tax for each in self.lines)

    @property
    def total(self) -> int:
        return sum(each.net + each.tax - each.withheld for each in self.lines)

    @property
    def used(self) -> int:
        return sum(self.parts.values())


@dataclass(eq=False)
class Refund:
    """A refund of an invoice, a payment or a credit; `split` is its split of invoice lines."""

    party: Party
    external_id: str | None
    document: Document | None
    payment: Payment | None
    credit: Credit | None
    amount: int
    method: str
    processor: str | None
    fee: int
    split: Split
    agreed_on: date
    cancelled: bool = False
    bank: "BankAccount | None" = None
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
    moved_on: date
    cancelled: bool = False
    bank: "BankAccount | None" = None
    id: str = ""

    @property
    def times_returned(self) -> int:
        return int(self.cancelled)

    @property
    def is_completed(self) -> bool:
        return not self.cancelled

    @property
    def status(self) -> str:
        return "cancelled" if self.cancelled else "completed"


@dataclass(eq=False)
class Payout:
    """A payout of a processor; only a live one holds and counts its items.

    `told_at` is the moment of payment as it was given, and `paid_on` is its day.
    """

    LIVE = ("pending", "processing", "paid")

    external_id: str | None
    paid_out: int = 0
    fee: int = 0
    additional: int = 0
    status: str = "paid"
    paid_on: date | None = None
    told_at: str | None = None
    was_paid: bool = False
    bank: "BankAccount | None" = None
    payments: list[Payment] = field(default_factory=list)
    refund_payments: list[RefundPayment] = field(default_factory=list)
    others: list[Line] = field(default_factory=list)
    id: str = ""

    @property
    def is_live(self) -> bool:
        return self.status in self.LIVE

    @property
    def gross(self) -> int:
        return sum(each.total for each in self.payments if each.is_completed)

    @property
    def given_back(self) -> int:
        return sum(each.amount for each in self.refund_payments if each.is_completed)

    @property
    def fees(self) -> int:
        """The fees that are posted with its items."""
        items: list[Payment | RefundPayment] = [*self.payments, *self.refund_payments]
        return sum(each.fee for each in items if each.is_completed)

    @property
    def expected(self) -> int:
        return self.gross - self.given_back - self.additional - self.fee + self.other

    @property
    def other(self) -> int:
        return sum(each.net + each.tax for each in self.others)


@dataclass(eq=False)
class Share:
    """A part of a vendor's refund: of a bill, of a payment, or a credit for later.

    `body` is the allocation as it was sent. `released` are the amounts taken off bills to free the
    payment's money, and `before` are their earlier settlements. An earlier credit is paid out.
    """

    target: Document | Payment | Credit
    amount: int
    split: Split = field(default_factory=Counter)
    released: dict[str, int] = field(default_factory=dict)
    before: dict[str, Settlement] = field(default_factory=dict)
    body: Body = field(default_factory=dict)

    @property
    def is_kept(self) -> bool:
        """Return whether the share is no money, but a credit for later."""
        return bool(self.body["allocation_type"] == "credit")


@dataclass(eq=False)
class VendorRefund:
    """A refund that a vendor agreed to, with its current allocations."""

    party: Party
    external_id: str | None
    total: int
    agreed_on: date
    cancelled: bool = False
    shares: list[Share] = field(default_factory=list)
    payments: "list[VendorRefundPayment]" = field(default_factory=list)
    id: str = ""

    @property
    def allocated(self) -> int:
        return sum(each.amount for each in self.shares)

    @property
    def cash(self) -> int:
        """The amount that comes as money."""
        return self.total - sum(e.amount for e in self.shares if e.is_kept)

    @property
    def paid(self) -> int:
        return sum(each.amount for each in self.payments if each.status == "completed")

    @property
    def status(self) -> str:
        if self.cancelled:
            return "cancelled"
        if self.allocated < self.total:
            return "partially_allocated" if self.allocated else "pending"
        waiting = {each.status for each in self.payments} - {"completed", "cancelled"}
        return "allocated" if waiting else "completed"


@dataclass(eq=False)
class VendorRefundPayment:
    refund: VendorRefund
    amount: int
    method: str
    fee: int
    paid_on: date | None
    status: str = "pending"
    was_completed: bool = False
    times_returned: int = 0
    returned_on: date | None = None
    bank: "BankAccount | None" = None
    id: str = ""


Money = Payment | RefundPayment | Payout | VendorRefundPayment
"""Money that a line of a bank statement can show."""


@dataclass(eq=False)
class BankAccount:
    """A bank account; `code` is the code of its account in the chart."""

    external_id: str | None
    code: str
    id: str = ""


@dataclass(eq=False)
class BankLine:
    """A line of a bank statement, and its parts that were posted to accounts, if any."""

    account: BankAccount
    external_id: str
    day: date
    amount: int
    direction: str
    parts: list[Line] = field(default_factory=list)
    rule: "BankRule | None" = None
    id: str = ""

    @property
    def moves(self) -> int:
        return self.amount if self.direction == "credit" else -self.amount

    @property
    def categorized(self) -> int:
        return sum(each.net + each.tax for each in self.parts)


@dataclass(eq=False)
class BankRule:
    """A rule for statement lines that fit `conditions`; `place` is its rank by creation."""

    priority: int
    place: int
    conditions: Body
    account: str
    code: str | None
    automatic: bool
    id: str = ""


@dataclass(eq=False)
class Transfer:
    """Money between two own bank accounts, by their codes; one of its lines may be missing."""

    amount: int
    leaves: str
    arrives: str
    out: BankLine | None
    come: BankLine | None
    id: str = ""


@dataclass(eq=False)
class Link:
    """The amount of a line that shows money, and the rounding difference (`more`) on the line.

    With `back` the line shows the return of the money.
    """

    line: BankLine
    money: "Money | Transfer | Entry"
    amount: int
    more: int = 0
    back: bool = False
    id: str = ""


@dataclass(eq=False)
class Entry:
    """A manual entry; in `lines` a debit is above zero, a credit below."""

    day: date
    lines: list[tuple[str, int]]
    author: str
    status: str = "draft"
    takes_back: "Entry | None" = None
    taken_back_by: "Entry | None" = None
    id: str = ""


@dataclass(eq=False)
class Opening:
    """An opening of the books on a day: money at the bank, and the open items of a side."""

    day: date
    money: int
    documents: list[Document] = field(default_factory=list)
    credits: list[Credit] = field(default_factory=list)
    payments: list[Payment] = field(default_factory=list)
    reversed: bool = False
    id: str = ""
