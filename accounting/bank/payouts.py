"""Payouts: what a payment processor pays out of the money that it holds. Values and arithmetic."""

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
    """Fees of items that were posted with them on a day; what is below zero went back on it."""

    on: date
    amount: int


@dataclass(frozen=True, slots=True)
class Item:
    """Money that a payout lists; a payment, or a payment of a refund."""

    id: UUID
    version: int
    payment_id: UUID | None = None
    refund_payment_id: UUID | None = None
    listed: bool = True

    @property
    def money_id(self) -> UUID:
        """The id of the money."""
        found = self.payment_id or self.refund_payment_id
        assert found is not None, "an item is money of one of two kinds"
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Payout:
    """A payout as it is stored; in minor units, `paid_out` and `fee` may be below zero.

    `gross_payments` and `total_refunds` sum the items that stand completed; `fee_steps` say on
    which days fees were posted with the items, and went back. `completions` are the spans in which
    it stood paid. `linked` is what bank lines show of it, on the ledger account `money_account_id`.
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
    """Pick the items that a payout lists now."""
    return tuple(each for each in payout.items if each.listed)


def item_fees(payout: Payout) -> int:
    """Sum the fees that stand posted with the items."""
    return sum(step.amount for step in payout.fee_steps)


def expected_net(payout: Payout) -> int:
    """Say what should be paid out.

    Of 1,000,000 less 50,000 refunds and 30,000 fee, 920,000; with a chargeback of -5,000, 915,000.
    """
    given_back = payout.total_refunds + payout.additional_refunds
    return payout.gross_payments - given_back - payout.fee + total(payout.other_items)


def net_amount(payout: Payout) -> int:
    """Say what was paid out less the fee: of 920,000 with a fee of 30,000, 890,000."""
    return payout.paid_out - payout.fee


def variance(payout: Payout) -> int:
    """Say by how much what was paid out differs from what was expected: 920,000 on 920,000, 0."""
    return payout.paid_out - expected_net(payout)


def reconciliation_status(payout: Payout) -> str:
    """Say how much of a payout bank lines show; a payout of 0 is never reconciled."""
    if not payout.linked:
        return "unreconciled"
    whole = payout.linked == abs(payout.paid_out)
    return "fully_reconciled" if whole else "partially_reconciled"


def sums(money: Iterable[Money]) -> tuple[int, int]:
    """Sum payments, and refunds, as far as they stand completed.

    Payments of 100 and 50, of which the second bounced, and a refund of 20: 100 and 20.
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
    """Let a payout that holds nothing show what its items come to now.

    One that failed lists 100 and 50; after the 50 has bounced it shows 100, while its own amounts
    were last worked out when it let go of them.
    """
    if payout.status in LIVE:
        return payout
    gross, refunded = sums(money)
    return replace(payout, gross_payments=gross, total_refunds=refunded)


def is_before_its_money(payout: Payout, money: Iterable[Money]) -> bool:
    """Tell whether a payout is dated before the day of something in it."""
    if payout.completed_at is None:
        return False
    on = payout.completed_at.date()
    return any(begin > on for each in money for begin, _ in _stood_days(each)[-1:])


def fees_of(money: Iterable[Money]) -> tuple[FeeStep, ...]:
    """Lay out the fees of items as they were posted with them.

    Of a payment of the 5th with a fee of 3 that bounced on the 9th, 3 on the 5th and -3 on the 9th.
    """
    return _steps(
        step for each in money for stood in _stood_days(each) for step in _during(stood, each.fee)
    )


def with_other_fees(
    steps: Iterable[FeeStep], before: Iterable[FeeStep], after: Iterable[FeeStep]
) -> tuple[FeeStep, ...]:
    """Put the fees of an item as it is now in the place of those that it had.

    Of 5 on the 5th, an item whose 3 of that day went back on the 9th leaves 5 on the 5th, -3 on
    the 9th.
    """
    return _steps([*steps, *(FeeStep(each.on, -each.amount) for each in before), *after])


def paid_days(payout: Payout) -> list[Days]:
    """Lay out the days on which a payout stood paid, from the day of `completed_at` on."""
    if payout.completed_at is None:
        return []
    own = payout.completed_at.date()
    return laid_out(payout.completions, own, own)


def fees_during(payout: Payout, stood: Days) -> Iterable[tuple[date, int]]:
    """Lay out the fees of items over one span: on which day how much came to be posted.

    What was posted before the span counts from its first day on.
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
