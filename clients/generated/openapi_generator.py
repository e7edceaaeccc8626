"""The calls of a first day, through the client that openapi-generator makes for Python.

python openapi_generator.py BASE_URL PARTNER_ID API_KEY
"""

import sys
from datetime import UTC, datetime
from uuid import UUID

import openapi_client as api
from openapi_client.exceptions import NotFoundException

START = datetime(2026, 7, 1, 9, tzinfo=UTC)


def business_token(url: str, partner_id: str, key: str) -> tuple[UUID, str]:
    """Open a business, and trade the API key for a token that opens it."""
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
        token = api.AccessApi(client).issue_business_token(business.id)
    return business.id, token.access_token


def invoice(number: int) -> api.InvoiceCreate:
    """Write one invoice of many."""
    beans = api.LineItemInput(
        description="Beans", quantity=api.Quantity(12), unit_price=1450, tax_rate=api.TaxRate(20)
    )
    return api.InvoiceCreate(
        customer_external_id="blue-door",
        external_id=f"order-{number}",
        sent_at=START,
        line_items=[beans],
    )


def main(url: str, partner_id: str, key: str) -> None:
    """Invoice, repeat it, be paid, walk a list to its end, and be refused."""
    business_id, token = business_token(url, partner_id, key)
    with api.ApiClient(api.Configuration(host=url, access_token=token)) as client:
        invoices = api.InvoicesApi(client)
        first = invoices.create_invoice(business_id, invoice(1), idempotency_key="first")
        again = invoices.create_invoice(business_id, invoice(1), idempotency_key="first")
        total, currency = first.total_amount, first.currency.value
        print(f"{first.invoice_number}: {total} {currency} {first.status.value}")
        print(f"repeated: {again.id == first.id}")
        for number in range(2, 6):
            invoices.create_invoice(business_id, invoice(number))
        part = api.InvoiceAllocationInput(invoice_id=first.id, amount_cents=first.total_amount)
        payment = api.InvoicePaymentCreate(
            customer_id=first.customer_id,
            total_amount_cents=first.total_amount,
            currency=first.currency,
            payment_date=START.date(),
            payment_method=api.PaymentMethod.CREDIT_CARD,
            allocations=[part],
        )
        api.InvoicePaymentsApi(client).create_invoice_payment(business_id, payment)
        print(f"paid: {invoices.get_invoice(business_id, first.id).status.value}")
        seen, cursor = 0, None
        while True:
            page = invoices.list_invoices(business_id, page_size=2, cursor=cursor)
            seen, cursor = seen + len(page.results), page.page_info.next_cursor
            if cursor is None:
                break
        print(f"walked: {seen}")
        try:
            invoices.get_invoice(business_id, business_id)
        except NotFoundException as refusal:
            print(f"refused: {refusal.data and refusal.data.error_code.value}")


if __name__ == "__main__":
    main(*sys.argv[1:])
