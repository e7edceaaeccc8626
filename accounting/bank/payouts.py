"""Payouts of a payment processor from the money that it holds: values and arithmetic."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import Any
from uuid import UUID

from accounting.absent import or_else
from accounting.bank.commands import OtherItemGiven, SavePayout
from accounting.books.accounts import AccountReference, BookAccounts, named_or
from accounting.books.chart import Role, Roles
from accounting.books.foreign import Worth, share_of
from accounting.books.ledger import Days, PostedEntry, Span, laid_out
from accounting.books.time_zones import stored_day
from accounting.errors import RuleViolation, ValidationError
from accounting.tax.day_codes import TaxReferences
from accounting.tax.taxed_amounts import Gross, HeldTax, held_taxes
from accounting.trade import payments, refunds
from accounting.trade.holds import on_money_account
from accounting.trade.payments import MoneyBank, Payment
from accounting.trade.refunds import RefundPayment
from accounting.trade.sides import RECEIVABLE

# Items of a payout besides payments and refunds: disputes, reserves, adjustments.


ADJUSTMENT = "adjustment"
ROLES: Mapping[str, Role] = {
    "chargeback": Role.CHARGEBACKS,
    "chargeback_reversal": Role.CHARGEBACKS,
    "dispute_fee": Role.PROCESSING_FEES,
    "reserve_hold": Role.PROCESSOR_RESERVE,
    "reserve_release": Role.PROCESSOR_RESERVE,
}
"""The account role of each item type; an adjustment names its own account."""

SIGNS: Mapping[str, int] = {
    "chargeback": -1,
    "chargeback_reversal": 1,
    "reserve_hold": -1,
    "reserve_release": 1,
}
"""The item types with a fixed sign; a processor may also refund a fee."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherItem:
    """Another item of a payout; an amount above zero raises the payout, below zero it lowers it."""

    kind: str
    amount: int
    account_id: UUID
    description: str | None = None
    external_id: str | None = None
    payment_id: UUID | None = None
    tax: HeldTax | None = None


def total(items: Iterable[OtherItem]) -> int:
    """Sum other items: a chargeback of -5000 and a released reserve of 2000 give -3000."""
    return sum(each.amount for each in items)


def account_references(command: SavePayout) -> frozenset[AccountReference]:
    """List the accounts that adjustments go to, so that they can be loaded first."""
    given = or_else(command.other_items, ())
    return frozenset(each.account for each in given if each.account is not None)


def names_codes(command: SavePayout) -> bool:
    """Return whether an item names a tax code, so that the codes must be loaded."""
    return any(each.tax_code is not None for each in or_else(command.other_items, ()))


def other_items(
    given: Sequence[OtherItemGiven], referenced: TaxReferences, day: date
) -> tuple[OtherItem, ...]:
    """Find the account of each item, and compute the tax in those that name a tax code.

    Raises ValidationError `validation_error` for an amount of 0 or of the wrong sign, and for an
    account in an item other than an adjustment; Conflict `account_archived`; RuleViolation
    `reference_not_found`, `control_account`, or `same_account` for the clearing account itself.
    """
    _refuse_malformed(given)
    codes = referenced.codes_on(None, day)
    gross = [
        Gross(
            abs(each.amount),
            _account_of(each, referenced.accounts),
            None if each.tax_code is None else codes.named(each.tax_code, each.place),
        )
        for each in given
    ]
    return tuple(
        OtherItem(
            kind=each.kind,
            amount=each.amount,
            account_id=whole.account_id,
            description=each.description,
            external_id=each.external_id,
            payment_id=each.payment_id,
            tax=held,
        )
        for each, whole, held in zip(
            given, gross, _held_each_way(given, gross, referenced.roles), strict=True
        )
    )


def _held_each_way(
    given: Sequence[OtherItemGiven], gross: Sequence[Gross], roles: Roles
) -> Iterator[HeldTax | None]:
    """Compute the tax in incoming and in outgoing amounts, each once for each tax code.

    At 20 %, 10 coming in include 2, and 88 going out 15; together, 98 would include 16.
    """
    ways = {
        comes: iter(
            held_taxes(
                [
                    whole
                    for each, whole in zip(given, gross, strict=True)
                    if (each.amount > 0) is comes
                ],
                roles,
            )
        )
        for comes in (True, False)
    }
    return (next(ways[each.amount > 0]) for each in given)


def _account_of(given: OtherItemGiven, accounts: BookAccounts) -> UUID:
    """Find the account of an item.

    The default of an adjustment is income if it is above zero, else expenses.
    """
    if given.kind != ADJUSTMENT:
        return accounts.roles[ROLES[given.kind]]
    default = Role.OTHER_OPERATING_INCOME if given.amount > 0 else Role.GENERAL_EXPENSES
    account_id = named_or(accounts.roles[default], given.account, accounts)
    if account_id == accounts.roles[Role.PROCESSOR_CLEARING]:
        raise RuleViolation(
            "same_account",
            "This is the clearing account itself. Choose the account that the adjustment is for.",
            account=str(account_id),
        )
    return account_id


