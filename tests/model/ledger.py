"""The balances of the accounts, computed from the model's records."""

from collections import Counter
from collections.abc import Mapping

from tests.model.arithmetic import by_account
from tests.model.books import Books
from tests.model.pricing import Line
from tests.model.records import Credit, Document
from tests.model.rests import Split
from tests.model.returns import given_back
from tests.model.settlement import in_money

SUSPENSE, ROUNDING = "1900", "6400"


def balances(books: Books) -> dict[str, int]:
    """Return debits less credits of every account with a balance.

    All amounts are summed as for sales, and negated for purchases. Fees, and the money that pays
    them, are the same on both sides.
    """
    held: Counter[str] = Counter()
    add_documents(held, books)
    add_payments(held, books)
    add_credits(held, books)
    add_refunds(held, books)
    return completed(held, books)


def on_cash(books: Books) -> dict[str, int]:
    """Return the same balances on cash: open documents count nothing, settlements by their parts.

    Self-assessed tax counts on its own day, and all money counts.
    """
    held: Counter[str] = Counter()
    side = books.side
    for payment in books.payments.values():
        if payment.status == "completed":
            held[books.account_of(payment)] += payment.total
            held[side.advance] -= payment.total - books.applied(payment)
    for subject, split in in_money(books):
        add(held, by_account(split), -1 if isinstance(subject, Document) else 1)
    for document in books.documents.values():
        # Lines below zero settle a total of zero when it is sent.
        if document.state == "open" and document.priced.is_posted and not document.priced.total:
            add(held, document.priced.posted, -1)
    add_assessed(held, books)
    return completed(held, books)


def completed(held: Counter[str], books: Books) -> dict[str, int]:
    """Negate the amounts of purchases, and add the amounts that are the same on both sides."""
    add_refunded(held, books)
    turned = Counter({code: books.side.sign * amount for code, amount in held.items()})
    add_fees(turned, books)
    add_payouts(turned, books)
    add_bank_lines(turned, books)
    add_entries(turned, books)
    add_openings(turned, books)
    turned.update(books.settled_tax)
    return {code: amount for code, amount in turned.items() if amount}


def add(held: Counter[str], amounts: Mapping[str, int], sign: int = 1) -> None:
    """Add amounts by account, or subtract them."""
    for code, amount in amounts.items():
        held[code] += sign * amount


def taken_by(split: Split) -> Counter[str]:
    """Return the amounts of a split by account."""
    held: Counter[str] = Counter()
    for (_, (account, _)), amount in split.items():
        held[account] += amount
    return held


def add_assessed(held: Counter[str], books: Books) -> None:
    """Add self-assessed tax, less the amounts that refunds take back."""
    for document in books.documents.values():
        if document.state == "open" and document.priced.is_posted:
            add(held, document.priced.assessed, -1)
    for credit in books.credits.values():
        if credit.state == "open":
            add_assessed_of(held, credit)
    for split in given_back(books):
        own = {key: n for key, n in split.items() if key[1] in key[0].assessed}
        add(held, taken_by(Counter(own)))


def add_assessed_of(held: Counter[str], credit: Credit) -> None:
    for line in credit.lines:
        if not line.opened:
            add(held, by_account(line.assessed))


def add_documents(held: Counter[str], books: Books) -> None:
    side = books.side
    for document in books.documents.values():
        if document.state == "open" and document.priced.is_posted:
            held[side.control] += books.outstanding(document)
            add(held, document.priced.posted, -1)
            add(held, document.priced.assessed, -1)
    for write_off in books.write_offs.values():
        if not write_off.reversed:
            held[write_off.account] += write_off.amount - sum(write_off.back.values())
            add(held, write_off.back)


def add_payments(held: Counter[str], books: Books) -> None:
    side = books.side
    for payment in books.payments.values():
        if payment.status == "completed":
            held[books.account_of(payment)] += payment.total
            held[side.advance] -= books.remaining(payment)
        else:
            held[side.advance] += books.refunded(payment)


def add_credits(held: Counter[str], books: Books) -> None:
    side = books.side
    for credit in books.credits.values():
        if credit.state == "open":
            for line in credit.lines:
                add(held, line.booked(side))
            add_assessed_of(held, credit)
            held[side.credit_control] -= books.unapplied(credit)


def add_refunds(held: Counter[str], books: Books) -> None:
    side = books.side
    for refund in books.refunds.values():
        if not refund.cancelled:
            held[side.refunds] -= refund.rest
            add(held, taken_by(refund.split))
    for each in books.vendor_refunds.values():
        if not each.cancelled:
            held[side.refunds] -= each.cash - each.paid
            held[SUSPENSE] += each.total - each.allocated
            for share in each.shares:
                add(held, taken_by(share.split))


def add_refunded(held: Counter[str], books: Books) -> None:
    """Add the money of refunds."""
    for paid in books.refund_payments.values():
        if not paid.cancelled:
            held[books.account_of(paid)] -= paid.amount
    for came in books.vendor_refund_payments.values():
        if came.status == "completed":
            held[books.account_of(came)] -= came.amount


def add_payouts(held: Counter[str], books: Books) -> None:
    """Move payouts from clearing to the bank; a fee that an item had is not posted again."""
    for payout in books.payouts.values():
        if payout.status == "paid":
            fee = payout.fee - payout.fees
            held[books.account_of(payout)] += payout.paid_out
            held["6100"] += fee
            held["4100"] += payout.additional
            held["1150"] -= payout.paid_out + fee + payout.additional
            held["1150"] += payout.other
            for item in payout.others:
                add_money(held, books, item, -1)


def add_money(held: Counter[str], books: Books, part: Line, sign: int) -> None:
    """Add a part of money, with the tax in it and self-assessed tax."""
    add(held, by_account(part.parts(books.side)), sign)
    add(held, by_account(part.assessed), sign)


def add_fees(held: Counter[str], books: Books) -> None:
    """Subtract fees from money, the same way on both sides."""
    every = (books.payments, books.refund_payments, books.vendor_refund_payments)
    for each in [each for kind in every for each in kind.values()]:
        if each.status == "completed":
            held[books.account_of(each)] -= each.fee
            held[books.side.fee] += each.fee


def add_bank_lines(held: Counter[str], books: Books) -> None:
    """Add categorized lines, rounding differences, and transfers between bank accounts."""
    for line in books.bank_lines.values():
        moved = 1 if line.moves > 0 else -1
        held[line.account.code] += moved * line.categorized
        for part in line.parts:
            add_money(held, books, part, -moved)
    for link in books.links:
        more = link.more if link.line.moves > 0 else -link.more
        held[link.line.account.code] += more
        held[ROUNDING] -= more
    for transfer in books.transfers:
        held[transfer.arrives] += transfer.amount
        held[transfer.leaves] -= transfer.amount


def add_entries(held: Counter[str], books: Books) -> None:
    """Add approved entries; a reversal is an entry of its own."""
    for entry in books.entries.values():
        for code, amount in entry.lines if entry.status == "approved" else ():
            held[code] += amount


def add_openings(held: Counter[str], books: Books) -> None:
    """Add the money at the bank against equity; the other items of openings count as records."""
    for opening in books.openings.values():
        if not opening.reversed:
            held["1100"] += opening.money
            held["3290"] -= opening.money
