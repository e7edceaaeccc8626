"""A first month of API calls, with the client that openapi-python-client makes.

python openapi_python_client.py BASE_URL PARTNER_ID API_KEY
"""

import json
import sys
from base64 import b64encode
from collections.abc import Iterator
from datetime import UTC, date, datetime
from io import BytesIO
from typing import Any, TypeVar
from uuid import UUID

import httpx
from accounting_client import AuthenticatedClient, models
from accounting_client.api.access import issue_business_token, issue_partner_token
from accounting_client.api.bank_accounts import create_bank_account
from accounting_client.api.bank_matching import match_bank_transaction
from accounting_client.api.bank_transactions import import_bank_transactions, list_bank_transactions
from accounting_client.api.bill_payments import create_bill_payment
from accounting_client.api.bills import create_bill, get_bill
from accounting_client.api.businesses import create_business
from accounting_client.api.chart_of_accounts import export_accounts, get_account
from accounting_client.api.customers import create_customer
from accounting_client.api.documents import create_document
from accounting_client.api.integrity import get_integrity
from accounting_client.api.invoice_payments import create_invoice_payment
from accounting_client.api.invoice_refunds import create_invoice_refund
from accounting_client.api.invoices import create_invoice, get_invoice, list_invoices, void_invoice
from accounting_client.api.journal_entries import create_journal_entry
from accounting_client.api.payouts import create_payout
from accounting_client.api.reports import get_profit_and_loss
from accounting_client.api.vendors import create_vendor
from accounting_client.types import UNSET, File, Response, Unset

T = TypeVar("T")

DAY = date(2026, 7, 1)
START = datetime(2026, 7, 1, 9, tzinfo=UTC)
BEANS = models.LineItemInput(description="Beans", quantity=12, unit_price=1450, tax_rate=20)


def tell(step: str, **facts: object) -> None:
    """Print the result of a step as JSON."""
    print(json.dumps({"step": step, **facts}))


def expect(kind: type[T], answer: object) -> T:
    """Return the answer; exit with the error if it is of another type."""
    if not isinstance(answer, kind):
        raise SystemExit(f"refused: {answer}")
    return answer


def opened(url: str, partner_id: str, key: str) -> tuple[UUID, str]:
    """Create a business and exchange the API key for a token of that business."""
    basic = b64encode(f"{partner_id}:{key}".encode()).decode()
    with AuthenticatedClient(base_url=url, token=basic, prefix="Basic") as client:
        grant = models.TokenRequest(grant_type=models.GrantType.CLIENT_CREDENTIALS)
        answer = issue_partner_token.sync(client=client, body=grant)
        partner = expect(models.PartnerToken, answer)
    with AuthenticatedClient(base_url=url, token=partner.access_token) as client:
        wanted = models.BusinessCreate(
            external_id="openapi-python-client",
            legal_name="Harbour Coffee Ltd",
            entity_type="limited",
            email="books@harbour.example.com",
            country="GB",
        )
        business = expect(models.Business, create_business.sync(client=client, body=wanted))
        tell("business", name=business.legal_name, currency=business.base_currency.value)
        token = issue_business_token.sync(business.id, client=client)
        return business.id, expect(models.BusinessToken, token).access_token


def invoice(number: int) -> models.InvoiceCreate:
    """Return an invoice of 12 units at 14.50, with 20 % tax."""
    return models.InvoiceCreate(
        customer_external_id="blue-door", sent_at=START, line_items=[BEANS], memo=f"Order {number}"
    )


