"""Credits as they are stored: what a party may set against its documents. Values, status, days."""

from datetime import date, datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

from accounting.books.ledger import Posted, after_lock
from accounting.books.numbers import Number
from accounting.books.spans import Days, days
from accounting.books.splits import Part, Split, added, summed
from accounting.books.tax_marks import TaxMark
from accounting.errors import Conflict
from accounting.tax.taxed_amounts import Tax
from accounting.trade.allocation import Allocation, live
from accounting.trade.documents import LineShares
from accounting.trade.parties import Party
from accounting.trade.sides import Side
from accounting.values import dataclass, replace


@dataclass(frozen=True, slots=True, kw_only=True)
class CreditLine:
    """One line of a credit: a net amount for an account, and the taxes on it.

    One of a line of a document, its `source_line_id`, gives back what that was taxed and withheld
    of; `self_assessed` are debits above zero, as posted.
    """

    id: UUID
    account_id: UUID
    amount: int
    taxes: tuple[Tax, ...] = ()
    tax_rate: Decimal | None = None
    tax_code_id: UUID | None = None
    taxes_given: bool = False
    source_line_id: UUID | None = None
    withheld: tuple[Tax, ...] = ()
    self_assessed: tuple[Tax, ...] = ()
    memo: str | None = None
    tags: tuple[str, ...] = ()
    metadata: Any = None

    @property
    def tax_amount(self) -> int:
        """The sum of its taxes."""
        return sum(tax.amount for tax in self.taxes)

    @property
    def net_mark(self) -> TaxMark | None:
        """What its net is for a return."""
        return TaxMark.of_net(self.tax_code_id, self.tax_rate)

    @property
    def charged(self) -> tuple[tuple[Part, int], ...]:
        """What it consists of: its net, its taxes, and below zero what was withheld."""
        return (
            (Part(self.account_id, self.net_mark), self.amount),
            *((Part(tax.account_id, tax.mark), tax.amount) for tax in self.taxes),
            *((Part(tax.account_id, tax.mark), -tax.amount) for tax in self.withheld),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Credit:
    """A credit as it is stored, with the live allocations and those that ended.

    `tax_account_id` is where tax without a code goes; `refunded` is what its live refunds pay out
    of it. `settled` holds, by part, which of its own parts these and its live allocations use.
    `source_document_id` tells of its origin; `refund_id` is the refund that keeps it as a part of
    itself. One that came with the opening of the books, `opening_id`, stands in them from that day
    on, `opened_on`; others from the day of `opened_at`.
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
    opened_at: datetime | None
    voided_at: datetime | None
    source_document_id: UUID | None
    refund_id: UUID | None
    lines: tuple[CreditLine, ...]
    tax_account_id: UUID
    tax_total: int
    total_amount: int
    allocations: tuple[Allocation, ...] = ()
    refunded: int = 0
    settled: Split = ()
    memo: str | None = None
    transaction_tags: tuple[str, ...] = ()
    metadata: Any = None
    opening_id: UUID | None = None
    opened_on: date | None = None
    posted: tuple[Posted, ...] = ()


def live_allocations(credit: Credit) -> tuple[Allocation, ...]:
    """Pick the allocations that use the credit now."""
    return live(credit.allocations)


def applied(credit: Credit) -> int:
    """Say how much of the credit settles documents: 600 and 100 on two come to 700."""
    return sum(each.amount for each in live_allocations(credit))


def used(credit: Credit) -> int:
    """Say how much of the credit is used: 600 applied and 100 paid out come to 700."""
    return applied(credit) + credit.refunded


def unapplied(credit: Credit) -> int:
    """Say how much can still be used: of 1000 with 600 used, 400; 0 when it is not sent."""
    return credit.total_amount - used(credit) if credit.state == "open" else 0


def status(side: Side, credit: Credit) -> str:
    """Derive the status for callers: of 1000, with 600 used it is partially_applied."""
    if credit.state != "open":
        return credit.state
    if unapplied(credit) == 0:
        return "applied"
    return "partially_applied" if used(credit) else side.opened_status


def parts(credit: Credit) -> dict[Part, int]:
    """Say what the credit is made of; the parts sum to its total."""
    nets = [line.charged[0] for line in credit.lines]
    return summed([*nets, *(part for line in credit.lines for part in line.charged[1:])])


def is_coded(credit: Credit) -> bool:
    """Tell whether a line is taxed by a code, or as a line of the source."""
    return any(line.tax_code_id or line.source_line_id for line in credit.lines)


def source_ids(credit: Credit) -> set[UUID]:
    """Name the source where lines of it are given back: it is locked, and changes with them."""
    id_ = credit.source_document_id
    return {id_} if id_ is not None and source_shares(credit) else set()


def source_shares(credit: Credit) -> LineShares:
    """Say what it takes of the lines of its source, while it is open."""
    return tuple(
        (
            line.source_line_id,
            (
                *(amount for _, amount in line.charged),
                *(-tax.amount for tax in line.self_assessed),
            ),
        )
        for line in credit.lines
        if line.source_line_id is not None
    )


def give_back(credit: Credit, amount: int, split: Split) -> Credit:
    """Note what a refund pays out of it, or that it does so no longer with both below 0."""
    return replace(credit, refunded=credit.refunded + amount, settled=added(credit.settled, split))


def refuse_not_open(side: Side, credit: Credit, use: str) -> None:
    """Refuse to use a credit that is a draft or void.

    Raises Conflict `credit_not_sent`.
    """
    if credit.state != "open":
        raise Conflict(
            "credit_not_sent",
            f"Only a {side.opened_status} credit can be {use}.",
            current_state=credit.state,
        )


def opened_on(credit: Credit) -> date:
    """Say on which day an opened credit stands in the books."""
    if credit.opened_at is None:
        raise ValueError("a draft has no opening day")
    return credit.opened_on or credit.opened_at.date()


def applied_days(credit: Credit, allocation: Allocation) -> Days:
    """Lay out the days on which an allocation settled its document.

    It begins no earlier than the credit and the document.
    """
    on = opened_on(credit)
    return days(allocation.start or on, allocation.end, max(on, allocation.document_date))


def applied_on(credit: Credit, allocation: Allocation, lock_date: date | None) -> date:
    """Say on which day an allocation came to settle its document."""
    begin, _ = applied_days(credit, allocation)
    return after_lock(begin, lock_date)
