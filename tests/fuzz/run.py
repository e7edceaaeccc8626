"""`python -m tests.fuzz.run [--examples N] [--seed S] [--deep SECONDS]`: fuzz the contract.

Each run has a house of its own: a private PostgreSQL, a migrated database, a real server. Then
the gate judges what Schemathesis reports, what the server logged and what is in the books.
"""

import argparse
import asyncio
import fcntl
import json
import os
import secrets
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch
from uuid import UUID

import tomli_w

from embedded.postgres import EmbeddedPostgres
from embedded.settings import TEST_SETTINGS
from server import logs
from server.limiter import FailedLogins
from tests.contract.document import operations
from tests.fuzz import gate
from tests.fuzz.seed import Seeds, plant
from tests.house import Databases, House
from tests.partnership import Partnership

CONFIG = Path("schemathesis.toml")
REPORTS = Path("dist/fuzz")
SEEDS = REPORTS / "seeds"
WALKS_PER_EXAMPLE = 4
# The credentials that the caller of each run has.
SCHEMES = {
    "partner": {"PartnerKey", "PartnerToken"},
    "business": {"BusinessToken"},
    "tenants": {"PartnerToken"},
}


def main() -> int:
    asked = arguments()
    REPORTS.mkdir(parents=True, exist_ok=True)
    findings: list[str] = []
    with (
        alone(),
        tempfile.TemporaryDirectory(prefix="fuzz-") as folder,
        EmbeddedPostgres(Path(folder) / "postgres", TEST_SETTINGS) as postgres,
    ):
        databases = Databases(postgres)
        for name in asked.runs:
            began = time.monotonic()
            findings += fuzz(name, databases, asked)
            sys.stdout.write(f"{name}: {time.monotonic() - began:.0f} s\n")
            sys.stdout.flush()
    sys.stdout.write("".join(f"{finding}\n" for finding in findings) or "The gate is open.\n")
    return 1 if findings else 0


@contextmanager
def alone() -> Iterator[None]:
    """Wait until nobody else fuzzes from this folder: the seeds and reports are at fixed places."""
    with (REPORTS / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.run")
    parser.add_argument("--examples", type=int, default=30, help="per operation")
    parser.add_argument("--seed", type=int, default=None, help="random, and told, when left out")
    parser.add_argument(
        "--deep", type=int, default=0, metavar="SECONDS", help="time for all runs together"
    )
    parser.add_argument("--runs", nargs="+", choices=SCHEMES, default=SCHEMES)
    asked = parser.parse_args()
    if asked.seed is None:
        asked.seed = secrets.randbelow(2**32)
    return asked


def fuzz(name: str, databases: Databases, asked: argparse.Namespace) -> list[str]:
    """Do one run and return what the gate finds."""
    log = REPORTS / f"{name}.log"
    with served(databases, f"fuzz_{name}", log) as house:
        seeds = plant(house, many=2 * asked.examples + 20 + asked.deep // 2)
        seeds.write(SEEDS)
        config = write_config(name, house, seeds, asked.examples)
        told = {"FUZZ_URL": house.url, "FUZZ_SEEDS": str(SEEDS), "FUZZ_CALLER": name}
        surroundings = {**os.environ, **told, "PYTHONPATH": "."}
        ended = subprocess.run(command(name, config, asked), env=surroundings, check=False)
        books = asyncio.run(gate.judge_books(house.database_url))
    if ended.returncode not in (0, 1):  # 1 is for failures, which the report names.
        return [f"{name}: Schemathesis ended with {ended.returncode}"]
    report = json.loads((REPORTS / f"{name}.json").read_text("utf-8"))
    known = contract_operations()
    closed = {label for label, schemes in known.items() if SCHEMES[name].isdisjoint(schemes)}
    with log.open(encoding="utf-8") as lines:
        findings = [
            *gate.judge_failures(report),
            *gate.judge_coverage(report, set(known), closed),
            *gate.judge_log(lines),
            *books,
        ]
    return [f"{name}: {finding}" for finding in findings]


def contract_operations() -> dict[str, set[str]]:
    """Every operation, such as `GET /v1/platform/businesses/`, with the credentials it takes."""
    return {
        f"{each.method.upper()} {each.path}": {
            name for alternative in each.node["security"] for name in alternative
        }
        for each in operations()
    }


@contextmanager
def served(databases: Databases, database: str, log: Path) -> Iterator[House]:
    """Run a house with its log in a file.

    Schemathesis tries a wrong key at every operation, from one address: more in a minute than
    anybody may who is not testing.
    """
    with (
        log.open("w", encoding="utf-8") as lines,
        redirect_stderr(lines),
        patch("server.app.FailedLogins", partial(FailedLogins, limit=1_000_000)),
        House(databases.clone(database)) as house,
    ):
        logs.adopt()
        yield house


def write_config(name: str, house: House, seeds: Seeds, examples: int) -> Path:
    """Write the configuration of one run."""
    config = tomllib.loads(CONFIG.read_text("utf-8"))
    for dictionary in config["dictionaries"].values():
        dictionary["from-file"] = str(Path(dictionary["from-file"]).absolute())
    config["generation"]["max-examples"] = examples
    # A walk follows a few links of thousands, from wherever it begins.
    config["phases"]["stateful"]["generation"]["max-examples"] = WALKS_PER_EXAMPLE * examples
    if name == "tenants":
        add_tenants(config, house, seeds)
    written = REPORTS / f"{name}.toml"
    written.write_text(tomli_w.dumps(config), "utf-8")
    return written


def add_tenants(config: dict[str, Any], house: House, seeds: Seeds) -> None:
    """Let two partners call who must not see each other's things."""
    callers = {"owner": Partnership(house.url, UUID(seeds.partner_id), seeds.api_key)}
    callers["rival"] = house.partner("Rival")
    peers = []
    for name, caller in callers.items():
        header = {"name": "Authorization", "value": caller.api.headers["Authorization"]}
        peers.append({"name": name, "fixedHeaders": [header]})
    (SEEDS / "peers.json").write_text(json.dumps({"auth": peers}), "utf-8")
    # Only what was learnt from an answer is tried as the other partner, so more of it is.
    for place, binding in config["parameters"].items():
        if place != "path.business_id":
            binding["probability"] = 0.3
    # The peers have tokens only. Where a key is asked for, Schemathesis makes one up.
    config["checks"]["positive_data_acceptance"]["expected-statuses"].append("401")
    peers_at = str((SEEDS / "peers.json").absolute())
    config["auth"] = {"wfc": {"path": peers_at, "peers": list(callers)}}


def command(name: str, config: Path, asked: argparse.Namespace) -> list[str]:
    options = {
        "--seed": asked.seed,
        "--report": "json,junit",
        "--report-json-path": REPORTS / f"{name}.json",
        "--report-junit-path": REPORTS / f"{name}.xml",
        **({"--max-time": asked.deep // len(asked.runs)} if asked.deep else {}),
    }
    words = [str(word) for pair in options.items() for word in pair]
    program = [sys.executable, "-m", "schemathesis.cli", "--config-file", str(config)]
    return [*program, "run", "openapi/accounting.yaml", *words]


if __name__ == "__main__":
    sys.exit(main())
