"""A bank account with lines to match, and what is asked of them, as short as it can be said."""

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


def open_account(shop: Business, **facts: Any) -> Record:
    """Open a bank account over an account of its own, so that it is told from the chart's bank."""
    return shop.made("bank-accounts/", {"display_name": "Savings", "currency": "GBP", **facts})


@dataclass(frozen=True)
class Bank:
    """A bank account of a business."""

    shop: Business
    account: Record = field(default_factory=dict)

    @property
    def code(self) -> str:
        """The account of the chart that it stands for."""
        return str(self.account["account"]["code"])

    def line(self, amount: int, **facts: Any) -> Record:
        """Import a line: money comes in, unless it is said that it goes out."""
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

    def unmatch(self, line: Record, place: int = 0) -> Record:
        """Take one of the links of a line back."""
        link = self.read(line)["links"][place]
        return self.done(
            line, "unmatch", {"reconciliation_link_id": link["reconciliation_link_id"]}
        )

    def categorize(self, line: Record, account: str, **facts: Any) -> Record:
        return self.done(line, "categorize", {"account": account, **facts})

    def uncategorize(self, line: Record) -> Record:
        return self.done(line, "uncategorize")

    def suggested(self, line: Record) -> list[Record]:
        answer = self.shop.api.get(f"{LINES}{line['id']}/suggestions/")
        assert answer.status_code == 200, answer.text
        found: list[Record] = answer.json()["results"]
        return found

    def refused(self, line: Record, what: str, body: Any = None) -> tuple[int, str]:
        answer = self.ask(line, what, body)
        return answer.status_code, answer.json()["error_code"]


def matching(kind: str, target: Record, amount: int | None = None, **facts: Any) -> Record:
    """The body of a match."""
    body = {"target_type": kind, "target_id": target["id"], **facts}
    return body if amount is None else {**body, "amount_cents": amount}


def left(line: Record) -> tuple[int, int, int]:
    """What of a line is linked, categorized and left."""
    names = ("linked_amount_cents", "categorized_amount_cents", "remaining_amount_cents")
    linked, categorized, remaining = (line[name] for name in names)
    return linked, categorized, remaining
