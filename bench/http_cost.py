"""`python -m bench.http_cost`: processor time per request, beside the usual stacks.

Reads one customer and creates one, the same work on the same PostgreSQL in one run: rounds
interleaved, their order rotated, one worker and one pool size each. Exit 1 where ours costs more
than half of what FastAPI does.
"""

import argparse
import secrets
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from uuid import UUID

import orjson
import psycopg
from sqlalchemy import create_engine, make_url

from bench import cpu
from bench.cpu import Meter
from bench.load import Driver, Load, get, post
from bench.peers import setting
from bench.peers.tables import Base
from bench.servers import Server, started
from bench.stage import Business, customers, invoice, set_up
from embedded.postgres import EmbeddedPostgres

MOST_OF_FASTAPI = 0.5
CUSTOMERS = 1000
BODIES = 5000
INVOICES = 3000
OURS, FASTAPI = "accounting", "fastapi"
PEERS = ("bare", "connexion", FASTAPI)
CASES = {"GET one customer": 200, "POST one customer": 201}


@dataclass(slots=True)
class Cost:
    """What one case cost one server, round by round, in microseconds of processor per request."""

    server: list[float] = field(default_factory=list)
    postgres: list[float] = field(default_factory=list)
    per_second: list[float] = field(default_factory=list)
    loads: list[Load] = field(default_factory=list)

    def add(self, load: Load, server_seconds: float, postgres_seconds: float) -> None:
        """Note one round."""
        self.server.append(server_seconds / load.requests * 1e6)
        self.postgres.append(postgres_seconds / load.requests * 1e6)
        self.per_second.append(load.requests / load.seconds)
        self.loads.append(load)


@dataclass(frozen=True, slots=True)
class Target:
    """One server with the requests of every case, and how many of each it has had."""

    server: Server
    requests: dict[str, list[bytes]]
    sent: Counter[str] = field(default_factory=Counter)

    def drive(self, driver: Driver, case: str, seconds: float) -> Load:
        """Send requests of one case, from where the last round has stopped."""
        requests = self.requests[case]
        load = driver.drive(
            self.server.port,
            requests,
            expected=CASES[case],
            seconds=seconds,
            skipped=self.sent[case] % len(requests),
        )
        self.sent[case] += load.requests
        return load


def requests_of(business_id: UUID, ids: Sequence[UUID], token: str) -> dict[str, list[bytes]]:
    """Write the requests of every case; all servers have the same addresses."""
    base = f"/v1/platform/businesses/{business_id}/customers/"
    reads = [get(f"{base}{customer}/", token) for customer in ids]
    # So many that no server can have met one lately.
    writes = [post(base, token, orjson.dumps(body)) for body in customers(BODIES)]
    return dict(zip(CASES, (reads, writes), strict=True))


@contextmanager
def peers(home: Path, ours: Business) -> Iterator[list[Target]]:
    """Run every peer on a database with the same customers, beside our own."""
    postgres = EmbeddedPostgres(ours.postgres_home)
    postgres.create_database("peers")
    url, key = postgres.url("peers"), secrets.token_hex(32)
    fill(url, ours)
    token = setting.issue(ours.partner_id, ours.id, key)
    requests = requests_of(ours.id, ours.ids("customer"), token)
    environment = {"BENCH_DATABASE_URL": url, "BENCH_SECRET": key}
    with ExitStack() as stack:
        targets = []
        for name in PEERS:
            command = ["python", "-m", "bench.peers.serve", name, "PORT"]
            server = started(name, command, environment, home / f"{name}.log")
            targets.append(Target(stack.enter_context(server), requests))
        yield targets


