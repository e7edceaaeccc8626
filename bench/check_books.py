"""A night of `accounting check-books`: what the proof of many businesses costs.

The demo's year of one business is lived through over the API, then copied in SQL under new ids, the
rows of all businesses among one another as many days of many businesses leave them.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from time import perf_counter
from typing import Any

import psycopg

from bench import cpu
from bench.servers import program
from embedded.postgres import EmbeddedPostgres
from persistence import tables

BUSINESSES_OF_A_NIGHT = 10_000
NIGHT_SECONDS = 2 * 3600.0
CORES = 2


@dataclass(frozen=True, slots=True)
class Run:
    """One run: what its processes, PostgreSQL and the clock say."""

    workers: int
    client: float
    postgres: float
    seconds: float

    @property
    def cpu(self) -> float:
        """Processor seconds of both."""
        return self.client + self.postgres


class Bench:
    """A private PostgreSQL with durable settings, and the command line on it."""

    def __init__(self, home: Path, url: str) -> None:
        self.home = home
        self.url = url
        self.environment = {
            **os.environ,
            "DATABASE_URL": url,
            "ACCOUNTING_DATA_DIR": str(home / "data"),
        }

    def run(self, *words: str) -> str:
        """Run a command of the operator and return what it printed."""
        done = subprocess.run(
            [program("accounting"), *words],
            env=self.environment,
            check=True,
            capture_output=True,
            text=True,
        )
        return done.stdout

    def multiply(self, number: int) -> int:
        """Make `number` businesses of the one that is there; return the lines of each."""
        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute("SET session_replication_role = replica")
            connection.execute(
                "CREATE TEMP TABLE copy AS SELECT gen_random_uuid() AS id"
                f" FROM generate_series(2, {number:d})"
            )
            _copy(connection, "business", "id", "external_id")
            for table in tables.metadata.sorted_tables:
                if table.info.get("tenant") and table.name != "reply":
                    _copy(connection, table.name, "business_id")
            connection.execute("VACUUM (ANALYZE)")
            counted = connection.execute("SELECT count(*) FROM journal_line").fetchone()
        assert counted is not None
        return int(counted[0]) // number

    def prove(self, workers: int) -> Run:
        """Prove all books; raises CalledProcessError where they are red."""
        postgres, children = cpu.of_postgres(self.home / "postgres"), _children()
        before, began = postgres.seconds(), perf_counter()
        found = json.loads(self.run("check-books", "--json", "--workers", str(workers)))
        assert found["status"] == "green"
        return Run(
            workers,
            _children() - children,
            postgres.seconds() - before,
            perf_counter() - began,
        )


def _copy(connection: psycopg.Connection[Any], name: str, tenant: str, unique: str = "") -> None:
    columns = [c.name for c in tables.metadata.tables[name].columns if not c.computed]
    shown = [
        "copy.id" if each == tenant else f"t.{each} || copy.id" if each == unique else f't."{each}"'
        for each in columns
    ]
    named = ", ".join(f'"{each}"' for each in columns)
    source = f"(SELECT *, row_number() OVER () AS in_turn FROM {name}) AS t, copy"
    connection.execute(
        f"INSERT INTO {name} ({named}) SELECT {', '.join(shown)} FROM {source}"
        " ORDER BY t.in_turn, copy.id"
    )


def _children() -> float:
    used = getrusage(RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def report(runs: list[Run], businesses: int, lines: int) -> bool:
    """Print the table; return whether a night is long enough."""
    print(f"\n{businesses} businesses of {lines} journal lines\n")
    print("| workers | check-books ms | PostgreSQL ms | clock s | a night of 10,000, minutes |")
    print("|---|---|---|---|---|")
    kept = True
    for run in runs:
        each = 1000 / businesses
        night = run.cpu / businesses * BUSINESSES_OF_A_NIGHT / min(run.workers, CORES)
        print(
            f"| {run.workers} | {run.client * each:.0f} | {run.postgres * each:.0f}"
            f" | {run.seconds:.0f} | {night / 60:.0f} |"
        )
        kept = kept and night <= NIGHT_SECONDS
    print("\nThe night: the processor time of both, on as many cores as workers, 2 at most.")
    return kept


def main() -> int:
    """Fill, measure, print, and return the exit status."""
    options = argparse.ArgumentParser(prog="python -m bench.check_books", description=__doc__)
    options.add_argument("--businesses", type=int, default=500)
    options.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    chosen = options.parse_args()
    with (
        tempfile.TemporaryDirectory(prefix="bench-") as folder,
        EmbeddedPostgres(Path(folder) / "postgres") as postgres,
    ):
        postgres.create_database()
        bench = Bench(Path(folder).resolve(), postgres.url())
        bench.run("migrate")
        bench.run("demo")
        lines = bench.multiply(chosen.businesses)
        runs = [bench.prove(workers) for workers in chosen.workers]
    kept = report(runs, chosen.businesses, lines)
    if not kept:
        print("\nA night is too short for it.", file=sys.stderr)
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
