"""Requests for reports, and the trade that the reports show."""

import csv
from io import StringIO
from typing import Any

from tests.builders.journal_entries import ENTRIES, credit, debit
from tests.builders.sales import invoice_body, paid
from tests.builders.trade import Record, line
from tests.partner import Business


def report(shop: Business, name: str, **asked: Any) -> Record:
    """Return a report by its path, such as reports/profit-and-loss."""
    answer = shop.api.get(f"{name}/", params=asked)
    assert answer.status_code == 200, answer.text
    found: Record = answer.json()
    return found


def refused(shop: Business, name: str, **asked: Any) -> Record:
    """Request a report that is refused; return its errors by parameter."""
    answer = shop.api.get(f"{name}/", params=asked)
    assert answer.status_code == 400, answer.text
    faults: Record = answer.json()["detail"]["field_errors"]
    return faults


def table(shop: Business, name: str, **asked: Any) -> list[dict[str, str]]:
    """Request a report as CSV; return its rows."""
    answer = shop.api.get(f"{name}/", params=asked, headers={"Accept": "text/csv"})
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    return list(csv.DictReader(StringIO(answer.text, newline="")))


def values(section: Record) -> dict[str, int]:
    """Return the value of each line of a section, by account code, else by name."""
    return {
        each["account_code"] or each["account_name"]: each["value_cents"]
        for each in section["line_items"]
    }


def booked(shop: Business, on: str, taken: str, given: str, amount: int) -> Record:
    """Post an entry by hand that debits `taken` and credits `given`."""
    lines = [debit(taken, amount), credit(given, amount)]
    return shop.made(ENTRIES, {"entry_date": on, "lines": lines, "post": True})


def worked_march(shop: Business) -> tuple[Record, Record]:
    """Post an invoice of 1,200.00, 500.00 of it paid, a machine, its depreciation and a loan."""
    buyer = shop.customer()
    sold = line(100_000, tax_rate=20)
    invoice = shop.made("invoices/", invoice_body(buyer, sold, sent_at="2026-03-05T09:00:00Z"))
    share = {"invoice_id": invoice["id"], "amount_cents": 50_000}
    payment = paid(shop, buyer, 50_000, payment_date="2026-03-20", allocations=[share])
    booked(shop, "2026-03-10", "1600", "1100", 60_000)
    booked(shop, "2026-03-31", "6000", "1650", 5_000)
    booked(shop, "2026-03-01", "1100", "2500", 100_000)
    return invoice, payment