class Journey:
    """The steps of the journey in the books of one business."""

    def __init__(self, client: AuthenticatedClient, business_id: UUID) -> None:
        self.client = client
        self.business_id = business_id

    def sold(self) -> models.Invoice:
        """Create a customer and five invoices, and list the invoices."""
        wanted = models.CustomerCreate(external_id="blue-door", company_name="Blue Door Bakery")
        customer = create_customer.sync(self.business_id, client=self.client, body=wanted)
        tell("customer", name=expect(models.Customer, customer).company_name)
        answer = create_invoice.sync(
            self.business_id, client=self.client, body=invoice(1), preview=True
        )
        preview = expect(models.Invoice, answer)
        tell("preview", number=preview.invoice_number, total=preview.total_amount)
        first = self.sent_surely(invoice(1), "first")
        tell(
            "invoice",
            number=first.invoice_number,
            total=first.total_amount,
            currency=first.currency.value,
            status=first.status.value,
        )
        for number in range(2, 6):
            answer = create_invoice.sync(self.business_id, client=self.client, body=invoice(number))
            expect(models.Invoice, answer)
        totals = [each.total_amount for each in self.invoices()]
        tell("walk", seen=len(totals), total=sum(totals))
        return first

    def sent_surely(self, wanted: models.InvoiceCreate, key: str) -> models.Invoice:
        """Create an invoice; repeat the call with the same key if the connection breaks."""
        for _ in range(2):
            try:
                answer = create_invoice.sync(
                    self.business_id, client=self.client, body=wanted, idempotency_key=key
                )
            except httpx.TransportError:
                continue
            return expect(models.Invoice, answer)
        raise SystemExit("no answer")

    def invoices(self) -> Iterator[models.InvoiceSummary]:
        """Yield all invoices, page by page."""
        cursor: str | Unset | None = UNSET
        while cursor is not None:
            answer = list_invoices.sync(
                self.business_id, client=self.client, page_size=2, cursor=cursor
            )
            page = expect(models.InvoicePage, answer)
            yield from page.results
            cursor = page.page_info.next_cursor

    def paid(self, first: models.Invoice) -> models.InvoicePayment:
        """Record a card payment of the invoice, and read the result."""
        part = models.InvoiceAllocationInput(invoice_id=first.id, amount_cents=first.total_amount)
        payment = models.InvoicePaymentCreate(
            customer_id=first.customer_id,
            total_amount_cents=first.total_amount,
            currency=first.currency,
            payment_date=DAY,
            payment_method=models.PaymentMethod.CREDIT_CARD,
            payment_processor="mollie",
            allocations=[part],
        )
        answer = create_invoice_payment.sync(self.business_id, client=self.client, body=payment)
        made = expect(models.InvoicePaymentResult, answer).payment
        tell("payment", applied=made.applied_amount_cents, remaining=made.remaining_amount_cents)
        read = expect(
            models.Invoice, get_invoice.sync(self.business_id, first.id, client=self.client)
        )
        unpaid = expect(
            models.InvoicePage,
            list_invoices.sync(
                self.business_id,
                client=self.client,
                customer_id=[first.customer_id],
                status=[models.InvoiceStatusFilter.SENT, models.InvoiceStatusFilter.OVERDUE],
            ),
        )
        left = read.outstanding_balance
        tell("paid", status=read.status.value, left=left, unpaid=len(unpaid.results))
        return made

    def refunded(self, first: models.Invoice) -> models.InvoiceRefundPayment:
        """Refund a part of the payment."""
        refund = models.InvoiceRefundCreate(
            invoice_id=first.id,
            amount_cents=880,
            method=models.RefundMethod.CREDIT_CARD,
            processor="Mollie",
            completed_at=START,
        )
        answer = create_invoice_refund.sync(self.business_id, client=self.client, body=refund)
        made = expect(models.InvoiceRefund, answer)
        tell("refund", status=made.status.value, paid=made.paid_amount)
        return made.refund_payments[0]

    def paid_out(
        self, payment: models.InvoicePayment, refund: models.InvoiceRefundPayment
    ) -> models.Payout:
        """Record a payout of the payment processor."""
        payout = models.PayoutCreate(
            processor=models.PayoutProcessor.MOLLIE,
            paid_out_amount_cents=19_700,
            fee_cents=300,
            completed_at=START,
            payment_ids=[payment.id],
            refund_payment_ids=[refund.id],
        )
        answer = create_payout.sync(self.business_id, client=self.client, body=payout)
        made = expect(models.Payout, answer)
        tell("payout", expected=made.expected_net_amount_cents, variance=made.amount_variance_cents)
        return made

    def filed(self, first: models.Invoice) -> None:
        """Upload a file and attach it to the invoice."""
        file = File(payload=BytesIO(b"item,price\nBeans,1450\n"), file_name="order.csv")
        form = models.DocumentForm(
            file=file, linked_type=models.LinkedType.INVOICE, linked_id=first.id
        )
        answer = create_document.sync(self.business_id, client=self.client, body=form)
        made = expect(models.Document, answer)
        tell("document", name=made.file_name, size=made.file_size)

    def bought(self) -> None:
        """Create a vendor with a bill, and pay the bill."""
        trader = models.VendorCreate(company_name="Raw Coffee Traders")
        answer: object = create_vendor.sync(self.business_id, client=self.client, body=trader)
        vendor = expect(models.Vendor, answer)
        beans = models.LineItemInput(description="Raw beans", quantity=1, unit_price=9_000)
        wanted = models.BillCreate(
            vendor_id=vendor.id, bill_date=DAY, received_at=START, line_items=[beans]
        )
        answer = create_bill.sync(self.business_id, client=self.client, body=wanted)
        bill = expect(models.Bill, answer)
        tell("bill", vendor=vendor.company_name, total=bill.total_amount, status=bill.status.value)
        part = models.BillAllocationInput(bill_id=bill.id, amount_cents=bill.total_amount)
        payment = models.BillPaymentCreate(
            vendor_id=vendor.id,
            amount_cents=bill.total_amount,
            payment_date=DAY,
            currency=bill.currency,
            payment_method=models.BillPaymentMethod.BANK_TRANSFER,
            status=models.VendorPaymentStatus.COMPLETED,
            allocations=[part],
        )
        answer = create_bill_payment.sync(self.business_id, client=self.client, body=payment)
        made = expect(models.BillPaymentResult, answer).payment
        tell("bill payment", allocated=made.allocated_amount_cents)
        read = expect(models.Bill, get_bill.sync(self.business_id, bill.id, client=self.client))
        tell("bill paid", status=read.status.value, left=read.outstanding_balance)

    def matched(self, payout: models.Payout) -> None:
        """Import a bank statement, and match its line with the payout."""
        wanted = models.BankAccountCreate(display_name="Current account")
        answer: object = create_bank_account.sync(self.business_id, client=self.client, body=wanted)
        account = expect(models.BankAccount, answer)
        tell("bank account", account=account.account.code)
        line = models.BankTransactionLine(
            date=DAY,
            amount_cents=19_700,
            direction=models.BankDirection.CREDIT,
            description="MOLLIE PAYOUT",
        )
        statement = models.BankTransactionImport(bank_account_id=account.id, transactions=[line])
        answer = import_bank_transactions.sync(self.business_id, client=self.client, body=statement)
        tell("statement", imported=expect(models.BankTransactionImported, answer).imported)
        answer = list_bank_transactions.sync(self.business_id, client=self.client)
        [kept] = expect(models.BankTransactionPage, answer).results
        match = models.BankTransactionMatch(
            target_type=models.BankTarget.PAYOUT, target_id=payout.id
        )
        answer = match_bank_transaction.sync(
            self.business_id, kept.id, client=self.client, body=match
        )
        done = expect(models.BankTransaction, answer)
        tell("match", amount=kept.amount_cents, reconciled=done.is_reconciled)

    def looked_through(self) -> None:
        """Post a manual journal entry, then read an account, a report and the integrity checks."""
        entry = models.JournalEntryCreate(
            entry_date=DAY,
            description="Bank charges",
            lines=[
                models.JournalLineInput(account="6300", debit_amount=1_200),
                models.JournalLineInput(account="1100", credit_amount=1_200),
            ],
            post=True,
        )
        answer: object = create_journal_entry.sync(self.business_id, client=self.client, body=entry)
        made = expect(models.WrittenJournalEntry, answer)
        debits = [each.debit_amount for each in made.lines]
        tell("entry", status=made.status.value, debits=debits)
        answer = get_account.sync(self.business_id, "1150", client=self.client)
        clearing = expect(models.Account, answer)
        tell("account", name=clearing.name, balance=clearing.current_balance)
        answer = get_profit_and_loss.sync(
            self.business_id, client=self.client, start_date=DAY, end_date=DAY
        )
        report = expect(models.ProfitAndLoss, answer)
        revenue = [line.value_cents for line in report.revenue.line_items]
        tell("report", revenue=revenue, profit=report.summary.net_profit_cents)
        answer = export_accounts.sync(self.business_id, client=self.client)
        header = expect(str, answer).splitlines()[0]
        tell("export", columns=len(header.split(",")))
        answer = get_integrity.sync(self.business_id, client=self.client)
        tell("integrity", status=expect(models.Integrity, answer).status.value)

    def refused(self, first: models.Invoice) -> None:
        """Check that errors have their documented types."""
        books, client = self.business_id, self.client
        missing = get_invoice.sync_detailed(books, books, client=client)
        tell("missing", **refusal(missing))
        nobodys = models.InvoiceCreate(line_items=[BEANS])
        invalid = create_invoice.sync_detailed(books, client=client, body=nobodys)
        tell("invalid", **refusal(invalid))
        reused = create_invoice.sync_detailed(
            books, client=client, body=invoice(6), idempotency_key="first"
        )
        tell("reused", **refusal(reused))
        conflict = void_invoice.sync_detailed(books, first.id, client=client)
        tell("conflict", **refusal(conflict))


def refusal(answer: Response[Any]) -> dict[str, object]:
    """Return the error in a response; exit if it is none."""
    error = expect(models.ErrorBody, answer.parsed)
    faults = error.detail.field_errors
    fields = [] if isinstance(faults, Unset) else sorted(faults.to_dict())
    return {"status": answer.status_code.value, "code": error.error_code.value, "fields": fields}


def main(url: str, partner_id: str, key: str) -> None:
    """Run all steps of the journey."""
    business_id, token = opened(url, partner_id, key)
    with AuthenticatedClient(base_url=url, token=token) as client:
        journey = Journey(client, business_id)
        first = journey.sold()
        payment = journey.paid(first)
        payout = journey.paid_out(payment, journey.refunded(first))
        journey.filed(first)
        journey.bought()
        journey.matched(payout)
        journey.looked_through()
        journey.refused(first)


if __name__ == "__main__":
    main(*sys.argv[1:])
