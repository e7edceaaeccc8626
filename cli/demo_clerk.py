"""The clerk who does what the demo's year lays out, over the API like every other caller.

Each thing has an external id and each call an Idempotency-Key, so doing a year again does nothing.
"""

from collections.abc import Mapping
from datetime import date
from typing import Any

import httpx

from cli.demo_year import (
    ACCOUNTS,
    Advance,
    Application,
    Bounce,
    Customer,
    Invoicing,
    Receipt,
    Step,
    Voiding,
)

Answer = dict[str, Any]

CARD_FEE_PER_MILLE = 14
CARD_FEE_CENTS = 20


class DemoFailed(Exception):
    """The API refused something of the demo."""


class Clerk:
    """Does one step after the other; `api` speaks to the demo business alone."""

    def __init__(self, api: httpx.AsyncClient) -> None:
        self._api = api
        self._invoices: dict[str, str] = {}
        self._left: dict[str, int] = {}
        self._payments: dict[str, str] = {}

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
        made = await self._make("invoices/", body)
        self._invoices[step.name] = made["id"]
        self._left[step.name] = made["total_amount"]

    async def _receive(self, step: Receipt) -> None:
        allocations, total = [], step.surplus
        for invoice, share in step.shares:
            amount = round(self._left[invoice] * share)
            self._left[invoice] -= amount
            total += amount
            allocations.append({"invoice_id": self._invoices[invoice], "amount_cents": amount})
        more: Answer = {"allocations": allocations, "status": step.status}
        if step.method in ("stripe", "credit_card"):
            more["processing_fee_cents"] = total * CARD_FEE_PER_MILLE // 1_000 + CARD_FEE_CENTS
            more["payment_processor"] = "stripe"
        await self._pay(step.name, step.customer, step.on, total, more, step.method)

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

    async def _apply(self, step: Application) -> None:
        allocations = [
            {"invoice_id": self._invoices[name], "amount_cents": self._left[name]}
            for name in step.invoices
        ]
        path = f"invoices/payments/{self._payments[step.advance]}/"
        await self._call("PATCH", path, f"apply {step.advance}", {"allocations": allocations})

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
