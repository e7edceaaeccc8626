"""Invoices and bills: the stored fields, and the amounts and status derived from them.

A document stores whether it is a draft, open or void, and how much of it was paid, reserved,
credited, written off and refunded. Every other status is derived.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime
from decimal import Decimal
from typing import Any, Literal
from uuid import UUID

from accounting.books.businesses import Context
from accounting.books.foreign import Worth, in_base, step
from accounting.books.ledger import (
    Part,
    PostedEntry,
    Split,
    TaxMark,
    TaxPart,
    added,
    negative,
    rests,
    summed,
    take,
)
from accounting.books.numbers import Number
from accounting.books.time_zones import stored_day
from accounting.money import times
from accounting.tax.taxed_amounts import Tax
from accounting.trade.parties import Party
from accounting.trade.sides import Side

Settlement = Literal["paid", "credited", "written_off"]
"""The ways to settle a document; each names the amount of the document that it increases."""


LineShares = tuple[tuple[UUID, tuple[int, ...]], ...]
"""The charged and self-assessed amounts of each line, in the order of the line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LineItem:
    """A document line with its computed amounts.

    A price that is no whole number of minor units is in `unit_price_decimal`, and `unit_price` is
    that price rounded: 16 for 16.48. `discount_share` is its share of the document discount.
    `tax_rate` is the rate of its code, or the given rate if it has no code. With `rate_alone` only
    a rate was given, and the code was found by it. `taxes` are part of the amount charged,
    `withheld` reduces that amount, and `self_assessed` is owed in addition: debits above zero. A
    line of an opening that names an account is `opened_against` equity: the settlement of its net
    counts on its own account, and that of its tax on equity.
    """

    id: UUID
    account_id: UUID
    quantity: Decimal
    unit_price: int
    unit_price_decimal: Decimal | None = None
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
    opened_against: UUID | None = None
    description: str | None = None
    product: str | None = None
    external_id: str | None = None
    memo: str | None = None
    tags: tuple[str, ...] = ()
    metadata: Any = None

    @property
    def price(self) -> Decimal:
        """The exact price of one unit, in minor units."""
        exact = self.unit_price_decimal
        return Decimal(self.unit_price) if exact is None else exact

    @property
    def priced(self) -> int:
        """The quantity times the price, less the line's discount: 7000 at 16.48 is 115,360."""
        return times(self.price, self.quantity) - self.discount_amount

    @property
    def tax_total(self) -> int:
        """The sum of the line's taxes."""
        return sum(tax.amount for tax in self.taxes)

    @property
    def withheld_total(self) -> int:
        """The sum of the tax withheld from the line."""
        return sum(tax.amount for tax in self.withheld)

    @property
    def net(self) -> int:
        """The amount without tax, less the line's share of the document discount."""
        return self.subtotal - self.discount_share

    @property
    def total_amount(self) -> int:
        """The amount with taxes, less tax withheld, before the document discount."""
        return self.subtotal + self.tax_total - self.withheld_total

    @property
    def net_mark(self) -> TaxMark | None:
        """The tax mark of the net amount; None without a code."""
        return TaxMark.of_net(self.tax_code_id, self.tax_rate)

    @property
    def charged(self) -> tuple[tuple[Part, int], ...]:
        """The parts charged for the line: the net, the taxes, and withheld tax below zero."""
        return (
            (Part(self.account_id, self.net_mark), self.net),
            *((Part(tax.account_id, tax.mark), tax.amount) for tax in self.taxes),
            *((Part(tax.account_id, tax.mark), -tax.amount) for tax in self.withheld),
        )

    @property
    def assessed(self) -> tuple[tuple[Part, int], ...]:
        """The parts of the self-assessed tax, owed and recovered: debits above zero."""
        return tuple((Part(tax.account_id, tax.mark), tax.amount) for tax in self.self_assessed)


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """An invoice or bill as it is stored.

    `opened_on` is its accounting date: its issue date, or else the date of `opened_at`. With
    `dated_by_issue` false, an invoice from before that rule, it is the date of `opened_at`. The tax
    rates are those of `delivery_date`, or else of the accounting date.
    `party_number` is the number that the other party gave it, such as a vendor's bill number. A
    document from the opening of the books, `opening_id`, has the date of the opening.

    A document in a foreign currency has its `worth`. Once it is open, its lines have base amounts,
    and so have `settled` and `returned`; `base_settled` is the base of `settled`.

    `settled` holds, by part, the amounts that payments, credits and write-offs have settled so far;
    `returned` those that its live refunds have refunded; and `reduced`, by line, those taken by
    credits of lines, refunds and tax relief. `posted` is None if the postings were not loaded:
    nothing is posted for the document then.
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
    delivery_date: date | None = None
    dated_by_issue: bool = True
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
    voided_on: date | None = None
    worth: Worth | None = None
    base_settled: int = 0
    posted: tuple[PostedEntry, ...] | None = ()


def outstanding(document: Document) -> int:
    """Return the outstanding amount: 1000 with 300 paid and 100 credited is 600; 0 if void."""
    if document.state == "void":
        return 0
    settled = document.paid + document.credited + document.written_off
    return document.total_amount - settled


def base_outstanding(document: Document) -> int:
    """Return the outstanding amount in base: EUR 90.00 with 30.00 settled is 60.00; 0 if void."""
    if document.worth is None:
        return outstanding(document)
    if document.state == "void" or document.worth.base_total is None:
        return 0
    return document.worth.base_total - document.base_settled


def base_tax(document: Document) -> int:
    """Return the taxes in base: USD 20.00 at 0.91234 are EUR 18.25."""
    if document.worth is None:
        return document.tax_total
    return sum(in_base(line.tax_total) for line in document.lines)


def withheld(document: Document) -> int:
    """Return the tax withheld: 1000 and 210 with a total of 1060 is 150."""
    charged = document.subtotal - document.additional_discount + document.tax_total
    return charged - document.total_amount


def left(document: Document) -> int:
    """Return the amount that can still be allocated: 600 outstanding with 200 reserved is 400."""
    return outstanding(document) - document.reserved


def is_posted(document: Document) -> bool:
    """Return whether an opened document has postings: its total or a line's price is not 0.

    A total of 0 posts nothing, unless lines below zero bring it to 0.
    """
    return document.total_amount > 0 or any(line.price < 0 for line in document.lines)


def is_overdue(document: Document, context: Context) -> bool:
    """Return whether an open document has an outstanding amount after its due date.

    Lists compare the due moment with the same start of today.
    """
    due = document.due_at
    open_and_owed = document.state == "open" and outstanding(document) > 0
    return open_and_owed and due is not None and due < context.start_of(context.today)


def owing_statuses(side: Side) -> tuple[str, str, str]:
    """List the statuses, except `overdue`, of documents with an outstanding amount."""
    return side.opened_status, "partially_paid", "partially_written_off"


def status(side: Side, document: Document, context: Context) -> str:
    """Derive the status that callers see: the first rule that applies."""
    if document.state != "open":
        return {"void": "voided"}.get(document.state, document.state)
    if outstanding(document) == 0:
        return _closed_status(document)
    timely = _owing_status(side, document)
    return status_when_late(timely) if is_overdue(document, context) else timely


def status_when_late(timely: str) -> str:
    """Return the status of an overdue document: `overdue`, unless it is partially written off."""
    return timely if timely == "partially_written_off" else "overdue"


def _owing_status(side: Side, document: Document) -> str:
    if document.written_off:
        return "partially_written_off"
    return "partially_paid" if document.paid or document.credited else side.opened_status


def _closed_status(document: Document) -> str:
    if document.refunded >= document.paid > 0:
        return "refunded"
    return "written_off" if document.written_off else "paid"


def is_coded(document: Document) -> bool:
    """Return whether the tax of any line may change with the day.

    That is a line with a tax code, with a withholding code, or with a rate that may match a code.
    """
    return any(
        line.tax_code_id or line.withholding_code_id or line.rate_alone for line in document.lines
    )


def opened_on(document: Document) -> date:
    """Return the accounting date of an opened document. Raises ValueError for a draft."""
    if document.opened_on is None:
        raise ValueError("a draft has no opening day")
    return document.opened_on


def voided_on(document: Document) -> date | None:
    """Return the day on which a document was voided; None if it is not void."""
    return stored_day(document.voided_on, document.voided_at)


def allocated(document: Document) -> int:
    """Return the amount that payments are allocated to: 600 paid and 400 reserved is 1000."""
    return document.paid + document.reserved


def touched(document: Document) -> dict[str, int]:
    """Return the amounts allocated, credited, refunded and written off, in minor units.

    All are 0 for an untouched document; an invoice of 600 with 100 paid has 100 allocated. If
    nothing else was done, the net that credits take from its lines counts as credited, used or not.
    """
    affected = {
        "allocated": document.paid + document.reserved,
        "credited": document.credited,
        "refunded": document.refunded,
        "written_off": document.written_off,
    }
    if not any(affected.values()):
        # A credit of its lines may settle another document, or nothing yet.
        affected["credited"] = sum(amounts[0] for _, amounts in document.reduced)
    return affected


def refundable(document: Document) -> int:
    """Return the refundable amount: 1000 paid with 300 refunded is 700; never below 0."""
    return max(0, document.paid - document.refunded)


def reserve(document: Document, amount: int) -> Document:
    """Reserve an amount for a pending payment; an amount below 0 is released."""
    return replace(document, reserved=document.reserved + int(amount))


def settle(
    document: Document,
    amount: int,
    split: Split,
    on: date | None = None,
    by: Settlement = "paid",
    reserved: int = 0,
) -> Document:
    """Settle an amount of the document; an amount and a split below 0 undo that.

    `by` names the kind of settlement. `on` is the day of the entry; it becomes `paid_on` if the
    document is now settled in full. `reserved` is the amount that was reserved for the settlement
    and is released: 600 outstanding, of which 200 are settled as reserved, leave 400 outstanding
    and none of these 200 reserved.
    """
    moved: dict[str, Any] = {by: getattr(document, by) + int(amount)}
    return replace(
        document,
        reserved=document.reserved - int(reserved),
        **_settled_parts(document, added(document.settled, split)),
        paid_on=on if outstanding(document) == amount else None,
        **moved,
    )


def with_settled(document: Document, settled: Split) -> Document:
    """Return the document with other settled parts."""
    return replace(document, **_settled_parts(document, settled))


def _settled_parts(document: Document, settled: Split) -> dict[str, Any]:
    if document.worth is None:
        return {"settled": settled}
    return {"settled": settled, "base_settled": sum(in_base(amount) for _, amount in settled)}


def record_refund(document: Document, amount: int, split: Split) -> Document:
    """Record a refund; an amount and a split below 0 undo it.

    A refund does not reopen the document: the outstanding amount does not change.
    """
    return replace(
        document,
        refunded=document.refunded + amount,
        returned=added(document.returned, split),
    )


# The split of a settlement over the parts of a document.


def parts(document: Document) -> dict[Part, int]:
    """Return the parts of the document and their amounts, which sum to its total.

    Nets are less the line's discount and its share of the document discount. Taxes are on their own
    accounts, below zero if withheld. In a document from the opening, each tax is on equity: it was
    posted to its own account before. Tax that is not recovered is on the account of the net.
    """
    nets = [line.charged[0] for line in document.lines]
    taxes = [
        (part if document.opening_id is None else _opened(line, part), amount)
        for line in document.lines
        for part, amount in line.charged[1:]
    ]
    return summed([*nets, *taxes])


def _opened(line: LineItem, part: Part) -> Part:
    """Return the part of a line's tax on the account where its settlement counts."""
    if part.tax is not None and part.tax.part is TaxPart.BLOCKED:
        return part
    return replace(part, account_id=line.opened_against or line.account_id)


