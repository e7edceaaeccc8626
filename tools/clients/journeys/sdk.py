"""A first month of API calls, with the SDK for Python. Each step prints its result.

python sdk.py BASE_URL PARTNER_ID API_KEY
"""

import json
import sys
from collections.abc import Callable
from datetime import UTC, date, datetime
from io import BytesIO

from accounting_sdk import (
    Accounting,
    AccountingError,
    BadRequest,
    Books,
    Conflict,
    File,
    NotFound,
    RuleBroken,
    models,
)

DAY = date(2026, 7, 1)
START = datetime(2026, 7, 1, 9, tzinfo=UTC)
BUSINESS = models.BusinessCreate(
    external_id="sdk",
    legal_name="Harbour Coffee Ltd",
    entity_type="limited",
    email="books@harbour.example.com",
    country="GB",
)
BEANS = models.LineItemInput(description="Beans", quantity=12, unit_price=1450, tax_rate=20)


def tell(step: str, **facts: object) -> None:
    """Print the result of a step as JSON."""
    print(json.dumps({"step": step, **facts}))


def invoice(number: int) -> models.InvoiceCreate:
    """Return an invoice of 12 units at 14.50, with 20 % tax."""
    return models.InvoiceCreate(
        customer_external_id="blue-door", sent_at=START, line_items=[BEANS], memo=f"Order {number}"
    )


def sold(books: Books) -> models.Invoice:
    """Create a customer and five invoices, and list the invoices."""
    wanted = models.CustomerCreate(external_id="blue-door", company_name="Blue Door Bakery")
    tell("customer", name=books.create_customer(wanted).company_name)
    preview = books.create_invoice(invoice(1), preview=True)
    tell("preview", number=preview.invoice_number, total=preview.total_amount)
    first = books.create_invoice(invoice(1), idempotency_key="first")
    tell(
        "invoice",
        number=first.invoice_number,
        total=first.total_amount,
        currency=first.currency,
        status=first.status,
    )
    for number in range(2, 6):
        books.create_invoice(invoice(number))
    totals = [each.total_amount for each in books.list_invoices(page_size=2)]
    tell("walk", seen=len(totals), total=sum(totals))
    return first


def paid(books: Books, first: models.Invoice) -> models.InvoicePayment:
    """Record a card payment of the invoice, and read the result."""
    part = models.InvoiceAllocationInput(invoice_id=first.id, amount_cents=first.total_amount)
    payment = models.InvoicePaymentCreate(
        customer_id=first.customer_id,
        total_amount_cents=first.total_amount,
        currency=first.currency,
        payment_date=DAY,
        payment_method="credit_card",
        payment_processor="mollie",
        allocations=[part],
    )
    made = books.create_invoice_payment(payment).payment
    tell("payment", applied=made.applied_amount_cents, remaining=made.remaining_amount_cents)
    read = books.get_invoice(first.id)
    unpaid = books.list_invoices(customer_id=[first.customer_id], status=["sent", "overdue"])
    tell("paid", status=read.status, left=read.outstanding_balance, unpaid=len(list(unpaid)))
    return made


def refunded(books: Books, first: models.Invoice) -> models.InvoiceRefundPayment:
    """Refund a part of the payment."""
    refund = models.InvoiceRefundCreate(
        invoice_id=first.id,
        amount_cents=880,
        method="CREDIT_CARD",
        processor="Mollie",
        completed_at=START,
    )
    made = books.create_invoice_refund(refund)
    tell("refund", status=made.status, paid=made.paid_amount)
    return made.refund_payments[0]


def paid_out(
    books: Books, payment: models.InvoicePayment, refund: models.InvoiceRefundPayment
) -> models.Payout:
    """Record a payout of the payment processor."""
    payout = models.PayoutCreate(
        processor="mollie",
        paid_out_amount_cents=19_700,
        fee_cents=300,
        completed_at=START,
        payment_ids=[payment.id],
        refund_payment_ids=[refund.id],
    )
    made = books.create_payout(payout)
    tell("payout", expected=made.expected_net_amount_cents, variance=made.amount_variance_cents)
    return made


def filed(books: Books, first: models.Invoice) -> None:
    """Upload a file and attach it to the invoice."""
    file = File(payload=BytesIO(b"item,price\nBeans,1450\n"), file_name="order.csv")
    form = models.DocumentForm(file=file, linked_type="invoice", linked_id=first.id)
    made = books.create_document(form)
    tell("document", name=made.file_name, size=made.file_size)


