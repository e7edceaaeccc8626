"""`python -m tools.bench.ladder`: time of a request on each rung of docs/scaling.md, side by side.

One client sends one request after the other. Each rung has its own server, database and business;
in each round all rungs take turns, in a rotating order. Everything runs on this one machine, so a
rung with more nodes shows their cost, not their capacity. A rung whose programs are missing is
skipped.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any, Final

import httpx

from libraries.embedded.postgres import EmbeddedPostgres
from persistence.database.distribution import distribute
from persistence.database.migrate import migrate
from tests.poolers.pgbouncer import make_login, pooling
from tests.poolers.programs import NotToBeHad
from tests.standbys.standby import standby_of, wait_for_each_write
from tools.bench.stage import Business, Stage, served, serving

CITUS: Final = Path("../shared/citus")
NAME: Final = "ladder"
Ask = Callable[[httpx.Client, Mapping[str, str]], httpx.Response]


def _invoice(client: httpx.Client, known: Mapping[str, str]) -> httpx.Response:
    line = {"description": "Logo", "quantity": 1, "unit_price": 120_000, "tax_rate": 20}
    sent = {"customer_id": known["customer"], "sent_at": "2026-01-10T09:00:00Z"}
    return client.post("invoices/", json={**sent, "line_items": [line]})


def _payment(client: httpx.Client, known: Mapping[str, str]) -> httpx.Response:
    body = {
        "customer_id": known["customer"],
        "total_amount_cents": 20_000,
        "currency": "GBP",
        "payment_date": "2026-01-12",
        "payment_method": "bank_transfer",
        "allocations": [{"invoice_id": known["paid"], "amount_cents": 20_000}],
    }
    return client.post("invoices/payments/", json=body)


ASKED: Final[dict[str, Ask]] = {
    "read an invoice": lambda client, known: client.get(f"invoices/{known['invoice']}/"),
    "read one with a payment": lambda client, known: client.get(f"invoices/{known['paid']}/"),
    "list 20 invoices": lambda client, _known: client.get("invoices/?page_size=20"),
    "profit and loss of a year": lambda client, _known: client.get(
        "reports/profit-and-loss/?start_date=2026-01-01&end_date=2026-12-31"
    ),
    "create and send an invoice": _invoice,
}


@dataclass(frozen=True, slots=True)
class Rung:
    """A server with one of the set-ups of its database, and a client of a business in it."""

    name: str
    client: httpx.Client
    known: Mapping[str, str]

    def milliseconds(self, ask: Ask, times: int) -> float:
        """Return the median time in ms of `times` requests."""
        took = []
        for _ in range(times):
            began = time.perf_counter()
            ask(self.client, self.known).raise_for_status()
            took.append((time.perf_counter() - began) * 1000)
        return median(took)


def main() -> None:
    """Measure and print the table of docs/scaling.md."""
    parser = argparse.ArgumentParser(prog="python -m tools.bench.ladder", description=__doc__)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--times", type=int, default=40, help="of each request, in each round")
    asked = parser.parse_args()
    with ExitStack() as stack:
        folder = Path(
            stack.enter_context(tempfile.TemporaryDirectory(prefix="ladder-", dir="/tmp"))
        )
        folder.chmod(0o755)
        rungs = [ready(stage, name, stack) for name, stage in stages(folder, stack)]
        found = play(rungs, asked.rounds, asked.times)
    for line in table(rungs, found):
        print(line)


def stages(folder: Path, stack: ExitStack) -> Iterator[tuple[str, Stage]]:
    """Start every rung whose programs are installed."""
    postgres = stack.enter_context(EmbeddedPostgres(folder / "one"))
    yield "a PostgreSQL", stack.enter_context(serving(postgres, NAME, folder / "plain"))
    try:
        yield "a pooler before it", stack.enter_context(_pooled(postgres, folder / "pooled"))
    except NotToBeHad as why:
        print(f"No pooler: {why}", file=sys.stderr)
    yield "a standby that each write waits for", stack.enter_context(_followed(folder))
    if (CITUS / "cluster").exists():
        yield "Citus, two workers", stack.enter_context(_spread(folder))


@contextmanager
def _pooled(postgres: EmbeddedPostgres, home: Path) -> Iterator[Stage]:
    name = f"{NAME}_pooled"
    postgres.create_database(name)
    migrate(postgres.url(name))
    make_login(postgres.url(name))
    with (
        pooling(postgres) as pooler,
        served(
            postgres.url(name), postgres.home, home, DATABASE_URL=pooler.url(postgres.url(name))
        ) as stage,
    ):
        yield stage


@contextmanager
def _followed(folder: Path) -> Iterator[Stage]:
    """Run a server with a standby that each write waits for; reports are read from the standby."""
    with EmbeddedPostgres(folder / "primary") as primary:
        primary.create_database(NAME)
        migrate(primary.url(NAME))
        with standby_of(primary, folder / "standby") as standby:
            wait_for_each_write(primary)
            read = {"ACCOUNTING_READ_DATABASE_URL": standby.url(NAME)}
            with served(primary.url(NAME), primary.home, folder / "followed", **read) as stage:
                yield stage


@contextmanager
def _spread(folder: Path) -> Iterator[Stage]:
    words = [sys.executable, str(CITUS / "cluster")]
    home = str(folder / "cluster")
    begun = subprocess.run([*words, "start", home, "--durable"], check=True, capture_output=True)
    try:
        url = json.loads(begun.stdout)["database_url"]
        migrate(url)
        distribute(url, lambda _: None, dry_run=False)
        with served(url, folder, folder / "spread") as stage:
            yield stage
    finally:
        subprocess.run([*words, "stop", home], check=True, capture_output=True)


def ready(stage: Stage, name: str, stack: ExitStack) -> Rung:
    """Create a business with 51 invoices, one of which has a payment."""
    business: Business = stage.open(name)
    client = stack.enter_context(business.client())
    made: dict[str, Any] = client.post("customers/", json={"company_name": "Blue"}).json()
    known = {"customer": made["id"]}
    for _ in range(50):
        known["invoice"] = _invoice(client, known).raise_for_status().json()["id"]
    known["paid"] = _invoice(client, known).raise_for_status().json()["id"]
    _payment(client, known).raise_for_status()
    return Rung(name, client, known)


def play(rungs: list[Rung], rounds: int, times: int) -> dict[tuple[str, str], list[float]]:
    """Measure every request on every rung in each round; a warm-up round is not counted.

    The result has the times in ms by rung and request.
    """
    found: dict[tuple[str, str], list[float]] = {}
    for turn in range(rounds + 1):
        first = turn % len(rungs)
        for what, ask in ASKED.items():
            for rung in (*rungs[first:], *rungs[:first]):
                took = rung.milliseconds(ask, times)
                if turn:
                    found.setdefault((rung.name, what), []).append(took)
    return found


def table(rungs: list[Rung], found: Mapping[tuple[str, str], list[float]]) -> Iterator[str]:
    """Yield the lines of the table: the median in ms, and its ratio to the first rung."""
    yield "| ms, and times the first | " + " | ".join(ASKED) + " |"
    yield "|---|" + "--:|" * len(ASKED)
    for rung in rungs:
        cells = []
        for what in ASKED:
            took, plain = (median(found[name, what]) for name in (rung.name, rungs[0].name))
            cells.append(f"{took:.1f} ({took / plain:.2f})")
        yield f"| {rung.name} | " + " | ".join(cells) + " |"


if __name__ == "__main__":
    main()
