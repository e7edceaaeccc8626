"""Creation, change and deletion of payouts, with the money that they hold."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import date
from uuid import UUID

from accounting.absent import ABSENT, Absent, or_else, said
from accounting.bank.commands import SavePayout
from accounting.bank.payouts import (
    LIVE,
    Item,
    Money,
    Payout,
    completed_on,
    fees_of,
    item_fees,
    listed,
    other_items,
    sums,
    with_other_fees,
)
from accounting.books.businesses import Context, refuse_locked
from accounting.books.chart import Role
from accounting.books.record_rates import currency_of_all, worth_of
from accounting.errors import Conflict, RuleViolation
from accounting.tax.day_codes import TaxReferences
from accounting.trade.payments import (
    NO_BANKS,
    MoneyBanks,
    chosen_bank,
    completions_after,
    own_account,
)
from accounting.trade.sides import RECEIVABLE

Held = Mapping[UUID, Money]
"""The money that a payout lists, or is to list, by id."""

Items = tuple[Item, ...]

_FACTS = (
    *("processor", "processor_payout_id", "paid_out", "fee", "additional_refunds"),
    *("completed_at", "imported_at", "reference_number", "memo", "metadata"),
)
"""The fields of a payout that a command sets directly."""
_TO_BANK = "bank_transfer"
"""The method by which a payout reaches its bank account."""


@dataclass(frozen=True, slots=True)
class PaidOut:
    """A payout after a change, and the money that it took or released."""

    payout: Payout
    moved: tuple[Money, ...] = ()


def money_affected(
    payout: Payout | None, command: SavePayout | None = None
) -> tuple[set[UUID], set[UUID]]:
    """Return the ids of the payments and refund payments that a payout lists or is to list.

    Payments that other items name are included.
    """
    items = () if payout is None else listed(payout)
    payments = {each.payment_id for each in items if each.payment_id}
    refunds = {each.refund_payment_id for each in items if each.refund_payment_id}
    if command is not None:
        payments |= set(or_else(command.payment_ids, ()))
        refunds |= set(or_else(command.refund_payment_ids, ()))
        payments |= {
            each.payment_id for each in or_else(command.other_items, ()) if each.payment_id
        }
    return payments, refunds


def announce(
    command: SavePayout,
    held: Held,
    referenced: TaxReferences,
    context: Context,
    banks: MoneyBanks = NO_BANKS,
) -> PaidOut:
    """Create a payout, with the status `paid` by default.

    Its fee is by default that of its items, and its currency theirs. Raises ValidationError
    `validation_error`; Conflict `item_not_completed`, `already_in_payout`, `account_archived` or
    `period_locked`; RuleViolation `currency_mismatch`, `reference_not_found`,
    `item_not_in_clearing`, `processor_mismatch`, `control_account`, `same_account`,
    `bank_account_inactive`, `bank_account_currency_mismatch` or those of `worth_of`.
    """
    currency = _currency(command, held, context)
    blank = Payout(
        id=context.identify(),
        version=0,
        created_at=context.now,
        updated_at=context.now,
        external_id=command.external_id,
        processor=command.processor,
        paid_out=command.paid_out,
        fee=0,
        additional_refunds=0,
        currency=currency,
        status="pending",
        completed_at=None,
        own_account_id=own_account(RECEIVABLE, currency, _TO_BANK, None, context),
    )
    whole = replace(command, status=or_else(command.status, "paid"))
    return _brought(blank, whole, held, referenced, context, banks)


def update(
    payout: Payout,
    command: SavePayout,
    held: Held,
    referenced: TaxReferences,
    context: Context,
    banks: MoneyBanks = NO_BANKS,
) -> PaidOut:
    """Change a payout; absent fields and lists stay.

    A changed amount keeps the exchange rate. If nothing changes, the same object is returned.
    Raises what `announce` raises; RuleViolation `immutable_field` for another currency; Conflict
    `payout_reconciled` if a bank transaction is linked.
    """
    _refuse_new_currency(payout, command)
    after = _brought(payout, command, held, referenced, context, banks)
    if after.payout == payout:
        return PaidOut(payout)
    _refuse_reconciled(payout)
    return replace(after, payout=replace(after.payout, updated_at=context.now))


def _currency(command: SavePayout, held: Held, context: Context) -> str:
    """Return the currency of a new payout: the given one, else that of all its items."""
    named = (*or_else(command.payment_ids, ()), *or_else(command.refund_payment_ids, ()))
    currencies = (held[id_].currency for id_ in named if id_ in held)
    return currency_of_all(command.currency, currencies, context, "The items are in")


def _refuse_new_currency(payout: Payout, command: SavePayout) -> None:
    """Refuse another currency for a payout; raises RuleViolation `immutable_field`."""
    if command.currency not in (None, payout.currency):
        raise RuleViolation(
            "immutable_field", "The currency of a payout cannot be changed.", field="currency"
        )


def delete(payout: Payout, held: Held, context: Context) -> PaidOut:
    """Delete a payout: its posting is reversed today; its items and external id become free.

    Raises Conflict `payout_reconciled` if a bank transaction is linked.
    """
    _refuse_reconciled(payout)
    gone = replace(
        _with_status(payout, "cancelled", context),
        external_id=None,
        deleted_at=context.now,
        updated_at=context.now,
    )
    return PaidOut(gone, _let_go(payout, held.values(), context))


def counts_otherwise(before: Money, after: Money) -> bool:
    """Return whether a payout counts an item differently after a change, such as a bounce."""
    return sums([before]) != sums([after]) or fees_of([before]) != fees_of([after])


def item_moved(payout: Payout, before: Money, after: Money, context: Context) -> Payout:
    """Update a payout for a held item that bounced, was restored or got another day.

    A payment of 100 with a fee of 3 that bounces takes 100 off the payments and 3 off their fees.
    The payout then bears these 3 itself from today on.
    """
    was, now = sums([before]), sums([after])
    return replace(
        payout,
        gross_payments=payout.gross_payments + now[0] - was[0],
        total_refunds=payout.total_refunds + now[1] - was[1],
        fee_steps=with_other_fees(payout.fee_steps, fees_of([before]), fees_of([after])),
        updated_at=context.now,
    )


def reported_paid(payout: Payout, on: date, context: Context) -> Payout:
    """Set a pending payout to `paid`, on its own day, else on that of the bank transaction.

    Raises Conflict `period_locked`.
    """
    dated = payout
    if payout.completed_at is None:
        dated = replace(payout, completed_at=context.start_of(on), completed_on=on)
    paid = _with_status(replace(dated, updated_at=context.now), "paid", context)
    _refuse_new_date(payout, paid, context)
    return paid


def _brought(
    payout: Payout,
    command: SavePayout,
    held: Held,
    referenced: TaxReferences,
    context: Context,
    banks: MoneyBanks,
) -> PaidOut:
    """Apply a command to a payout and to the money that it holds."""
    bank = chosen_bank(command.bank_account_id, banks, payout.bank, payout.currency)
    after = replace(_with_facts(payout, command, context), bank=bank)
    day = completed_on(after) or context.today
    worth = worth_of(payout.currency, after.paid_out, command.worth, day, context, payout.worth)
    after = replace(after, worth=worth)
    if not isinstance(command.other_items, Absent):
        referenced = referenced.of(payout.currency, context.currency)
        after = replace(after, other_items=other_items(command.other_items, referenced, day))
    after = _with_items(after, command, context)
    dated = after.completed_at is not None  # A day that nobody gave moves on from the lock.
    after = _with_status(after, or_else(command.status, payout.status), context)
    if dated:
        _refuse_new_date(payout, after, context)
    moved = _hold(payout, after, held, context)
    new = payout.version == 0
    if new or after.items != payout.items or _comes_alive(payout, after):
        after = _summed(after, held)
        if new and command.fee is ABSENT:
            after = replace(after, fee=item_fees(after))
    return PaidOut(after, moved)


def _with_facts(payout: Payout, command: SavePayout, context: Context) -> Payout:
    """Set the given facts; a moment that stays keeps its day, whatever the time zone is now."""
    after = replace(payout, **said(command, *_FACTS))
    at = after.completed_at
    if at == payout.completed_at:
        return after
    return replace(after, completed_on=None if at is None else context.day_of(at))


def _with_items(payout: Payout, command: SavePayout, context: Context) -> Payout:
    """List exactly the money that the command names; a kind that it does not name stays."""
    items = payout.items
    if not isinstance(command.payment_ids, Absent):
        items = _exactly(items, command.payment_ids, lambda each: each.payment_id is not None)
        items += tuple(
            Item(context.identify(), 0, payment_id=id_)
            for id_ in _unknown(items, command.payment_ids)
        )
    if not isinstance(command.refund_payment_ids, Absent):
        named = command.refund_payment_ids
        items = _exactly(items, named, lambda each: each.refund_payment_id is not None)
        items += tuple(
            Item(context.identify(), 0, refund_payment_id=id_) for id_ in _unknown(items, named)
        )
    return replace(payout, items=items)


def _exactly(
    items: Items, wanted: Iterable[UUID], is_meant: Callable[[Item], bool]
) -> tuple[Item, ...]:
    """List only the wanted items of one kind; an item that was listed before is reused."""
    chosen = set(wanted)
    return tuple(
        replace(each, listed=each.money_id in chosen) if is_meant(each) else each for each in items
    )


def _unknown(items: Items, wanted: Iterable[UUID]) -> list[UUID]:
    known = {each.money_id for each in items}
    return [id_ for id_ in dict.fromkeys(wanted) if id_ not in known]


def _with_status(payout: Payout, status: str, context: Context) -> Payout:
    """Set a status; a payout is in the books only while it is `paid`."""
    spans = completions_after(payout.completions, payout.status, status, context, "paid")
    if status == "paid" != payout.status and payout.completed_at is None:
        payout = replace(payout, completed_at=context.now, completed_on=context.today)
    return replace(payout, status=status, completions=spans)


def _hold(payout: Payout, after: Payout, held: Held, context: Context) -> tuple[Money, ...]:
    """Take the money that a live payout lists, and release the money that it no longer lists."""
    if after.status not in LIVE:
        return _let_go(payout, held.values(), context)
    wanted = [held[each.money_id] for each in listed(after)]
    for each in wanted:
        _refuse_joining(after, each)
    joined = tuple(
        replace(each, payout_id=after.id, updated_at=context.now)
        for each in wanted
        if each.payout_id is None
    )
    kept = {each.id for each in wanted}
    left = [each for each in held.values() if each.id not in kept]
    return (*joined, *_let_go(payout, left, context))


def _let_go(payout: Payout, money: Iterable[Money], context: Context) -> tuple[Money, ...]:
    return tuple(
        replace(each, payout_id=None, updated_at=context.now)
        for each in money
        if each.payout_id == payout.id
    )


def _refuse_joining(payout: Payout, money: Money) -> None:
    """Refuse money that cannot be in a payout; money that it holds already may have bounced."""
    if money.currency != payout.currency:
        raise RuleViolation(
            "currency_mismatch",
            f"The payment or refund is in {money.currency}, and the payout in {payout.currency}.",
            item_id=str(money.id),
            currency=money.currency,
            payout_currency=payout.currency,
        )
    if money.payout_id not in (None, payout.id):
        raise Conflict(
            "already_in_payout",
            "The payment or refund is in another payout. Remove it from that payout first.",
            item_id=str(money.id),
            payout_id=str(money.payout_id),
        )
    if money.payout_id is None and money.status != "completed":
        raise Conflict(
            "item_not_completed",
            f"A payout takes only completed payments and refunds. This item is {money.status}.",
            item_id=str(money.id),
            current_state=money.status,
        )
    role = RECEIVABLE.money(money.method, money.processor)
    at_bank = money.money_account_id is not None or money.bank is not None
    if role != Role.PROCESSOR_CLEARING or at_bank:
        raise RuleViolation(
            "item_not_in_clearing",
            "The payment or refund did not pass through a payment processor.",
            item_id=str(money.id),
        )
    processor = (money.processor or "").casefold()
    if payout.processor != "other" and processor not in ("", payout.processor.casefold()):
        raise RuleViolation(
            "processor_mismatch",
            f"The payment or refund is with {money.processor}, not with {payout.processor}.",
            item_id=str(money.id),
            processor=money.processor,
        )


def _comes_alive(before: Payout, after: Payout) -> bool:
    return before.status not in LIVE and after.status in LIVE


def _summed(payout: Payout, held: Held) -> Payout:
    items = [held[each.money_id] for each in listed(payout)]
    gross, refunded = sums(items)
    return replace(payout, gross_payments=gross, total_refunds=refunded, fee_steps=fees_of(items))


def _refuse_new_date(before: Payout, after: Payout, context: Context) -> None:
    """Refuse a locked day for a payout that becomes paid or changes its day."""
    on = completed_on(after)
    if not after.completions or on is None:
        return
    if not before.completions or completed_on(before) != on:
        refuse_locked(context, on)


def _refuse_reconciled(payout: Payout) -> None:
    if payout.linked:
        raise Conflict(
            "payout_reconciled",
            "A bank transaction is matched with the payout. Unmatch it first.",
            linked_amount_cents=int(payout.linked),
        )
