"""What is owed: invoices and bills. The stored facts, and the amounts and status they make.

A document stores that it is a draft, open or void, and how much of it was paid, reserved, credited,
written off and refunded; every other word about it is derived.
"""

from datetime import date, datetime
from decimal import Decimal
from typing import Any, Literal
from uuid import UUID

from accounting.books.ledger import Posted
from accounting.books.numbers import Number
from accounting.books.splits import Part, Split, added
from accounting.books.tax_marks import TaxMark
from accounting.tax.taxed_amounts import Tax
from accounting.trade.parties import Party
from accounting.trade.sides import Side
from accounting.values import dataclass, replace

Settlement = Literal["paid", "credited", "written_off"]
"""What brings down what is owed; each names the amount of a document that it adds to."""


LineShares = tuple[tuple[UUID, tuple[int, ...]], ...]
"""By line, amounts of what it charged and self-assessed, in the order in which it has them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LineItem:
    """One line with its amounts worked out; `discount_share` is its part of the document's own.

    `tax_rate` is that of its code, or the one it was given without a code; with `rate_alone` its
    code is the one that a given rate meant. `taxes` are in what is charged, `withheld` lessens
    that, and `self_assessed` is owed beside it: debits above zero.
    """

    id: UUID
    account_id: UUID
    quantity: Decimal
    unit_price: int
    discount_amount: int
    discount_share: int
    subtotal: int
    taxes: tuple[Tax, ...]
    tax_rate: Decimal | None
    tax_code_id: UUID | None = None
    withholding_code_id: UUID | None = None
    taxes_given: bool = False
    rate_alone: bool = False
    withheld: tuple[Tax, ...] = ()
    self_assessed: tuple[Tax, ...] = ()
    description: str | None = None
    product: str | None = None
    external_id: str | None = None
    memo: str | None = None
    tags: tuple[str, ...] = ()
    metadata: Any = None

    @property
    def tax_total(self) -> int:
        """The sum of the line's taxes."""
        return sum(tax.amount for tax in self.taxes)

    @property
    def withheld_total(self) -> int:
        """What is withheld of it."""
        return sum(tax.amount for tax in self.withheld)

    @property
    def net(self) -> int:
        """What it comes to less its part of the document's own discount, without tax."""
        return self.subtotal - self.discount_share

    @property
    def total_amount(self) -> int:
        """What the line comes to with its taxes, before the document's own discount."""
        return self.subtotal + self.tax_total - self.withheld_total

    @property
    def net_mark(self) -> TaxMark | None:
        """What its net is for a return."""
        return TaxMark.of_net(self.tax_code_id, self.tax_rate)

    @property
    def charged(self) -> tuple[tuple[Part, int], ...]:
        """What is charged for it: its net, its taxes, and below zero what is withheld."""
        return (
            (Part(self.account_id, self.net_mark), self.net),
            *((Part(tax.account_id, tax.mark), tax.amount) for tax in self.taxes),
            *((Part(tax.account_id, tax.mark), -tax.amount) for tax in self.withheld),
        )

    @property
    def assessed(self) -> tuple[tuple[Part, int], ...]:
        """What is owed to the state beside it, and recovered: debits above zero."""
        return tuple((Part(tax.account_id, tax.mark), tax.amount) for tax in self.self_assessed)


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """An invoice or bill as it is stored.

    `opened_on` is its day in the books: that of `opened_at`, or of a bill that of its own date.
    `party_number` is the number that the other side gave it, as vendors give bills. One that came
    with the opening of the books, `opening_id`, stands in them from that day on.

    `settled` holds, by part, what of it payments, credits and write-offs have settled so far;
    `returned` what its live refunds have given back, and `reduced` by line what credits of lines,
    refunds and relief have taken. `posted` is None where it was not read: nothing is posted for
    it then.
    """

    id: UUID
    version: int
    created_at: datetime
    updated_at: datetime
    party: Party
    external_id: str | None
    number: Number
    state: str
    currency: str
    issue_date: date | None
    opened_at: datetime | None
    opened_on: date | None
    due_at: datetime | None
    voided_at: datetime | None
    paid_on: date | None
    imported_at: datetime | None
    lines: tuple[LineItem, ...]
    additional_discount: int
    subtotal: int
    discount_total: int
    tax_total: int
    total_amount: int
    amounts_include_tax: bool = False
    paid: int = 0
    reserved: int = 0
    credited: int = 0
    written_off: int = 0
    refunded: int = 0
    settled: Split = ()
    returned: Split = ()
    reduced: LineShares = ()
    party_number: str | None = None
    terms: str | None = None
    memo: str | None = None
    transaction_tags: tuple[str, ...] = ()
    metadata: Any = None
    opening_id: UUID | None = None
    posted: tuple[Posted, ...] | None = ()


