"""A bank account, its lines, and the requests that match and reconcile them."""

from dataclasses import dataclass, field
from itertools import count
from typing import Any

import httpx

from tests.builders.trade import Record
from tests.partner import Business

LINES = "bank-transactions/"
BOOKED = "2025-03-12"
_numbers = count(1)

PAYMENT = "invoice_payment"
REFUND_PAYMENT = "invoice_refund_payment"
BILL_PAYMENT = "bill_payment"
VENDOR_REFUND_PAYMENT = "vendor_refund_payment"
PAYOUT = "payout"
JOURNAL_ENTRY = "journal_entry"
TRANSFER = "transfer"
RULES = "bank-rules/"


def open_account(shop: Business, **facts: Any) -> Record:
    """Open a bank account with an account of the chart other than the default bank account."""
    return shop.made("bank-accounts/", {"display_name": "Savings", "currency": "GBP", **facts})


@dataclass(frozen=True)
class Bank:
    """A bank account of a business."""

    shop: Business
    account: Record = field(default_factory=dict)

    @property
    def code(self) -> str:
        """Return the code of its account of the chart."""
        return str(self.account["account"]["code"])

    def line(self, amount: int, **facts: Any) -> Record:
        """Import a line: money in where the amount is above zero, else money out."""
        body = {
            "external_id": f"line {next(_numbers)}",
            "date": BOOKED,
            "amount_cents": abs(amount),
            "direction": "credit" if amount > 0 else "debit",
            **facts,
        }
        answer = self.shop.api.post(
            LINES, json={"bank_account_id": self.account["id"], "transactions": [body]}
        )
        assert answer.status_code == 200, answer.text
        [result] = answer.json()["results"]
        return self.read(result)

    def read(self, line: Record) -> Record:
        answer = self.shop.api.get(f"{LINES}{line['id']}/")
        assert answer.status_code == 200, answer.text
        shown: Record = answer.json()
        return shown

    def ask(self, line: Record, what: str, body: Any = None, **options: Any) -> httpx.Response:
        return self.shop.api.post(f"{LINES}{line['id']}/{what}/", json=body, **options)

    def done(self, line: Record, what: str, body: Any = None) -> Record:
        answer = self.ask(line, what, body)
        assert answer.status_code == 200, answer.text
        shown: Record = answer.json()
        return shown

    def match(self, line: Record, kind: str, target: Record, amount: int | None = None) -> Record:
        return self.done(line, "match", matching(kind, target, amount))

    def match_return(self, line: Record, kind: str, target: Record) -> Record:
        """Match a line with the return of money."""
        return self.done(line, "match", matching(kind, target, of="return"))

    def unmatch(self, line: Record, place: int = 0) -> Record:
        """Remove a link of a line, the first by default."""
        link = self.read(line)["links"][place]
        return self.done(
            line, "unmatch", {"reconciliation_link_id": link["reconciliation_link_id"]}
        )

    def categorize(self, line: Record, account: str, **facts: Any) -> Record:
        return self.done(line, "categorize", {"account": account, **facts})

    def uncategorize(self, line: Record) -> Record:
        return self.done(line, "uncategorize")

    def transfer(self, line: Record, to: "Bank", **facts: Any) -> Record:
        """Begin a transfer with a line; the other account's line completes it."""
        body = {"target_type": TRANSFER, "bank_account_id": to.account["id"], **facts}
        return self.done(line, "match", body)

    def split(self, line: Record, **parts: int) -> Record:
        """Post a line in parts: `_6300=12` posts 12 to 6300."""
        return self.done(line, "categorize", {"splits": splits(**parts)})

    def suggestions(self, line: Record) -> Record:
        answer = self.shop.api.get(f"{LINES}{line['id']}/suggestions/")
        assert answer.status_code == 200, answer.text
        shown: Record = answer.json()
        return shown

    def suggested(self, line: Record) -> list[Record]:
        found: list[Record] = self.suggestions(line)["results"]
        return found

    @property
    def statements(self) -> str:
        """Return the path of the account's reconciliations."""
        return f"bank-accounts/{self.account['id']}/reconciliations/"

    def reconcile(self, on: str, balance: int) -> Record:
        """Compare a statement with the ledger."""
        body = {"statement_date": on, "closing_balance_cents": balance}
        answer = self.shop.api.post(self.statements, json=body)
        assert answer.status_code in (200, 201), answer.text
        shown: Record = answer.json()
        return shown

    def closed(self, on: str, balance: int) -> Record:
        """Reconcile a statement and check that it closes."""
        shown = self.reconcile(on, balance)
        assert shown["status"] == "closed", shown
        return shown

    def reopen(self, statement: Record) -> Record:
        answer = self.shop.api.post(f"{self.statements}{statement['id']}/reopen/")
        assert answer.status_code == 200, answer.text
        shown: Record = answer.json()
        return shown

    def refused(self, line: Record, what: str, body: Any = None) -> tuple[int, str]:
        answer = self.ask(line, what, body)
        return answer.status_code, answer.json()["error_code"]


def splits(**parts: int) -> list[Record]:
    """Return the parts of a line by account: `_6300=12` is 12 to 6300."""
    return [{"account": name[1:], "amount_cents": amount} for name, amount in parts.items()]


def made_rule(shop: Business, text: str, account: str = "6300", **facts: Any) -> Record:
    """Create a bank rule that assigns lines with a text to an account."""
    body = {"name": text, "conditions": {"text": text}, "result": {"account": account}, **facts}
    return shop.made(RULES, body)


def matching(kind: str, target: Record, amount: int | None = None, **facts: Any) -> Record:
    """Return the body of a match."""
    body = {"target_type": kind, "target_id": target["id"], **facts}
    return body if amount is None else {**body, "amount_cents": amount}


def left(line: Record) -> tuple[int, int, int]:
    """Return the linked, the categorized and the remaining amount of a line."""
    names = ("linked_amount_cents", "categorized_amount_cents", "remaining_amount_cents")
    linked, categorized, remaining = (line[name] for name in names)
    return linked, categorized, remaining
