"""The account of a customer or vendor, with the expected and actual postings of its documents."""

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import Any

from tests.api_server import ApiServer
from tests.bookkeeping import Ledger
from tests.builders.trade import SALES, Record, Trade
from tests.partner import Business

Statement = list[tuple[str, Record]]


def checked(answer: Any, status: int = 200) -> Record:
    """Return the body of an answer, after a check of its status."""
    assert answer.status_code == status, answer.text
    body: Record = answer.json()
    return body


@dataclass
class Account:
    """A customer's or vendor's account, with the expected postings of each document so far."""

    shop: Business
    party: Record
    trade: Trade = SALES
    statements: dict[str, Statement] = field(default_factory=lambda: defaultdict(list))

    def pay(self, on: str, total: int, *parts: Record, **facts: Any) -> Record:
        """Record a payment of a day."""
        return self.trade.pay(self.shop, self.party, total, *parts, payment_date=on, **facts)

    def change(self, payment: Record, **changes: Any) -> Record:
        return self.trade.change(self.shop, payment, **changes)

    def expect(self, record: Record, on: str, **amounts: int) -> None:
        """Record an expected posting of a document: debits above zero, by account."""
        lines = {code.removeprefix("on_"): amount for code, amount in amounts.items()}
        assert sum(lines.values()) == 0
        self.statements[record["id"]].append((on, lines))

    def get(self, path: str, **asked: Any) -> Record:
        return checked(self.shop.api.get(path, params=asked))

    def standing(self, document: Record) -> tuple[str, int]:
        """Return the status of a document and its outstanding amount."""
        return self.trade.status_of(self.shop, document)

    def listed(self, path: str, **asked: Any) -> list[Record]:
        page = self.get(path, page_size=100, **asked)
        assert page["next"] is None
        results: list[Record] = page["results"]
        return results

    def held(self, code: str) -> int:
        """Return the balance of an account, positive on its own side."""
        return self.shop.balance(code)

    def posted(self) -> dict[str, Statement]:
        """Return the postings of each document in the journal, the oldest first."""
        found: dict[str, Statement] = defaultdict(list)
        for each in self.listed("general-ledger/journal-entries/", sort="created_at"):
            entry = self.get(f"general-ledger/journal-entries/{each['id']}/")
            lines: Counter[str] = Counter()
            for line in entry["lines"]:
                lines[line["account_code"]] += line["debit_amount"] - line["credit_amount"]
            found[entry["source_id"]].append((entry["entry_date"], dict(lines)))
        return found

    def credit_over_two(self, first: Record, second: Record, **facts: Any) -> None:
        """Credit 150.00 and its tax: 120.00 settle two documents, and 60.00 stay unapplied."""
        trade, parts = self.trade, (self.trade.share(first, 8_000), self.trade.share(second, 4_000))
        lines = [{"amount": 15_000, "tax_amount_cents": 3_000, "memo": "Damage"}]
        given = {"line_items": lines, trade.moment: "2025-05-10T09:00:00Z", **facts}
        credit = trade.credit(self.shop, self.party, 15_000, *parts, **given)
        posted = {trade.credit_control: -18_000, trade.credit_line: 15_000, trade.tax: 3_000}
        self.expect(credit, "2025-05-10", **trade.signed(posted))
        self.expect(credit, "2025-05-10", **trade.posted_by_applying(12_000))
        assert (credit["status"], credit["unapplied_amount"]) == ("partially_applied", 6_000)

    def explain(self, owed: int, in_advance: int, credited: int) -> None:
        """Check each control balance against the documents that explain it."""
        trade = self.trade
        outstanding = [each["outstanding_balance"] for each in self.listed(trade.path)]
        party = self.get(trade.of_party(self.party))
        assert self.held(trade.control) == sum(outstanding) == owed
        assert party["outstanding_balance"] == owed
        payments = self.listed(trade.payments, status="completed")
        assert self.held(trade.advance) == in_advance
        assert sum(each[trade.remaining] for each in payments) == in_advance
        unapplied = [each["unapplied_amount"] for each in self.listed(trade.credits)]
        assert self.held(trade.credit_control) == sum(unapplied) == credited

    def prove(self, api_server: ApiServer) -> None:
        """Check the ledger, and compare its balances with the expected postings."""
        ledger = Ledger(api_server, self.shop)
        ledger.audit()
        total: Counter[str] = Counter()
        for statement in self.statements.values():
            for _, lines in statement:
                total.update(lines)
        assert {code: amount for code, amount in total.items() if amount} == ledger.balances()
