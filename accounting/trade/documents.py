"""What is owed: invoices and bills. The stored facts, and the amounts and status they make.

A document stores that it is a draft, open or void, and how much of it was paid, reserved, credited,
written off and refunded; every other word about it is derived.
"""

from dataclasses import dataclass, replace
from datetime import date, datetime
from decimal import Decimal
from typing import Any, Literal
from uuid import UUID

from accounting.books.ledger import Posted
from accounting.books.numbers import Number
from accounting.books.splits import Part, Split, added, rests, summed, take
from accounting.trade.parties import Party
from accounting.trade.sides import Side

Settlement = Literal["paid", "credited", "written_off"]
"""What brings down what is owed; each names the amount of a document that it adds to."""


@dataclass(frozen=True, slots=True)
class Tax:
    """A tax on a line and the account that it goes to."""

    amount: int
    account_id: UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class LineItem:
    """One line with its amounts worked out; `discount_share` is its part of the document's own."""

    id: UUID
    account_id: UUID
    quantity: Decimal
    unit_price: int
    discount_amount: int
    discount_share: int
    subtotal: int
    taxes: tuple[Tax, ...]
    tax_rate: Decimal | None
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
    def total_amount(self) -> int:
        """What the line comes to with its taxes, before the document's own discount."""
        return self.subtotal + self.tax_total


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """An invoice or bill as it is stored.

    `opened_on` is its day in the books: that of `opened_at`, or of a bill that of its own date.
    `party_number` is the number that the other side gave it, as vendors give bills. One that came
    with the opening of the books, `opening_id`, stands in them from that day on.

    `settled` holds, by part, what of it payments, credits and write-offs have settled so far;
    `returned` what its live refunds have given back.
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
    paid: int = 0
    reserved: int = 0
    credited: int = 0
    written_off: int = 0
    refunded: int = 0
    settled: Split = ()
    returned: Split = ()
    party_number: str | None = None
    terms: str | None = None
    memo: str | None = None
    transaction_tags: tuple[str, ...] = ()
    metadata: Any = None
    opening_id: UUID | None = None
    posted: tuple[Posted, ...] = ()


def outstanding(document: Document) -> int:
    """Say what is still owed: 1000 with 300 paid and 100 credited leaves 600; 0 when void."""
    if document.state == "void":
        return 0
    settled = document.paid + document.credited + document.written_off
    return document.total_amount - settled


def left(document: Document) -> int:
    """Say what can still be allocated: of 600 owed with 200 reserved by pending payments, 400."""
    return outstanding(document) - document.reserved


def is_overdue(document: Document, today: date) -> bool:
    """Tell whether something is owed past its due day."""
    due = document.due_at
    open_and_owed = document.state == "open" and outstanding(document) > 0
    return open_and_owed and due is not None and due.date() < today


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


def opened_on(document: Document) -> date:
    """Say on which day an opened document stands in the books."""
    if document.opened_on is None:
        raise ValueError("a draft has no opening day")
    return document.opened_on


def parts(document: Document) -> dict[Part, int]:
    """Say what the document is made of: each part's share of the total.

    Lines are net of their discount and of their share of the document's own; taxes stand at
    their accounts. The parts sum to the total.
    """
    return summed([*_nets(document), *_taxes(document)])


def return_parts(document: Document, net_account_id: UUID | None) -> dict[Part, int]:
    """Say what a refund gives back: the net to one account or to the lines', each tax to its."""
    nets = [
        (replace(part, account_id=net_account_id or part.account_id), net)
        for part, net in _nets(document)
    ]
    return summed([*nets, *_taxes(document)])


def _nets(document: Document) -> list[tuple[Part, int]]:
    return [(Part(line.account_id), line.subtotal - line.discount_share) for line in document.lines]


def _taxes(document: Document) -> list[tuple[Part, int]]:
    return [(Part(tax.account_id), tax.amount) for line in document.lines for tax in line.taxes]


def share_out(document: Document, amount: int) -> Split:
    """Split a settlement of the document over what is left of each of its parts.

    Of 8333 net and 1667 tax, 3333 takes 2777 and 556.
    """
    return take(parts(document), document.settled, amount)


def has_left(document: Document, split: Split) -> bool:
    """Tell whether a settlement can be split so: there is a split, and no part comes below zero.

    A document that was drawn up anew since may have other parts.
    """
    whole = parts(document)
    left_over = rests(whole, added(document.settled, split))
    return bool(split) and all(
        min(0, whole.get(part, 0)) <= rest <= max(0, whole.get(part, 0))
        for part, rest in left_over.items()
    )


def allocated(document: Document) -> int:
    """Say how much money has it in view: of 600 paid and 400 on its way, 1000."""
    return document.paid + document.reserved


def refundable(document: Document) -> int:
    """Say what can be given back: of 1000 paid with 300 refunded, 700; never less than 0."""
    return max(0, document.paid - document.refunded)


def reserve(document: Document, amount: int) -> Document:
    """Set an amount aside for a payment on its way; below 0 it is given back."""
    return replace(document, reserved=document.reserved + amount)


def settle(
    document: Document, amount: int, split: Split, on: date | None = None, by: Settlement = "paid"
) -> Document:
    """Bring down what is owed, or take that back with an amount and a split below 0.

    `on` is the day of the entry; it becomes `paid_on` when the document is settled by it.
    """
    moved: dict[str, Any] = {by: getattr(document, by) + amount}
    settled = replace(document, settled=added(document.settled, split), **moved)
    return replace(settled, paid_on=None if outstanding(settled) else on)


def give_back(document: Document, amount: int, split: Split) -> Document:
    """Note a refund, or its cancellation with an amount and a split below 0.

    A refund does not reopen the document: what is owed stays as it is.
    """
    return replace(
        document,
        refunded=document.refunded + amount,
        returned=added(document.returned, split),
    )
