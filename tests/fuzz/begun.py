"""What is planted of openings of the books: each on a day of its own, nothing of it settled."""

from datetime import date, timedelta
from typing import Any

from tests.builders.openings import open_invoice, opened
from tests.partner import Business

Record = dict[str, Any]
Pools = dict[str, list[str]]
FIRST_DAY = date(2000, 1, 1)
OLD = {"issue_date": "1999-11-03"}


def plant_openings(pools: Pools, business: Business, customers: list[Record], many: int) -> None:
    """Plant openings to read, and those to reverse."""
    made = [
        opened(
            business,
            date=str(FIRST_DAY + timedelta(days=n)),
            accounts=[{"account": "1100", "debit_amount": 100 + n}],
            invoices=[open_invoice(customers[n % len(customers)], 50 + n, **OLD)],
        )["id"]
        for n in range(10 + many)
    ]
    pools["openings"], pools["spare_openings"] = made[:10], made[10:]
