"""`python -m bench.posting_cost`: what a posting costs, beside the usual stack.

An invoice of two lines that is sent at once, and a payment of one in full: each takes a number of
a series without gaps and goes into the ledger. One business, whose postings wait for one another's
numbers, and several. Exit 1 where ours costs more than half of what FastAPI does.
"""

import argparse
import secrets
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from statistics import median
from typing import Any
from uuid import UUID

import orjson
import psycopg
from sqlalchemy import create_engine, make_url

from bench import cpu
from bench.cpu import Meter
from bench.http_cost import Cost, copy
from bench.load import Driver, post
from bench.peers import setting
from bench.peers.fastapi_postings import CODES, SERIES
from bench.peers.posting_tables import Account
from bench.servers import Server, started
from bench.stage import Business, customers, serving
from embedded.postgres import EmbeddedPostgres

MOST_OF_FASTAPI = 0.5
BUSINESSES = 8
CUSTOMERS = 50  # Of each business.
OURS, KEYED, FASTAPI = "accounting", "accounting, with a key", "fastapi"
CASES = ("POST an invoice that is sent", "POST a payment of one in full")
HEAD = "| server | CPU us, least | of FastAPI | PostgreSQL us | requests/s | p50 ms | p99 ms |"
_places = count(1)

Found = tuple[UUID, UUID, int]


@dataclass(frozen=True, slots=True)
class Crowd:
    """How many connections post to how many businesses."""

    businesses: int
    connections: int

    def __str__(self) -> str:
        spread = "one business" if self.businesses == 1 else f"{self.businesses} businesses"
        clients = "one connection" if self.connections == 1 else f"{self.connections} connections"
        return f"{spread}, {clients}"


CROWDS = tuple(Crowd(each, clients) for each in (1, BUSINESSES) for clients in (1, 16))


@dataclass(frozen=True, slots=True)
class Target:
    """One server: a token for each business, and where what is unpaid can be read."""

    name: str
    server: Server
    tokens: Mapping[UUID, str]
    database_url: str
    invoices: str

    def requests(self, tail: str, bodies: Sequence[tuple[UUID, Mapping[str, Any]]]) -> list[bytes]:
        """Write a POST of each body, to its business."""
        return [
            post(
                f"/v1/platform/businesses/{business}/{tail}",
                self.tokens[business],
                orjson.dumps(body),
                key=secrets.token_hex(16) if self.name == KEYED else None,
            )
            for business, body in bodies
        ]

    def unpaid(self, business: UUID) -> list[Found]:
        """The id, customer and amount of every invoice of which nothing is paid."""
        text = f"SELECT id, party_id, outstanding FROM {self.invoices}"
        with psycopg.connect(self.database_url) as connection:
            whole = f"{text} WHERE business_id = %s AND outstanding = total_amount ORDER BY id"
            return connection.execute(whole, [business]).fetchall()


def invoice(customer_id: UUID, place: int) -> dict[str, Any]:
    """An invoice of two lines with one tax rate, sent on one of the days of a year."""
    month, day = place % 12 + 1, place // 12 % 28 + 1
    return {
        "customer_id": str(customer_id),
        "sent_at": f"2025-{month:02}-{day:02}T09:00:00Z",
        "line_items": [
            {"description": what, "quantity": quantity, "unit_price": price, "tax_rate": 20}
            for what, quantity, price in (
                ("Espresso beans, 1 kg", 3, 1850),
                ("Oat milk, case", 2, 1420 + place % 100),
            )
        ],
    }


def payment(invoice_id: UUID, customer_id: UUID, amount: int) -> dict[str, Any]:
    """A payment of one invoice in full."""
    return {
        "customer_id": str(customer_id),
        "total_amount_cents": amount,
        "payment_date": "2026-01-15",
        "currency": "GBP",
        "payment_method": "bank_transfer",
        "allocations": [{"invoice_id": str(invoice_id), "amount_cents": amount}],
    }


@contextmanager
def fastapi(home: Path, businesses: Sequence[Business]) -> Iterator[Target]:
    """Run the peer on a database with the same businesses and customers."""
    postgres = EmbeddedPostgres(businesses[0].postgres_home)
    postgres.create_database("peer")
    url, key = postgres.url("peer"), secrets.token_hex(32)
    fill(url, businesses)
    environment = {"BENCH_DATABASE_URL": url, "BENCH_SECRET": key}
    tokens = {each.id: setting.issue(each.partner_id, each.id, key) for each in businesses}
    command = ["python", "-m", "bench.peers.serve", FASTAPI, "PORT"]
    with started(FASTAPI, command, environment, home / "fastapi.log") as server:
        yield Target(FASTAPI, server, tokens, url, "sent_invoice")


