"""Credits as they are stored: their amounts, status and days.

A party may set a credit against its documents.
"""

from dataclasses import dataclass, replace
from datetime import date, datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

from accounting.books.foreign import Worth, in_base
from accounting.books.ledger import (
    Days,
    Part,
    PostedEntry,
    Split,
    TaxMark,
    added,
    after_lock,
    days,
    summed,
)
from accounting.books.numbers import Number
from accounting.books.time_zones import stored_day
from accounting.errors import Conflict
from accounting.tax.taxed_amounts import Tax
from accounting.trade.allocation import Allocation, live
from accounting.trade.documents import LineShares
from accounting.trade.parties import Party
from accounting.trade.sides import Side


@dataclass(frozen=True, slots=True, kw_only=True)
class CreditLine:
    """A line of a credit: a net amount for an account, and the taxes on it.

    A line with a `source_line_id` credits a line of a document, with its taxes and its withheld
    tax. `self_assessed` are debits above zero, as posted. `opened_against` as in a document's line;
    the tax of a credit of an opening is on that account.
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
    opened_against: UUID | None = None
    memo: str | None = None
    tags: tuple[str, ...] = ()
    metadata: Any = None

    @property
    def tax_amount(self) -> int:
        """The sum of its taxes."""
        return sum(tax.amount for tax in self.taxes)

    @property
    def net_mark(self) -> TaxMark | None:
        """The tax mark of the net amount; None without a code."""
        return TaxMark.of_net(self.tax_code_id, self.tax_rate)

    @property
    def charged(self) -> tuple[tuple[Part, int], ...]:
        """The parts of the line: the net, the taxes, and withheld tax below zero."""
        return (
            (Part(self.account_id, self.net_mark), self.amount),
            *((Part(tax.account_id, tax.mark), tax.amount) for tax in self.taxes),
            *((Part(tax.account_id, tax.mark), -tax.amount) for tax in self.withheld),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Credit:
    """A credit as it is stored, with its live and its ended allocations.

    `tax_account_id` is the account of tax without a code; `refunded` is the amount that live
    refunds pay out. `settled` holds, by part of the credit, the amounts that these refunds and live
    allocations use. `source_document_id` is the document that the credit comes from; `refund_id` is
    the refund that it is a part of. A credit in a foreign currency has its `worth`, and once it is
    open, its lines and `settled` have base amounts. `opened_on` is its accounting date: the day of
    `opened_at`, or for a credit from the opening of the books, `opening_id`, that of the opening.
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
    voided_on: date | None = None
    worth: Worth | None = None
    posted: tuple[PostedEntry, ...] = ()


def live_allocations(credit: Credit) -> tuple[Allocation, ...]:
    """Return the live allocations of the credit."""
    return live(credit.allocations)


def applied(credit: Credit) -> int:
    """Return the amount that settles documents: 600 and 100 on two is 700."""
    return sum(each.amount for each in live_allocations(credit))


def used(credit: Credit) -> int:
    """Return the amount that is used: 600 applied and 100 paid out is 700."""
    return applied(credit) + credit.refunded


def unapplied(credit: Credit) -> int:
    """Return the amount that can still be used: 1000 with 600 used is 400; 0 if not open."""
    return credit.total_amount - used(credit) if credit.state == "open" else 0


def base_unapplied(credit: Credit) -> int:
    """Return the unapplied amount in base: EUR 90.00 with 30.00 used is 60.00; 0 if not open."""
    if credit.worth is None:
        return unapplied(credit)
    if credit.state != "open" or credit.worth.base_total is None:
        return 0
    return credit.worth.base_total - sum(in_base(amount) for _, amount in credit.settled)


def base_tax(credit: Credit) -> int:
    """Return the taxes in base: USD 20.00 at 0.91234 are EUR 18.25."""
    if credit.worth is None:
        return credit.tax_total
    return sum(in_base(line.tax_amount) for line in credit.lines)


def status(side: Side, credit: Credit) -> str:
    """Derive the status that callers see: 1000 with 600 used is partially_applied."""
    if credit.state != "open":
        return credit.state
    if unapplied(credit) == 0:
        return "applied"
    return "partially_applied" if used(credit) else side.opened_status


def parts(credit: Credit) -> dict[Part, int]:
    """Return the parts of the credit and their amounts, which sum to its total."""
    nets = [line.charged[0] for line in credit.lines]
    return summed([*nets, *(part for line in credit.lines for part in line.charged[1:])])


def is_coded(credit: Credit) -> bool:
    """Return whether any line has a tax code, or credits a line of the source document."""
    return any(line.tax_code_id or line.source_line_id for line in credit.lines)


def source_ids(credit: Credit) -> set[UUID]:
    """Return the id of the source document, if the credit has lines of it.

    The source is then locked, and updated with the credit.
    """
    id_ = credit.source_document_id
    return {id_} if id_ is not None and source_shares(credit) else set()


def source_shares(credit: Credit) -> LineShares:
    """Return the amounts, by source line, that the credit takes while it is open."""
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


def record_refund(credit: Credit, amount: int, split: Split) -> Credit:
    """Record a refund of the credit; an amount and a split below 0 undo it."""
    return replace(
        credit, refunded=credit.refunded + int(amount), settled=added(credit.settled, split)
    )


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
    """Return the accounting date of an opened credit. Raises ValueError for a draft."""
    if credit.opened_at is None:
        raise ValueError("a draft has no opening day")
    return stored_day(credit.opened_on, credit.opened_at)


def applied_days(credit: Credit, allocation: Allocation) -> Days:
    """Return the days on which an allocation settled its document.

    They begin no earlier than the credit and the document.
    """
    on = opened_on(credit)
    return days(allocation.start or on, allocation.end, max(on, allocation.document_date))


def applied_on(credit: Credit, allocation: Allocation, lock_date: date | None) -> date:
    """Return the day from which an allocation settles its document.

    A day inside the lock becomes the day after it.
    """
    begin, _ = applied_days(credit, allocation)
    return after_lock(begin, lock_date)
