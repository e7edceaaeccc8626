"""The clerk who does what the demo's year lays out, over the API like every other caller.

Each thing has an external id and each call an Idempotency-Key, so doing a year again does nothing.
"""

from base64 import b64encode
from collections.abc import Mapping
from datetime import date
from typing import Any

import httpx

from cli import demo_paper
from cli.demo_roaster import ACCOUNTS, BUSINESS, Customer
from cli.demo_steps import (
    Advance,
    Application,
    Bounce,
    Crediting,
    Invoicing,
    Receipt,
    Refunding,
    Repayment,
    Step,
    Voiding,
    WritingOff,
)

Answer = dict[str, Any]

CARD_FEE_PER_MILLE = 14
CARD_FEE_CENTS = 20


class DemoFailed(Exception):
    """The API refused something of the demo."""


class Clerk:
    """Does one step after the other; `api` speaks to the demo business alone.

    It remembers what the plan calls by name: the id of each thing, what is left of invoices,
    payments and refunds, and what each payment is allocated to, since a list replaces a list.
    """

    def __init__(self, api: httpx.AsyncClient) -> None:
        self._api = api
        self._invoices: dict[str, str] = {}
        self._payments: dict[str, str] = {}
        self._refunds: dict[str, str] = {}
        self._left: dict[str, int] = {}
        self._parts: dict[str, list[Answer]] = {}

    async def set_up_accounts(self) -> None:
        """Tell kinds of sales apart below the account for sales."""
        for account in ACCOUNTS:
            await self._make("general-ledger/chart-of-accounts/4000/children/", account)

    async def welcome(self, customer: Customer) -> None:
        """Make a customer who pays within thirty days."""
        email = f"{customer.name}@example.com"
        body = {"external_id": customer.name, "email": email, "payment_terms_days": 30}
        await self._make("customers/", {"country": "GB", **body, **customer.facts})

    async def take(self, step: Step) -> None:
        """Do one step of the year."""
        match step:
            case Invoicing():
                await self._invoice(step)
            case Receipt():
                await self._receive(step)
            case Advance():
                await self._pay(step.name, step.customer, step.on, step.amount, {})
            case Application():
                await self._apply(step)
            case Bounce():
                path = f"invoices/payments/{self._payments[step.receipt]}/"
                await self._call("PATCH", path, f"bounce {step.receipt}", {"status": "failed"})
            case Voiding():
                path = f"invoices/{self._invoices[step.invoice]}/void/"
                body = {"voided_at": f"{step.on}T12:00:00Z"}
                await self._call("POST", path, f"void {step.invoice}", body)
            case _:
                await self._put_right(step)

    async def _put_right(self, step: Crediting | WritingOff | Refunding | Repayment) -> None:
        match step:
            case Crediting():
                await self._credit(step)
            case WritingOff():
                await self._write_off(step)
            case Refunding():
                await self._refund(step)
            case Repayment():
                await self._repay(step)

    async def _invoice(self, step: Invoicing) -> None:
        body: Answer = {
            "customer_external_id": step.customer,
            "external_id": step.name,
            "issue_date": f"{step.on}",
            "line_items": step.lines,
            "additional_discount": step.additional_discount,
        }
        if not step.draft:
            body["sent_at"] = f"{step.on}T09:00:00Z"
        if step.order is not None:
            body["document"] = order_for(step)
        made = await self._make("invoices/", body)
        self._invoices[step.name] = made["id"]
        self._left[step.name] = made["total_amount"]

    async def _receive(self, step: Receipt) -> None:
        parts, total = [], step.surplus
        for invoice, share in step.shares:
            amount = round(self._left[invoice] * share)
            parts.append(self._part(invoice, amount))
            total += amount
        more: Answer = {"allocations": parts, "status": step.status}
        if step.method in ("stripe", "credit_card"):
            more["processing_fee_cents"] = total * CARD_FEE_PER_MILLE // 1_000 + CARD_FEE_CENTS
            more["payment_processor"] = "stripe"
        await self._pay(step.name, step.customer, step.on, total, more, step.method)
        self._parts[step.name], self._left[step.name] = parts, step.surplus

    async def _pay(
        self,
        name: str,
        customer: str,
        on: date,
        total: int,
        more: Mapping[str, Any],
        method: str = "bank_transfer",
    ) -> None:
        body = {
            "external_id": name,
            "customer_external_id": customer,
            "total_amount_cents": total,
            "payment_date": f"{on}",
            "currency": "GBP",
            "payment_method": method,
            **more,
        }
        made = await self._make("invoices/payments/", body)
        self._payments[name] = made["payment"]["id"]
        self._parts[name], self._left[name] = [], total

    async def _apply(self, step: Application) -> None:
        parts = self._parts[step.payment]
        for invoice in step.invoices:
            amount = min(self._left[invoice], self._left[step.payment])
            if amount:
                parts.append(self._part(invoice, amount))
                self._left[step.payment] -= amount
        path = f"invoices/payments/{self._payments[step.payment]}/"
        await self._call("PATCH", path, f"apply {step.payment}", {"allocations": parts})

    def _part(self, invoice: str, amount: int) -> Answer:
        self._left[invoice] -= amount
        return {"invoice_id": self._invoices[invoice], "amount_cents": amount}

    async def _credit(self, step: Crediting) -> None:
        allocations = []
        for invoice, amount in step.amounts:
            self._left[invoice] -= amount
            allocations.append({"invoice_id": self._invoices[invoice], "amount": amount})
        body = {
            "external_id": step.name,
            "customer_external_id": step.customer,
            "sent_at": f"{step.on}T10:00:00Z",
            "line_items": step.lines,
            "allocations": allocations,
        }
        await self._make("customer-credits/", body)

    async def _write_off(self, step: WritingOff) -> None:
        amount = round(self._left[step.invoice] * step.share)
        self._left[step.invoice] -= amount
        body = {
            "external_id": step.name,
            "amount_cents": amount,
            "write_off_at": f"{step.on}T16:00:00Z",
            "memo": step.memo,
        }
        await self._make(f"invoices/{self._invoices[step.invoice]}/write-offs/", body)

    async def _refund(self, step: Refunding) -> None:
        of_invoice = step.of in self._invoices
        body: Answer = {
            "invoice_id" if of_invoice else "payment_id": (
                self._invoices[step.of] if of_invoice else self._payments[step.of]
            ),
            "external_id": step.name,
            "method": step.method,
            "memo": step.memo,
        }
        if step.at_once:
            body["completed_at"] = f"{step.on}T11:00:00Z"
        made = await self._make("invoices/refunds/", body)
        self._refunds[step.name] = made["id"]
        self._left[step.name] = made["refunded_amount"]

    async def _repay(self, step: Repayment) -> None:
        amount = round(self._left[step.refund] * step.share)
        self._left[step.refund] -= amount
        body = {"external_id": step.name, "amount_cents": amount}
        await self._make(f"invoices/refunds/{self._refunds[step.refund]}/payments/", body)

    async def _make(self, path: str, body: Mapping[str, Any]) -> Answer:
        return await self._call("POST", path, f"make {body['external_id']}", body)

    async def _call(self, method: str, path: str, key: str, body: Mapping[str, Any]) -> Answer:
        headers = {"Idempotency-Key": f"demo {key}"}
        return answered(await self._api.request(method, path, json=body, headers=headers))


def answered(response: httpx.Response) -> Answer:
    """Return what a call brought; raises DemoFailed where it was refused."""
    if response.is_success:
        answer: Answer = response.json()
        return answer
    asked = f"{response.request.method} {response.request.url.path}"
    raise DemoFailed(f"{asked} was answered {response.status_code}: {response.text}")


def order_for(step: Invoicing) -> Answer:
    """Draw up the order behind an invoice, as its customer would have sent it."""
    wanted = [f"{line['quantity']} x {line['description']}" for line in step.lines]
    paper = demo_paper.page(
        f"Order {step.order}", [f"To {BUSINESS['legal_name']}", f"{step.on}", "", *wanted]
    )
    return {
        "file": b64encode(paper).decode(),
        "file_name": f"{step.order}.pdf",
        "document_type": "purchase_order",
        "upload_source": "e-mail",
    }
