"""The holds of statement lines on the money that they show."""

from collections.abc import Mapping

from tests.model.books import Books
from tests.model.records import (
    LIVE,
    TRANSFER,
    BankAccount,
    BankLine,
    Entry,
    Money,
    Payment,
    Payout,
    RefundPayment,
    Transfer,
    VendorRefundPayment,
)
from tests.model.refusals import Faults
from tests.model.sides import Side

ENTRY = "journal_entry"


def moves(side: Side, money: Money) -> int:
    """Return the amount that money moves at a bank after its fee, above zero where it comes in."""
    match money:
        case Payout():
            return money.paid_out
        case Payment():
            return side.sign * money.total - money.fee
        case RefundPayment() | VendorRefundPayment():
            return -side.sign * money.amount - money.fee


def rest(books: Books, money: Money) -> int:
    """Return the amount of money that no line shows yet."""
    return abs(moves(books.side, money)) - books.linked(money)


def moves_at(entry: Entry, account: BankAccount) -> int:
    """Return the amount that an entry moves on the account of a bank account."""
    return sum(amount for code, amount in entry.lines if code == account.code)


def rest_at(books: Books, entry: Entry, account: BankAccount) -> int:
    """Return the amount of an entry on a bank account that no line shows yet."""
    shown = sum(e.amount for e in books.links_of(entry) if e.line.account is account)
    return abs(moves_at(entry, account)) - shown


def kinds_of(books: Books) -> Mapping[str, Mapping[str, Money]]:
    """Return the money of a side, by its target type in a match."""
    kinds: dict[str, Mapping[str, Money]] = {f"{books.side.noun}_payment": books.payments}
    if books.side.sign > 0:
        return kinds | {"invoice_refund_payment": books.refund_payments, "payout": books.payouts}
    return kinds | {"vendor_refund_payment": books.vendor_refund_payments}


def kind_of(side: Side, money: Money | Transfer | Entry) -> str:
    """Return the target type of money in a match."""
    match money:
        case Entry():
            return ENTRY
        case Transfer():
            return TRANSFER
        case Payout():
            return "payout"
        case Payment():
            return f"{side.noun}_payment"
        case RefundPayment():
            return "invoice_refund_payment"
        case VendorRefundPayment():
            return "vendor_refund_payment"


def are_lost(before: str, after: str) -> bool:
    """Return whether money loses its links by a new status: it bounced, or will not come."""
    return before != after and (before == "completed" or after not in LIVE)


def check(books: Books, faults: Faults, money: Money, before: int, after: int) -> None:
    """Check that money still moves the amount of its links, in the same direction."""
    linked = books.linked(money)
    left = after if before > 0 else -after
    faults.add(422, "link_exceeds_remaining", linked and left < linked)


def lines_of(books: Books, money: Money | None) -> list[BankLine]:
    """Return the lines that show money."""
    return list(dict.fromkeys(each.line for each in books.links_of(money)))


def let_go(books: Books, money: Money) -> None:
    """End the links of money."""
    books.links = [each for each in books.links if each.money is not money]
