"""The calls of a first day, through the client that openapi-python-client makes.

python openapi_python_client.py BASE_URL PARTNER_ID API_KEY
"""

import sys
from base64 import b64encode
from datetime import UTC, datetime
from typing import TypeVar
from uuid import UUID

from accounting_client import AuthenticatedClient, models
from accounting_client.api.access import issue_business_token, issue_partner_token
from accounting_client.api.businesses import create_business
from accounting_client.api.invoice_payments import create_invoice_payment
from accounting_client.api.invoices import create_invoice, get_invoice, list_invoices
from accounting_client.types import UNSET, Unset

T = TypeVar("T")

START = datetime(2026, 7, 1, 9, tzinfo=UTC)


def expect(kind: type[T], answer: object) -> T:
    """Take the answer, or stop with the refusal's own words."""
    if not isinstance(answer, kind):
        raise SystemExit(f"refused: {answer}")
    return answer


def business_token(url: str, partner_id: str, key: str) -> tuple[UUID, str]:
    """Open a business, and trade the API key for a token that opens it."""
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
        made = create_business.sync(client=client, body=wanted)
        business = expect(models.Business, made)
        token = issue_business_token.sync(business.id, client=client)
        return business.id, expect(models.BusinessToken, token).access_token


def invoice(number: int) -> models.InvoiceCreate:
    """Write one invoice of many."""
    beans = models.LineItemInput(description="Beans", quantity=12, unit_price=1450, tax_rate=20)
    return models.InvoiceCreate(
        customer_external_id="blue-door",
        external_id=f"order-{number}",
        sent_at=START,
        line_items=[beans],
    )


def paid(client: AuthenticatedClient, business_id: UUID, first: models.Invoice) -> str:
    """Pay an invoice in full; return its status."""
    total = first.total_amount
    part = models.InvoiceAllocationInput(invoice_id=first.id, amount_cents=total)
    payment = models.InvoicePaymentCreate(
        customer_id=first.customer_id,
        total_amount_cents=total,
        currency=first.currency,
        payment_date=START.date(),
        payment_method=models.PaymentMethod.CREDIT_CARD,
        allocations=[part],
    )
    answer = create_invoice_payment.sync(business_id, client=client, body=payment)
    expect(models.InvoicePaymentResult, answer)
    read = get_invoice.sync(business_id, first.id, client=client)
    return expect(models.Invoice, read).status.value


def walked(client: AuthenticatedClient, business_id: UUID) -> int:
    """Count the invoices, page by page to the end."""
    seen = 0
    cursor: str | Unset | None = UNSET
    while cursor is not None:
        answer = list_invoices.sync(business_id, client=client, page_size=2, cursor=cursor)
        page = expect(models.InvoicePage, answer)
        seen, cursor = seen + len(page.results), page.page_info.next_cursor
    return seen


def main(url: str, partner_id: str, key: str) -> None:
    """Invoice, repeat it, be paid, walk a list to its end, and be refused."""
    business_id, token = business_token(url, partner_id, key)
    with AuthenticatedClient(base_url=url, token=token) as client:
        first, again = (
            expect(
                models.Invoice,
                create_invoice.sync(
                    business_id, client=client, body=invoice(1), idempotency_key="first"
                ),
            )
            for _ in range(2)
        )
        total, currency = first.total_amount, first.currency.value
        print(f"{first.invoice_number}: {total} {currency} {first.status.value}")
        print(f"repeated: {again.id == first.id}")
        for number in range(2, 6):
            create_invoice.sync(business_id, client=client, body=invoice(number))
        print(f"paid: {paid(client, business_id, first)}")
        print(f"walked: {walked(client, business_id)}")
        missing = get_invoice.sync(business_id, business_id, client=client)
        print(f"refused: {expect(models.ErrorBody, missing).error_code}")


if __name__ == "__main__":
    main(*sys.argv[1:])
