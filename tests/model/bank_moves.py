"""What may be done with bank accounts and the lines of their statements, and what that changes."""

from collections.abc import Iterator
from datetime import date
from itertools import count
from typing import Any

from tests.model import holds, vendor_refund_moves
from tests.model.arithmetic import ASSETS, faults_of
from tests.model.books import Body, Books
from tests.model.records import (
    LIVE,
    BankAccount,
    BankLine,
    Link,
    Money,
    Payment,
    Payout,
    VendorRefundPayment,
)
from tests.model.refusals import Faults, Refused, gone, refused

OWN = "1100"
ON_ITS_WAY = ("pending", "processing")


def open_account(books: Books, body: Body) -> BankAccount:
    """Open a bank account on the account that is named, else on the next one of the chart."""
    faults = Faults()
    taken = {each.code for each in books.bank_accounts.values()}
    code = body.get("account")
    if code is None:
        code = next(str(each) for each in count(int(OWN)) if str(each) not in taken)
    else:
        wrong = faults_of_account(books, code)
        faults.add_all(422, wrong)
        is_asset = code in ASSETS | taken
        faults.add(422, "account_type_mismatch", not wrong and not is_asset)
        faults.add(409, "account_taken", code in taken)
    faults.refuse()
    return BankAccount(body.get("external_id"), code)


def import_lines(books: Books, body: Body) -> list[BankLine]:
    """Keep the lines of a statement; what is there already is there once."""
    account = books.bank_accounts.get(body["bank_account_id"])
    if account is None:
        raise refused(422, "reference_not_found")
    there = {e.external_id: e for e in books.bank_lines.values() if e.account is account}
    found = []
    for each in body["transactions"]:
        name, day = each["external_id"], date.fromisoformat(each["date"])
        line = BankLine(account, name, day, each["amount_cents"], each["direction"])
        found.append(there.setdefault(name, line))
    return found


def match(books: Books, id: str, body: Body) -> tuple[Link, list[Any]]:
    """Link a line with its money, which completes where it was on its way and all of it is shown.

    Comes with what else that touches.
    """
    line = find(books, id)
    money = holds.kinds_of(books).get(body["target_type"], {}).get(body["target_id"])
    if money is None:
        raise refused(422, "reference_not_found")
    link, completes = link_of(books, line, money, body)
    books.links.append(link)
    return link, complete(books, money, line) if completes else []


def link_of(books: Books, line: BankLine, money: Money, body: Body) -> tuple[Link, bool]:
    """Draw up a link, and say whether money that was on its way has come with it."""
    faults = Faults()
    faults.add(409, "in_payout", not isinstance(money, Payout) and books.payout_of(money))
    faults.add(409, "in_opening_balance", isinstance(money, Payment) and money.opening)
    standing = Payout.LIVE if isinstance(money, Payout) else LIVE
    faults.add(409, "item_not_completed", money.status not in standing)
    moves = holds.moves(books.side, money)
    faults.add(422, "link_direction_mismatch", moves * line.moves < 0)
    others = {each.line.account for each in books.links_of(money)} - {line.account}
    faults.add(422, "bank_account_mismatch", others)
    most = min(books.unexplained(line), holds.rest(books, money))
    amount = body.get("amount_cents", most)
    faults.add(422, "link_exceeds_remaining", not 1 <= amount <= most)
    completes = money.status in ON_ITS_WAY and amount == holds.rest(books, money)
    if completes:
        check_first_day(books, faults, money, line)
    faults.refuse()
    return Link(line, money, amount), completes


def matches(books: Books, line: BankLine) -> Iterator[tuple[Money, int]]:
    """What a line can be matched with, and how much of it; the lock may still be in the way."""
    for money in [each for kind in holds.kinds_of(books).values() for each in kind.values()]:
        try:
            yield money, link_of(books, line, money, {})[0].amount
        except Refused as refusal:
            if refusal.answers == {(409, "period_locked")}:
                yield money, min(books.unexplained(line), holds.rest(books, money))


def check_first_day(books: Books, faults: Faults, money: Money, line: BankLine) -> None:
    """Look whether money that was never there before comes on a day of the locked period."""
    was_there = money.was_paid if isinstance(money, Payout) else is_posted(money)
    if not was_there:
        books.locked(faults, money_day(money, line))


def is_posted(money: Money) -> bool:
    return isinstance(money, Payment | VendorRefundPayment) and money.was_completed


def money_day(money: Money, line: BankLine) -> date:
    """Its own day; where it has none, that of the line."""
    own = money.paid_on if isinstance(money, Payment | Payout | VendorRefundPayment) else None
    return own or line.day


def complete(books: Books, money: Money, line: BankLine) -> list[Any]:
    """Let money have come, and name what that touches."""
    match money:
        case Payment():
            money.status, money.was_completed = "completed", True
            return [books.documents[id] for id in money.parts]
        case Payout():
            money.status, money.was_paid = "paid", True
            money.paid_on, money.told_at = money_day(money, line), money.told_at or "the line's"
            return [*money.payments, *money.refund_payments]
        case VendorRefundPayment():
            money.paid_on = money_day(money, line)
            vendor_refund_moves.move(books, money, "completed")
            return [money.refund, *money.refund.payments]
    raise AssertionError("Nothing else is on its way.")


def unmatch(books: Books, id: str, body: Body) -> Link:
    """Take a link back; the money stays as it is."""
    line = find(books, id)
    for link in books.links_of(line):
        if link.id == body["reconciliation_link_id"]:
            books.links.remove(link)
            return link
    raise refused(422, "reference_not_found")


def categorize(books: Books, id: str, body: Body) -> BankLine:
    """Post what is left of a line to an account."""
    line, code = find(books, id), body["account"]
    faults = Faults()
    faults.add_all(422, faults_of_account(books, code))
    faults.add(422, "same_account", code == line.account.code)
    used_up = line.category is not None or not books.unexplained(line)
    faults.add(409, "bank_transaction_used_up", used_up)
    books.locked(faults, line.day)
    faults.refuse()
    line.category, line.categorized = code, books.unexplained(line)
    return line


def uncategorize(books: Books, id: str) -> BankLine:
    """Take that back; a line that has no category stays as it is."""
    line = find(books, id)
    line.category, line.categorized = None, 0
    return line


def find(books: Books, id: str) -> BankLine:
    """Find a line by its id in a path."""
    if id not in books.bank_lines:
        raise gone("bank_transaction_not_found")
    return books.bank_lines[id]


def faults_of_account(books: Books, code: str) -> set[str]:
    """Why an account cannot be named, if it cannot; bank accounts bring some of their own."""
    of_banks = {each.code for each in books.bank_accounts.values()}
    return set() if code in of_banks else faults_of(code)
