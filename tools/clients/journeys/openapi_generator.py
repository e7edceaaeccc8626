"""A first month of API calls, with the Python client that openapi-generator makes.

python openapi_generator.py BASE_URL PARTNER_ID API_KEY
"""

import json
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime
from uuid import UUID

import openapi_client as api
from openapi_client.exceptions import (
    ApiException,
    BadRequestException,
    ConflictException,
    NotFoundException,
    UnprocessableEntityException,
)
from urllib3.exceptions import HTTPError

DAY = date(2026, 7, 1)
START = datetime(2026, 7, 1, 9, tzinfo=UTC)
BEANS = api.LineItemInput(
    description="Beans", quantity=api.Quantity(12), unit_price=1450, tax_rate=api.TaxRate(20)
)


def tell(step: str, **facts: object) -> None:
    """Print the result of a step as JSON."""
    print(json.dumps({"step": step, **facts}))


def opened(url: str, partner_id: str, key: str) -> tuple[UUID, str]:
    """Create a business and exchange the API key for a token of that business."""
    with_key = api.Configuration(host=url, username=partner_id, password=key)
    with api.ApiClient(with_key) as client:
        grant = api.GrantType.CLIENT_CREDENTIALS
        partner = api.AccessApi(client).issue_partner_token(grant_type=grant)
    with api.ApiClient(api.Configuration(host=url, access_token=partner.access_token)) as client:
        business = api.BusinessesApi(client).create_business(
            api.BusinessCreate(
                external_id="openapi-generator",
                legal_name="Harbour Coffee Ltd",
                entity_type="limited",
                email="books@harbour.example.com",
                country="GB",
            )
        )
        tell("business", name=business.legal_name, currency=business.base_currency.value)
        token = api.AccessApi(client).issue_business_token(business.id)
    return business.id, token.access_token


def invoice(number: int) -> api.InvoiceCreate:
    """Return an invoice of 12 units at 14.50, with 20 % tax."""
    return api.InvoiceCreate(
        customer_external_id="blue-door", sent_at=START, line_items=[BEANS], memo=f"Order {number}"
    )


def refusal(kind: type[ApiException], call: Callable[[], object]) -> dict[str, object]:
    """Return the error of a call; exit if it succeeds."""
    try:
        call()
    except kind as error:
        if isinstance(error.data, api.ErrorBody):
            fields = sorted(error.data.detail.field_errors or ())
            code = error.data.error_code.value
            return {"status": error.status, "code": code, "fields": fields}
        raise
    raise SystemExit("not refused")


