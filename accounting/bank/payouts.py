"""Payouts of a payment processor from the money that it holds: values and arithmetic."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import Any
from uuid import UUID

from accounting.bank.payout_other_items import OtherItem, total
from accounting.books.ledger import Posted
from accounting.books.spans import Days, Span, laid_out
from accounting.trade import payments, refunds
from accounting.trade.payments import Payment
from accounting.trade.refunds import RefundPayment

LIVE = frozenset({"pending", "processing", "paid"})

Money = Payment | RefundPayment


@dataclass(frozen=True, slots=True)
class FeeStep:
    """Fees that were posted with the items on a day; an amount below zero was reversed."""

    on: date
    amount: int


@dataclass(frozen=True, slots=True)
class Item:
    """A payment, or a payment of a refund, that a payout lists."""

    id: UUID
    version: int
    payment_id: UUID | None = None
    refund_payment_id: UUID | None = None
    listed: bool = True

    @property
    def money_id(self) -> UUID:
        """The id of the payment or refund payment."""
        found = self.payment_id or self.refund_payment_id
        assert found is not None, "an item is money of one of two kinds"
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Payout:
    """A payout as it is stored, in minor units; `paid_out` and `fee` may be below zero.

    `gross_payments` and `total_refunds` sum the completed items; `fee_steps` are the fees that were
    posted, or reversed, with the items on each day. `completions` are the periods in which it was
    paid. `linked` is the amount that bank transactions show, on the ledger account
    `money_account_id`.
    """

    id: UUID
    version: int
    created_at: datetime
    updated_at: datetime
    external_id: str | None
    processor: str
    processor_payout_id: str | None = None
    paid_out: int
    fee: int
    additional_refunds: int
    currency: str
    status: str
    completed_at: datetime | None
    imported_at: datetime | None = None
    deleted_at: datetime | None = None
    reference_number: str | None = None
    memo: str | None = None
    metadata: Any = None
    gross_payments: int = 0
    total_refunds: int = 0
    fee_steps: tuple[FeeStep, ...] = ()
    other_items: tuple[OtherItem, ...] = ()
    completions: tuple[Span, ...] = ()
    items: tuple[Item, ...] = ()
    linked: int = 0
    money_account_id: UUID | None = None
    posted: tuple[Posted, ...] = ()


def listed(payout: Payout) -> tuple[Item, ...]:
    """Return the items that a payout lists now."""
    return tuple(each for each in payout.items if each.listed)


def item_fees(payout: Payout) -> int:
    """Sum the fees that are posted with the items."""
    return sum(step.amount for step in payout.fee_steps)


def expected_net(payout: Payout) -> int:
    """Return the amount that should be paid out.

    1,000,000 less 50,000 refunds and 30,000 fee is 920,000; with a chargeback of -5,000 it is
    915,000.
    """
    given_back = payout.total_refunds + payout.additional_refunds
    return payout.gross_payments - given_back - payout.fee + total(payout.other_items)


def net_amount(payout: Payout) -> int:
    """Return the amount paid out less the fee: of 920,000 with a fee of 30,000, 890,000."""
    return payout.paid_out - payout.fee


def variance(payout: Payout) -> int:
    """Return the amount paid out less the expected amount: of 920,000 and 920,000, 0."""
    return payout.paid_out - expected_net(payout)


def reconciliation_status(payout: Payout) -> str:
    """Return the status of a payout by its linked amount; a payout of 0 is never reconciled."""
    if not payout.linked:
        return "unreconciled"
    whole = payout.linked == abs(payout.paid_out)
    return "fully_reconciled" if whole else "partially_reconciled"


def sums(money: Iterable[Money]) -> tuple[int, int]:
    """Sum the completed payments, and the completed refund payments.

    Payments of 100 and 50, of which the second bounced, and a refund of 20 give 100 and 20.
    """
    gross = refunded = 0
    for each in money:
        if each.status == "completed":
            if isinstance(each, Payment):
                gross += each.total
            else:
                refunded += each.amount
    return gross, refunded


def counted_now(payout: Payout, money: Iterable[Money]) -> Payout:
    """Return a payout that holds nothing with the present sums of its items.

    A failed payout lists 100 and 50. After the 50 bounces it shows 100, although its stored sums
    are those of the moment when it released them.
    """
    if payout.status in LIVE:
        return payout
    gross, refunded = sums(money)
    return replace(payout, gross_payments=gross, total_refunds=refunded)


def is_before_its_money(payout: Payout, money: Iterable[Money]) -> bool:
    """Return whether a payout is dated before the day of an item in it."""
    if payout.completed_at is None:
        return False
    on = payout.completed_at.date()
    return any(begin > on for each in money for begin, _ in _stood_days(each)[-1:])


def fees_of(money: Iterable[Money]) -> tuple[FeeStep, ...]:
    """Compute the fees of items by day, as they were posted with the items.

    A payment of the 5th with a fee of 3 that bounced on the 9th gives 3 on the 5th and -3 on the
    9th.
    """
    return _steps(
        step for each in money for stood in _stood_days(each) for step in _during(stood, each.fee)
    )


def with_other_fees(
    steps: Iterable[FeeStep], before: Iterable[FeeStep], after: Iterable[FeeStep]
) -> tuple[FeeStep, ...]:
    """Replace the earlier fees of an item by its present ones.

    If 5 is posted on the 5th, and 3 of that belong to an item that bounced on the 9th, the result
    is 5 on the 5th and -3 on the 9th.
    """
    return _steps([*steps, *(FeeStep(each.on, -each.amount) for each in before), *after])


def paid_days(payout: Payout) -> list[Days]:
    """Return the periods of days in which a payout was paid, from the day of `completed_at` on."""
    if payout.completed_at is None:
        return []
    own = payout.completed_at.date()
    return laid_out(payout.completions, own, own)


def fees_during(payout: Payout, stood: Days) -> Iterable[tuple[date, int]]:
    """Yield the fees of items in one period, as days and amounts.

    Fees that were posted before the period count on its first day.
    """
    begin, end = stood
    for step in payout.fee_steps:
        on = max(step.on, begin)
        if end is None or on < end:
            yield on, step.amount


def _stood_days(money: Money) -> list[Days]:
    if isinstance(money, Payment):
        return payments.completion_days(money)
    return refunds.completion_days(money)


def _during(stood: Days, fee: int) -> Iterable[FeeStep]:
    begin, end = stood
    yield FeeStep(begin, fee)
    if end is not None:
        yield FeeStep(end, -fee)


def _steps(changes: Iterable[FeeStep]) -> tuple[FeeStep, ...]:
    by_day: dict[date, int] = defaultdict(int)
    for each in changes:
        by_day[each.on] += each.amount
    return tuple(FeeStep(on, amount) for on, amount in sorted(by_day.items()) if amount)