def on_own_accounts(document: Document, split: Split) -> Split:
    """Move settled parts to the accounts on which they are reversed: taxes to their own.

    This changes only documents from the opening: 10 of tax that are settled on 3290 are reversed on
    2200.
    """
    if document.opening_id is None:
        return split
    own = {
        part.tax: part
        for line in document.lines
        for part, _ in line.charged[1:]
        if _opened(line, part) != part
    }
    return tuple((own.get(part.tax, part), amount) for part, amount in split)


def share_out(document: Document, amount: int) -> Split:
    """Split a settlement of the document over what is left of each of its parts.

    Of 8333 net and 1667 tax, 3333 takes 2777 and 556.
    """
    return take(parts(document), document.settled, amount)


def taken_again(document: Document, split: Split) -> Split:
    """Return a split that a settlement uses again: in own amounts, whose base is taken anew."""
    return step(rests(parts(document), document.settled), split)


def has_left(document: Document, split: Split) -> bool:
    """Return whether a settlement can use a split: it is not empty, and no part is exceeded.

    A document that was replaced since may have other parts.
    """
    if not split:
        return False
    whole = parts(document)
    left_over = rests(whole, added(document.settled, split))
    return all(
        min(0, whole.get(part, 0)) <= rest <= max(0, whole.get(part, 0))
        for part, rest in left_over.items()
    )


