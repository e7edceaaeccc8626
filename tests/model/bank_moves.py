"""The moves of bank accounts and statement lines in the model, and their effects."""

from collections.abc import Iterator
from copy import copy
from datetime import date
from itertools import count
from typing import Any

from tests.model import holds, vendor_refund_moves
from tests.model.arithmetic import AT_BANKS, faults_of
from tests.model.books import Body, Books
from tests.model.pricing import Line, compute, gross, read_code
from tests.model.records import (
    BankAccount,
    BankLine,
    BankRule,
    Entry,
    Link,
    Money,
    Payment,
    Payout,
    RefundPayment,
    Transfer,
    VendorRefundPayment,
)
from tests.model.refusals import Faults, Refusal, find, refused

OWN = "1100"
ON_ITS_WAY = ("pending", "processing")


def open_account(books: Books, body: Body) -> BankAccount:
    """Open a bank account on the named account of the chart, else on the next free code."""
    faults = Faults()
    taken = {each.code for each in books.bank_accounts.values()}
    code = body.get("account")
    if code is None:
        code = next(str(each) for each in count(int(OWN)) if str(each) not in taken)
    else:
        wrong = faults_of_account(books, code)
        faults.add_all(422, wrong)
        fits = code in AT_BANKS | taken
        faults.add(422, "account_type_mismatch", not wrong and not fits)
        faults.add(409, "account_taken", code in taken)
    faults.refuse()
    return BankAccount(body.get("external_id"), code)


def import_lines(books: Books, body: Body) -> list[BankLine]:
    """Import the lines of a statement; an existing line is not added again."""
    account = books.bank_accounts.get(body["bank_account_id"])
    if account is None:
        raise refused(422, "reference_not_found")
    there = {known_by(e): e for e in books.bank_lines.values() if e.account is account}
    found = []
    for each in body["transactions"]:
        name, day = each["external_id"], date.fromisoformat(each["date"])
        line = BankLine(account, name, day, each["amount_cents"], each["direction"])
        if known_by(line) not in there:
            there[known_by(line)] = line
            apply_rule(books, line)
        found.append(there[known_by(line)])
    return found


def known_by(line: BankLine) -> tuple[str, date, int, str]:
    """Return what makes a line a repeat of another: its id alone does not."""
    return line.external_id, line.day, line.amount, line.direction


def apply_rule(books: Books, line: BankLine) -> None:
    """Apply the first rule that fits a line, if it is automatic and the day is not locked."""
    rules = sorted(books.rules.values(), key=lambda each: (each.priority, each.place))
    rule = next((each for each in rules if fits(each, line)), None)
    faults = Faults()
    books.locked(faults, line.day)
    if rule is None or not rule.automatic or faults.found or rule.account == line.account.code:
        return
    taxed = read_code(None, books.codes, faults.found, rule.code, line.day)
    line.parts, line.rule = [gross(taxed, rule.account, line.amount)], rule
    compute(line.parts, 0, inclusive=True)


def fits(rule: BankRule, line: BankLine) -> bool:
    """Return whether all conditions of a rule hold for a line."""
    asked = rule.conditions
    return all(
        (
            asked.get("direction", line.direction) == line.direction,
            asked.get("bank_account_id", line.account.id) == line.account.id,
            asked.get("min_amount_cents", 0) <= line.amount,
            line.amount <= asked.get("max_amount_cents", line.amount),
        )
    )


def make_rule(books: Books, body: Body) -> BankRule:
    """Create a rule for lines that are imported later."""
    faults, result = Faults(), body["result"]
    faults.add_all(422, faults_of_account(books, result["account"]))
    faults.refuse()
    return BankRule(
        body.get("priority", 100),
        len(books.rules),
        body["conditions"],
        result["account"],
        result.get("tax_code"),
        body.get("apply") == "automatic",
    )


