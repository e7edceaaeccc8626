"""Reports as they are asked for, and months of trade that they tell of."""

import csv
from io import StringIO
from typing import Any

from tests.builders.journal_entries import ENTRIES, credit, debit
from tests.builders.sales import invoice_body, paid
from tests.builders.trade import Record, line
from tests.partner import Business


def report(shop: Business, name: str, **asked: Any) -> Record:
    """Ask for a report by its path: reports/profit-and-loss."""
    answer = shop.api.get(f"{name}/", params=asked)
    assert answer.status_code == 200, answer.text
    found: Record = answer.json()
    return found


def refused(shop: Business, name: str, **asked: Any) -> Record:
    """Ask for a report that is refused; its faults by parameter."""
    answer = shop.api.get(f"{name}/", params=asked)
    assert answer.status_code == 400, answer.text
    faults: Record = answer.json()["detail"]["field_errors"]
    return faults


def table(shop: Business, name: str, **asked: Any) -> list[dict[str, str]]:
    """Ask for a report as a file, and read its rows."""
    answer = shop.api.get(f"{name}/", params=asked, headers={"Accept": "text/csv"})
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    return list(csv.DictReader(StringIO(answer.text, newline="")))


def values(section: Record) -> dict[str, int]:
    """What the lines of a section come to, by code, or by name where there is no account."""
    return {
        each["account_code"] or each["account_name"]: each["value_cents"]
        for each in section["line_items"]
    }


def booked(shop: Business, on: str, taken: str, given: str, amount: int) -> Record:
    """Post an entry by hand: what is debited, and what is credited."""
    lines = [debit(taken, amount), credit(given, amount)]
    return shop.made(ENTRIES, {"entry_date": on, "lines": lines, "post": True})


def worked_march(shop: Business) -> tuple[Record, Record]:
    """An invoice of 1,200.00 of which 500.00 are paid, a machine, its depreciation and a loan."""
    buyer = shop.customer()
    sold = line(100_000, tax_rate=20)
    invoice = shop.made("invoices/", invoice_body(buyer, sold, sent_at="2026-03-05T09:00:00Z"))
    share = {"invoice_id": invoice["id"], "amount_cents": 50_000}
    payment = paid(shop, buyer, 50_000, payment_date="2026-03-20", allocations=[share])
    booked(shop, "2026-03-10", "1600", "1100", 60_000)
    booked(shop, "2026-03-31", "6000", "1650", 5_000)
    booked(shop, "2026-03-01", "1100", "2500", 100_000)
    return invoice, payment
