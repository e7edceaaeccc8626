"""The history of a customer, and requests that build on it."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from tests.builders.requests import (
    Request,
    cancelling_refund,
    cancelling_refund_payment,
    changing,
    reversing,
    voiding,
    voiding_credit,
)
from tests.builders.sales import (
    CREDITS,
    INVOICES,
    PAYMENTS,
    credit_body,
    credited,
    invoice_body,
    paid,
    part,
    payment_body,
    refunded,
    sent,
    share,
    written_off,
)
from tests.builders.trade import CREDITED_AT, NOBODY, Record, line
from tests.partner import Business

CHART = "general-ledger/chart-of-accounts/"
NOTHING: Record = {"id": NOBODY, "type": "Invoice"}


def account(code: str) -> Record:
    return {"type": "AccountCode", "code": code}


@dataclass(frozen=True)
class CustomerHistory:
    """A customer of a business and its documents. Each amount is 100 unless another is given."""

    shop: Business
    buyer: Record

    def done(self, request: Request) -> Record:
        method, path, body = request
        answer = self.shop.api.request(method, path, json=body)
        assert answer.status_code in (200, 201), answer.text
        made: Record = answer.json()
        return made

    def read(self, invoice_id: str) -> Record:
        shown: Record = self.shop.api.get(f"{INVOICES}{invoice_id}/").json()
        return shown

    # ── Invoices ───────────────────────────────────────────────────────────────────────────────

    def invoice(self, total: int = 100, **facts: Any) -> Record:
        return sent(self.shop, self.buyer, total, **facts)

    def draft(self, **facts: Any) -> Record:
        return self.shop.made(INVOICES, invoice_body(self.buyer, **facts))

    def void(self) -> Record:
        return self.done(voiding(self.invoice()))

    def of_another(self) -> Record:
        """Send an invoice to another customer."""
        return sent(self.shop, self.shop.customer(), 100)

    def paid(self, amount: int = 100, **facts: Any) -> Record:
        invoice = self.invoice()
        self.payment(amount, part(invoice, amount), **facts)
        return invoice

    def promised(self, amount: int = 40) -> Record:
        """Return an invoice that a pending payment settles in part."""
        return self.paid(amount, status="pending")

    def credited(self, amount: int = 40) -> Record:
        invoice = self.invoice()
        self.credit(amount, share(invoice, amount))
        return invoice

    def written_off(self, **facts: Any) -> Record:
        return written_off(self.shop, self.invoice(), **facts)

    def partly_written_off(self) -> Record:
        return self.written_off(amount_cents=40)

    def reversed(self) -> Record:
        """Write off an invoice and reverse the write-off; return the invoice as written off."""
        invoice = self.written_off()
        self.done(reversing(invoice))
        return invoice

    def refunded_and_bounced(self) -> Record:
        """Return an invoice that was refunded in part and whose payment then failed."""
        payment = self.refunded()
        self.done(changing(payment, status="failed"))
        invoice: Record = payment["applied_invoices"][0]
        return invoice

    def named_by_a_credit(self) -> Record:
        draft = self.draft()
        self.credit(source_invoice_id=draft["id"])
        return draft

    # ── Payments and refunds ───────────────────────────────────────────────────────────────────

    def payment(self, total: int = 100, *parts: Record, **facts: Any) -> Record:
        return paid(self.shop, self.buyer, total, *parts, **facts)

    def allocated(self, amount: int = 100) -> Record:
        """Return a payment of 100 that settles an invoice."""
        return self.payment(100, part(self.invoice(), amount))

    def refunded(self) -> Record:
        """Return a payment of 100 for an invoice of which 60 was refunded."""
        invoice = self.invoice()
        payment = self.payment(100, part(invoice, 100))
        refunded(self.shop, invoice, amount_cents=60)
        return payment

    def given_back(self) -> Record:
        """Return a payment of 100 in advance, of which 60 was refunded."""
        payment = self.payment(100)
        refunded(self.shop, payment, amount_cents=60)
        return payment

    def refund(self, **facts: Any) -> Record:
        return refunded(self.shop, self.paid(), **facts)

    def refund_paid(self) -> Record:
        return self.refund(completed_at=CREDITED_AT)

    def refund_cancelled(self) -> Record:
        return self.done(cancelling_refund(self.refund()))

    def refund_payment_cancelled(self) -> Record:
        refund = self.refund_paid()
        self.done(cancelling_refund_payment(refund))
        return refund

    # ── Credits ────────────────────────────────────────────────────────────────────────────────

    def credit(self, total: int = 100, *shares: Record, **facts: Any) -> Record:
        return credited(self.shop, self.buyer, total, *shares, **facts)

    def credit_draft(self, **facts: Any) -> Record:
        return self.shop.made(CREDITS, credit_body(self.buyer, {"amount": 100}, **facts))

    def credit_applied(self) -> Record:
        return self.credit(100, share(self.invoice(), 40))

    def credit_void(self) -> Record:
        return self.done(voiding_credit(self.credit()))

    # ── Archived records ───────────────────────────────────────────────────────────────────────

    @cached_property
    def gone(self) -> "CustomerHistory":
        """The history of an archived customer that has a draft invoice and a draft credit."""
        history = CustomerHistory(self.shop, self.shop.customer())
        drafts = {"invoice": history.draft(), "credit": history.credit_draft()}
        self.done(("POST", f"customers/{history.buyer['id']}/archive/", None))
        return CustomerHistory(self.shop, {**history.buyer, **drafts})

    @cached_property
    def closed(self) -> Record:
        """An archived account."""
        facts = {"account_type": "revenue", "account_subtype": "revenue"}
        self.shop.made(CHART, {"code": "4910", "name": "Gone", **facts})
        self.done(("DELETE", f"{CHART}4910/", None))
        return account("4910")

    # ── Requests ───────────────────────────────────────────────────────────────────────────────

    def invoicing(self, *lines: Record, **facts: Any) -> Request:
        given = {"sent_at": CREDITED_AT, **facts}
        return "POST", INVOICES, invoice_body(self.buyer, *(lines or (line(100),)), **given)

    def paying(self, invoice: Record, amount: int = 100, total: int = 100, **facts: Any) -> Request:
        body = payment_body(self.buyer, total, allocations=[part(invoice, amount)])
        return "POST", PAYMENTS, {**body, **facts}

    def crediting(self, *shares: Record, **facts: Any) -> Request:
        given = {"sent_at": CREDITED_AT, "allocations": list(shares), **facts}
        return "POST", CREDITS, credit_body(self.buyer, {"amount": 100}, **given)

    def crediting_a_newcomer(self, *shares: Record) -> Request:
        """Build the request of a credit whose customer does not exist yet."""
        method, path, body = self.crediting(*shares, customer_external_id="newcomer")
        del body["customer_id"]
        return method, path, body

    def crediting_to(self, named: Record) -> Request:
        lines = [{"amount": 1, "revenue_account_identifier": named}]
        return self.crediting(line_items=lines)
