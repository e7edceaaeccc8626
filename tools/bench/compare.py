"""`python -m tools.bench.compare A B`: whether this server lost against FastAPI from run A to run
B.

Only ratios within a run are compared, since two runs never have the same load on the machine. Exit
1 if a rate, or the processor time of an operation, is worse by a tenth.
"""

import argparse
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tools.bench.results import Run, load

OURS, MEASURE = "accounting", "fastapi"
WORSE = 1.1


@dataclass(frozen=True, slots=True)
class Change:
    """A ratio of this server to FastAPI in two runs; larger is better."""

    step: tuple[str, int, int]
    what: str
    before: float
    after: float

    @property
    def is_worse(self) -> bool:
        return self.after * WORSE < self.before

    def __str__(self) -> str:
        case, clients, tenants = self.step
        verdict = "  WORSE" if self.is_worse else ""
        return (
            f"{case:8} {clients:3} clients {tenants:3} tenants  {self.what:10}"
            f" {self.before:6.2f} -> {self.after:6.2f}{verdict}"
        )


def compare(before: Run, after: Run) -> Iterator[Change]:
    """Compare every step that both runs have."""
    for step in before.steps():
        old, new = _ratios(before, step), _ratios(after, step)
        for what, ratio in old.items():
            if what in new:
                yield Change(step, what, ratio, new[what])


def _ratios(run: Run, step: tuple[str, int, int]) -> dict[str, float]:
    """Return by how much this server is ahead in a step; {} if one of the two was not measured."""
    ours, measure = run.find(step, OURS), run.find(step, MEASURE)
    if ours is None or measure is None:
        return {}
    ratios = {"rate": ours.times(measure, "rate"), "processor": measure.times(ours, "cpu_ms")}
    return {what: ratio for what, ratio in ratios.items() if ratio is not None}


def main() -> int:
    """Compare two files, print the changes, and return the exit status."""
    options = argparse.ArgumentParser(prog="python -m tools.bench.compare", description=__doc__)
    options.add_argument("before", type=Path)
    options.add_argument("after", type=Path)
    chosen = options.parse_args()
    changes = list(compare(load(chosen.before), load(chosen.after)))
    if not changes:
        print("The two runs have no step in common.", file=sys.stderr)
        return 2
    print("How many times FastAPI ours is:\n", *changes, sep="\n")
    return 1 if any(change.is_worse for change in changes) else 0


if __name__ == "__main__":
    sys.exit(main())
