"""The calls of a first month, through the SDK for Python.

python sdk.py BASE_URL PARTNER_ID API_KEY
"""

import sys
from datetime import UTC, date, datetime
from io import BytesIO
from uuid import uuid4

from accounting_sdk import (
    Accounting,
    AccountingError,
    BadRequest,
    Books,
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


def invoice(number: int) -> models.InvoiceCreate:
    """Write one invoice of many."""
    beans = models.LineItemInput(description="Beans", quantity=12, unit_price=1450, tax_rate=20)
    return models.InvoiceCreate(
        customer_external_id="blue-door", sent_at=START, line_items=[beans], memo=f"Order {number}"
    )


def sold(books: Books) -> models.Invoice:
    """Send invoices, which are there once each whatever happens to the connection."""
    wanted = models.CustomerCreate(external_id="blue-door", company_name="Blue Door Bakery")
    customer = books.create_customer(wanted)
    preview = books.create_invoice(invoice(1), preview=True)
    first = books.create_invoice(invoice(1))
    print(f"previewed: {preview.total_amount == first.total_amount}")
    print(f"{first.invoice_number}: {first.total_amount} {first.currency} {first.status}")
    for number in range(2, 6):
        books.create_invoice(invoice(number))
    print(f"walked: {len(list(books.list_invoices(page_size=2)))}")
    print(f"filtered: {len(list(books.list_invoices(customer_id=[customer.id], status=['paid'])))}")
    return first


def paid(books: Books, first: models.Invoice) -> models.InvoicePayment:
    """Be paid by card."""
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
    print(f"paid: {books.get_invoice(first.id).status}")
    return made


def refunded(books: Books, first: models.Invoice) -> models.InvoiceRefundPayment:
    """Give some of it back."""
    refund = models.InvoiceRefundCreate(
        invoice_id=first.id,
        amount_cents=880,
        method="CREDIT_CARD",
        processor="Mollie",
        completed_at=START,
    )
    made = books.create_invoice_refund(refund)
    print(f"refunded: {made.status}")
    return books.get_invoice_refund_payment(made.id, made.refund_payments[0].id)


def filed(books: Books, first: models.Invoice) -> None:
    """Keep a file beside the invoice."""
    file = File(payload=BytesIO(b"item,price\nBeans,1450\n"), file_name="order.csv")
    form = models.DocumentForm(file=file, linked_type="invoice", linked_id=first.id)
    print(f"filed: {books.create_document(form).file_name}")
    print(f"documents: {len(list(books.list_documents()))}")


def paid_out(
    books: Books, payment: models.InvoicePayment, refund: models.InvoiceRefundPayment
) -> models.Payout:
    """Be told by the processor what it paid out."""
    payout = models.PayoutCreate(
        processor="mollie",
        paid_out_amount_cents=19_700,
        fee_cents=300,
        completed_at=START,
        payment_ids=[payment.id],
        refund_payment_ids=[refund.id],
    )
    made = books.create_payout(payout)
    print(f"paid out, unexplained: {made.amount_variance_cents}")
    return made


def bought(books: Books) -> None:
    """Owe a vendor, and pay it."""
    vendor = books.create_vendor(models.VendorCreate(company_name="Raw Coffee Traders"))
    beans = models.LineItemInput(description="Raw beans", quantity=1, unit_price=9_000)
    wanted = models.BillCreate(
        vendor_id=vendor.id, bill_date=DAY, received_at=START, line_items=[beans]
    )
    bill = books.create_bill(wanted)
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
    books.create_bill_payment(payment)
    print(f"bill: {books.get_bill(bill.id).status}")


def matched(books: Books, payout: models.Payout) -> None:
    """Find the payout in the statement of the bank."""
    account = books.create_bank_account(models.BankAccountCreate(display_name="Current account"))
    line = models.BankTransactionLine(
        date=DAY, amount_cents=19_700, direction="credit", description="MOLLIE PAYOUT"
    )
    wanted = models.BankTransactionImport(bank_account_id=account.id, transactions=[line])
    books.import_bank_transactions(wanted)
    [kept] = books.list_bank_transactions()
    match = models.BankTransactionMatch(target_type="payout", target_id=payout.id)
    done = books.match_bank_transaction(kept.id, match)
    print(f"reconciled: {done.is_reconciled}")


def looked_through(books: Books) -> None:
    """Write an entry by hand, and look at the ledger."""
    entry = models.JournalEntryCreate(
        entry_date=DAY,
        description="Bank charges",
        lines=[
            models.JournalLineInput(account="6300", debit_amount=1_200),
            models.JournalLineInput(account="1100", credit_amount=1_200),
        ],
        post=True,
    )
    books.create_journal_entry(entry)
    codes = {account.code for account in books.list_accounts(page_size=7)}
    print(f"accounts: {len(codes) > 7}, clearing: {books.get_account('1150').current_balance}")
    print(f"entries: {len(list(books.list_journal_entries(page_size=3)))}")
    print(f"exported: {len(books.export_accounts().splitlines()) > len(codes)}")
    print(f"books: {books.get_integrity().status}")


def refused(books: Books, first: models.Invoice) -> None:
    """Be refused in types."""
    try:
        books.get_invoice(uuid4())
    except NotFound as error:
        print(f"{error.status} {error.error_code}")
    try:
        books.create_invoice(models.InvoiceCreate(line_items=[]))
    except BadRequest as error:
        print(f"{error.status} {sorted(error.detail['field_errors'])}")
    books.create_invoice(invoice(6), idempotency_key="sixth")
    try:
        books.create_invoice(invoice(7), idempotency_key="sixth")
    except RuleBroken as error:
        print(f"{error.status} {error.error_code} {error.idempotency_key}")
    try:
        books.void_invoice(first.id)
    except AccountingError as error:
        print(f"{error.status} {error.error_code}, told: {bool(error.request_id)}")


def main(url: str, partner_id: str, key: str) -> None:
    """Sell, buy, be paid out, and let the books agree."""
    with Accounting(url, partner_id, key) as accounting:
        business = accounting.create_business(BUSINESS)
        print(f"businesses: {[each.id == business.id for each in accounting.list_businesses()]}")
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
