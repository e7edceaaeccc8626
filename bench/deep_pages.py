"""`python -m bench.deep_pages`: what page 500 of 10,000 invoices costs beside page 1.

Every list is read by its default sort, by cursor and, for comparison, by page number. Exit 1 where
a page far down costs more than one and a half times the first, or PostgreSQL sorts to find it.
"""

import argparse
import json
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx
import psycopg

from bench import cpu
from bench.load import Driver, Load, get
from bench.plans import plans
from bench.stage import Business, customers, invoice, set_up
from persistence import tables

INVOICES = 10_000
CUSTOMERS = 500
PAYMENTS = 2_000
BUSINESSES = 2_000
OWN = ("id", "external_id", "created_at")  # What no two businesses of a partner share.
PAGE = 500
PAGE_SIZE = 20
MOST_OF_FIRST = 1.5


@dataclass(frozen=True, slots=True)
class Cost:
    """What one request cost: processor time of server and PostgreSQL, and time on the clock."""

    cpu_us: float
    wall_us: float

    @classmethod
    def least(cls, costs: Sequence["Cost"]) -> "Cost":
        """Take the least of several rounds."""
        return cls(min(cost.cpu_us for cost in costs), min(cost.wall_us for cost in costs))


def fill(ours: Business, driver: Driver) -> None:
    """Make the books through the API itself."""
    ours.add(driver, "customers/", customers(CUSTOMERS))
    ids = ours.ids("customer")
    ours.add(
        driver,
        "invoices/",
        [invoice(ids[place % CUSTOMERS], place) for place in range(INVOICES)],
    )
    ours.add(
        driver,
        "invoices/payments/",
        [payment(ids[place % CUSTOMERS], place) for place in range(PAYMENTS)],
    )
    add_businesses(ours)
    ours.settle()


def add_businesses(ours: Business) -> None:
    """Give the partner other businesses: copies of this one, with nothing in them."""
    names = [column.name for column in tables.business.columns if column.name not in OWN]
    text = (
        f"INSERT INTO business (id, external_id, created_at, {', '.join(names)})"
        f" SELECT gen_random_uuid(), 'copy-' || n, created_at - n * interval '1 hour',"
        f" {', '.join(names)} FROM business, generate_series(1, {BUSINESSES}) AS n WHERE id = %s"
    )
    with psycopg.connect(ours.database_url) as connection:
        connection.execute(text, [ours.id])


def payment(customer_id: UUID, place: int) -> dict[str, Any]:
    """A payment that is not allocated yet."""
    return {
        "customer_id": str(customer_id),
        "total_amount_cents": 1000 + place,
        "payment_date": f"2025-{place % 12 + 1:02}-{place // 12 % 28 + 1:02}",
        "currency": "GBP",
        "payment_method": "bank_transfer",
    }


def page_far_down(ours: Business, path: str) -> str:
    """Walk by cursor to the page before PAGE; return the address of the one that follows."""
    with httpx.Client(
        base_url=ours.server.url, headers={"Authorization": f"Bearer {ours.token}"}
    ) as client:
        following = path
        for _ in range(PAGE - 1):
            answer = client.get(following).raise_for_status().json()
            following = f"{path}&cursor={answer['page_info']['next_cursor']}"
        shown = client.get(following).raise_for_status().json()["results"]
        assert len(shown) == PAGE_SIZE, len(shown)
        return following


def measure(
    ours: Business, driver: Driver, pages: dict[str, str], rounds: int, seconds: float
) -> dict[str, Cost]:
    """Read every page in every round, over one connection; return the least of each."""
    server, postgres = ours.server.meter, cpu.of_postgres(ours.postgres_home)
    costs: dict[str, list[Cost]] = {name: [] for name in pages}
    for turn in range(rounds + 1):  # The first warms up, and is not counted.
        for name, path in pages.items():
            before = server.seconds() + postgres.seconds()
            load: Load = driver.drive(
                ours.server.port,
                [get(path, ours.token)],
                expected=200,
                connections=1,
                seconds=seconds,
            )
            used = server.seconds() + postgres.seconds() - before
            if turn:
                costs[name].append(Cost(used / load.requests * 1e6, load.median_ms * 1000))
    return {name: Cost.least(found) for name, found in costs.items()}


def report(costs: dict[str, Cost], first: str) -> bool:
    """Print one table; return whether the page by cursor keeps within its share of the first."""
    print("| page | CPU us, server + PostgreSQL | of page 1 | wall us | of page 1 |")
    print("|---|---|---|---|---|")
    kept = True
    for name, cost in costs.items():
        by_cpu = cost.cpu_us / costs[first].cpu_us
        by_wall = cost.wall_us / costs[first].wall_us
        print(f"| {name} | {cost.cpu_us:.0f} | {by_cpu:.2f} | {cost.wall_us:.0f} | {by_wall:.2f} |")
        if "cursor" in name:
            kept = kept and max(by_cpu, by_wall) <= MOST_OF_FIRST
    return kept


def report_plans(ours: Business) -> bool:
    """Print how PostgreSQL finds the pages of every list; return whether each is a plain scan."""
    print("\n| list, by its default sort | page | how | rows read |\n|---|---|---|---|")
    flat = True
    for plan in plans(ours):
        print(f"| {plan.noun} | {plan.page} | {plan.how} | {plan.rows_read} |")
        flat = flat and (plan.is_flat or plan.page == "by number")
    return flat


def main() -> int:
    """Fill, measure, print, and return the exit status."""
    options = argparse.ArgumentParser(prog="python -m bench.deep_pages", description=__doc__)
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument("--seconds", type=float, default=1.0, help="of each page in each round")
    chosen = options.parse_args()
    driver = Driver()
    kept = True
    with tempfile.TemporaryDirectory(prefix="bench-") as folder, set_up(Path(folder)) as ours:
        fill(ours, driver)
        for count in ("false", "true"):
            path = f"{ours.path}/invoices/?page_size={PAGE_SIZE}&count={count}"
            pages = {
                "page 1": path,
                f"page {PAGE} by cursor": page_far_down(ours, path),
                f"page {PAGE} by number": f"{path}&page={PAGE}",
            }
            costs = measure(ours, driver, pages, chosen.rounds, chosen.seconds)
            print(
                f"\n{INVOICES} invoices, {'with' if json.loads(count) else 'without'} the total\n"
            )
            kept = report(costs, "page 1") and kept
        kept = report_plans(ours) and kept
    driver.close()
    if not kept:
        print("\nA page far down is not as cheap as the first.", file=sys.stderr)
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