def match(books: Books, id: str, body: Body) -> tuple[Link, list[Any]]:
    """Link a line with its money; return the link and the other records that this touches.

    Money on its way is completed when lines show all of it.
    """
    line = line_at(books, id)
    if body["target_type"] == holds.ENTRY:
        entry = books.entries.get(body["target_id"])
        if entry is None:
            raise refused(422, "reference_not_found")
        shown = link_of_entry(books, line, entry, body)
        books.links.append(shown)
        return shown, []
    money = holds.kinds_of(books).get(body["target_type"], {}).get(body["target_id"])
    if money is None:
        raise refused(422, "reference_not_found")
    link, changes = link_of(books, line, money, body)
    books.links.append(link)
    if not changes:
        return link, []
    return link, come_back(books, money, line) if link.back else complete(books, money, line)


def link_of(books: Books, line: BankLine, money: Money, body: Body) -> tuple[Link, bool]:
    """Create a link; return it, and whether its money completes, or comes back, by it."""
    back = body.get("of") == "return"
    faults = Faults()
    faults.add(409, "in_payout", not isinstance(money, Payout) and books.payout_of(money))
    faults.add(409, "in_opening_balance", isinstance(money, Payment) and money.opening)
    faults.add(409, "item_not_completed", not holds.times(money, back=back))
    moves = holds.moves(books.side, money) * (-1 if back else 1)
    faults.add(422, "link_direction_mismatch", moves * line.moves < 0)
    others = {each.line.account for each in books.links_of(money)} - {line.account}
    faults.add(422, "bank_account_mismatch", others)
    left, rest = books.unexplained(line), holds.rest(books, money, back=back)
    near = 0 < abs(left - rest) <= books.tolerance and min(left, rest) > 0
    more = left - rest if near and "amount_cents" not in body else 0
    most = rest if more else min(left, rest)
    amount = body.get("amount_cents", most)
    faults.add(422, "link_exceeds_remaining", not 1 <= amount <= most)
    earlier = is_of_an_earlier_movement(money, line)
    if back:
        changes = money.status == "completed" and not earlier
        if changes:
            check_return(books, faults, money, line)
    else:
        changes = money.status in ON_ITS_WAY and amount == rest and not earlier
        if changes:
            check_first_day(books, faults, money, line)
            check_again(books, faults, money, line, amount)
    faults.refuse()
    return Link(line, money, amount, more, back), changes


def link_of_entry(books: Books, line: BankLine, entry: Entry, body: Body) -> Link:
    """Create a link with a manual entry, for its amount on the account of the bank."""
    faults, moved = Faults(), holds.moves_at(entry, line.account)
    faults.add(409, "item_not_completed", entry.status != "approved")
    faults.add(422, "bank_account_mismatch", not moved)
    faults.add(422, "link_direction_mismatch", moved * line.moves < 0)
    most = min(books.unexplained(line), holds.rest_at(books, entry, line.account))
    amount = body.get("amount_cents", most)
    faults.add(422, "link_exceeds_remaining", moved and not 1 <= amount <= most)
    faults.refuse()
    return Link(line, entry, amount)


def matches(books: Books, line: BankLine) -> Iterator[tuple[Money, int]]:
    """Yield the possible matches of a line with their amounts, also those on locked days."""
    for money in [each for kind in holds.kinds_of(books).values() for each in kind.values()]:
        try:
            yield money, link_of(books, line, money, {})[0].amount
        except Refusal as refusal:
            if refusal.answers == {(409, "period_locked")}:
                yield money, min(books.unexplained(line), holds.rest(books, money))


def is_of_an_earlier_movement(money: Money, line: BankLine) -> bool:
    """Return whether a line is dated before the last change of money that came back."""
    if isinstance(money, Payout) or not money.times_returned:
        return False
    match money:
        case Payment():
            since = money.changed_on
        case VendorRefundPayment():
            since = money.returned_on
        case _:
            return False
    return since is not None and line.day < since


def check_return(books: Books, faults: Faults, money: Money, line: BankLine) -> None:
    """Check that money comes back on the day of a line that may be given."""
    match money:
        case Payment():
            earliest = max(money.paid_on, money.changed_on or money.paid_on)
        case RefundPayment():
            earliest = money.moved_on
        case _:
            raise AssertionError("The model returns no other completed money by a line.")
    faults.add(422, "date_out_of_order", not earliest <= line.day <= books.today)
    books.locked(faults, line.day)


