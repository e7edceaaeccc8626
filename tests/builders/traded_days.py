"""A random history of one side of trade, on days of 2025."""

from dataclasses import dataclass, field
from random import Random
from typing import Any

import httpx

from tests.builders.trade import SALES, Record, Trade
from tests.builders.vendor_refunds import as_credit, of_bill, of_credit, of_payment
from tests.partner import Business

MOVES = (
    *("open", "open", "open", "pay", "pay", "pay_in_advance", "reallocate", "bounce"),
    *("void", "write_off", "reverse_write_off", "credit", "credit", "void_credit"),
    *("refund", "refund", "refund_payment", "refund_credit"),
)


@dataclass
class TradedDays:
    """The documents and payments so far, and how often each kind of move succeeded."""

    shop: Business
    trade: Trade
    lots: Random
    parties: list[Record] = field(default_factory=list)
    documents: list[Record] = field(default_factory=list)
    payments: list[Record] = field(default_factory=list)
    credits: list[Record] = field(default_factory=list)
    written_off: list[Record] = field(default_factory=list)
    taken: dict[str, int] = field(default_factory=dict)

    def play(self, moves: int) -> None:
        """Make so many random moves; the server may refuse a move."""
        self.parties = [self.trade.somebody(self.shop) for _ in range(3)]
        for _ in range(moves):
            name = self.lots.choice(MOVES)
            answer: httpx.Response | None = getattr(self, name)()
            if answer is not None:
                assert answer.status_code < 500, answer.text
                if answer.status_code < 300:
                    self.taken[name] = self.taken.get(name, 0) + 1

    # ── Moves ──────────────────────────────────────────────────────────────────────────────────

    def open(self) -> httpx.Response:
        party, day = self.lots.choice(self.parties), self.day()
        due = {"due_at": f"{self.day()}T23:30:00Z"} if self.lots.random() < 0.7 else {}
        moment = {self.trade.moment: f"{self.day()}T09:00:00Z", **self.trade.on(day), **due}
        line = {"quantity": 1, "unit_price": self.amount()}
        return self.kept(
            self.documents, self.post(self.trade.path, self.trade.body(party, line, **moment))
        )

    def pay(self) -> httpx.Response | None:
        document = self.some(self.documents)
        if document is None:
            return None
        amount = max(1, document["total_amount"] // self.lots.randint(1, 4))
        parts = [self.trade.part(document, amount)]
        return self.paid(document[self.trade.party], amount + self.lots.choice((0, 777)), parts)

    def pay_in_advance(self) -> httpx.Response:
        return self.paid(self.lots.choice(self.parties), self.amount(), [])

    def paid(self, party: Record, total: int, parts: list[Record]) -> httpx.Response:
        facts = {"payment_date": self.day(), "allocations": parts}
        body = self.trade.payment_body(party, total, **facts)
        answer = self.post(self.trade.payments, body)
        if answer.status_code == 201:
            self.payments.append(answer.json()["payment"])
        return answer

    def reallocate(self) -> httpx.Response | None:
        payment, document = self.some(self.payments), self.some(self.documents)
        if payment is None or document is None:
            return None
        total = payment[self.trade.total]
        parts = [self.trade.part(document, max(1, total // 3))] if self.lots.random() < 0.5 else []
        changes: Record = {"allocations": parts}
        if self.lots.random() < 0.3:
            changes["payment_date"] = self.day()
        return self.shop.api.patch(self.trade.of_payment(payment), json=changes)

    def bounce(self) -> httpx.Response | None:
        payment = self.some(self.payments)
        if payment is None:
            return None
        status = self.lots.choice(("failed", "completed"))
        return self.shop.api.patch(self.trade.of_payment(payment), json={"status": status})

    def void(self) -> httpx.Response | None:
        return self.moved(self.documents, self.trade.path, "void")

    def write_off(self) -> httpx.Response | None:
        document = self.some(self.documents)
        if document is None:
            return None
        given = {"write_off_at": f"{self.day()}T12:00:00Z", "amount_cents": self.amount() // 20 + 1}
        return self.kept(self.written_off, self.post(self.trade.of(document, "write-offs"), given))

    def reverse_write_off(self) -> httpx.Response | None:
        document = self.some(self.written_off)
        if document is None:
            return None
        written = f"write-offs/{document['write_offs'][-1]['id']}"
        return self.shop.api.delete(self.trade.of(document, written))

    def credit(self) -> httpx.Response:
        document, total = self.some(self.documents), self.amount()
        party = document[self.trade.party] if document else self.parties[0]
        shares = [self.trade.share(document, total // 2)] if document else []
        shares = shares if self.lots.random() < 0.6 else []
        facts = {self.trade.moment: f"{self.day()}T09:00:00Z", "allocations": shares}
        body = self.trade.credit_body(party, {"amount": total}, **facts)
        return self.kept(self.credits, self.post(self.trade.credits, body))

    def void_credit(self) -> httpx.Response | None:
        return self.moved(self.credits, self.trade.credits, "void")

    def refund(self) -> httpx.Response | None:
        return self.given_back("invoice_id", of_bill, self.some(self.documents))

    def refund_payment(self) -> httpx.Response | None:
        return self.given_back("payment_id", of_payment, self.some(self.payments))

    def refund_credit(self) -> httpx.Response | None:
        return self.given_back("credit_id", of_credit, self.some(self.credits))

    def given_back(self, name: str, part: Any, target: Record | None) -> httpx.Response | None:
        if target is None:
            return None
        amount = self.amount() // 100 + 1
        if self.trade is SALES:
            day = f"{self.day()}T12:00:00Z"
            body = {name: target["id"], "amount_cents": amount, "completed_at": day}
            return self.post("invoices/refunds/", body)
        items = [part(target, amount)]
        if self.lots.random() < 0.3:
            items = [as_credit(amount)]
        body = {
            "vendor_id": (target.get("vendor") or {}).get("id") or target["vendor_id"],
            "total_amount_cents": amount,
            "currency": "GBP",
            "refund_date": self.day(),
            "allocations": items,
        }
        return self.post("vendor-refunds/payments/", body)

    # ── Helpers ────────────────────────────────────────────────────────────────────────────────

    def day(self) -> str:
        return f"2025-{self.lots.randint(1, 12):02d}-{self.lots.randint(1, 28):02d}"

    def amount(self) -> int:
        return self.lots.randint(1, 20_000)

    def some(self, known: list[Record]) -> Record | None:
        return self.lots.choice(known) if known else None

    def post(self, path: str, body: Record) -> httpx.Response:
        return self.shop.api.post(path, json=body)

    def moved(self, known: list[Record], path: str, move: str) -> httpx.Response | None:
        found = self.some(known)
        return None if found is None else self.post(f"{path}{found['id']}/{move}/", {})

    def kept(self, known: list[Record], answer: httpx.Response) -> httpx.Response:
        if answer.status_code == 201:
            known.append(answer.json())
        return answer
