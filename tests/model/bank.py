"""The moves at banks and of manual entries, on both sides."""

from datetime import timedelta

from tests.model import bank_moves, entry_moves, holds
from tests.model.answer_ids import UNKNOWN, bind_lines, bind_link, bind_transfer, into
from tests.model.bank_bodies import BankBodies, open_lines, some_account
from tests.model.bodies import NOBODY
from tests.model.books import Body, Books
from tests.model.moves import Moves, by_external_id, in_state, likely
from tests.model.play import Move, Records
from tests.model.records import BankLine, Entry, Payment, Transfer

ACCOUNTS, LINES = "bank-accounts/", "bank-transactions/"
ENTRIES = "general-ledger/journal-entries/"
NEAR = timedelta(days=90)
OTHERS = ("journal_entry", "transfer")


class BankMoves(Moves):
    """The moves of one step at the bank, or with manual entries."""

    @property
    def at_bank(self) -> BankBodies:
        return BankBodies(self.hand, self.books, self.bodies.day())

    def open_bank_account(self) -> None:
        body = self.at_bank.account()
        known = by_external_id(self.books.bank_accounts, body)
        move = Move(
            "POST",
            ACCOUNTS,
            body,
            lambda b: [bank_moves.open_account(b, body)],
            into("bank_accounts"),
            known,
            success=201,
            may_preview=False,
        )
        self.make("open bank account", move)

    def import_lines(self) -> None:
        accounts = list(self.books.bank_accounts.values())
        id = NOBODY if self.hand.chance(2) else some_account(self.hand, accounts)
        body = self.at_bank.statement(id)
        move = Move(
            "POST",
            LINES,
            body,
            lambda b: bank_moves.import_lines(b, body),
            bind_lines,
            may_preview=False,
        )
        self.make("import lines", move)

    def match(self) -> None:
        id, line = self.pick(open_lines(self.hand, self.books))
        body = self.at_bank.match(line)

        def act(books: Books) -> Records:
            link, affected = bank_moves.match(books, id, body)
            touched = [] if isinstance(link.money, Entry) else [link.money]
            return [link.line, *touched, *affected]

        move = Move("POST", f"{LINES}{id}/match/", body, act, bind_link)
        what = "return of " if body.get("of") == "return" else ""
        self.make(f"match {what}{body['target_type']}", move.at(line))

    def unmatch(self) -> None:
        known = [each for each in self.books.links if not each.id.startswith(UNKNOWN)]
        link = self.hand.one(known) if known else None
        id, line = (link.line.id, link.line) if link else self.pick(self.books.bank_lines)
        if self.hand.chance(5):
            id, line = self.pick(self.books.bank_lines)
        body = {"reconciliation_link_id": link.id if link and not self.hand.chance(3) else NOBODY}

        def act(books: Books) -> Records:
            ended = bank_moves.unmatch(books, id, body)
            money = [e.money for e in ended if not isinstance(e.money, Transfer | Entry)]
            lines = sorted((each.line for each in ended), key=lambda each: each.id != id)
            return [*lines, *money]

        self.make("unmatch", Move("POST", f"{LINES}{id}/unmatch/", body, act).at(line))

    def transfer(self) -> None:
        id, line = self.pick(open_lines(self.hand, self.books))
        body = self.at_bank.transfer(line)

        def act(books: Books) -> Records:
            return sorted(bank_moves.transfer(books, id, body), key=lambda each: each.id != id)

        move = Move("POST", f"{LINES}{id}/match/", body, act, bind_transfer)
        self.make("transfer", move.at(line))

    def categorize(self) -> None:
        id, line = self.pick(open_lines(self.hand, self.books))
        body = self.at_bank.category(line)
        path = f"{LINES}{id}/categorize/"
        move = Move("POST", path, body, lambda b: [bank_moves.categorize(b, id, body)])
        self.make("categorize", move.at(line))

    def uncategorize(self) -> None:
        id, line = self.pick(likely(self.hand, self.books.bank_lines, lambda each: each.parts))
        path = f"{LINES}{id}/uncategorize/"
        move = Move("POST", path, None, lambda b: [bank_moves.uncategorize(b, id)])
        self.make("uncategorize", move.at(line))

    def suggest(self) -> None:
        """Read suggestions: each must be a possible match, and exact matches must be among them."""
        id, line = self.pick(open_lines(self.hand, self.books))
        answer = self.play.caller.get(f"{LINES}{id}/suggestions/")
        if line is None:
            return
        shown = answer.json()["results"]
        if not all(self.is_other(line, each) for each in shown if each["target_type"] in OTHERS):
            self.play.diverge(f"a line of {line.amount} may be no such thing", answer)
        told = {
            (each["target_id"], each["amount_cents"])
            for each in shown
            if each["target_type"] not in OTHERS and each["of"] == "original"
        }
        able = set(bank_moves.matches(self.books, line))
        fitting = {
            (money.id, amount)
            for money, amount in able
            if amount == self.books.unexplained(line) == holds.rest(self.books, money)
            and isinstance(money, Payment)
            and holds.moves(self.books.side, money) * self.books.side.sign > 0
            and abs(money.paid_on - line.day) <= NEAR
        }
        if not fitting <= told <= {(money.id, amount) for money, amount in able}:
            self.play.diverge(f"a line of {line.amount} may be other money", answer)
        self.play.counts.note("suggest: done" if told else "suggest: nothing")

    def is_other(self, line: BankLine, told: Body) -> bool:
        """Return whether a suggested entry, or a suggested line of another account, fits a line."""
        left = self.books.unexplained(line)
        if told["target_type"] == "journal_entry":
            entry = self.books.entries[told["target_id"]]
            moved = sum(amount for code, amount in entry.lines if code == line.account.code)
            rest = holds.rest_at(self.books, entry, line.account)
            same = moved * line.moves > 0 and rest == left == told["amount_cents"]
            return entry.status == "approved" and same
        other = self.books.bank_lines[told["target_id"]]
        if other.direction == line.direction or other.account is line.account:
            return False
        waiting = any(bank_moves.waits(each.money, line) for each in self.books.links_of(other))
        return waiting or self.books.unexplained(other) == left == told["amount_cents"]

    def make_rule(self) -> None:
        body = self.at_bank.rule()

        def act(books: Books) -> Records:
            return [bank_moves.make_rule(books, body)]

        move = Move("POST", "bank-rules/", body, act, into("rules"), success=201, may_preview=False)
        self.make("make bank rule", move)

    # Manual entries.

    def write_entry(self) -> None:
        body = self.at_bank.new_entry()

        def act(books: Books) -> Records:
            return [entry_moves.write(books, body)]

        self.make("write entry", Move("POST", ENTRIES, body, act, into("entries"), success=201))

    def rewrite_entry(self) -> None:
        id, entry = self.pick(in_state(self.hand, self.books.entries, "draft"))
        body = self.at_bank.entry()

        def act(books: Books) -> Records:
            return [entry_moves.rewrite(books, id, body)]

        move = Move("PUT", f"{ENTRIES}{id}/", body, act, may_preview=False)
        self.make("rewrite entry", move.at(entry))

    def approve_entry(self) -> None:
        id, entry = self.pick(in_state(self.hand, self.books.entries, "draft"))
        path = f"{ENTRIES}{id}/approve/"
        move = Move("POST", path, None, lambda b: [entry_moves.approve(b, id)])
        self.make("approve entry", move.at(entry))

    def reject_entry(self) -> None:
        id, entry = self.pick(in_state(self.hand, self.books.entries, "draft"))
        path = f"{ENTRIES}{id}/reject/"
        move = Move("POST", path, None, lambda b: [entry_moves.reject(b, id)], may_preview=False)
        self.make("reject entry", move.at(entry))

    def reverse_entry(self) -> None:
        id, entry = self.pick(in_state(self.hand, self.books.entries, "approved"))
        body: Body = self.bodies.maybe(40, "entry_date", self.bodies.day)

        def act(books: Books) -> Records:
            mirror = entry_moves.reverse(books, id, body)
            return [mirror, mirror.takes_back]

        path = f"{ENTRIES}{id}/reverse/"
        move = Move("POST", path, body, act, into("entries"), success=201)
        self.make("reverse entry", move.at(entry))
