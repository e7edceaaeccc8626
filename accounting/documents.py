"""What is owed: invoices now, bills later. The stored facts, derived amounts and status, and moves.

A document stores that it is a draft, open or void, and how much of it was paid, reserved, credited
and written off; every other word about it is derived.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

from accounting.errors import Conflict
from accounting.ledger import Posted, Split, refuse_locked
from accounting.money import split_over_rest
from accounting.numbers import Number, Pending
from accounting.occasion import Occasion
from accounting.parties import Party, refuse_archived_customer
from accounting.sides import Side


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
    """An invoice as it is stored.

    `settled` holds, by account, what of the document the applied money has settled so far.
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
    memo: str | None = None
    transaction_tags: tuple[str, ...] = ()
    metadata: Any = None
    posted: tuple[Posted, ...] = ()


def outstanding(document: Document) -> int:
    """Say what is still owed: 1000 with 300 paid and 100 credited leaves 600; 0 when void."""
    if document.state == "void":
        return 0
    settled = document.paid + document.credited + document.written_off
    return document.total_amount - settled


def left(document: Document) -> int:
    """Say what can still be allocated: what is owed less what pending payments reserve."""
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
    return "partially_paid" if document.paid or document.credited else side.opened_word


def _closed_status(document: Document) -> str:
    if document.refunded >= document.paid > 0:
        return "refunded"
    return "written_off" if document.written_off else "paid"


def opened_on(document: Document) -> date:
    """Say on which day an opened document opened."""
    if document.opened_at is None:
        raise ValueError("a draft has no opening day")
    return document.opened_at.date()


def parts(document: Document) -> dict[UUID, int]:
    """Say what the document is made of: each account's share of the total.

    Lines are net of their discount and of their share of the document's own; taxes stand at
    their accounts. The parts sum to the total.
    """
    amounts: dict[UUID, int] = defaultdict(int)
    for line in document.lines:
        amounts[line.account_id] += line.subtotal - line.discount_share
        for tax in line.taxes:
            amounts[tax.account_id] += tax.amount
    return dict(amounts)


def share_out(document: Document, amount: int) -> Split:
    """Split money that settles the document over what is left of each of its parts."""
    rests = parts(document)
    for account_id, settled in document.settled:
        rests[account_id] -= settled
    shares = split_over_rest(amount, list(rests.values()))
    return tuple((account, share) for account, share in zip(rests, shares, strict=True) if share)


def reserve(document: Document, amount: int) -> Document:
    """Set an amount aside for a payment on its way; below 0 it is given back."""
    return replace(document, reserved=document.reserved + amount)


def settle(document: Document, amount: int, split: Split, on: date | None = None) -> Document:
    """Apply money, or take it back with an amount and a split below 0.

    `on` is the day of the entry; it becomes `paid_on` when the document is settled by it.
    """
    settled: dict[UUID, int] = defaultdict(int, document.settled)
    for account_id, part in split:
        settled[account_id] += part
    settled_now = replace(
        document,
        paid=document.paid + amount,
        settled=tuple((account, part) for account, part in settled.items() if part),
    )
    return replace(settled_now, paid_on=None if outstanding(settled_now) else on)


def open_document(
    side: Side,
    document: Document,
    opened_at: datetime | None,
    occasion: Occasion,
    due_at: datetime | None = None,
) -> Document:
    """Send a draft, at a given moment or now; it takes a number where it has none.

    Raises Conflict `invalid_state_transition`, `customer_archived` or `period_locked`.
    """
    if document.state != "draft":
        raise _refused_move(side, document, occasion, f"A {side.noun} is sent once.")
    refuse_archived_customer(document.party)
    moment = opened_at or occasion.now
    refuse_locked(occasion.lock_date, moment.date())
    due = replace(document, due_at=due_at or document.due_at, updated_at=occasion.now)
    return opened(side, due, moment)


def opened(side: Side, document: Document, opened_at: datetime) -> Document:
    """Fill in what follows from the moment of sending: the due moment, the number, `paid_on`."""
    days = document.party.payment_terms_days
    due_at = document.due_at
    if due_at is None and days is not None:
        due_at = opened_at + timedelta(days=days)
    return replace(
        document,
        state="open",
        opened_at=opened_at,
        due_at=due_at,
        number=document.number or Pending(side.series),
        paid_on=None if document.total_amount else opened_at.date(),
    )


def void(
    side: Side, document: Document, voided_at: datetime | None, occasion: Occasion
) -> Document:
    """Take an open document back, at a given moment or now.

    Raises Conflict `invalid_state_transition`, `period_locked`, or the side's refusal where
    something is allocated.
    """
    if document.state != "open":
        raise _refused_move(side, document, occasion, f"Only an open {side.noun} can be voided.")
    refuse_touched(side, document)
    if voided_at is not None:
        refuse_locked(occasion.lock_date, voided_at.date())
    return replace(
        document,
        state="void",
        voided_at=voided_at or occasion.now,
        paid_on=None,
        updated_at=occasion.now,
    )


def refuse_deleting(side: Side, document: Document, occasion: Occasion) -> None:
    """Refuse to delete anything but a draft.

    Raises Conflict `invalid_state_transition`.
    """
    if document.state != "draft":
        raise _refused_move(side, document, occasion, "Only a draft can be deleted.")


def refuse_replacing(side: Side, document: Document, occasion: Occasion) -> None:
    """Refuse to edit a void document, or an open one that something is allocated to.

    Raises Conflict `invalid_state_transition`, or the side's refusal.
    """
    if document.state == "void":
        raise _refused_move(side, document, occasion, f"A void {side.noun} stays as it is.")
    refuse_touched(side, document)


def refuse_touched(side: Side, document: Document) -> None:
    """Refuse while anything is allocated, credited, refunded or written off."""
    touched = {
        "allocated": document.paid + document.reserved,
        "credited": document.credited,
        "refunded": document.refunded,
        "written_off": document.written_off,
    }
    if any(touched.values()):
        raise side.has_allocations(**touched)


def _allowed_moves(side: Side, document: Document) -> Sequence[str]:
    return {"draft": [side.opened_word], "open": ["voided"]}.get(document.state, [])


def _refused_move(side: Side, document: Document, occasion: Occasion, message: str) -> Conflict:
    return Conflict(
        "invalid_state_transition",
        message,
        current_state=status(side, document, occasion.today),
        allowed_next_states=_allowed_moves(side, document),
    )
