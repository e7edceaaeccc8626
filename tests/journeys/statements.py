"""An account told as a story: what each document is to have posted, beside what it has."""

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import Any

from tests.api_server import ApiServer
from tests.bookkeeping import Ledger
from tests.partner import Business

Record = dict[str, Any]
Statement = list[tuple[str, Record]]

PATHS = {"Invoice": "invoices/", "Bill": "bills/"}


def told(answer: Any, status: int = 200) -> Record:
    assert answer.status_code == status, answer.text
    body: Record = answer.json()
    return body


@dataclass
class Account:
    """A customer's or vendor's account, and the statement of each document as it grows."""

    shop: Business
    party: Record
    statements: dict[str, Statement] = field(default_factory=lambda: defaultdict(list))

    def expect(self, record: Record, on: str, **amounts: int) -> None:
        """Write down what a document is to have posted: debits above zero, by account."""
        lines = {code.removeprefix("on_"): amount for code, amount in amounts.items()}
        assert sum(lines.values()) == 0
        self.statements[record["id"]].append((on, lines))

    def get(self, path: str, **asked: Any) -> Record:
        return told(self.shop.api.get(path, params=asked))

    def standing(self, document: Record) -> tuple[str, int]:
        shown = self.get(f"{PATHS[document['type']]}{document['id']}/")
        return shown["status"], shown["outstanding_balance"]

    def listed(self, path: str, **asked: Any) -> list[Record]:
        page = self.get(path, page_size=100, **asked)
        assert page["next"] is None
        results: list[Record] = page["results"]
        return results

    def held(self, code: str) -> int:
        """The balance of an account, positive on its own side."""
        return self.shop.balance(code)

    def posted(self) -> dict[str, Statement]:
        """What the journal says of each document, in the order of its numbers."""
        found: dict[str, Statement] = defaultdict(list)
        for each in self.listed("general-ledger/journal-entries/", sort="created_at"):
            entry = self.get(f"general-ledger/journal-entries/{each['id']}/")
            lines: Counter[str] = Counter()
            for line in entry["lines"]:
                lines[line["account_code"]] += line["debit_amount"] - line["credit_amount"]
            found[entry["source_id"]].append((entry["entry_date"], dict(lines)))
        return found

    def prove(self, api_server: ApiServer) -> None:
        """Hold the balances against the statements, and prove the books."""
        ledger = Ledger(api_server, self.shop)
        ledger.audit()
        total: Counter[str] = Counter()
        for statement in self.statements.values():
            for _, lines in statement:
                total.update(lines)
        assert {code: amount for code, amount in total.items() if amount} == ledger.balances()