def fill(url: str, businesses: Sequence[Business]) -> None:
    """Give the peer the same businesses and customers, and what its ledger needs."""
    engine = create_engine(make_url(url).set(drivername="postgresql+psycopg"))
    Account.metadata.create_all(engine)
    engine.dispose()
    names = [item.name for item in Account.metadata.tables["customer"].columns]
    with (
        psycopg.connect(businesses[0].database_url) as source,
        psycopg.connect(url, autocommit=True) as target,
    ):
        for each in businesses:
            target.execute("INSERT INTO business VALUES (%s, %s, NULL)", [each.id, each.partner_id])
            account = "INSERT INTO account SELECT gen_random_uuid(), %s, unnest(%s::text[])"
            target.execute(account, [each.id, list(CODES)])
            series = "INSERT INTO counter SELECT %s, unnest(%s::text[]), 0"
            target.execute(series, [each.id, list(SERIES)])
        copy(source, "customer", names, target, names)
        target.execute("VACUUM (ANALYZE)")


def measure(
    driver: Driver,
    targets: Sequence[Target],
    buyers: Mapping[UUID, Sequence[UUID]],
    postgres: Meter,
    rounds: int,
    many: int,
) -> dict[tuple[str, Crowd, str], Cost]:
    """Let every crowd invoice and pay at every server in every round."""
    costs: dict[tuple[str, Crowd, str], Cost] = {}
    for turn in range(rounds + 1):  # The first warms up, and is not counted.
        first = turn % len(targets)
        for crowd in CROWDS:
            for target in (*targets[first:], *targets[:first]):
                for case, requests in work(target, crowd, buyers, many):
                    before = target.server.meter.seconds(), postgres.seconds()
                    load = driver.drive(
                        target.server.port, requests, expected=201, connections=crowd.connections
                    )
                    after = target.server.meter.seconds(), postgres.seconds()
                    if turn:
                        cost = costs.setdefault((case, crowd, target.name), Cost())
                        cost.add(load, after[0] - before[0], after[1] - before[1])
        print(".", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    return costs


def work(
    target: Target, crowd: Crowd, buyers: Mapping[UUID, Sequence[UUID]], many: int
) -> Iterator[tuple[str, list[bytes]]]:
    """Write the invoices of a crowd; once they are there, the payments of them."""
    businesses = list(buyers)[: crowd.businesses]
    number = many if crowd.connections > 1 else many // 4
    bodies = []
    for place in range(number):
        business = businesses[place % len(businesses)]
        bodies.append((business, invoice(buyers[business][place % CUSTOMERS], next(_places))))
    yield CASES[0], target.requests("invoices/", bodies)
    owed = {each: target.unpaid(each) for each in businesses}
    assert sum(map(len, owed.values())) == number, "every invoice that was answered is there"
    bodies = []
    for place in range(number):
        business = businesses[place % len(businesses)]
        bodies.append((business, payment(*owed[business].pop())))
    yield CASES[1], target.requests("invoices/payments/", bodies)


def report(costs: Mapping[tuple[str, Crowd, str], Cost]) -> bool:
    """Print the tables; return whether ours keeps within its share of FastAPI's cost."""
    kept = True
    for case in CASES:
        for crowd in CROWDS:
            print(f"\n{case}: {crowd}\n")
            print(HEAD)
            print("|---|---|---|---|---|---|---|")
            usual = min(costs[case, crowd, FASTAPI].server)
            for name in (OURS, KEYED, FASTAPI):
                cost = costs[case, crowd, name]
                least, share = min(cost.server), min(cost.server) / usual
                p50, p99 = (
                    median(load.slower_than(part) for load in cost.loads) * 1000
                    for part in (0.5, 0.99)
                )
                print(
                    f"| {name} | {least:.0f} | {share:.2f} | {min(cost.postgres):.0f}"
                    f" | {max(cost.per_second):.0f} | {p50:.1f} | {p99:.1f} |"
                )
                kept = kept and (name == FASTAPI or share <= MOST_OF_FASTAPI)
    return kept


def main() -> int:
    """Measure, print, and return the exit status."""
    options = argparse.ArgumentParser(prog="python -m bench.posting_cost", description=__doc__)
    options.add_argument("--rounds", type=int, default=3)
    options.add_argument("--requests", type=int, default=400, help="of each crowd in each round")
    chosen = options.parse_args()
    driver = Driver()
    with tempfile.TemporaryDirectory(prefix="bench-") as folder, ExitStack() as stack:
        open_business = stack.enter_context(serving(Path(folder)))
        businesses = [open_business() for _ in range(BUSINESSES)]
        for each in businesses:
            each.add(driver, "customers/", customers(CUSTOMERS))
        businesses[0].settle()
        tokens = {each.id: each.token for each in businesses}
        ours = businesses[0].server, tokens, businesses[0].database_url, "invoice"
        targets = [Target(OURS, *ours), Target(KEYED, *ours)]
        targets.append(stack.enter_context(fastapi(Path(folder), businesses)))
        buyers = {each.id: each.ids("customer") for each in businesses}
        meter = cpu.of_postgres(businesses[0].postgres_home)
        costs = measure(driver, targets, buyers, meter, chosen.rounds, chosen.requests)
    driver.close()
    if report(costs):
        return 0
    print(f"\nOurs costs more than {MOST_OF_FASTAPI} of FastAPI.", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
