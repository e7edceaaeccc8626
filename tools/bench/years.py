"""Three years of a business, with any number of lines.

A batch of documents is created over the API, then copied to earlier days with its payments, entries
and parts. A batch has about a hundred lines: sales paid in full, three of them with a tag, one
unpaid sale, and a purchase. One in fifty copies is posted a quarter late.
"""

from collections.abc import Mapping
from datetime import date, timedelta
from typing import Any, Final
from uuid import UUID

import httpx
import psycopg
from sqlalchemy import Column, Date, DateTime, Table, Uuid

from persistence import tables
from tools.bench.seed import customer

DAYS: Final = 1_095
SENT, LAST_DAY = date(2025, 6, 1), date(2025, 6, 30)
TAG: Final = "wholesale"
CUSTOMERS: Final = 500
SALES: Final = 19  # Paid sales of a batch; one more is unpaid.
_ITEMS = [
    {"description": "Espresso beans", "quantity": 5, "unit_price": 1850, "tax_rate": 20},
    {"description": "Oat milk, case", "quantity": 2, "unit_price": 1420, "tax_rate": 20},
]

COPIED = (
    tables.invoice,
    tables.invoice_payment,
    tables.invoice_allocation,
    tables.bill,
    tables.bill_payment,
    tables.bill_allocation,
    tables.journal_entry,
    tables.journal_line,
    tables.cash_line,
)
# Ids of records that are copied; other ids belong to records that all copies share.
_OWN_IDS = {"id", "entry_id", "line_id", "source_id", "settles_id", "document_id", "payment_id"}
_NUMBERS = {"number", "party_number"}
# Ids in order of time: copy 1 is the last one before the batch itself.
_OWN_ID = "(lpad(to_hex(%(copies)s - n), 12, '0') || right(md5(t.{name}::text), 20))::uuid"
_POSTED = "((t.entry_date - earlier) + interval '18 hours' + late) AT TIME ZONE 'UTC'"
_CHANGED: Mapping[tuple[str, str], str] = {
    ("journal_entry", "posted_at"): _POSTED,
    ("journal_entry", "created_at"): _POSTED,
    ("journal_entry", "sequence_number"): "'JE-' || to_char(t.entry_date - earlier, 'YYYY-')"
    " || lpad((1000 * (1 + %(copies)s - n) + t.place)::text, 9, '0')",
    ("invoice", "party_id"): "people.ids[1 + n %% cardinality(people.ids)]",
    ("invoice_payment", "party_id"): "people.ids[1 + n %% cardinality(people.ids)]",
}
_COPY = """
INSERT INTO {table} ({names}) SELECT {shown}
FROM {table} AS t
CROSS JOIN generate_series(1, %(copies)s) AS n
CROSS JOIN LATERAL (
  SELECT n * %(days)s / %(copies)s * interval '1 day' AS earlier,
         CASE n %% 50 WHEN 7 THEN 90 ELSE 0 END * interval '1 day' AS late
) AS moved
CROSS JOIN (
  SELECT array_agg(id) AS ids FROM customer WHERE business_id = %(business_id)s
) AS people
WHERE t.business_id = %(business_id)s
ORDER BY n DESC, t.id
"""
# The batch itself was also posted on its dates.
_IN_TIME = """
UPDATE journal_entry SET posted_at = (entry_date + interval '18 hours') AT TIME ZONE 'UTC'
WHERE business_id = %(business_id)s
"""
_LAST = """
INSERT INTO number_series (business_id, series, last)
SELECT business_id, series, max(place) FROM journal_entry
WHERE business_id = %(business_id)s GROUP BY business_id, series
ON CONFLICT (business_id, series) DO UPDATE SET last = excluded.last
"""


def plant(api: httpx.Client, database_url: str, business_id: UUID, lines: int) -> None:
    """Fill a new business with about `lines` lines; `api` is a client of that business."""
    people = [_made(api, "customers/", customer(place)) for place in range(CUSTOMERS)]
    make_batch(api, people[0]["id"])
    with psycopg.connect(database_url) as connection:
        told: dict[str, Any] = {"business_id": business_id, "days": DAYS}
        [each] = connection.execute(
            "SELECT count(*) FROM journal_line WHERE business_id = %(business_id)s", told
        )
        told["copies"] = max(lines // each[0] - 1, 1)
        connection.execute("SET session_replication_role = replica")  # Disables triggers.
        connection.execute(_IN_TIME, told)
        for table in COPIED:
            columns = [column for column in table.columns if not column.computed]
            names = ", ".join(f'"{column.name}"' for column in columns)
            shown = ", ".join(_shown(table, column) for column in columns)
            connection.execute(_COPY.format(table=table.name, names=names, shown=shown), told)
        connection.execute(_LAST, told)


def make_batch(api: httpx.Client, customer_id: str) -> None:
    """Create one batch of sales and a purchase over the API, with their payments."""
    sale = {"customer_id": customer_id, "line_items": _ITEMS}
    for place in range(SALES):
        tags = {"transaction_tags": [TAG]} if place < 3 else {}
        sent = SENT if place % 2 else LAST_DAY
        made = _made(api, "invoices/", {**sale, **tags, "sent_at": _morning(sent)})
        total = made["total_amount"]
        paid = _paid(customer_id=customer_id, total_amount_cents=total)
        part = {"invoice_id": made["id"], "amount_cents": total}
        _made(api, "invoices/payments/", {**paid, "allocations": [part]})
    due = {"due_at": _morning(LAST_DAY + timedelta(days=30))}
    _made(api, "invoices/", {**sale, **due, "sent_at": _morning(LAST_DAY)})
    vendor = _made(api, "vendors/", {"company_name": "Harbour Roasters Ltd"})
    bought = {"vendor_id": vendor["id"], "line_items": _ITEMS, "received_at": _morning(LAST_DAY)}
    made = _made(api, "bills/", bought)
    total = made["total_amount"]
    part = {"bill_id": made["id"], "amount_cents": total}
    paid = _paid(vendor_id=vendor["id"], amount_cents=total)
    _made(api, "bills/payments/", {**paid, "allocations": [part]})


def _morning(day: date) -> str:
    return f"{day}T09:00:00Z"


def _paid(**facts: Any) -> dict[str, Any]:
    how = {"currency": "GBP", "payment_method": "bank_transfer"}
    return {"payment_date": str(LAST_DAY), **how, **facts}


def _made(api: httpx.Client, address: str, body: dict[str, Any]) -> dict[str, Any]:
    answer = api.post(address, json=body)
    assert answer.is_success, answer.text
    made: dict[str, Any] = answer.json()
    return made


def _shown(table: Table, column: Column[Any]) -> str:
    """Return the SQL expression for a column of a copy."""
    name = f't."{column.name}"'
    if (table.name, column.name) in _CHANGED:
        return _CHANGED[table.name, column.name]
    if column.name in _OWN_IDS and isinstance(column.type, Uuid):
        return _OWN_ID.format(name=column.name)
    if column.name in _NUMBERS:
        return f"{name} || '-' || n"
    if isinstance(column.type, Date):
        return f"({name} - earlier)::date"
    return f"{name} - earlier" if isinstance(column.type, DateTime) else name
