"""Invoices in any number: a few are created over the API, then copied with their entries.

The copies differ in id, number, customer and second. `Stage.settle` then updates the monthly
balances and the planner's statistics.
"""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

import httpx
import psycopg

from persistence import tables

CUSTOMER: dict[str, Any] = {
    "reference_number": "K-1027",
    "company_name": "Blue Door Cafe Ltd",
    "email": "hello@bluedoor.co.uk",
    "mobile_phone": "+447911123456",
    "office_phone": "+441174960123",
    "address_line1": "4 Quay Street",
    "address_line2": "Harbourside",
    "city": "Bristol",
    "state_county": "Somerset",
    "postal_code": "BS1 4RW",
    "country": "GB",
    "vat_number": "GB980780684",
    "notes": "Delivers to the back door, before eight.",
    "transaction_tags": ["wholesale", "south-west"],
    "payment_terms_days": 14,
    "credit_limit_cents": 250_000,
    "metadata": {"route": "7", "since": 2019},
}
# In turn a draft, an overdue invoice and one that is not due yet, to filter by status.
DRAFT: dict[str, str] = {}
OVERDUE = {"sent_at": "2025-03-03T20:00:00Z", "due_at": "2025-03-17T09:00:00Z"}
NOT_DUE = {"sent_at": "2025-03-03T20:00:00Z", "due_at": "2099-12-31T09:00:00Z"}
MIXED = (DRAFT, OVERDUE, NOT_DUE)
UNPAID = (NOT_DUE,)

SEEDS = 20  # Customers that are created over the API.
# Existing rows have the first places; the copies follow, made from all seeds in turn.
_PEOPLE = """
CREATE TEMP TABLE copy ON COMMIT DROP AS
SELECT seed.id AS seed_id, place
FROM (SELECT id, row_number() OVER (ORDER BY id) - 1 AS turn, count(*) OVER () AS many
      FROM customer WHERE business_id = %(business_id)s) AS seed
JOIN generate_series(%(seeds)s, %(customers)s - 1) AS place ON place %% seed.many = seed.turn
"""
_COPIES = """
CREATE TEMP TABLE copy ON COMMIT DROP AS
WITH people AS (
  SELECT array_agg(id ORDER BY id) AS ids, count(*)::int AS many
  FROM customer WHERE business_id = %(business_id)s
)
SELECT seed.id AS seed_id, place, ids[1 + place %% people.many] AS party_id,
       ('01900000-0000-7000-8000-' || lpad(to_hex(place), 12, '0'))::uuid AS id
FROM people,
     (SELECT id, row_number() OVER (ORDER BY id) - 1 AS turn, count(*) OVER () AS many
      FROM invoice WHERE business_id = %(business_id)s) AS seed
JOIN generate_series(%(kinds)s, %(invoices)s - 1) AS place ON place %% seed.many = seed.turn
"""
_SECONDS = "opened_at - c.place %% 60000 * interval '1 second'"  # The date stays the same.
_CHANGED = {
    "customer": {
        "id": "('01900000-0000-7000-b000-' || lpad(to_hex(c.place), 12, '0'))::uuid",
        "company_name": "t.company_name || ' ' || c.place",
        "created_at": "t.created_at - c.place * interval '1 second'",
    },
    "invoice": {
        "id": "c.id",
        "party_id": "c.party_id",
        "number": "t.number || '-' || c.place",
        "opened_at": f"t.{_SECONDS}",
    },
    "journal_entry": {
        "id": "('01900000-0000-7000-9000-' || lpad(to_hex(c.place), 12, '0'))::uuid",
        "source_id": "c.id",
        "sequence_number": "t.series || '-' || lpad((c.place + 1000)::text, 8, '0')",
    },
    "journal_line": {
        "id": "('01900000-0000-7000-a000-'"
        " || lpad(to_hex(c.place * 8 + t.line_number), 12, '0'))::uuid",
        "entry_id": "('01900000-0000-7000-9000-' || lpad(to_hex(c.place), 12, '0'))::uuid",
        **{
            name: f"CASE WHEN t.{name} = c.seed_id THEN c.id ELSE t.{name} END"
            for name in ("settles_id", "document_id")
        },
    },
}
_SOURCES = {
    "customer": "customer t JOIN copy c ON c.seed_id = t.id",
    "invoice": "invoice t JOIN copy c ON c.seed_id = t.id",
    "journal_entry": "journal_entry t JOIN copy c ON c.seed_id = t.source_id",
    "journal_line": "journal_line t"
    " JOIN journal_entry e ON e.business_id = t.business_id AND e.id = t.entry_id"
    " JOIN copy c ON c.seed_id = e.source_id",
}
_LAST = """
UPDATE number_series s SET last = greatest(s.last, told.last)
FROM (SELECT series, max(place) AS last FROM journal_entry
      WHERE business_id = %(business_id)s GROUP BY 1) AS told
WHERE s.business_id = %(business_id)s AND s.series = told.series
"""


