"""Bodies about banks, and of manual entries."""

from collections.abc import Sequence

from tests.model import holds
from tests.model.bodies import NOBODY, Body
from tests.model.books import Books
from tests.model.codes import WITHHELD
from tests.model.hand import Hand
from tests.model.moves import likely
from tests.model.records import (
    BankAccount,
    BankLine,
    Money,
    Payment,
    Payout,
    VendorRefundPayment,
)

ACCOUNTS = ("6000", "4500", "1000", "1150", "1100", "2400", "1101", "1200", "9999")
UNDER_BANKS = ("2400", "1000", "1900", "2400", "1100", "1150", "4500", "1200", "9999")
AMOUNTS = (5_000, 1, 333, 12_000)


class BankBodies:
    """A source of random bodies about the banks of one business."""

    def __init__(self, hand: Hand, books: Books, day: str) -> None:
        self.hand = hand
        self.books = books
        self.day = day

    def account(self) -> Body:
        number = self.hand.number(1, 3)
        named = {"account": self.hand.one(UNDER_BANKS)} if self.hand.chance(35) else {}
        name = {"external_id": f"bank-{number}"} if self.hand.chance(20) else {}
        return {"display_name": f"Bank {number}", **named, **name}

    def statement(self, account: str) -> Body:
        """Return lines, mostly of money that no line shows yet: all of it, a part, or more."""
        lines = [self.line(place) for place in range(self.hand.number(1, 3))]
        return {"bank_account_id": account, "transactions": lines}

    def line(self, place: int) -> Body:
        shown = self.unshown()
        moves, rest = self.hand.one(AMOUNTS), 0
        if shown and not self.hand.chance(15):
            money = self.hand.one(shown)
            moves, rest = holds.moves(self.books.side, money), holds.rest(self.books, money)
            if self.hand.chance(25):  # It comes back.
                moves = -moves
                rest = holds.rest(self.books, money, back=True) or rest
        near = rest + self.hand.one((-2, 3, 5, -6)) if rest > 10 else rest
        amount = self.hand.one((rest, rest, rest // 2, rest + 400, near)) or abs(moves) or 1
        number = len(self.books.bank_lines) + (0 if self.hand.chance(5) else place + 1)
        return {
            "external_id": f"statement-{number}",
            "date": self.day,
            "amount_cents": amount,
            "direction": "credit" if moves > 0 or self.hand.chance(3) else "debit",
        }

    def unshown(self) -> list[Money]:
        """Return money that a line may still show; the rarer kinds are listed three times."""
        return [
            each
            for kind in holds.kinds_of(self.books).values()
            for each in kind.values()
            for _ in range(1 if isinstance(each, Payment) else 3)
            if self.may_be_shown(each) and holds.rest(self.books, each) > 0
        ]

    def may_be_shown(self, money: Money) -> bool:
        return isinstance(money, Payout) or self.books.payout_of(money) is None

    def money_for(self, line: BankLine | None) -> tuple[str, str, Money | None]:
        """Return the target of a match for a line; now and then any money, or an unknown id."""
        kinds = holds.kinds_of(self.books)
        every = [each for kind in kinds.values() for each in kind.values()]
        if not every or self.hand.chance(3):
            return self.hand.one(list(kinds)), NOBODY, None
        open_ones = self.unshown()
        same_way = [e for e in open_ones if line and self.moves(e) * line.moves > 0]
        chosen: Sequence[Money] = every
        if open_ones and not self.hand.chance(15):
            chosen = same_way or open_ones
        money = self.hand.one(chosen)
        return holds.kind_of(self.books.side, money), money.id, money

    def returned(self, line: BankLine | None) -> Money | None:
        """Return money whose return a line may show, mostly of its direction.

        A vendor's completed refund is left out: the day from which it may come back is not known.
        """
        kinds = holds.kinds_of(self.books)
        every = [
            each
            for kind in kinds.values()
            for each in kind.values()
            if not isinstance(each, Payout)
            and not (isinstance(each, VendorRefundPayment) and each.status == "completed")
        ]
        fitting = [
            e
            for e in every
            if line and self.moves(e) * line.moves < 0 and holds.rest(self.books, e, back=True)
        ]
        if fitting and not self.hand.chance(15):
            return self.hand.one(fitting)
        return self.hand.one(every) if every else None

    def moves(self, money: Money) -> int:
        return holds.moves(self.books.side, money)

    def rule(self) -> Body:
        """Return a rule with one to four conditions, which is often automatic."""
        hand = self.hand
        accounts = list(self.books.bank_accounts.values())
        conditions: Body = {"direction": hand.one(("debit", "credit"))}
        if hand.chance(50):
            conditions |= {"min_amount_cents": hand.one((1, 300, 5_000))}
        if hand.chance(30):
            conditions |= {"max_amount_cents": hand.one((5_000, 20_000))}
        if accounts and hand.chance(30):
            conditions |= {"bank_account_id": hand.one(accounts).id}
        codes = [e.name for e in self.books.codes.values() if e.is_lasting and e.kind != WITHHELD]
        taxed = {"tax_code": hand.one(codes)} if hand.chance(50) else {}
        return {
            "name": "What comes often",
            "conditions": conditions,
            "result": {"account": self.code(), **taxed},
            **({"priority": hand.one((1, 5, 200))} if hand.chance(50) else {}),
            **({"apply": "automatic"} if hand.chance(60) else {}),
        }

    def entry_for(self, line: BankLine | None) -> Body:
        """Return a match with a manual entry, mostly one that fits a line."""
        every = list(self.books.entries.values())
        fitting = [e for e in every if line and holds.moves_at(e, line.account) * line.moves > 0]
        entry = self.hand.one(fitting if fitting and not self.hand.chance(20) else every)
        return {"target_type": holds.ENTRY, "target_id": entry.id}

    def match(self, line: BankLine | None) -> Body:
        if self.books.entries and self.hand.chance(25):
            body = self.entry_for(line)
            return {**body, **({"amount_cents": 1} if self.hand.chance(20) else {})}
        if self.hand.chance(20) and (returned := self.returned(line)) is not None:
            kind = holds.kind_of(self.books.side, returned)
            return {"target_type": kind, "target_id": returned.id, "of": "return"}
        kind, id, money = self.money_for(line)
        body = {"target_type": kind, "target_id": id}
        if line is None or money is None or not self.hand.chance(35):
            return body
        most = min(self.books.unexplained(line), holds.rest(self.books, money))
        amounts = (most // 2, 1, most, most + 1)
        return {**body, "amount_cents": max(1, self.hand.one(amounts))}

    def category(self, line: BankLine | None) -> Body:
        """Return one account, or two parts that mostly add up to the rest of a line."""
        left = self.books.unexplained(line) if line else 2
        if left < 2 or self.hand.chance(60):
            return {"account": self.code(), **self.tags()}
        part = left // 3 or 1
        rest = left - part + (1 if self.hand.chance(10) else 0)
        return {"splits": [self.part(part), self.part(rest)]}

    def part(self, amount: int) -> Body:
        """Return a part of a line, often with the code of the tax in it."""
        codes = [*self.books.codes, *(["none"] if self.hand.chance(5) else [])]
        taxed = {"tax_code": self.hand.one(codes)} if self.hand.chance(45) else {}
        return {"account": self.code(), "amount_cents": amount, **taxed, **self.tags()}

    def tags(self) -> Body:
        """Return the tags of a line now and then; they move nothing, and check-books sums them."""
        tags = [["van"], ["van", "north"], []]
        return {"tags": self.hand.one(tags)} if self.hand.chance(20) else {}

    def code(self) -> str:
        return self.hand.one(ACCOUNTS if self.hand.chance(40) else ACCOUNTS[:4])

    def transfer(self, line: BankLine | None) -> Body:
        """Return the other account of a transfer, or a line, mostly of the other direction."""
        body: Body = {"target_type": "transfer"}
        if self.hand.chance(25):
            left = self.books.unexplained(line) if line else 1
            body["amount_cents"] = max(1, self.hand.one((left // 2, left, left + 1)))
        accounts = list(self.books.bank_accounts.values())
        lines = list(self.books.bank_lines.values())
        if not lines or self.hand.chance(50):
            known = accounts and not self.hand.chance(3)
            id = self.hand.one(accounts).id if known else NOBODY
            return {**body, "bank_account_id": id}
        fitting = [e for e in lines if line and e.moves * line.moves < 0]
        chosen = lines if not fitting or self.hand.chance(15) else fitting
        return {**body, "target_id": self.hand.one(chosen).id}

    def entry(self) -> Body:
        """Return an entry of two or three lines, which mostly balance."""
        hand = self.hand
        codes = [each.code for each in self.books.bank_accounts.values()]
        known: Sequence[str] = (*ACCOUNTS[:5], *codes) if not hand.chance(6) else ACCOUNTS
        amount, part = hand.one(AMOUNTS), 0
        lines = [{"account": hand.one(known), "debit_amount": amount}]
        if amount > 1 and hand.chance(30):
            part = amount // 3
            lines.append({"account": hand.one(known), "credit_amount": part})
        rest = amount - part + (1 if hand.chance(4) else 0)
        lines.append({"account": hand.one(known), "credit_amount": rest})
        return {"entry_date": self.day, "lines": [{**each, **self.tags()} for each in lines]}

    def new_entry(self) -> Body:
        posted = {"post": True} if self.hand.chance(40) else {}
        author = {"created_by": self.hand.one(("ai", "import"))} if self.hand.chance(15) else {}
        return {**self.entry(), **posted, **author}


def open_lines(hand: Hand, books: Books) -> dict[str, BankLine]:
    """Return the lines with an unexplained amount, now and then all."""
    return dict(likely(hand, books.bank_lines, books.unexplained))


def some_account(hand: Hand, accounts: Sequence[BankAccount]) -> str:
    """Return the id of a bank account, most often of the first."""
    return accounts[0].id if hand.chance(60) else hand.one(accounts).id
