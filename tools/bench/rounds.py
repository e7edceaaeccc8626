"""Rounds: in each round every target does every step, in a rotating order."""

import sys
import time
from collections.abc import Sequence

from tools.bench.cases import Step
from tools.bench.meters import Meter
from tools.bench.results import Result, Round
from tools.bench.targets import Target

SETTLE_SECONDS = 0.3  # Requests in progress finish, and ended processes are counted.


def play(
    targets: Sequence[Target], steps: Sequence[Step], postgres: Meter, rounds: int, seconds: int
) -> list[Result]:
    """Run all rounds and return the results; a warm-up round before them is not counted."""
    found: dict[tuple[Step, str], list[Round]] = {}
    for turn in range(rounds + 1):
        for number, step in enumerate(steps, start=1):
            _tell(f"round {turn} of {rounds}, step {number} of {len(steps)}: {step}")
            able = [target for target in targets if target.does(step.case)]
            first = (turn + number) % len(able)
            for target in (*able[first:], *able[:first]):
                measured = measure(target, step, postgres, seconds if turn else 1)
                if turn:
                    found.setdefault((step, target.name), []).append(measured)
    _tell("")
    return [
        Result(
            step.case.name,
            step.case.title,
            step.crowd.clients,
            step.crowd.tenants,
            target.name,
            tuple(found[step, target.name]),
        )
        for step in steps
        for target in targets
        if target.does(step.case)
    ]


def measure(target: Target, step: Step, postgres: Meter, seconds: int) -> Round:
    """Run a step on a target, and return its figures."""
    own, below = target.seconds_used(), postgres.seconds()
    load = target.drive(step, seconds)
    time.sleep(SETTLE_SECONDS)
    own, below = target.seconds_used() - own, postgres.seconds() - below
    done = max(load.answers + load.unanswered, 1)
    return Round(
        rate=round(load.rate, 2),
        p50_ms=round(load.p50_ms, 3),
        p99_ms=round(load.p99_ms, 3),
        server_ms=round(own / done * 1000, 4),
        postgres_ms=round(below / done * 1000, 4),
        errors=load.errors,
    )


def _tell(what: str) -> None:
    if sys.stderr.isatty():
        print(f"\r\033[K{what}", end="", file=sys.stderr, flush=True)
    elif what:
        print(what, file=sys.stderr, flush=True)
