"""Payments as they are stored, of invoices and of bills: their amounts and days."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from types import MappingProxyType
from typing import Any, Final
from uuid import UUID

from accounting.absent import Absent
from accounting.books.businesses import Context, out_of_order, refuse_out_of_order
from accounting.books.chart import Role
from accounting.books.exchange_rates import RatesNotLoaded
from accounting.books.foreign import Worth, share_of, with_base
from accounting.books.ledger import Days, PostedEntry, Span, after_lock, days, laid_out
from accounting.errors import Conflict, RuleViolation
from accounting.trade.allocation import Allocation, AllocationSource, live
from accounting.trade.parties import Party
from accounting.trade.sides import Side

STATUSES = ("pending", "processing", "completed", "failed", "cancelled", "refunded")
LIVE = frozenset({"pending", "processing", "completed"})
CANCELLABLE = frozenset({"pending", "failed"})


@dataclass(frozen=True, slots=True)
class MoneyBank:
    """A bank account of money; `account_id` is its ledger account, which never changes.

    `currency` is that of a foreign bank account.
    """

    id: UUID
    account_id: UUID
    is_active: bool = field(default=True, compare=False)
    currency: str | None = field(default=None, compare=False)


MoneyBanks = Mapping[UUID, MoneyBank]
NO_BANKS: Final[MoneyBanks] = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class Payment:
    """A payment as it is stored, with the whole history of its status and allocations.

    `completions` are the spans in which it was completed; `allocations` are both live and ended.
    `refunded` is the amount that live refunds of its unapplied money hold. A payment in a foreign
    currency has its `worth`, and `refunded` its base. `linked` is the amount
    matched to bank lines, and `linked_back` the amount of its returns that is, both on the ledger
    account `money_account_id`; of foreign money with the base that base lines show. `bank` is the
    bank account that it names; `own_account_id` is the ledger account that foreign money has in
    place of the bank's. `payout_id` is the live payout that includes it. The money of a payment
    from the opening of the books, `opening_id`, was in the bank before the opening.
    """

    id: UUID
    version: int
    created_at: datetime
    updated_at: datetime
    party: Party
    external_id: str | None
    total: int
    currency: str
    payment_date: date
    method: str
    processor: str | None
    fee: int
    status: str
    completions: tuple[Span, ...]
    allocations: tuple[Allocation, ...]
    refunded: int = 0
    linked: int = 0
    linked_back: int = 0
    money_account_id: UUID | None = None
    bank: MoneyBank | None = None
    own_account_id: UUID | None = None
    payout_id: UUID | None = None
    note: str | None = None
    payment_reference: str | None = None
    bank_reference: str | None = None
    processor_reference: str | None = None
    check_number: str | None = None
    references: Mapping[str, str] = field(default_factory=dict)
    transaction_tags: tuple[str, ...] = ()
    metadata: Any = None
    idempotency_key: str | None = None
    opening_id: UUID | None = None
    worth: Worth | None = None
    posted: tuple[PostedEntry, ...] = ()

    @property
    def whole(self) -> int:
        """The total; in a foreign currency with its base."""
        return with_base(self.total, self.worth)


def chosen_bank(
    wanted: UUID | Absent | None,
    banks: MoneyBanks,
    before: MoneyBank | None = None,
    currency: str | None = None,
) -> MoneyBank | None:
    """Return the bank account that a body names for money; if it is silent, the present one.

    None is the account of the method. Money moves through a bank account in base or in its own
    `currency`. Raises RuleViolation `bank_account_inactive` or `bank_account_currency_mismatch`.
    """
    if isinstance(wanted, Absent):
        return before
    bank = None if wanted is None else banks[wanted]
    if bank is None or bank == before:
        return bank
    if not bank.is_active:
        raise RuleViolation(
            "bank_account_inactive",
            "The account of this bank account is archived. Choose another bank account.",
            bank_account_id=str(bank.id),
        )
    if bank.currency not in (None, currency):
        raise RuleViolation(
            "bank_account_currency_mismatch",
            f"The bank account is in {bank.currency}. Choose one in the currency of the money, or"
            " in the base currency.",
            bank_account_id=str(bank.id),
            currency=bank.currency,
        )
    return bank


def own_account(
    side: Side, currency: str, method: str, processor: str | None, context: Context
) -> UUID | None:
    """Return the ledger account that foreign money has in place of the bank's; None for the bank's.

    It is that of the oldest active bank account in the currency of the money. Raises
    RatesNotLoaded.
    """
    if currency == context.currency or side.money(method, processor) != Role.BANK:
        return None
    if context.own_accounts is None:
        raise RatesNotLoaded
    return context.own_accounts.get(currency)


def live_allocations(payment: Payment) -> tuple[Allocation, ...]:
    """Return the live allocations of the payment."""
    return live(payment.allocations)


def allocated(payment: Payment) -> int:
    """Return the amount in use: applied, reserved or refunded."""
    return allocated_to_documents(payment) + payment.refunded


def allocated_to_documents(payment: Payment) -> int:
    """Return the amount that documents hold: 1000 with 600 allocated and 100 refunded is 600."""
    return sum(each.amount for each in live_allocations(payment))


def applied(payment: Payment) -> int:
    """Return the amount that has settled documents: all that they hold if it is completed."""
    return allocated_to_documents(payment) if payment.status == "completed" else 0


def unapplied(payment: Payment) -> int:
    """Return the amount of the total that has settled nothing: 1000 with 600 reserved is 1000."""
    return payment.total - applied(payment)


def remaining(payment: Payment) -> int:
    """Return the amount that can still be used: 1000 with 600 allocated is 400."""
    return payment.total - allocated(payment)


def unused(payment: Payment) -> int:
    """Return the amount that settles no document and that no refund holds, with its base."""
    settling = (each.amount for each in live_allocations(payment) if each.split)
    return payment.whole - payment.refunded - sum(settling)


def net_amount(payment: Payment) -> int:
    """Return the total less the fee: 100 less 2 is 98."""
    return payment.total - payment.fee


def is_fully_allocated(payment: Payment) -> bool:
    """Return whether the whole amount is in use."""
    return remaining(payment) == 0


def completion_days(payment: Payment) -> list[Days]:
    """Return the days on which the payment was completed.

    They begin no earlier than the payment date and end no earlier than they begin: paid on the 10th
    and failed on the 5th, the money comes and goes on the 10th.
    """
    return laid_out(payment.completions, payment.payment_date, payment.payment_date)


def applied_days(payment: Payment, allocation: Allocation) -> list[Days]:
    """Return the days on which an allocation settled its document.

    The payment must be completed, and the days begin no earlier than the payment and the document:
    money of the 5th for an invoice of the 10th is applied on the 10th.
    """
    begin, end = days(
        allocation.start or payment.payment_date,
        allocation.end,
        max(payment.payment_date, allocation.document_date),
    )
    shared = []
    for completed, ended in completion_days(payment):
        first = max(begin, completed)
        last = min((day for day in (end, ended) if day is not None), default=None)
        if last is None or first < last:
            shared.append((first, last))
    return shared


def applied_on(payment: Payment, allocation: Allocation, lock_date: date | None) -> date:
    """Return the day from which a live allocation of a completed payment settles its document.

    A day inside the lock becomes the day after it.
    """
    begin, _ = applied_days(payment, allocation)[-1]
    return after_lock(begin, lock_date)


def allocation_source(
    payment: Payment, start: date | None, end: date, context: Context
) -> AllocationSource:
    """Return the facts of a payment that its allocations depend on.

    New allocations begin on `start`, and released ones end on `end`.
    """
    return AllocationSource(
        party_id=payment.party.id,
        total=payment.whole,
        held=payment.refunded,
        by="paid",
        applied=payment.status == "completed",
        day=payment.payment_date,
        start=start,
        end=end,
        context=context,
        applied_on=lambda each: applied_on(payment, each, context.lock_date),
        currency=payment.currency,
        across=True,
    )


def uses_anew(payment: Payment) -> tuple[Allocation, ...]:
    """Return the allocations with their shares of a corrected amount or rate, taken in their order.

    USD 100.00 worth EUR 95.00 with uses of 60.00 and 30.00 brings 57.00 and 28.50; corrected to
    97.01 EUR, 58.21 and 29.10. One that ended has its share of the whole.
    """
    left, found = payment.whole, []
    for each in payment.allocations:
        if not each.split:
            found.append(each)
        elif each.end is not None:
            found.append(replace(each, amount=share_of(payment.whole, each.amount)))
        else:
            amount = share_of(left, each.amount)
            left -= amount
            found.append(replace(each, amount=amount))
    return tuple(found)


# Status changes of money: the allowed moves, and the spans in which it was completed.


Spans = tuple[Span, ...]


def allowed_moves(side: Side, status: str) -> Sequence[str]:
    """List the statuses that a caller may set, given the current one."""
    return [each for each in STATUSES if each in side.payment_moves[status]]


def refuse_move(side: Side, before: str, after: str) -> None:
    """Refuse a status that may not follow the current one; keeping the status is allowed.

    Raises Conflict `invalid_state_transition`.
    """
    if after != before and after not in side.payment_moves[before]:
        raise _refused(side, before, f"A {before} payment cannot become {after}.")


def refuse_cancelling(side: Side, status: str) -> None:
    """Refuse to cancel a payment that is not pending or failed.

    Raises Conflict `invalid_state_transition`.
    """
    if status not in CANCELLABLE:
        words = "Only a pending or failed payment can be cancelled."
        if "cancelled" in side.payment_moves[status]:
            words = f"{words} To cancel this payment, update its status."
        raise _refused(side, status, words)


def context_of_status(
    completions: Spans,
    before: str,
    after: str,
    given: date | None,
    dated: date | None,
    context: Context,
) -> Context:
    """Return the context of a change of status on a given day; without one, it is today's.

    `dated` is the date of the money, if it has one. The day is not before that, nor before the last
    change of the completion. A repeat of the last change with its day changes nothing. Raises
    RuleViolation `date_out_of_order`; Conflict `period_locked`.
    """
    if given is None:
        return context
    last = (completions[-1].end or completions[-1].start or dated) if completions else None
    if before == after:
        if given != last:
            message = "status_date is the day of a new status, and the status does not change."
            raise out_of_order(context, message, "status_date", given, last)
        return context
    bounds = (last, dated) if completions or after == "completed" else ()
    earliest = max((day for day in bounds if day is not None), default=None)
    refuse_out_of_order(context, "status_date", given, earliest)
    return context.on(given)


def completions_after(
    completions: Spans, before: str, after: str, context: Context, done: str = "completed"
) -> Spans:
    """Update the spans for a status change: leaving `done` ends a span, entering it begins one.

    A change has the day that its context gives. Without one, the first span begins on the payment's
    own date, and any later change is dated today.
    """
    if before == after:
        return completions
    if before == done:
        return (*completions[:-1], Span(completions[-1].start, context.day))
    if after == done:
        return (*completions, Span(context.day if completions else context.given_day))
    return completions


def _refused(side: Side, status: str, message: str) -> Conflict:
    return Conflict.of_state(message, status, allowed_moves(side, status))
