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


def times(money: Money, *, back: bool = False) -> int:
    """Return how many times money moved, or came back; pending money can be shown already."""
    if isinstance(money, Payout):
        return int(money.status in Payout.LIVE)
    standing = money.status == "completed" if back else money.status in LIVE
    return money.times_returned + standing


def shown(books: Books, money: Money, *, back: bool = False) -> int:
    """Return the amount of money, or of its return, that lines show."""
    return sum(each.amount for each in books.links_of(money) if each.back is back)


def rest(books: Books, money: Money, *, back: bool = False) -> int:
    """Return the amount of one movement of money that no line shows yet."""
    moved, linked = abs(moves(books.side, money)), shown(books, money, back=back)
    return moved - linked % moved if linked < moved * times(money, back=back) else 0


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


def check(books: Books, faults: Faults, before: Money, moved: int, after: Money) -> None:
    """Check that money still moves the amount of its links, in the same direction.

    `before` has the links, and `moved` is what it moved. Money that never came has none to check.
    """
    if not times(after):
        return
    now = moves(books.side, after)
    left = max(now if moved > 0 else -now, 0)
    for back in (False, True):
        linked = shown(books, before, back=back)
        most = left * times(after, back=back)
        faults.add(422, "link_exceeds_remaining", linked and most < linked)


def check_bank(
    books: Books, faults: Faults, money: Payment | VendorRefundPayment, bank: BankAccount | None
) -> None:
    """Check that money names no other bank account than that of its lines."""
    shown_at = {each.line.account for each in books.links_of(money)}
    is_new = bank is not None and bank is not money.bank
    faults.add(422, "bank_account_mismatch", is_new and shown_at - {bank})


def lines_of(books: Books, money: Money | None) -> list[BankLine]:
    """Return the lines that show money."""
    return list(dict.fromkeys(each.line for each in books.links_of(money)))


def let_go(books: Books, money: Money) -> None:
    """End the links of money that never came and will not come."""
    if times(money):
        return
    books.links = [each for each in books.links if each.money is not money]
