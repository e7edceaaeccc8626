"""`python -m tools.bench.footprint`: bytes on disk per invoice, by table and by index.

Invoices of two lines are sent over the API. `--paid` also pays each in full, and sends both with an
Idempotency-Key, as partners do. The growth of the files of each table and index is divided by the
number of invoices.
"""

import argparse
import sys
import tempfile
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import psycopg

from libraries.embedded.postgres import EmbeddedPostgres
from tools.bench.seed import LINES, NOT_DUE, customer
from tools.bench.stage import Business, serving

CLIENTS = 4
BEFORE = 200  # Sent first, so that each file already has pages.
_SIZES = """
SELECT t.relname, NULL, pg_table_size(t.oid) FROM pg_class t
WHERE t.relkind = 'r' AND t.relnamespace = 'public'::regnamespace
UNION ALL
SELECT t.relname, i.indexrelid::regclass::text, pg_relation_size(i.indexrelid)
FROM pg_index i JOIN pg_class t ON t.oid = i.indrelid
WHERE t.relnamespace = 'public'::regnamespace
"""

Sizes = Mapping[tuple[str, str | None], int]
"""The bytes of each table, without its indexes, and of each index."""


def sizes(database_url: str) -> Sizes:
    """Return the sizes of the files, after a VACUUM that frees dead rows."""
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute("VACUUM")
        rows = connection.execute(_SIZES).fetchall()
        return {(table, index): size for table, index, size in rows}


def send(business: Business, number: int, *, paid: bool) -> None:
    """Create invoices with CLIENTS clients, and pay each if `paid` is set."""
    with business.client() as api:
        buyers = [made(api, "customers/", customer(place), keyed=paid) for place in range(20)]
    with ThreadPoolExecutor(CLIENTS) as clients:
        shares = [buyers * (number // len(buyers) // CLIENTS)] * CLIENTS
        list(clients.map(lambda share: _send_share(business, share, paid=paid), shares))


def _send_share(business: Business, buyers: list[dict[str, Any]], *, paid: bool) -> None:
    with business.client() as api:
        for buyer in buyers:
            body = {"customer_id": buyer["id"], "line_items": LINES, **NOT_DUE}
            invoice = made(api, "invoices/", body, keyed=paid)
            if not paid:
                continue
            payment = {
                "customer_id": buyer["id"],
                "payment_date": "2025-03-10",
                "payment_method": "bank_transfer",
                "currency": "GBP",
                "total_amount_cents": invoice["total_amount"],
                "allocations": [
                    {"invoice_id": invoice["id"], "amount_cents": invoice["total_amount"]}
                ],
            }
            made(api, "invoices/payments/", payment, keyed=True)


def made(api: httpx.Client, path: str, body: dict[str, Any], *, keyed: bool) -> dict[str, Any]:
    """Post a body, with an Idempotency-Key if `keyed` is set, and return the created record."""
    headers = {"Idempotency-Key": str(uuid4())} if keyed else {}
    answer = api.post(path, json=body, headers=headers)
    answer.raise_for_status()
    said: dict[str, Any] = answer.json()
    return said


def report(before: Sizes, after: Sizes, number: int) -> None:
    """Print the bytes per invoice."""
    each = {name: (size - before[name]) / number for name, size in after.items()}
    tables = sorted({table for table, _ in each}, key=lambda table: -whole(each, table))
    print("| table, or its index | bytes an invoice |\n|---|---|")
    for table in tables:
        if whole(each, table) < 1:
            continue
        print(f"| **{table}** | {each[table, None]:,.0f} |")
        indexes = [(size, index) for (of, index), size in each.items() if of == table and index]
        for size, index in sorted(indexes, reverse=True):
            print(f"| {index} | {size:,.0f} |")
    in_indexes = sum(size for (_, index), size in each.items() if index)
    total = sum(each.values())
    print(f"\n{total:,.0f} bytes an invoice, {in_indexes:,.0f} of them in indexes.")


def whole(each: Mapping[tuple[str, str | None], float], table: str) -> float:
    """Return the sum of a table and its indexes."""
    return sum(size for (of, _), size in each.items() if of == table)


def main() -> int:
    """Create invoices, measure and print."""
    options = argparse.ArgumentParser(prog="python -m tools.bench.footprint", description=__doc__)
    options.add_argument("--invoices", type=int, default=4_000)
    options.add_argument("--paid", action="store_true", help="and paid, both under a key")
    chosen = options.parse_args()
    with (
        tempfile.TemporaryDirectory(prefix="bench-") as folder,
        EmbeddedPostgres(Path(folder) / "postgres") as postgres,
        serving(postgres, "footprint", Path(folder) / "server") as stage,
    ):
        business = stage.open("footprint")
        send(business, BEFORE, paid=chosen.paid)
        before = sizes(stage.database_url)
        send(business, chosen.invoices, paid=chosen.paid)
        report(before, sizes(stage.database_url), chosen.invoices)
    return 0


if __name__ == "__main__":
    sys.exit(main())
