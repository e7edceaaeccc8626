"""Clients that settle, release and refund the same few invoices as fast as they can."""

from dataclasses import dataclass, field
from typing import Any, ClassVar

import httpx

from tests.builders.sales import CREDITS, PAYMENTS, REFUNDS, payment_body
from tests.builders.trade import SENT, Record
from tests.concurrency.races import Contest, Racer

STATUSES = ("pending", "processing", "completed", "completed", "failed", "cancelled")


@dataclass
class InvoiceContest(Contest):
    """The invoices that all clients change, and the records they have created."""

    buyer: Record
    invoices: list[str]
    payments: list[str] = field(default_factory=list)
    credits: list[str] = field(default_factory=list)
    write_offs: list[tuple[str, str]] = field(default_factory=list)
    refunds: list[str] = field(default_factory=list)
    refund_payments: list[tuple[str, str]] = field(default_factory=list)


class Receiver(Racer):
    """A client that settles, releases and refunds."""

    contest: InvoiceContest
    moves: ClassVar = {
        **{"pay": 5, "reallocate": 5, "release": 3, "turn": 4, "cancel": 2},
        **{"credit": 3, "reapply": 4, "void_credit": 1, "write_off": 3, "reverse": 3},
        **{"refund": 4, "cancel_refund": 2, "pay_refund": 3, "cancel_refund_payment": 1},
    }

    def parts(self, amount: str = "amount_cents") -> list[Record]:
        """Draw amounts for up to three of the invoices."""
        chosen = self.dice.sample(self.contest.invoices, self.dice.randint(1, 3))
        return [{"invoice_id": each, amount: self.dice.randint(1, 400)} for each in chosen]

    def one(self, made: list[Any]) -> Any:
        """Return a record that any client has created, or None."""
        return self.dice.choice(made) if made else None

    # Payments.

    def pay(self) -> httpx.Response:
        """Pay, sometimes with a fee, sometimes more than is allocated."""
        parts = self.parts()
        total = sum(each["amount_cents"] for each in parts) + self.dice.choice((0, 0, 150))
        status = self.dice.choice(STATUSES[:4])
        facts = {"status": status, "processing_fee_cents": self.dice.choice((0, 0, 7))}
        body = payment_body(self.contest.buyer, total, allocations=parts, **facts)
        answer = self.api.post(PAYMENTS, json=body)
        if answer.status_code == 201:
            self.contest.payments.append(answer.json()["payment"]["id"])
        return answer

    def change(self, body: Record) -> httpx.Response | None:
        payment = self.one(self.contest.payments)
        return payment and self.api.patch(f"{PAYMENTS}{payment}/", json=body)

    def reallocate(self) -> httpx.Response | None:
        return self.change({"allocations": self.parts()})

    def release(self) -> httpx.Response | None:
        return self.change({"allocations": []})

    def turn(self) -> httpx.Response | None:
        """Change the status of a payment."""
        return self.change({"status": self.dice.choice(STATUSES)})

    def cancel(self) -> httpx.Response | None:
        payment = self.one(self.contest.payments)
        return payment and self.api.post(f"{PAYMENTS}{payment}/delete/")

    # Credits and write-offs.

    def credit(self) -> httpx.Response:
        parts = self.parts("amount")
        lines = [{"amount": sum(each["amount"] for each in parts) + 50, "tax_amount_cents": 10}]
        body = {"customer_id": self.contest.buyer["id"], "line_items": lines, "sent_at": SENT}
        answer = self.api.post(CREDITS, json={**body, "allocations": parts})
        if answer.status_code == 201:
            self.contest.credits.append(answer.json()["id"])
        return answer

    def reapply(self) -> httpx.Response | None:
        credit = self.one(self.contest.credits)
        parts = self.parts("amount") if self.dice.random() < 0.6 else []
        return credit and self.api.put(f"{CREDITS}{credit}/", json={"allocations": parts})

    def void_credit(self) -> httpx.Response | None:
        credit = self.one(self.contest.credits)
        return credit and self.api.post(f"{CREDITS}{credit}/void/")

    def write_off(self) -> httpx.Response:
        invoice = self.one(self.contest.invoices)
        body = {} if self.dice.random() < 0.2 else {"amount_cents": self.dice.randint(1, 200)}
        answer = self.api.post(f"invoices/{invoice}/write-offs/", json=body)
        if answer.status_code == 201:
            made = {(invoice, each["id"]) for each in answer.json()["write_offs"]}
            with self.contest.lock:
                self.contest.write_offs += made - set(self.contest.write_offs)
        return answer

    def reverse(self) -> httpx.Response | None:
        found = self.one(self.contest.write_offs)
        return found and self.api.delete(f"invoices/{found[0]}/write-offs/{found[1]}/")

    # Refunds.

    def refund(self) -> httpx.Response:
        """Refund an invoice or a payment; some refunds are paid immediately."""
        body: Record = {"invoice_id": self.one(self.contest.invoices)}
        if self.contest.payments and self.dice.random() < 0.4:
            body = {"payment_id": self.one(self.contest.payments)}
        if self.dice.random() < 0.8:
            body["amount_cents"] = self.dice.randint(1, 200)
        if self.dice.random() < 0.3:
            body["completed_at"] = SENT
        answer = self.api.post(REFUNDS, json=body)
        if answer.status_code == 201:
            self.contest.refunds.append(answer.json()["id"])
        return answer

    def cancel_refund(self) -> httpx.Response | None:
        refund = self.one(self.contest.refunds)
        return refund and self.api.delete(f"{REFUNDS}{refund}/")

    def pay_refund(self) -> httpx.Response | None:
        refund = self.one(self.contest.refunds)
        if refund is None:
            return None
        body = {} if self.dice.random() < 0.5 else {"amount_cents": self.dice.randint(1, 100)}
        answer = self.api.post(f"{REFUNDS}{refund}/payments/", json=body)
        if answer.status_code == 201:
            self.contest.refund_payments.append((refund, answer.json()["id"]))
        return answer

    def cancel_refund_payment(self) -> httpx.Response | None:
        found = self.one(self.contest.refund_payments)
        return found and self.api.post(f"{REFUNDS}{found[0]}/payments/{found[1]}/delete/")