def outstanding(document: Document) -> int:
    """Say what is still owed: 1000 with 300 paid and 100 credited leaves 600; 0 when void."""
    if document.state == "void":
        return 0
    settled = document.paid + document.credited + document.written_off
    return document.total_amount - settled


def withheld(document: Document) -> int:
    """Say what tax is withheld: 1000 and 210 that come to 1060 are less 150."""
    charged = document.subtotal - document.additional_discount + document.tax_total
    return charged - document.total_amount


def left(document: Document) -> int:
    """Say what can still be allocated: of 600 owed with 200 reserved by pending payments, 400."""
    return outstanding(document) - document.reserved


def is_overdue(document: Document, today: date) -> bool:
    """Tell whether something is owed past its due day."""
    due = document.due_at
    open_and_owed = document.state == "open" and outstanding(document) > 0
    return open_and_owed and due is not None and due.date() < today


def owing_statuses(side: Side) -> tuple[str, str, str]:
    """List the statuses, `overdue` aside, in which something of a document is open."""
    return side.opened_status, "partially_paid", "partially_written_off"


def status(side: Side, document: Document, today: date) -> str:
    """Derive the status for callers; the first that fits."""
    if document.state != "open":
        return {"void": "voided"}.get(document.state, document.state)
    if outstanding(document) == 0:
        return _closed_status(document)
    if document.written_off:
        return "partially_written_off"
    if is_overdue(document, today):
        return "overdue"
    return "partially_paid" if document.paid or document.credited else side.opened_status


def _closed_status(document: Document) -> str:
    if document.refunded >= document.paid > 0:
        return "refunded"
    return "written_off" if document.written_off else "paid"


def is_coded(document: Document) -> bool:
    """Tell whether a line is taxed by a code, or withheld by one, or may be on another day."""
    return any(
        line.tax_code_id or line.withholding_code_id or line.rate_alone for line in document.lines
    )


def opened_on(document: Document) -> date:
    """Say on which day an opened document stands in the books."""
    if document.opened_on is None:
        raise ValueError("a draft has no opening day")
    return document.opened_on


def allocated(document: Document) -> int:
    """Say how much money has it in view: of 600 paid and 400 on its way, 1000."""
    return document.paid + document.reserved


def touched(document: Document) -> dict[str, int]:
    """Say what was done with it, in minor units: of an invoice of 600 with 100 paid, 100 allocated.

    All of them are 0 where nothing was. A credit of its lines counts, used or not.
    """
    affected = {
        "allocated": document.paid + document.reserved,
        "credited": document.credited,
        "refunded": document.refunded,
        "written_off": document.written_off,
    }
    if not any(affected.values()):
        # A credit of its lines may be used elsewhere, or not yet.
        affected["credited"] = sum(amounts[0] for _, amounts in document.reduced)
    return affected


def refundable(document: Document) -> int:
    """Say what can be given back: of 1000 paid with 300 refunded, 700; never less than 0."""
    return max(0, document.paid - document.refunded)


def reserve(document: Document, amount: int) -> Document:
    """Set an amount aside for a payment on its way; below 0 it is given back."""
    return replace(document, reserved=document.reserved + amount)


def settle(
    document: Document,
    amount: int,
    split: Split,
    on: date | None = None,
    by: Settlement = "paid",
    reserved: int = 0,
) -> Document:
    """Bring down what is owed, or take that back with an amount and a split below 0.

    `on` is the day of the entry; it becomes `paid_on` when the document is settled by it. What was
    `reserved` for it is set aside no longer: 600 owed, of which 200 are settled as reserved, leave
    400 owed and none of these 200 reserved.
    """
    moved: dict[str, Any] = {by: getattr(document, by) + amount}
    return replace(
        document,
        reserved=document.reserved - reserved,
        settled=added(document.settled, split),
        paid_on=on if outstanding(document) == amount else None,
        **moved,
    )


def give_back(document: Document, amount: int, split: Split) -> Document:
    """Note a refund, or its cancellation with an amount and a split below 0.

    A refund does not reopen the document: what is owed stays as it is.
    """
    return replace(
        document,
        refunded=document.refunded + amount,
        returned=added(document.returned, split),
    )
