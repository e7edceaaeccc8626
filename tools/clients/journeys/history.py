"""A history by the SDK for Python: `python history.py URL PARTNER KEY BUSINESS COUNT STATE`.

It prints the number of items that are done, a line for each batch, and at the end the failures, and
how the feeds of events are wrong. A STATE of `-` keeps nothing.
"""

import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from accounting_sdk import Accounting, models

CUSTOMERS = 50
FIRST_DAY = datetime(2025, 1, 1, 9, tzinfo=UTC)

Body = models.CustomerCreate | models.InvoiceCreate


def items(count: int) -> Iterator[Body]:
    """Yield some customers and then the given number of their invoices."""
    for number in range(CUSTOMERS):
        yield models.CustomerCreate(company_name=f"Shop {number}", external_id=f"shop-{number}")
    for number in range(count):
        yield models.InvoiceCreate(
            external_id=f"order-{number}",
            customer_external_id=f"shop-{number % CUSTOMERS}",
            sent_at=FIRST_DAY + timedelta(minutes=number),
            line_items=[
                models.LineItemInput(
                    description="Coffee", quantity=1, unit_price=1_000 + number, tax_rate=20
                )
            ],
        )


def main(url: str, partner_id: str, key: str, business_id: str, count: str, state: str) -> None:
    """Send the history, and print its progress and its failures."""
    with Accounting(url, partner_id, key) as accounting:
        books = accounting.business(business_id)
        report = books.bulk(
            items(int(count)),
            progress=lambda report: print(report.done, flush=True),
            state=None if state == "-" else state,
        )
        for failure in report.failures:
            print(failure.index, failure.error)
        told = [event.sequence for event in books.events(wait=0, page_size=500)]
        pages = accounting.event_pages(wait=0, page_size=500)
        told_to_partner = [event.sequence for page in pages for event in page.results]
    if not told == told_to_partner == list(range(1, len(told) + 1)):
        print(f"The feeds have {len(told)} and {len(told_to_partner)} events, or miss some.")


if __name__ == "__main__":
    main(*sys.argv[1:])
