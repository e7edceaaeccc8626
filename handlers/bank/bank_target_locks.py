"""Locks on the targets of bank matches, which a body names by type and id."""

from collections.abc import Collection
from typing import Any
from uuid import UUID

from accounting.bank import bank_links
from accounting.bank.bank_links import ON_ITS_WAY
from accounting.bank.bank_matches import MatchResult, MatchTarget
from accounting.bank.bank_transactions import BankTransaction
from accounting.bank.commands import LinkTransaction
from accounting.trade.allocation import documents_affected
from accounting.trade.payments import Payment
from accounting.trade.sides import PAYABLE, RECEIVABLE
from handlers.shared.posting import save_and_post, save_and_post_banked
from handlers.trade.vendor_refund_responses import lock_named_payment
from persistence.books import Books, Trade
from persistence.ledger.journal_records import written
from persistence.store import Store, no_such_reference


async def lock_to_link(
    books: Books, line: BankTransaction, command: LinkTransaction
) -> MatchTarget:
    """Lock a target, and all that changes if it completes or comes back, in the lock order.

    Raises RuleViolation `reference_not_found`.
    """
    target_id = command.target_id
    if command.target_type == "vendor_refund_payment":
        refunded = await lock_named_payment(books.purchases, target_id)
        return MatchTarget(PAYABLE, refunded.payment(target_id), refunded=refunded)
    if command.target_type == "invoice_refund_payment" and command.back:
        return await _lock_with_refund(books, target_id)
    found = await lock_alone(books, line, command.target_type, target_id)
    changing = {"completed"} if command.back else ON_ITS_WAY
    if isinstance(found.target, Payment) and found.target.status in changing:
        trade = trade_of(books, command.target_type)
        affected = documents_affected(found.target.allocations)
        documents = await trade.documents.lock_all(affected)
        return MatchTarget(trade.side, found.target, documents)
    return found


async def _lock_with_refund(books: Books, id: UUID) -> MatchTarget:
    """Lock the refund of a payment to a customer, then the payment."""
    store = books.invoice_refund_payments
    named = await store.by_ids([id])
    if not named:
        raise no_such_reference(store.noun, id)
    refund, payments = await books.fetch(
        books.invoice_refunds.lock_named(named[0].refund_id), store.lock_all([id])
    )
    return MatchTarget(RECEIVABLE, payments[id], refund=refund)


async def lock_alone(
    books: Books, line: BankTransaction, target_type: str, target_id: UUID
) -> MatchTarget:
    """Lock only the target; removing a match changes nothing else.

    A posted entry has no lock; instead the bank account of the line is locked, which guards the
    matches of the entry with its lines. Raises RuleViolation `reference_not_found`, and the errors
    of `entry_money.money_of`.
    """
    if target_type == "journal_entry":
        await books.bank_accounts.lock_all([line.bank_account_id])
        entry, shown = await books.fetch(
            books.journal.referred_to(target_id),
            books.bank_links.shown_of_entry(target_id, line.bank_account_id),
        )
        foreign = None if line.currency == books.currency else line.currency
        money = bank_links.money_of(written(entry), line.account_id, shown, foreign)
        return MatchTarget(None, money)
    if target_type == "payout":
        return MatchTarget(None, await _one(books.payouts, target_id))
    trade = trade_of(books, target_type)
    store = trade.refund_payments if "refund" in target_type else trade.payments
    return MatchTarget(trade.side, await _one(store, target_id))


def trade_of(books: Books, target_type: str) -> Trade:
    """Return the side to which a target belongs; not for payouts, which have no side."""
    of_sales: Collection[str] = ("invoice_payment", "invoice_refund_payment")
    return books.sales if target_type in of_sales else books.purchases


async def put(books: Books, matched: MatchResult) -> None:
    """Save a bank transaction, its link and its target, and post them."""
    books.bank_links.save(matched.link)
    if matched.link.target_type in ("payout", "journal_entry"):
        await save_and_post_banked(books, *matched.subjects, matched.transaction)
        return
    trade = trade_of(books, matched.link.target_type)
    await save_and_post(trade, *matched.subjects, affected=matched.moved)
    await save_and_post_banked(books, matched.transaction)


async def _one(store: Store[Any], id: UUID) -> Any:
    [found] = (await store.lock_all([id])).values()
    return found