def bought(books: Books) -> None:
    """Create a vendor with a bill, and pay the bill."""
    vendor = books.create_vendor(models.VendorCreate(company_name="Raw Coffee Traders"))
    beans = models.LineItemInput(description="Raw beans", quantity=1, unit_price=9_000)
    wanted = models.BillCreate(
        vendor_id=vendor.id, bill_date=DAY, received_at=START, line_items=[beans]
    )
    bill = books.create_bill(wanted)
    tell("bill", vendor=vendor.company_name, total=bill.total_amount, status=bill.status)
    part = models.BillAllocationInput(bill_id=bill.id, amount_cents=bill.total_amount)
    payment = models.BillPaymentCreate(
        vendor_id=vendor.id,
        amount_cents=bill.total_amount,
        payment_date=DAY,
        currency=bill.currency,
        payment_method="bank_transfer",
        status="completed",
        allocations=[part],
    )
    made = books.create_bill_payment(payment).payment
    tell("bill payment", allocated=made.allocated_amount_cents)
    read = books.get_bill(bill.id)
    tell("bill paid", status=read.status, left=read.outstanding_balance)


def matched(books: Books, payout: models.Payout) -> None:
    """Import a bank statement, and match its line with the payout."""
    wanted = models.BankAccountCreate(display_name="Current account")
    account = books.create_bank_account(wanted)
    tell("bank account", account=account.account.code)
    line = models.BankTransactionLine(
        date=DAY, amount_cents=19_700, direction="credit", description="MOLLIE PAYOUT"
    )
    statement = models.BankTransactionImport(bank_account_id=account.id, transactions=[line])
    tell("statement", imported=books.import_bank_transactions(statement).imported)
    [kept] = books.list_bank_transactions()
    match = models.BankTransactionMatch(target_type="payout", target_id=payout.id)
    done = books.match_bank_transaction(kept.id, match)
    tell("match", amount=kept.amount_cents, reconciled=done.is_reconciled)


def looked_through(books: Books) -> None:
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
    made = books.create_journal_entry(entry)
    tell("entry", status=made.status, debits=[each.debit_amount for each in made.lines])
    clearing = books.get_account("1150")
    tell("account", name=clearing.name, balance=clearing.current_balance)
    report = books.get_profit_and_loss(start_date=DAY, end_date=DAY)
    revenue = [line.value_cents for line in report.revenue.line_items]
    tell("report", revenue=revenue, profit=report.summary.net_profit_cents)
    header = books.export_accounts().splitlines()[0]
    tell("export", columns=len(header.split(",")))
    tell("integrity", status=books.get_integrity().status)


def refused(books: Books, first: models.Invoice) -> None:
    """Check that errors have their documented types."""
    missing = refusal(NotFound, lambda: books.get_invoice(books.business_id))
    tell("missing", **missing)
    nobodys = models.InvoiceCreate(line_items=[BEANS])
    invalid = refusal(BadRequest, lambda: books.create_invoice(nobodys))
    tell("invalid", **invalid)
    reused = refusal(RuleBroken, lambda: books.create_invoice(invoice(6), idempotency_key="first"))
    tell("reused", **reused)
    conflict = refusal(Conflict, lambda: books.void_invoice(first.id))
    tell("conflict", **conflict)


def refusal(kind: type[AccountingError], call: Callable[[], object]) -> dict[str, object]:
    """Return the error of a call; exit if it succeeds."""
    try:
        call()
    except kind as error:
        fields = sorted(error.detail.get("field_errors", ()))
        return {"status": error.status, "code": error.error_code, "fields": fields}
    raise SystemExit("not refused")


def main(url: str, partner_id: str, key: str) -> None:
    """Run all steps of the journey."""
    with Accounting(url, partner_id, key) as accounting:
        business = accounting.create_business(BUSINESS)
        tell("business", name=business.legal_name, currency=business.base_currency)
        books = accounting.business(business.id)
        first = sold(books)
        payment = paid(books, first)
        payout = paid_out(books, payment, refunded(books, first))
        filed(books, first)
        bought(books)
        matched(books, payout)
        looked_through(books)
        refused(books, first)


if __name__ == "__main__":
    main(*sys.argv[1:])