def _refuse_malformed(given: Sequence[OtherItemGiven]) -> None:
    faults: dict[str, list[str]] = {}
    for place, each in enumerate(given):
        where = f"other_items.{place}"
        sign = SIGNS.get(each.kind, 0)
        if each.amount * sign < 0 or each.amount == 0:
            wanted = {0: "not be 0", 1: "be above 0", -1: "be below 0"}[sign]
            faults[f"{where}.amount_cents"] = [f"must {wanted} in an item of type {each.kind}"]
        if each.account is not None and each.kind != ADJUSTMENT:
            faults[f"{where}.account"] = ["is allowed only in an item of type adjustment"]
    if faults:
        raise ValidationError.fields(**faults)


LIVE = frozenset({"pending", "processing", "paid"})

Money = Payment | RefundPayment


@dataclass(frozen=True, slots=True)
class FeeStep:
    """Fees that were posted with the items on a day; an amount below zero was reversed.

    Of foreign items it also has the `net`: what the items and their fees moved on their account.
    Both then have their base.
    """

    on: date
    amount: int
    net: int = 0


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
    `money_account_id`; `bank` is the bank account that the payout names. A payout in a foreign
    currency has the `worth` of what was paid out, and its `own_account_id`, as a payment has.
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
    completed_on: date | None = None
    bank: MoneyBank | None = None
    own_account_id: UUID | None = None
    worth: Worth | None = None
    posted: tuple[PostedEntry, ...] = ()


def listed(payout: Payout) -> tuple[Item, ...]:
    """Return the items that a payout lists now."""
    return tuple(each for each in payout.items if each.listed)


def item_fees(payout: Payout) -> int:
    """Sum the fees that are posted with the items."""
    return int(sum(step.amount for step in payout.fee_steps))


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


def completed_on(payout: Payout) -> date | None:
    """Return the day of a payout in the ledger; None if it has no date yet."""
    return stored_day(payout.completed_on, payout.completed_at)


def is_before_its_money(payout: Payout, money: Iterable[Money]) -> bool:
    """Return whether a payout is dated before the day of an item in it."""
    on = completed_on(payout)
    if on is None:
        return False
    return any(begin > on for each in money for begin, _ in _stood_days(each)[-1:])


def fees_of(money: Iterable[Money]) -> tuple[FeeStep, ...]:
    """Compute the fees of items by day, as they were posted with the items.

    A payment of the 5th with a fee of 3 that bounced on the 9th gives 3 on the 5th and -3 on the
    9th.
    """
    return _steps(step for each in money for step in _steps_of(each))


def _steps_of(money: Money) -> Iterator[FeeStep]:
    fee, net = money.fee, 0
    if money.worth is not None:
        fee, net = share_of(money.whole, fee), on_money_account(RECEIVABLE, money)
    for begin, end in _stood_days(money):
        yield FeeStep(begin, fee, net)
        if end is not None:
            yield FeeStep(end, -fee, -net)


def with_other_fees(
    steps: Iterable[FeeStep], before: Iterable[FeeStep], after: Iterable[FeeStep]
) -> tuple[FeeStep, ...]:
    """Replace the earlier fees of an item by its present ones.

    If 5 is posted on the 5th, and 3 of that belong to an item that bounced on the 9th, the result
    is 5 on the 5th and -3 on the 9th.
    """
    undone = (FeeStep(each.on, -each.amount, -each.net) for each in before)
    return _steps([*steps, *undone, *after])


def paid_days(payout: Payout) -> list[Days]:
    """Return the periods of days in which a payout was paid, from the day of `completed_at` on."""
    own = completed_on(payout)
    return [] if own is None else laid_out(payout.completions, own, own)


def fees_during(payout: Payout, stood: Days) -> Iterable[tuple[date, int]]:
    """Yield the fees of items in one period, as days and amounts.

    Fees that were posted before the period count on its first day.
    """
    begin, end = stood
    for step in payout.fee_steps:
        on = max(step.on, begin)
        if end is None or on < end:
            yield on, step.amount


def items_during(payout: Payout, stood: Days) -> Iterator[tuple[Days, FeeStep]]:
    """Yield the sums of foreign items in one period, with the days on which they are the sums.

    Items that were posted before the period count on its first day.
    """
    begin, end = stood
    ahead = [step for step in payout.fee_steps if step.on <= begin]
    later = [
        step for step in payout.fee_steps if begin < step.on and (end is None or step.on < end)
    ]
    total, on = _sum_of(begin, ahead), begin
    for step in later:
        yield (on, step.on), total
        total, on = _sum_of(step.on, (total, step)), step.on
    yield (on, end), total


def _stood_days(money: Money) -> list[Days]:
    if isinstance(money, Payment):
        return payments.completion_days(money)
    return refunds.completion_days(money)


def _steps(changes: Iterable[FeeStep]) -> tuple[FeeStep, ...]:
    by_day: dict[date, list[FeeStep]] = defaultdict(list)
    for each in changes:
        by_day[each.on].append(each)
    sums = (_sum_of(on, each) for on, each in sorted(by_day.items()))
    return tuple(step for step in sums if step.amount or step.net)


def _sum_of(on: date, steps: Iterable[FeeStep]) -> FeeStep:
    amount = net = 0
    for each in steps:
        amount, net = amount + each.amount, net + each.net
    return FeeStep(on, amount, net)