def check_again(books: Books, faults: Faults, money: Money, line: BankLine, amount: int) -> None:
    """Check that money that completes again moved again: on the day of its return it did not."""
    after = copy(money)
    if isinstance(money, Payment | VendorRefundPayment) and money.was_completed:
        faults.add(422, "date_out_of_order", line.day > books.today)
        books.locked(faults, line.day)
    match after:
        case Payment():
            after.become("completed", day_again(money, line), books.today)
        case VendorRefundPayment():
            after.status = "completed"
            after.times_returned -= after.returned_on == line.day
    most = abs(holds.moves(books.side, money)) * holds.times(after)
    exceeds = holds.shown(books, money) + amount > most
    faults.add(422, "link_exceeds_remaining", not isinstance(money, Payout) and exceeds)


def day_again(money: Money, line: BankLine) -> date | None:
    """Return the day on which money completes again by a line; None for the first time."""
    return line.day if isinstance(money, Payment) and money.was_completed else None


def come_back(books: Books, money: Money, line: BankLine) -> list[Any]:
    """Return the other records that change when completed money comes back."""
    match money:
        case Payment():
            documents = [books.documents[id] for id in money.parts]
            money.parts = {}
            money.become("failed", line.day, books.today)
            return documents
        case RefundPayment():
            money.cancelled = True
            return [money.refund]
    raise AssertionError("The model returns no other completed money by a line.")


def check_first_day(books: Books, faults: Faults, money: Money, line: BankLine) -> None:
    """Check that money does not come on a locked day, unless it was posted before."""
    was_there = money.was_paid if isinstance(money, Payout) else is_posted(money)
    if not was_there:
        books.locked(faults, money_day(money, line))


def is_posted(money: Money) -> bool:
    return isinstance(money, Payment | VendorRefundPayment) and money.was_completed


def money_day(money: Money, line: BankLine) -> date:
    """Return the day of money, or of the line where the money has none."""
    own = money.paid_on if isinstance(money, Payment | Payout | VendorRefundPayment) else None
    return own or line.day


def complete(books: Books, money: Money, line: BankLine) -> list[Any]:
    """Complete money, and return the other records that this touches."""
    match money:
        case Payment():
            money.become("completed", day_again(money, line), books.today)
            return [books.documents[id] for id in money.parts]
        case Payout():
            money.status, money.was_paid = "paid", True
            money.paid_on, money.told_at = money_day(money, line), money.told_at or "the line's"
            return [*money.payments, *money.refund_payments]
        case VendorRefundPayment():
            money.paid_on = money_day(money, line)
            vendor_refund_moves.move(books, Faults(), money, "completed", line.day)
            return [money.refund, *money.refund.payments]
    raise AssertionError("Nothing else is on its way.")


def unmatch(books: Books, id: str, body: Body) -> list[Link]:
    """Remove a link, or both links of a transfer, and return them; the money stays as it is."""
    line = line_at(books, id)
    for link in books.links_of(line):
        if link.id == body["reconciliation_link_id"]:
            whole = isinstance(link.money, Transfer)
            ended = books.links_of(link.money) if whole else [link]
            books.links = [each for each in books.links if each not in ended]
            return ended
    raise refused(422, "reference_not_found")


def transfer(books: Books, id: str, body: Body) -> list[BankLine]:
    """Link a line with one of another account, or create a transfer that waits for one.

    Return the lines that this touches.
    """
    line, faults = line_at(books, id), Faults()
    if "bank_account_id" in body:
        there = books.bank_accounts.get(body["bank_account_id"])
        if there is None:
            raise refused(422, "reference_not_found")
        most = books.unexplained(line)
        amount = begin_transfer(books, faults, line, there, most, line.day, body)
        made = Transfer(amount, *ways(line, there), *sides(line, None))
        books.links.append(Link(line, made, amount))
        return [line]
    other = books.bank_lines.get(body["target_id"])
    if other is None:
        raise refused(422, "reference_not_found")
    faults.add(422, "link_direction_mismatch", line.direction == other.direction)
    faults.refuse()
    for coming, first in ((line, other), (other, line)):
        waiting = [each.money for each in books.links_of(first) if waits(each.money, coming)]
        if waiting:
            return [complete_transfer(books, waiting, coming, body), first]
    most = min(books.unexplained(line), books.unexplained(other))
    first_day = min(line.day, other.day)
    amount = begin_transfer(books, faults, line, other.account, most, first_day, body)
    made = Transfer(amount, *ways(line, other.account), *sides(line, other))
    books.links += [Link(line, made, amount), Link(other, made, amount)]
    return [line, other]


