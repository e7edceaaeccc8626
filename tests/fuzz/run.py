"""`python -m tests.fuzz.run [--examples N] [--seed S] [--deep SECONDS]`: fuzz the contract.

Each run has its own process and server: a private PostgreSQL, a migrated database, a real server.
Then the gate checks the report of Schemathesis, the server's log and the books. As many runs as
processors are active at a time.
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
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, redirect_stderr
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch
from uuid import UUID

import tomli_w

from libraries.embedded.postgres import EmbeddedPostgres
from libraries.embedded.settings import TEST_SETTINGS
from server.http.limiter import FailedLogins
from server.telemetry import logs
from tests.api_server import ApiServer, Databases
from tests.contract.document import operations
from tests.fuzz import gate
from tests.fuzz.seed import Seeds, plant
from tests.partner import Partner

CONFIG = Path("schemathesis.toml")
REPORTS = Path("dist/fuzz")
WALKS_PER_EXAMPLE = 4
# The credentials that the caller of each run has.
SCHEMES = {
    "partner": {"PartnerKey", "PartnerToken"},
    "business": {"BusinessToken"},
    "tenants": {"PartnerToken"},
}


# The phase that tries the limits of each field is the same for every caller, and takes half of
# the time of a run. Only the first run has it; later ones only for operations closed to the first.
COVERED_BY = "partner"


def main() -> int:
    asked = arguments()
    REPORTS.mkdir(parents=True, exist_ok=True)
    if len(asked.runs) > 1:
        return apart(asked)
    [name] = asked.runs
    began = time.monotonic()
    with (
        alone(name),
        tempfile.TemporaryDirectory(prefix="fuzz-") as folder,
        EmbeddedPostgres(Path(folder) / "postgres", TEST_SETTINGS) as postgres,
    ):
        findings = fuzz(name, Databases(postgres), asked)
    say("".join(f"{finding}\n" for finding in findings) or "The gate is open.")
    say(f"{name}: {time.monotonic() - began:.0f} s")
    return 1 if findings else 0


def apart(asked: argparse.Namespace) -> int:
    """Execute each run in a process of its own; print its output only if it failed."""
    at_once = min(os.cpu_count() or 1, len(asked.runs))
    seconds = asked.deep * at_once // len(asked.runs)
    options = {"--examples": asked.examples, "--seed": asked.seed, "--deep": seconds}
    words = [str(word) for pair in options.items() for word in pair]

    def run(name: str) -> int:
        command = [sys.executable, "-m", "tests.fuzz.run", "--runs", name, *words]
        told = REPORTS / f"{name}.txt"
        with told.open("w", encoding="utf-8") as lines:
            ended = subprocess.run(command, stdout=lines, stderr=subprocess.STDOUT, check=False)
        lines = told.read_text("utf-8").splitlines()
        cases = [line.strip() for line in lines if " generated, " in line]
        passed = f"{lines[-1]}: {'; '.join(cases)}. The gate is open: {told}"
        say("\n".join(lines) if ended.returncode else passed)
        return ended.returncode

    with ThreadPoolExecutor(at_once) as pool:
        return max(pool.map(run, asked.runs))


def say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


@contextmanager
def alone(name: str) -> Iterator[None]:
    """Wait until no other process does this run from this folder: its files have fixed names."""
    with (REPORTS / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.run")
    parser.add_argument("--examples", type=int, default=30, help="per operation")
    parser.add_argument("--seed", type=int, default=None, help="random, and told, when left out")
    parser.add_argument(
        "--deep", type=int, default=0, metavar="SECONDS", help="about so long, all in all"
    )
    parser.add_argument("--runs", nargs="+", choices=SCHEMES, default=SCHEMES)
    asked = parser.parse_args()
    if asked.seed is None:
        asked.seed = secrets.randbelow(2**32)
    return asked


def fuzz(name: str, databases: Databases, asked: argparse.Namespace) -> list[str]:
    """Execute one run and return the findings of the gate."""
    log, planted = REPORTS / f"{name}.log", REPORTS / f"{name}.seeds"
    with served(databases, f"fuzz_{name}", log) as api_server:
        seeds = plant(api_server, many=2 * asked.examples + 20 + asked.deep // 2)
        seeds.write(planted)
        config = write_config(name, api_server, seeds, asked.examples)
        told = {"FUZZ_URL": api_server.url, "FUZZ_SEEDS": str(planted), "FUZZ_CALLER": name}
        surroundings = {**os.environ, **told, "PYTHONPATH": "."}
        findings = []
        for place, options in enumerate(rounds(name)):
            report = REPORTS / f"{name}{'' if place == 0 else f'-{place}'}"
            words = command(report, config, asked, options)
            ended = subprocess.run(words, env=surroundings, check=False).returncode
            findings += judged(name, report, ended, whole=place == 0)
        findings += asyncio.run(gate.judge_books(api_server.database_url))
    with log.open(encoding="utf-8") as lines:
        findings += gate.judge_log(lines)
    return [f"{name}: {finding}" for finding in findings]


def rounds(name: str) -> list[list[str]]:
    """Return the options of Schemathesis for each round of a run."""
    if name == COVERED_BY:
        return [[]]
    whole = ["--phases", "examples,fuzzing,stateful"]
    only = sorted(closed_to(COVERED_BY) - closed_to(name))
    named = [word for label in only for word in ("--include-name", label)]
    return [whole, ["--phases", "coverage", *named]] if only else [whole]


def closed_to(name: str) -> set[str]:
    """Return the labels of the operations that the caller of a run may not use."""
    known = contract_operations().items()
    return {label for label, schemes in known if SCHEMES[name].isdisjoint(schemes)}


def judged(name: str, report: Path, ended: int, *, whole: bool) -> list[str]:
    """Return the findings of a round; only a whole round is also checked for coverage."""
    if ended not in (0, 1):  # 1 is for failures, which the report names.
        return [f"Schemathesis ended with {ended}"]
    told = json.loads(report.with_suffix(".json").read_text("utf-8"))
    failures = list(gate.judge_failures(told))
    if not whole:
        return failures
    left_out = set() if name == COVERED_BY else {"coverage"}
    known = set(contract_operations())
    return [*failures, *gate.judge_coverage(told, known, closed_to(name), left_out)]


def contract_operations() -> dict[str, set[str]]:
    """Return every operation, such as `GET /v1/platform/businesses/`, with its credentials."""
    return {
        f"{each.method.upper()} {each.path}": {
            name for alternative in each.node["security"] for name in alternative
        }
        for each in operations()
    }


@contextmanager
def served(databases: Databases, database: str, log: Path) -> Iterator[ApiServer]:
    """Start a server with its log in a file.

    Schemathesis tries a wrong key at every operation, from one address: more often in a minute than
    the server allows.
    """
    with (
        log.open("w", encoding="utf-8") as lines,
        redirect_stderr(lines),
        patch("server.app.FailedLogins", partial(FailedLogins, most=1_000_000)),
        ApiServer(databases.clone(database)) as api_server,
    ):
        logs.adopt()
        yield api_server


def write_config(name: str, api_server: ApiServer, seeds: Seeds, examples: int) -> Path:
    config = tomllib.loads(CONFIG.read_text("utf-8"))
    planted = (REPORTS / f"{name}.seeds").absolute()
    for dictionary in config["dictionaries"].values():
        dictionary["from-file"] = str(planted / Path(dictionary["from-file"]).name)
    config["generation"]["max-examples"] = examples
    # A walk follows only a few of thousands of links.
    config["phases"]["stateful"]["generation"]["max-examples"] = WALKS_PER_EXAMPLE * examples
    if name == "tenants":
        add_tenants(config, api_server, seeds, planted)
    written = REPORTS / f"{name}.toml"
    written.write_text(tomli_w.dumps(config), "utf-8")
    return written


def add_tenants(config: dict[str, Any], api_server: ApiServer, seeds: Seeds, planted: Path) -> None:
    """Add the credentials of two partners that must not see each other's records."""
    callers = {"owner": Partner(api_server.url, UUID(seeds.partner_id), seeds.api_key)}
    callers["rival"] = api_server.partner("Rival")
    peers = []
    for name, caller in callers.items():
        header = {"name": "Authorization", "value": caller.api.headers["Authorization"]}
        peers.append({"name": name, "fixedHeaders": [header]})
    (planted / "peers.json").write_text(json.dumps({"auth": peers}), "utf-8")
    # Only values from answers are tried as the other partner, so more of them are used.
    for place, binding in config["parameters"].items():
        if place != "path.business_id":
            binding["probability"] = 0.3
    # The peers have only tokens. Where an operation needs a key, Schemathesis invents one.
    config["checks"]["positive_data_acceptance"]["expected-statuses"].append("401")
    peers_at = str(planted / "peers.json")
    config["auth"] = {"wfc": {"path": peers_at, "peers": list(callers)}}


def command(
    report: Path, config: Path, asked: argparse.Namespace, more: Sequence[str]
) -> list[str]:
    options = {
        "--seed": asked.seed,
        "--report": "json,junit",
        "--report-json-path": report.with_suffix(".json"),
        "--report-junit-path": report.with_suffix(".xml"),
        **({"--max-time": asked.deep} if asked.deep else {}),
    }
    words = [str(word) for pair in options.items() for word in pair]
    program = [sys.executable, "-m", "schemathesis.cli", "--config-file", str(config)]
    return [*program, "run", "openapi/accounting.yaml", *words, *more]


if __name__ == "__main__":
    sys.exit(main())
