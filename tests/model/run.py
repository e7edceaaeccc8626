"""`python -m tests.model.run --runs 2000 --steps 50 --workers 2`: many runs of the machine.

Each worker has its own server, database and seed. At the end the program prints how often each case
was reached. It prints the first divergence as the shortest story that leads to it.
"""

import argparse
import multiprocessing
import secrets
import sys
import tempfile
import time
import traceback
from collections.abc import Sequence
from contextlib import ExitStack, closing, redirect_stderr
from dataclasses import dataclass
from multiprocessing.process import BaseProcess
from multiprocessing.queues import Queue
from pathlib import Path
from queue import Empty
from typing import Any

import hypothesis

from libraries.embedded.postgres import EmbeddedPostgres
from libraries.embedded.settings import TEST_SETTINGS
from tests.api_server import ApiServer, Databases
from tests.model.caller import Counts
from tests.model.machine import TradingMachine
from tests.model.play import Site
from tests.model.profiles import run, settings
from tests.model.sides import PURCHASES, SALES, Side
from tests.prover import Prover

REPORTS = Path("dist/model")
PRINT_SECONDS = 20.0
SIDES = {"sales": (SALES,), "purchases": (PURCHASES,), "both": (SALES, PURCHASES)}
Progress = dict[str, Any]


@dataclass(frozen=True)
class Task:
    """The task of one worker."""

    number: int
    database_url: str
    seed: int
    runs: int
    steps: int
    shrink: bool
    sides: tuple[Side, ...]


def main() -> int:
    options = arguments()
    REPORTS.mkdir(parents=True, exist_ok=True)
    runs = f"{options.runs} runs of {options.steps} steps, {options.workers} workers"
    print_line(f"seed {options.seed}: {runs}")
    began = time.monotonic()
    context = multiprocessing.get_context("spawn")
    queue: Queue[Progress] = context.Queue()
    with (
        tempfile.TemporaryDirectory(prefix="model-") as folder,
        EmbeddedPostgres(Path(folder) / "postgres", TEST_SETTINGS) as postgres,
    ):
        databases = Databases(postgres)
        workers = [
            context.Process(target=work, args=(task, queue), daemon=True)
            for task in tasks(databases, options)
        ]
        for each in workers:
            each.start()
        counts, failures = listen(queue, workers, began)
        for each in workers:
            each.join()
    print_counts(counts, time.monotonic() - began)
    return 1 if failures or counts.runs < options.runs else 0


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.model.run")
    parser.add_argument("--runs", type=int, default=2_000)
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--seed", type=int, default=None, help="random, and printed, when left out")
    parser.add_argument(
        "--as-found", action="store_true", help="print a divergence as it was found, not shortened"
    )
    parser.add_argument("--side", choices=SIDES, default="both", help="both: half of the runs each")
    options = parser.parse_args()
    if options.seed is None:
        options.seed = secrets.randbelow(2**32)
    return options


def tasks(databases: Databases, options: argparse.Namespace) -> list[Task]:
    """Distribute the runs over the workers."""
    return [
        Task(
            number,
            databases.clone(f"model_{number}"),
            options.seed + number,
            share_of(options.runs, number, options.workers),
            options.steps,
            not options.as_found,
            SIDES[options.side],
        )
        for number in range(options.workers)
    ]


def share_of(runs: int, place: int, places: int) -> int:
    """Return the number of runs of one place; the first places take the remainder."""
    return runs // places + (place < runs % places)


def work(task: Task, queue: "Queue[Progress]") -> None:
    """Perform the runs of a worker, and report their progress."""
    counts = Counts()
    failure = None
    with ExitStack() as stack:
        log = (REPORTS / f"worker-{task.number}.log").open("w", encoding="utf-8")
        stack.enter_context(redirect_stderr(stack.enter_context(log)))
        api_server = stack.enter_context(ApiServer(task.database_url))
        partner = api_server.partner("Modeller")
        prover = stack.enter_context(closing(Prover(task.database_url)))
        printed = [time.monotonic()]
        try:
            for place, side in enumerate(task.sides):
                site = Site(partner, counts, prover.faults_of, side)

                def machine(site: Site = site) -> TradingMachine:
                    if time.monotonic() - printed[0] > PRINT_SECONDS:
                        printed[0] = time.monotonic()
                        queue.put({"worker": task.number, "counts": counts})
                    return TradingMachine(site)

                factory = hypothesis.seed(task.seed)(machine)
                runs = share_of(task.runs, place, len(task.sides))
                played = settings(runs, task.steps, shrink=task.shrink)
                run(factory, played)
        except BaseException as error:  # The main process reports what stops a worker.
            failure = f"worker {task.number}, seed {task.seed}: {type(error).__name__}: {error}"
            traceback.print_exception(error, file=log)
    queue.put({"worker": task.number, "counts": counts, "ended": True, "failure": failure})


def listen(
    queue: "Queue[Progress]", workers: Sequence[BaseProcess], began: float
) -> tuple[Counts, list[str]]:
    """Print the progress until every worker has ended."""
    latest: dict[int, Counts] = {}
    counts = Counts()
    failures = []
    ended = 0
    while ended < len(workers):
        try:
            report = queue.get(timeout=PRINT_SECONDS)
        except Empty:
            if any(each.is_alive() for each in workers):
                continue
            print_line("A worker ended without a report.")
            break
        latest[report["worker"]] = report["counts"]
        counts = Counts()
        for each in latest.values():
            counts.add(each)
        spent = time.monotonic() - began
        print_line(f"{spent:6.0f} s  {counts.runs} runs, {counts.steps} steps")
        ended += report.get("ended", False)
        if report.get("failure"):
            print_line(f"\n{report['failure']}\n")
            failures.append(report["failure"])
    return counts, failures


def print_counts(counts: Counts, seconds: float) -> None:
    """Print the reached cases, the rarest last."""
    for name, count in counts.reached.most_common():
        print_line(f"{count:8}  {name}")
    lengths = ", ".join(
        f"{count} of {steps} steps" for steps, count in sorted(counts.lengths.items())
    )
    print_line(f"Whole runs: {lengths}; broken off: {counts.reached['run broken off']}")
    pace = seconds / max(counts.steps, 1) * 1_000
    print_line(f"{counts.runs} runs, {counts.steps} steps, {seconds:.0f} s ({pace:.1f} ms a step)")


def print_line(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