def matching(document: Document, split: Split, own: Split, amount: int) -> Split:
    """Split a settlement again by the parts of the credit that settles it, as far as they are left.

    `split` is the current split, and `own` the parts of the credit. Parts are matched by tax code,
    rate and tax part; the rest is split over the remaining parts. If any line has withheld tax, the
    current split is returned. Where one of the parts is below zero, they are taken in proportion:
    of 1000 and -300, 350 takes 500 and -150.
    """
    if any(line.withheld for line in document.lines):
        return split
    whole = rests(parts(document), added(document.settled, negative(split)))
    left = {part: int(rest) for part, rest in whole.items()}
    matched: list[tuple[Part, int]] = []
    for of_own, share in own:
        same = {p: rest for p, rest in left.items() if p.tax is not None and p.tax == of_own.tax}
        for part, taken in _of_same(same, share):
            matched.append((part, taken))
            left[part] -= taken
    rest = take(left, (), int(amount) - sum(taken for _, taken in matched))
    return step(whole, added(tuple(matched), rest))


def _of_same(left: Mapping[Part, int], amount: int) -> Split:
    """Take an amount of parts with one tax mark, as far as they are left: one after the other.

    Parts of which one is below zero are taken in proportion.
    """
    if min(left.values(), default=0) < 0:
        return take(left, (), min(amount, whole)) if (whole := sum(left.values())) > 0 else ()
    taken: list[tuple[Part, int]] = []
    for part, rest in left.items():
        taken.append((part, min(amount, rest)))
        amount -= taken[-1][1]
    return tuple(taken)
