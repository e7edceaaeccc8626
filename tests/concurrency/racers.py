"""Clients who settle, release and give back of the same few invoices, as fast as they can."""

import random
import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from time import monotonic
from typing import Any

import httpx

from tests.builders.sales import payment_body
from tests.builders.trade import SENT, Record

PAYMENTS, CREDITS, REFUNDS = "invoices/payments/", "customer-credits/", "invoices/refunds/"
STATUSES = ("pending", "processing", "completed", "completed", "failed", "cancelled")


@dataclass
class Ring:
    """What the clients fight over: all of them name the same invoices and change what any made."""

    buyer: Record
    invoices: list[str]
    payments: list[str] = field(default_factory=list)
    credits: list[str] = field(default_factory=list)
    write_offs: list[tuple[str, str]] = field(default_factory=list)
    refunds: list[str] = field(default_factory=list)
    refund_payments: list[tuple[str, str]] = field(default_factory=list)
    answers: Counter[tuple[str, int, str]] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def note(self, move: str, answer: httpx.Response) -> None:
        """Count an answer."""
        code = answer.json()["error_code"] if answer.status_code >= 400 else ""
        with self.lock:
            self.answers[move, answer.status_code, code] += 1

    def count(self, fits: Callable[[str, int], object]) -> int:
        """How many answers fit, by move and status."""
        return sum(n for (move, status, _), n in self.answers.items() if fits(move, status))


class Racer(threading.Thread):
    """One client with a connection of its own."""

    def __init__(self, ring: Ring, api: httpx.Client, until: float) -> None:
        super().__init__(daemon=True)
        self.ring = ring
        self.api = api
        self.dice = random.Random()
        self.until = until

    def run(self) -> None:
        moves = [
            (self.pay, 5),
            (self.reallocate, 5),
            (self.release, 3),
            (self.turn, 4),
            (self.cancel, 2),
            (self.credit, 3),
            (self.reapply, 4),
            (self.void_credit, 1),
            (self.write_off, 3),
            (self.reverse, 3),
            (self.refund, 4),
            (self.cancel_refund, 2),
            (self.pay_refund, 3),
            (self.cancel_refund_payment, 1),
        ]
        names, weights = zip(*moves, strict=True)
        while monotonic() < self.until and not self.ring.faults:
            [move] = self.dice.choices(names, weights)
            try:
                answer = move()
            except Exception as error:  # An undocumented answer, too.
                self.ring.faults.append(f"{move.__name__}: {error!r}")
                return
            if answer is not None:
                self.ring.note(move.__name__, answer)

    def parts(self, amount: str = "amount_cents") -> list[Record]:
        """Amounts for a few of the invoices, in any order."""
        chosen = self.dice.sample(self.ring.invoices, self.dice.randint(1, 3))
        return [{"invoice_id": each, amount: self.dice.randint(1, 400)} for each in chosen]

    def one(self, things: list[Any]) -> Any:
        """Something anybody made; nothing where there is nothing yet."""
        return self.dice.choice(things) if things else None

    # Payments.

    def pay(self) -> httpx.Response:
        """Pay, with a fee now and then; some of it is not meant for anything."""
        parts = self.parts()
        total = sum(each["amount_cents"] for each in parts) + self.dice.choice((0, 0, 150))
        status = self.dice.choice(STATUSES[:4])
        facts = {"status": status, "processing_fee_cents": self.dice.choice((0, 0, 7))}
        body = payment_body(self.ring.buyer, total, allocations=parts, **facts)
        answer = self.api.post(PAYMENTS, json=body)
        if answer.status_code == 201:
            self.ring.payments.append(answer.json()["payment"]["id"])
        return answer

    def change(self, body: Record) -> httpx.Response | None:
        payment = self.one(self.ring.payments)
        return payment and self.api.patch(f"{PAYMENTS}{payment}/", json=body)

    def reallocate(self) -> httpx.Response | None:
        return self.change({"allocations": self.parts()})

    def release(self) -> httpx.Response | None:
        return self.change({"allocations": []})

    def turn(self) -> httpx.Response | None:
        """Complete it, send it back on its way, or let it bounce."""
        return self.change({"status": self.dice.choice(STATUSES)})

    def cancel(self) -> httpx.Response | None:
        payment = self.one(self.ring.payments)
        return payment and self.api.post(f"{PAYMENTS}{payment}/delete/")

    # Credits and write-offs.

    def credit(self) -> httpx.Response:
        parts = self.parts("amount")
        lines = [{"amount": sum(each["amount"] for each in parts) + 50, "tax_amount_cents": 10}]
        body = {"customer_id": self.ring.buyer["id"], "line_items": lines, "sent_at": SENT}
        answer = self.api.post(CREDITS, json={**body, "allocations": parts})
        if answer.status_code == 201:
            self.ring.credits.append(answer.json()["id"])
        return answer

    def reapply(self) -> httpx.Response | None:
        credit = self.one(self.ring.credits)
        parts = self.parts("amount") if self.dice.random() < 0.6 else []
        return credit and self.api.put(f"{CREDITS}{credit}/", json={"allocations": parts})

    def void_credit(self) -> httpx.Response | None:
        credit = self.one(self.ring.credits)
        return credit and self.api.post(f"{CREDITS}{credit}/void/")

    def write_off(self) -> httpx.Response:
        invoice = self.one(self.ring.invoices)
        body = {} if self.dice.random() < 0.2 else {"amount_cents": self.dice.randint(1, 200)}
        answer = self.api.post(f"invoices/{invoice}/write-offs/", json=body)
        if answer.status_code == 201:
            found = {(invoice, each["id"]) for each in answer.json()["write_offs"]}
            with self.ring.lock:
                self.ring.write_offs += found - set(self.ring.write_offs)
        return answer

    def reverse(self) -> httpx.Response | None:
        found = self.one(self.ring.write_offs)
        return found and self.api.delete(f"invoices/{found[0]}/write-offs/{found[1]}/")

    # Refunds.

    def refund(self) -> httpx.Response:
        """Give back of an invoice, or of a payment what settles nothing; paid at once or not."""
        body: Record = {"invoice_id": self.one(self.ring.invoices)}
        if self.ring.payments and self.dice.random() < 0.4:
            body = {"payment_id": self.one(self.ring.payments)}
        if self.dice.random() < 0.8:
            body["amount_cents"] = self.dice.randint(1, 200)
        if self.dice.random() < 0.3:
            body["completed_at"] = SENT
        answer = self.api.post(REFUNDS, json=body)
        if answer.status_code == 201:
            self.ring.refunds.append(answer.json()["id"])
        return answer

    def cancel_refund(self) -> httpx.Response | None:
        refund = self.one(self.ring.refunds)
        return refund and self.api.delete(f"{REFUNDS}{refund}/")

    def pay_refund(self) -> httpx.Response | None:
        refund = self.one(self.ring.refunds)
        if refund is None:
            return None
        body = {} if self.dice.random() < 0.5 else {"amount_cents": self.dice.randint(1, 100)}
        answer = self.api.post(f"{REFUNDS}{refund}/payments/", json=body)
        if answer.status_code == 201:
            self.ring.refund_payments.append((refund, answer.json()["id"]))
        return answer

    def cancel_refund_payment(self) -> httpx.Response | None:
        found = self.one(self.ring.refund_payments)
        return found and self.api.post(f"{REFUNDS}{found[0]}/payments/{found[1]}/delete/")