class Journey:
    """The steps of the journey in the books of one business."""

    def __init__(self, client: api.ApiClient, business_id: UUID) -> None:
        self.client = client
        self.business_id = business_id
        self.invoices = api.InvoicesApi(client)

    def sold(self) -> api.Invoice:
        """Create a customer and five invoices, and list the invoices."""
        wanted = api.CustomerCreate(external_id="blue-door", company_name="Blue Door Bakery")
        customer = api.CustomersApi(self.client).create_customer(self.business_id, wanted)
        tell("customer", name=customer.company_name)
        preview = self.invoices.create_invoice(self.business_id, invoice(1), preview=True)
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
            self.invoices.create_invoice(self.business_id, invoice(number))
        totals = [each.total_amount for each in self.walked()]
        tell("walk", seen=len(totals), total=sum(totals))
        return first

    def sent_surely(self, wanted: api.InvoiceCreate, key: str) -> api.Invoice:
        """Create an invoice; repeat the call with the same key if the connection breaks."""
        for _ in range(2):
            try:
                return self.invoices.create_invoice(self.business_id, wanted, idempotency_key=key)
            except HTTPError:
                continue
        raise SystemExit("no answer")

    def walked(self) -> Iterator[api.InvoiceSummary]:
        """Yield all invoices, page by page."""
        cursor = None
        while True:
            page = self.invoices.list_invoices(self.business_id, page_size=2, cursor=cursor)
            yield from page.results
            cursor = page.page_info.next_cursor
            if cursor is None:
                return

    def paid(self, first: api.Invoice) -> api.InvoicePayment:
        """Record a card payment of the invoice, and read the result."""
        part = api.InvoiceAllocationInput(invoice_id=first.id, amount_cents=first.total_amount)
        payment = api.InvoicePaymentCreate(
            customer_id=first.customer_id,
            total_amount_cents=first.total_amount,
            currency=first.currency,
            payment_date=DAY,
            payment_method=api.PaymentMethod.CREDIT_CARD,
            payment_processor="mollie",
            allocations=[part],
        )
        payments = api.InvoicePaymentsApi(self.client)
        made = payments.create_invoice_payment(self.business_id, payment).payment
        tell("payment", applied=made.applied_amount_cents, remaining=made.remaining_amount_cents)
        read = self.invoices.get_invoice(self.business_id, first.id)
        unpaid = self.invoices.list_invoices(
            self.business_id,
            customer_id=[first.customer_id],
            status=[api.InvoiceStatusFilter.SENT, api.InvoiceStatusFilter.OVERDUE],
        )
        left = read.outstanding_balance
        tell("paid", status=read.status.value, left=left, unpaid=len(unpaid.results))
        return made

    def refunded(self, first: api.Invoice) -> api.InvoiceRefundPayment:
        """Refund a part of the payment."""
        refund = api.InvoiceRefundCreate(
            invoice_id=first.id,
            amount_cents=880,
            method=api.RefundMethod.CREDIT_CARD,
            processor="Mollie",
            completed_at=START,
        )
        refunds = api.InvoiceRefundsApi(self.client)
        made = refunds.create_invoice_refund(self.business_id, refund)
        tell("refund", status=made.status.value, paid=made.paid_amount)
        return made.refund_payments[0]

    def paid_out(self, payment: api.InvoicePayment, refund: api.InvoiceRefundPayment) -> api.Payout:
        """Record a payout of the payment processor."""
        payout = api.PayoutCreate(
            processor=api.PayoutProcessor.MOLLIE,
            paid_out_amount_cents=19_700,
            fee_cents=300,
            completed_at=START,
            payment_ids=[payment.id],
            refund_payment_ids=[refund.id],
        )
        made = api.PayoutsApi(self.client).create_payout(self.business_id, payout)
        tell("payout", expected=made.expected_net_amount_cents, variance=made.amount_variance_cents)
        return made

    def filed(self, first: api.Invoice) -> None:
        """Upload a file and attach it to the invoice."""
        made = api.DocumentsApi(self.client).create_document(
            self.business_id,
            ("order.csv", b"item,price\nBeans,1450\n"),
            linked_type=api.LinkedType.INVOICE,
            linked_id=first.id,
        )
        tell("document", name=made.file_name, size=made.file_size)

    def bought(self) -> None:
        """Create a vendor with a bill, and pay the bill."""
        trader = api.VendorCreate(company_name="Raw Coffee Traders")
        vendor = api.VendorsApi(self.client).create_vendor(self.business_id, trader)
        beans = api.LineItemInput(
            description="Raw beans", quantity=api.Quantity(1), unit_price=9_000
        )
        wanted = api.BillCreate(
            vendor_id=vendor.id, bill_date=DAY, received_at=START, line_items=[beans]
        )
        bills = api.BillsApi(self.client)
        bill = bills.create_bill(self.business_id, wanted)
        tell("bill", vendor=vendor.company_name, total=bill.total_amount, status=bill.status.value)
        part = api.BillAllocationInput(bill_id=bill.id, amount_cents=bill.total_amount)
        payment = api.BillPaymentCreate(
            vendor_id=vendor.id,
            amount_cents=bill.total_amount,
            payment_date=DAY,
            currency=bill.currency,
            payment_method=api.BillPaymentMethod.BANK_TRANSFER,
            status=api.VendorPaymentStatus.COMPLETED,
            allocations=[part],
        )
        payments = api.BillPaymentsApi(self.client)
        made = payments.create_bill_payment(self.business_id, payment).payment
        tell("bill payment", allocated=made.allocated_amount_cents)
        read = bills.get_bill(self.business_id, bill.id)
        tell("bill paid", status=read.status.value, left=read.outstanding_balance)

    def matched(self, payout: api.Payout) -> None:
        """Import a bank statement, and match its line with the payout."""
        wanted = api.BankAccountCreate(display_name="Current account")
        account = api.BankAccountsApi(self.client).create_bank_account(self.business_id, wanted)
        tell("bank account", account=account.account.code)
        line = api.BankTransactionLine(
            date=DAY,
            amount_cents=19_700,
            direction=api.BankDirection.CREDIT,
            description="MOLLIE PAYOUT",
        )
        lines = api.BankTransactionsApi(self.client)
        statement = api.BankTransactionImport(bank_account_id=account.id, transactions=[line])
        imported = lines.import_bank_transactions(self.business_id, statement).imported
        tell("statement", imported=imported)
        [kept] = lines.list_bank_transactions(self.business_id).results
        match = api.BankTransactionMatch(target_type=api.BankTarget.PAYOUT, target_id=payout.id)
        matching = api.BankMatchingApi(self.client)
        done = matching.match_bank_transaction(self.business_id, kept.id, match)
        tell("match", amount=kept.amount_cents, reconciled=done.is_reconciled)

    def looked_through(self) -> None:
        """Post a manual journal entry, then read an account, a report and the integrity checks."""
        entry = api.JournalEntryCreate(
            entry_date=DAY,
            description="Bank charges",
            lines=[
                api.JournalLineInput(account="6300", debit_amount=1_200),
                api.JournalLineInput(account="1100", credit_amount=1_200),
            ],
            post=True,
        )
        made = api.JournalEntriesApi(self.client).create_journal_entry(self.business_id, entry)
        debits = [each.debit_amount for each in made.lines]
        tell("entry", status=made.status.value, debits=debits)
        chart = api.ChartOfAccountsApi(self.client)
        clearing = chart.get_account(self.business_id, "1150")
        tell("account", name=clearing.name, balance=clearing.current_balance)
        reports = api.ReportsApi(self.client)
        report = reports.get_profit_and_loss(self.business_id, start_date=DAY, end_date=DAY)
        revenue = [line.value_cents for line in report.revenue.line_items]
        tell("report", revenue=revenue, profit=report.summary.net_profit_cents)
        header = chart.export_accounts(self.business_id).splitlines()[0]
        tell("export", columns=len(header.split(",")))
        books = api.IntegrityApi(self.client).get_integrity(self.business_id)
        tell("integrity", status=books.status.value)

    def refused(self, first: api.Invoice) -> None:
        """Check that errors have their documented types."""
        books, invoices = self.business_id, self.invoices
        missing = refusal(NotFoundException, lambda: invoices.get_invoice(books, books))
        tell("missing", **missing)
        nobodys = api.InvoiceCreate(line_items=[BEANS])
        invalid = refusal(BadRequestException, lambda: invoices.create_invoice(books, nobodys))
        tell("invalid", **invalid)
        reused = refusal(
            UnprocessableEntityException,
            lambda: invoices.create_invoice(books, invoice(6), idempotency_key="first"),
        )
        tell("reused", **reused)
        conflict = refusal(ConflictException, lambda: invoices.void_invoice(books, first.id))
        tell("conflict", **conflict)


def main(url: str, partner_id: str, key: str) -> None:
    """Run all steps of the journey."""
    business_id, token = opened(url, partner_id, key)
    with api.ApiClient(api.Configuration(host=url, access_token=token)) as client:
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
