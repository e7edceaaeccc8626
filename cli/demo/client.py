"""Client of the demo, which executes the steps of its year over the API.

Each record has an external id and each call an Idempotency-Key, so repeating a year has no effect.
"""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import httpx

from accounting.trade.sides import PAYABLE, RECEIVABLE, Side
from cli.demo.bank import BANK, line_of, line_of_payout, statement_of
from cli.demo.bodies import Answer, entry_of, invoice_of
from cli.demo.reconciliation import reconcile
from cli.demo.roaster import ACCOUNTS, Customer, Party
from cli.demo.steps import (
    CARDS,
    Advance,
    Application,
    Arrival,
    Bounce,
    Duplicate,
    ManualEntry,
    NewCredit,
    NewInvoice,
    NewPayment,
    NewRefund,
    PayingOut,
    Repayment,
    Reversal,
    Statement,
    Step,
    VendorRefundClaim,
    VoidedInvoice,
    Withdrawal,
    WritingOff,
)
from handlers.trade.document_responses import names_of

ENTRIES = "general-ledger/journal-entries/"

CARD_FEE_PER_MILLE = 14
CARD_FEE_CENTS = 20


class DemoFailed(Exception):
    """An unexpected answer: the API rejected a demo call, or accepted one that it should reject."""


class DemoClient:
    """Executor of the demo's steps; `api` is a client of the demo business only.

    It keeps, by the names in the plan: the id and side of each record; the remaining amounts of
    invoices, payments and refunds; card payments less their fee; lines for the bank statement; and
    the allocations of each payment, because an update replaces the whole list. `tell` receives a
    message about each call that was rejected as expected.
    """

    def __init__(self, api: httpx.AsyncClient, tell: Callable[[str], object]) -> None:
        self._api = api
        self._tell = tell
        self._ids: dict[str, str] = {}
        self._sides: dict[str, Side] = {}
        self._left: dict[str, int] = {}
        self._parts: dict[str, list[Answer]] = {}
        self._with_processor: dict[str, int] = {}
        self._at_bank: dict[str, Answer] = {}

    async def set_up_accounts(self) -> None:
        """Create the bank account, and accounts for the kinds of sales and costs."""
        for code, accounts in ACCOUNTS.items():
            for account in accounts:
                await self._make(f"general-ledger/chart-of-accounts/{code}/children/", account)
        self._ids["bank"] = (await self._make("bank-accounts/", BANK))["id"]

    async def create_party(self, party: Party) -> None:
        """Create a customer or a vendor with payment terms of 30 days."""
        side = RECEIVABLE if isinstance(party, Customer) else PAYABLE
        email = f"{party.name}@example.com"
        body = {"external_id": party.name, "email": email, "payment_terms_days": 30}
        made = await self._make(
            f"{names_of(side).party}s/", {"country": "GB", **body, **party.facts}
        )
        self._remember(party.name, side, made)

    async def take(self, step: Step) -> None:
        """Execute one step of the year."""
        await _METHODS[type(step)](self, step)

    async def _invoice(self, step: NewInvoice) -> None:
        side = self._sides[step.party]
        made = await self._make(f"{side.words.document}s/", invoice_of(side, step, step.name))
        self._remember(step.name, side, made)
        self._left[step.name] = made["total_amount"]

    async def _refuse_duplicate(self, step: Duplicate) -> None:
        bill = step.bill
        again = f"{bill.name}-again"
        body = invoice_of(PAYABLE, bill, again)
        answer = await self._send("POST", "bills/", f"make {again}", body)
        said: Answer = answer.json()
        if said.get("error_code") != "duplicate_bill_number":
            raise DemoFailed(f"Bill {bill.number} came twice and was not refused: {answer.text}")
        self._tell(f"Bill {bill.number} came twice, and is refused: {said['message']}")

    async def _pay(self, step: NewPayment) -> None:
        parts, total = [], step.surplus
        for invoice, share in step.shares:
            amount = round(self._left[invoice] * share)
            parts.append(self._part(invoice, amount))
            total += amount
        more: Answer = {"allocations": parts, "status": step.status, "payment_method": step.method}
        if step.method in CARDS:
            fee = total * CARD_FEE_PER_MILLE // 1_000 + CARD_FEE_CENTS
            more |= {"processing_fee_cents": fee, "payment_processor": "stripe"}
            self._with_processor[step.name] = total - fee
        await self._move(step, total, more)
        self._parts[step.name], self._left[step.name] = parts, step.surplus

    async def _advance(self, step: Advance) -> None:
        await self._move(step, step.amount, {"payment_method": "bank_transfer"})
        self._parts[step.name], self._left[step.name] = [], step.amount

    async def _move(self, step: NewPayment | Advance, total: int, more: Answer) -> None:
        side = self._sides[step.party]
        body = {
            "external_id": step.name,
            side.names.party_external_id: step.party,
            side.names.payment_total: total,
            "payment_date": f"{step.on}",
            "currency": "GBP",
            **more,
        }
        made = await self._make(f"{side.words.document}s/payments/", body)
        self._remember(step.name, side, made["payment"])
        if more["payment_method"] == "bank_transfer" and more.get("status") in ("completed", None):
            self._at_bank[step.name] = line_of(step, side, total)

    async def _apply(self, step: Application) -> None:
        parts = self._parts[step.payment]
        for invoice in step.invoices:
            amount = min(self._left[invoice], self._left[step.payment])
            if amount:
                parts.append(self._part(invoice, amount))
                self._left[step.payment] -= amount
        await self._change_payment(step.payment, "apply", {"allocations": parts})

    async def _bounce(self, step: Bounce) -> None:
        await self._change_payment(step.payment, "bounce", {"status": "failed"})
        self._at_bank.pop(step.payment, None)

    async def _change_payment(self, name: str, why: str, body: Answer) -> None:
        path = f"{self._sides[name].words.document}s/payments/{self._ids[name]}/"
        await self._call("PATCH", path, f"{why} {name}", body)

    async def _void(self, step: VoidedInvoice) -> None:
        path = f"{self._sides[step.invoice].words.document}s/{self._ids[step.invoice]}/void/"
        body = {"voided_at": f"{step.on}T12:00:00Z"}
        await self._call("POST", path, f"void {step.invoice}", body)

    def _part(self, invoice: str, amount: int) -> Answer:
        self._left[invoice] -= amount
        return {**self._named(invoice), "amount_cents": amount}

    def _named(self, invoice: str) -> Answer:
        return {self._sides[invoice].names.document_id: self._ids[invoice]}

    async def _credit(self, step: NewCredit) -> None:
        side = self._sides[step.party]
        allocations = []
        for invoice, amount in step.amounts:
            self._left[invoice] -= amount
            allocations.append({**self._named(invoice), "amount": amount})
        body = {
            "external_id": step.name,
            side.names.party_external_id: step.party,
            side.names.opened_at: f"{step.on}T10:00:00Z",
            "line_items": step.lines,
            "allocations": allocations,
        }
        await self._make(f"{names_of(side).party}-credits/", body)

    async def _write_off(self, step: WritingOff) -> None:
        amount = round(self._left[step.invoice] * step.share)
        self._left[step.invoice] -= amount
        body = {
            "external_id": step.name,
            "amount_cents": amount,
            "write_off_at": f"{step.on}T16:00:00Z",
            "memo": step.memo,
        }
        await self._make(f"invoices/{self._ids[step.invoice]}/write-offs/", body)

    async def _refund(self, step: NewRefund) -> None:
        body: Answer = {
            "payment_id" if step.of in self._parts else "invoice_id": self._ids[step.of],
            "external_id": step.name,
            "method": step.method,
            "memo": step.memo,
        }
        if step.at_once:
            body["completed_at"] = f"{step.on}T11:00:00Z"
        made = await self._make("invoices/refunds/", body)
        self._remember(step.name, RECEIVABLE, made)
        self._left[step.name] = made["refunded_amount"]

    async def _repay(self, step: Repayment) -> None:
        amount = round(self._left[step.refund] * step.share)
        self._left[step.refund] -= amount
        body = {"external_id": step.name, "amount_cents": amount}
        await self._make(f"invoices/refunds/{self._ids[step.refund]}/payments/", body)

    async def _reclaim(self, step: VendorRefundClaim) -> None:
        """Register a refund that a vendor agreed to, and keep its payment by the step's name."""
        allocation: Answer = {"allocation_type": step.kind, "amount_cents": step.amount}
        if step.of is not None:
            field = PAYABLE.names.document_id if step.kind == "bill" else PAYABLE.names.payment_id
            allocation[field] = self._ids[step.of]
        body = {
            "external_id": step.name,
            "vendor_id": self._ids[step.vendor],
            "total_amount_cents": step.amount + step.waiting,
            "currency": "GBP",
            "refund_date": f"{step.on}",
            "refund_type": step.refund_type,
            "reason": step.reason,
            "allocations": [allocation],
        }
        made = await self._make("vendor-refunds/payments/", body)
        self._remember(step.name, PAYABLE, made["payment"])

    async def _arrive(self, step: Arrival) -> None:
        path = f"vendor-refunds/payments/{self._ids[step.refund]}/"
        body = {"status": "completed", "payment_date": f"{step.on}"}
        await self._call("PATCH", path, f"complete {step.refund}", body)

    async def _withdraw(self, step: Withdrawal) -> None:
        path = f"vendor-refunds/payments/{self._ids[step.refund]}/delete/"
        await self._call("POST", path, f"cancel {step.refund}", None)

    async def _pay_out(self, step: PayingOut) -> None:
        body = {
            "external_id": step.name,
            "processor": "stripe",
            "paid_out_amount_cents": sum(self._with_processor[each] for each in step.payments)
            - step.short,
            "completed_at": f"{step.on}T06:00:00Z",
            "payment_ids": [self._ids[each] for each in step.payments],
        }
        made = await self._make("payouts/", body)
        self._at_bank[step.name] = line_of_payout(step, made["paid_out_amount_cents"])

    async def _write(self, step: ManualEntry) -> None:
        made = await self._call("POST", ENTRIES, f"write {step.name}", entry_of(step))
        self._ids[step.name] = made["id"]

    async def _reverse(self, step: Reversal) -> None:
        path = f"{ENTRIES}{self._ids[step.entry]}/reverse/"
        await self._call("POST", path, f"reverse {step.entry}", {"entry_date": f"{step.on}"})

    async def _send_statement(self, step: Statement) -> None:
        body = statement_of(step, self._ids["bank"], self._at_bank.values())
        sent = await self._call("POST", "bank-transactions/", f"send {step.name}", body)
        await reconcile(self._call, body["transactions"], sent["results"])

    def _remember(self, name: str, side: Side, made: Answer) -> None:
        self._ids[name], self._sides[name] = made["id"], side

    async def _make(self, path: str, body: Answer) -> Answer:
        return await self._call("POST", path, f"make {body['external_id']}", body)

    async def _call(self, method: str, path: str, key: str, body: Answer | None) -> Answer:
        return answered(await self._send(method, path, key, body))

    async def _send(self, method: str, path: str, key: str, body: Answer | None) -> httpx.Response:
        headers = {"Idempotency-Key": f"demo {key}"} if key else {}
        return await self._api.request(method, path, json=body, headers=headers)


_METHODS: Mapping[type[Step], Callable[[DemoClient, Any], Awaitable[None]]] = {
    NewInvoice: DemoClient._invoice,
    Duplicate: DemoClient._refuse_duplicate,
    NewPayment: DemoClient._pay,
    Advance: DemoClient._advance,
    Application: DemoClient._apply,
    Bounce: DemoClient._bounce,
    VoidedInvoice: DemoClient._void,
    NewCredit: DemoClient._credit,
    WritingOff: DemoClient._write_off,
    NewRefund: DemoClient._refund,
    Repayment: DemoClient._repay,
    VendorRefundClaim: DemoClient._reclaim,
    Arrival: DemoClient._arrive,
    Withdrawal: DemoClient._withdraw,
    PayingOut: DemoClient._pay_out,
    ManualEntry: DemoClient._write,
    Reversal: DemoClient._reverse,
    Statement: DemoClient._send_statement,
}


def answered(response: httpx.Response) -> Answer:
    """Return the JSON of a response; raises DemoFailed if it is an error."""
    if response.is_success:
        answer: Answer = response.json()
        return answer
    asked = f"{response.request.method} {response.request.url.path}"
    raise DemoFailed(f"{asked} was answered {response.status_code}: {response.text}")