def begin_transfer(
    books: Books,
    faults: Faults,
    line: BankLine,
    there: BankAccount,
    most: int,
    day: date,
    body: Body,
) -> int:
    """Check whether a transfer can begin, and return its amount."""
    amount: int = body.get("amount_cents", most)
    faults.add(422, "same_account", there is line.account)
    faults.add(422, "link_exceeds_remaining", not 1 <= amount <= most)
    books.locked(faults, day)
    faults.refuse()
    return amount


def ways(line: BankLine, there: BankAccount) -> tuple[str, str]:
    """Return the account that the money leaves, and the one at which it arrives."""
    here = line.account.code
    return (there.code, here) if line.moves > 0 else (here, there.code)


def sides(line: BankLine, other: BankLine | None) -> tuple[BankLine | None, BankLine | None]:
    """Return the line of the outgoing money, and that of the incoming money."""
    return (other, line) if line.moves > 0 else (line, other)


def waits(money: Money | Transfer | Entry, coming: BankLine) -> bool:
    """Return whether the money is a transfer that may wait for a line."""
    if not isinstance(money, Transfer):
        return False
    if coming.moves > 0:
        return money.come is None and money.arrives == coming.account.code
    return money.out is None and money.leaves == coming.account.code


def complete_transfer(books: Books, waiting: list[Any], coming: BankLine, body: Body) -> BankLine:
    """Complete a transfer by its second line: the transfer of the same amount, else the oldest."""
    left = books.unexplained(coming)
    wanted = body.get("amount_cents", left)
    chosen = next((each for each in waiting if each.amount == wanted), waiting[0])
    amount = body.get("amount_cents", chosen.amount)
    if amount != chosen.amount or left < amount:
        raise refused(422, "link_exceeds_remaining")
    if coming.moves > 0:
        chosen.come = coming
    else:
        chosen.out = coming
    books.links.append(Link(coming, chosen, amount))
    return coming


def categorize(books: Books, id: str, body: Body) -> BankLine:
    """Post the rest of a line to an account, or in parts that add up to it."""
    line, faults = line_at(books, id), Faults()
    left = books.unexplained(line)
    whole = [{"account": body.get("account"), "amount_cents": left}]
    splits = body.get("splits", whole)
    parts = [part_of(books, faults, line, each) for each in splits]
    faults.add(409, "bank_transaction_used_up", line.parts or not left)
    faults.add(422, "splits_mismatch", sum(each["amount_cents"] for each in splits) != left)
    books.locked(faults, line.day)
    faults.refuse()
    compute(parts, 0, inclusive=True)
    line.parts = parts
    return line


def part_of(books: Books, faults: Faults, line: BankLine, body: Body) -> Line:
    """Read a part of a line; its tax is not computed yet."""
    code = body["account"]
    faults.add_all(422, faults_of_account(books, code))
    faults.add(422, "same_account", code == line.account.code)
    taxed = read_code(None, books.codes, faults.found, body.get("tax_code"), line.day)
    return gross(taxed, code, body["amount_cents"])


def uncategorize(books: Books, id: str) -> BankLine:
    """Remove the categories of a line; a line without any stays as it is."""
    line = line_at(books, id)
    line.parts, line.rule = [], None
    return line


def line_at(books: Books, id: str) -> BankLine:
    """Find a line by its id in a path."""
    return find(books.bank_lines, id, "bank_transaction_not_found")


def faults_of_account(books: Books, code: str) -> set[str]:
    """Return the error codes of an account in a body, which may name those of banks, too."""
    of_banks = {each.code for each in books.bank_accounts.values()}
    return set() if code in of_banks else faults_of(code)
