"""A partner's first ten calls: from an API key to a receivables account that agrees.

    python tools/clients/quickstart.py BASE_URL PARTNER_ID API_KEY

Without arguments it reads the environment variables of these names. All records have external ids,
so a second run finds them and changes nothing.
"""

import os
import sys
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx

Answer = dict[str, Any]

NOW = datetime.now(UTC)
BUSINESS = {
    "external_id": "quickstart",
    "legal_name": "Harbour Lane Studio Ltd",
    "entity_type": "limited",
    "email": "books@harbourlane.example.com",
    "country": "GB",
}
CUSTOMER = {
    "external_id": "blue-door",
    "company_name": "Blue Door Bakery",
    "payment_terms_days": 30,
}
INVOICE = {
    "external_id": "order-1001",
    "customer_external_id": "blue-door",
    "sent_at": (NOW - timedelta(days=7)).isoformat(),
    "line_items": [
        {"description": "Logo", "quantity": 1, "unit_price": 120_000, "tax_rate": 20},
        {"description": "Printed menus", "quantity": 250, "unit_price": 85},
    ],
}
PAYMENT = {
    "external_id": "receipt-1",
    "customer_external_id": "blue-door",
    "total_amount_cents": 100_000,
    "processing_fee_cents": 1_420,
    "payment_date": NOW.date().isoformat(),
    "currency": "GBP",
    "payment_method": "stripe",
}


def first_ten_calls(base_url: str, partner_id: str, api_key: str) -> Answer:
    """Create a business, invoice a customer, record a payment, and read the ledger."""
    with httpx.Client(base_url=f"{base_url.rstrip('/')}/v1/platform/") as api:
        # 1. Exchange the API key for a partner token.
        grant = {"grant_type": "client_credentials"}
        token = said(api.post("oauth2/token/", data=grant, auth=(partner_id, api_key)))
        api.headers["Authorization"] = f"Bearer {token['access_token']}"

        # 2. Create a business. It has a chart of accounts.
        business = said(api.post("businesses/", json=BUSINESS))
        print(f"{business['name']} keeps its books in {business['base_currency']}.")

        # 3. Exchange the token for one that is valid for this business only.
        token = said(api.post(f"{business['id']}/oauth2/token/"))
        api.headers["Authorization"] = f"Bearer {token['access_token']}"
        books = f"businesses/{business['id']}"

        # 4. Create a customer.
        said(api.post(f"{books}/customers/", json=CUSTOMER))

        # 5. Preview an invoice: the answer has its journal entries, and nothing is saved.
        preview = said(api.post(f"{books}/invoices/?preview=true", json=INVOICE))
        show_entries(preview["journal_entries"])

        # 6. Create the same invoice without `preview`.
        invoice = said(api.post(f"{books}/invoices/", json=INVOICE))
        print(f"{invoice['invoice_number']} comes to {money(invoice['total_amount'])}.")

        # 7. Record a card payment of a part of it.
        allocation = {"invoice_id": invoice["id"], "amount_cents": 100_000}
        said(api.post(f"{books}/invoices/payments/", json={**PAYMENT, "allocations": [allocation]}))

        # 8. Compute the amount still owed.
        invoices = said(api.get(f"{books}/invoices/?status=issued"))["results"]
        owed = sum(each["outstanding_balance"] for each in invoices)

        # 9. List the journal entries, which were posted automatically.
        entries = said(api.get(f"{books}/general-ledger/journal-entries/"))["results"]
        print(f"Posted: {', '.join(sorted(each['sequence_number'] for each in entries))}.")

        # 10. Compare: the balance of accounts receivable is the amount owed.
        account = said(api.get(f"{books}/general-ledger/chart-of-accounts/1200/"))
        receivable = account["current_balance"]
        print(f"{money(owed)} is owed, and {account['name']} holds {money(receivable)}.")

    return {"business_id": business["id"], "owed": owed, "receivable": receivable}


def said(response: httpx.Response) -> Answer:
    """Return the JSON of a response; an error ends the program with its message."""
    answer: Answer = response.json()
    if response.is_error:
        sys.exit(f"{answer['error_code']}: {answer['message']} (request {answer['request_id']})")
    return answer


def show_entries(entries: list[Answer]) -> None:
    """Print journal entries, debits to the left and credits to the right."""
    for entry in entries:
        print(entry["description"])
        for line in entry["lines"]:
            debit, credit = money(line["debit_amount"]), money(line["credit_amount"])
            print(f"  {line['account_code']} {line['account_name']:24}{debit:>10}{credit:>10}")


def money(cents: int) -> str:
    """Format minor units for people; zero gives an empty text."""
    return f"{cents / 100:,.2f}" if cents else ""


if __name__ == "__main__":
    names = ("BASE_URL", "PARTNER_ID", "API_KEY")
    given = sys.argv[1:] or [os.environ.get(name, "") for name in names]
    if len(given) != len(names) or not all(given):
        sys.exit(__doc__)
    first_ten_calls(*given)