def fill(url: str, ours: Business) -> None:
    """Give the peers what our business has: its customers and what they owe."""
    engine = create_engine(make_url(url).set(drivername="postgresql+psycopg"))
    Base.metadata.create_all(engine)
    engine.dispose()
    names = [item.name for item in Base.metadata.tables["customer"].columns]
    invoices = ("id", "business_id", "party_id", "outstanding")
    with (
        psycopg.connect(ours.database_url) as source,
        psycopg.connect(url, autocommit=True) as target,
    ):
        target.execute("INSERT INTO business VALUES (%s, %s, NULL)", [ours.id, ours.partner_id])
        copy(source, "customer", names, target, names)
        copy(source, "invoice", invoices, target, ("id", "business_id", "customer_id", invoices[3]))
        target.execute("VACUUM (ANALYZE)")


def copy(
    source: psycopg.Connection,
    table: str,
    names: Sequence[str],
    target: psycopg.Connection,
    renamed: Sequence[str],
) -> None:
    """Copy columns of a table to the table of the same name."""
    out = f"COPY (SELECT {', '.join(names)} FROM {table}) TO STDOUT"
    into = f"COPY {table} ({', '.join(renamed)}) FROM STDIN"
    with (
        source.cursor().copy(out) as reading,
        target.cursor().copy(into) as writing,
    ):
        for block in reading:
            writing.write(block)


def measure(
    driver: Driver, targets: Sequence[Target], postgres: Meter, rounds: int, seconds: float
) -> dict[tuple[str, str], Cost]:
    """Drive every case of every server in every round."""
    costs: dict[tuple[str, str], Cost] = {}
    for turn in range(rounds + 1):  # The first warms up, and is not counted.
        first = turn % len(targets)
        for case in CASES:
            for target in (*targets[first:], *targets[:first]):
                before = target.server.meter.seconds(), postgres.seconds()
                load = target.drive(driver, case, seconds if turn else min(seconds, 1))
                after = target.server.meter.seconds(), postgres.seconds()
                if turn:
                    cost = costs.setdefault((case, target.server.name), Cost())
                    cost.add(load, after[0] - before[0], after[1] - before[1])
        print(".", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    return costs


def report(costs: dict[tuple[str, str], Cost]) -> bool:
    """Print the table; return whether ours keeps within its share of FastAPI's cost."""
    kept = True
    for case in CASES:
        print(f"\n{case}\n")
        print("| server | CPU us, least | median | of FastAPI | PostgreSQL us | requests/s |")
        print("|---|---|---|---|---|---|")
        usual = min(costs[case, FASTAPI].server)
        for name in (*PEERS[:1], OURS, *PEERS[1:]):
            cost = costs[case, name]
            least, share = min(cost.server), min(cost.server) / usual
            print(
                f"| {name} | {least:.0f} | {median(cost.server):.0f} | {share:.2f}"
                f" | {min(cost.postgres):.0f} | {max(cost.per_second):.0f} |"
            )
            kept = kept and (name != OURS or share <= MOST_OF_FASTAPI)
    return kept


def main() -> int:
    """Measure, print, and return the exit status."""
    options = argparse.ArgumentParser(prog="python -m bench.http_cost", description=__doc__)
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument("--seconds", type=float, default=2.0, help="of each case in each round")
    chosen = options.parse_args()
    driver = Driver()
    with tempfile.TemporaryDirectory(prefix="bench-") as folder, set_up(Path(folder)) as ours:
        ours.add(driver, "customers/", customers(CUSTOMERS))
        ids = ours.ids("customer")
        owed = [invoice(ids[place % CUSTOMERS], place) for place in range(INVOICES)]
        ours.add(driver, "invoices/", owed)
        ours.settle()
        requests = requests_of(ours.id, ids, ours.token)
        with peers(Path(folder), ours) as others:
            targets = [Target(ours.server, requests), *others]
            meter = cpu.of_postgres(ours.postgres_home)
            costs = measure(driver, targets, meter, chosen.rounds, chosen.seconds)
    driver.close()
    if report(costs):
        return 0
    print(f"\nOurs costs more than {MOST_OF_FASTAPI} of FastAPI.", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
