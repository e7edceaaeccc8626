"""`python -m bench.audit_cost`: what the audit trail costs a request that changes something.

One server and one database; in every round each case is driven with the triggers off and on, in
turns. Exit 1 where the trail makes a request cost more than a tenth again.
"""

import argparse
import sys
import tempfile
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any
from uuid import UUID

import orjson
import psycopg

from bench import cpu
from bench.cpu import Meter
from bench.load import Driver, post
from bench.stage import Business, customers, invoice, set_up

MOST_OF_PLAIN = 1.1
CUSTOMERS = 200
INVOICES = 2_000
EACH = {"POST one customer": 1_500, "POST a payment of two invoices": 600}
_TRIGGERS = (
    "SELECT tgrelid::regclass, tgname FROM pg_trigger JOIN pg_proc p ON p.oid = tgfoid"
    " WHERE p.proname = 'keep_audit_trail'"
)


def turn(ours: Business, state: str) -> None:
    """Put the trail on or off."""
    with psycopg.connect(ours.database_url) as connection:
        for table, trigger in connection.execute(_TRIGGERS).fetchall():
            connection.execute(f"ALTER TABLE {table} {state} TRIGGER {trigger}")


def payments(owed: Sequence[tuple[UUID, UUID]], number: int) -> Iterator[dict[str, Any]]:
    """Bodies of payments, each of two invoices of one customer."""
    whose: dict[UUID, list[str]] = {}
    for id_, customer_id in owed:
        whose.setdefault(customer_id, []).append(str(id_))
    for place in range(number):
        customer_id = list(whose)[place % len(whose)]
        mine = whose[customer_id]
        first = place // len(whose) * 2 % len(mine)
        yield {
            "customer_id": str(customer_id),
            "total_amount_cents": 300,
            "payment_date": "2026-01-15",
            "currency": "GBP",
            "payment_method": "bank_transfer",
            "allocations": [
                {"invoice_id": id_, "amount_cents": 100} for id_ in mine[first : first + 2]
            ],
        }


def fill(ours: Business, driver: Driver) -> list[tuple[UUID, UUID]]:
    """Make customers and what they owe; return the ids of invoices and of whose they are."""
    ours.add(driver, "customers/", customers(CUSTOMERS))
    ids = ours.ids("customer")
    owed = [invoice(ids[place % CUSTOMERS], place) for place in range(INVOICES)]
    ours.add(driver, "invoices/", owed)
    ours.settle()
    with psycopg.connect(ours.database_url) as connection:
        return connection.execute("SELECT id, party_id FROM invoice ORDER BY id").fetchall()


def measure(
    ours: Business, driver: Driver, postgres: Meter, rounds: int
) -> dict[tuple[str, str], list[float]]:
    """Return microseconds of server and PostgreSQL together, by case and state, of each round."""
    owed, total = fill(ours, driver), 2 * (rounds + 1)
    bodies: dict[str, Iterator[dict[str, Any]]] = dict(
        zip(
            EACH,
            (
                iter(customers(EACH["POST one customer"] * total)),
                payments(owed, EACH["POST a payment of two invoices"] * total),
            ),
            strict=True,
        )
    )
    paths = dict(zip(EACH, ("customers/", "invoices/payments/"), strict=True))
    costs: dict[tuple[str, str], list[float]] = {}
    for number in range(rounds + 1):  # The first warms up, and is not counted.
        for case, many in EACH.items():
            for state in ("DISABLE", "ENABLE")[:: 1 if number % 2 else -1]:
                turn(ours, state)
                path = f"{ours.path}/{paths[case]}"
                requests = [
                    post(path, ours.token, orjson.dumps(body))
                    for body in islice(bodies[case], many)
                ]
                before = ours.server.meter.seconds() + postgres.seconds()
                driver.drive(ours.server.port, requests, expected=201, connections=8)
                used = ours.server.meter.seconds() + postgres.seconds() - before
                if number:
                    costs.setdefault((case, state), []).append(used / many * 1e6)
        print(".", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    return costs


def report(costs: dict[tuple[str, str], list[float]]) -> bool:
    """Print the table; return whether every case keeps within its limit."""
    kept = True
    print("| CPU us of server and PostgreSQL | without | with | of without |\n|---|---|---|---|")
    for case in EACH:
        plain, audited = (min(costs[case, state]) for state in ("DISABLE", "ENABLE"))
        print(f"| {case} | {plain:.0f} | {audited:.0f} | {audited / plain:.2f} |")
        kept = kept and audited / plain <= MOST_OF_PLAIN
    return kept


def main() -> int:
    """Measure, print, and return the exit status."""
    options = argparse.ArgumentParser(prog="python -m bench.audit_cost", description=__doc__)
    options.add_argument("--rounds", type=int, default=5)
    chosen = options.parse_args()
    driver = Driver()
    with tempfile.TemporaryDirectory(prefix="bench-") as folder, set_up(Path(folder)) as ours:
        costs = measure(ours, driver, cpu.of_postgres(ours.postgres_home), chosen.rounds)
    driver.close()
    return 0 if report(costs) else 1


if __name__ == "__main__":
    sys.exit(main())