@dataclass(frozen=True, slots=True)
class Size:
    """The number of records of a business; its invoices are divided evenly among the kinds."""

    customers: int
    invoices: int
    kinds: tuple[dict[str, str], ...] = MIXED


def plant(api: httpx.Client, database_url: str, business_id: UUID, size: Size) -> None:
    """Create customers and invoices in a new business; `api` is a client of that business."""
    for place in range(min(size.customers, SEEDS)):
        made = api.post("customers/", json=customer(place)).raise_for_status().json()
    for kind in size.kinds:
        body = {"customer_id": made["id"], "line_items": LINES, **kind}
        api.post("invoices/", json=body).raise_for_status()
    with psycopg.connect(database_url) as connection:
        told = {
            "business_id": business_id,
            "seeds": min(size.customers, SEEDS),
            "customers": size.customers,
            "kinds": len(size.kinds),
            "invoices": size.invoices,
        }
        connection.execute("SET session_replication_role = replica")  # Disables triggers.
        _copy(connection, _PEOPLE, ["customer"], told)
        _copy(connection, _COPIES, ["invoice", "journal_entry", "journal_line"], told)
        connection.execute(_LAST, told)


LINES = [
    {"description": "Espresso beans", "quantity": 500, "unit_price": 1850, "tax_rate": 20},
    {"description": "Oat milk, case", "quantity": 100, "unit_price": 1420, "tax_rate": 20},
]


def customer(place: int) -> dict[str, Any]:
    """Return the body of a customer with a unique name, e-mail address and mobile number."""
    return {
        **CUSTOMER,
        "company_name": f"Blue Door Cafe {place} Ltd",
        "email": f"hello-{place}@bluedoor.co.uk",
        "mobile_phone": f"+4477009{place:05}",
    }


def _copy(
    connection: psycopg.Connection[Any], copies: str, names: list[str], told: dict[str, Any]
) -> None:
    connection.execute("DROP TABLE IF EXISTS copy")
    connection.execute(copies, told)
    connection.execute("ANALYZE copy")
    for name in names:
        columns = [each.name for each in tables.metadata.tables[name].columns if not each.computed]
        shown = [_CHANGED[name].get(each, f't."{each}"') for each in columns]
        named = ", ".join(f'"{each}"' for each in columns)
        connection.execute(
            f"INSERT INTO {name} ({named}) SELECT {', '.join(shown)} FROM {_SOURCES[name]}"
            " WHERE t.business_id = %(business_id)s ORDER BY c.place",
            told,
        )


def multiply(database_url: str, business_id: UUID, number: int) -> None:
    """Copy a business `number` times: the same rows with other business ids."""
    with psycopg.connect(database_url) as connection:
        connection.execute("SET session_replication_role = replica")
        connection.execute(
            "CREATE TEMP TABLE copy ON COMMIT DROP AS SELECT gen_random_uuid() AS id, n"
            f" FROM generate_series(1, {number:d}) AS n"
        )
        _spread(
            connection, "business", business_id, {"id": "copy.id", "external_id": "'copy-' || n"}
        )
        for table in tables.metadata.sorted_tables:
            if table.info.get("tenant") and table.name not in ("reply", "audit_record"):
                _spread(connection, table.name, business_id, {"business_id": "copy.id"})


def _spread(
    connection: psycopg.Connection[Any], name: str, business_id: UUID, changed: dict[str, str]
) -> None:
    columns = [each.name for each in tables.metadata.tables[name].columns if not each.computed]
    shown = [changed.get(each, f't."{each}"') for each in columns]
    named = ", ".join(f'"{each}"' for each in columns)
    owner = "id" if name == "business" else "business_id"
    rows = f"SELECT *, row_number() OVER () AS in_turn FROM {name} WHERE {owner} = %s"
    # In order of rows, then of businesses, as if the businesses had grown at the same time.
    connection.execute(
        f"INSERT INTO {name} ({named}) SELECT {', '.join(shown)}"
        f" FROM ({rows}) AS t, copy ORDER BY t.in_turn, copy.n",
        [business_id],
    )
