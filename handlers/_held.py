"""What holds money follows it: its bank lines let it go, and the payout it came in counts it anew.

It is called with the money locked, once its documents and refunds are locked too.
"""

from accounting import paying_out
from accounting.payouts import Money
from handlers._trading import settle
from persistence.trade import Trade


async def follow(trade: Trade, before: Money, after: Money) -> None:
    """Let what holds money follow a change of it."""
    if before.linked and not after.linked:
        trade.books.bank_links.drop(before.id)
    await _follow_in_payout(trade, before, after)


async def _follow_in_payout(trade: Trade, before: Money, after: Money) -> None:
    """Count money anew that bounced, or came back, in the payout that it came in."""
    if before.payout_id is None or not paying_out.counts_otherwise(before, after):
        return
    books = trade.books
    payout = await books.payouts.lock_named(before.payout_id)
    await settle(books, paying_out.item_moved(payout, before, after, books.occasion))
